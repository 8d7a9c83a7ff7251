"""Scikit-learn estimators."""

from multikernel.estimators.baselines import (
    AlignmentMKLClassifier,
    AlignmentMKLRegressor,
    AverageMKLClassifier,
    AverageMKLRegressor,
    BestKernelClassifier,
    BestKernelRegressor,
)
from multikernel.estimators.easymkl import EasyMKLClassifier

__all__ = [
    "AlignmentMKLClassifier",
    "AlignmentMKLRegressor",
    "AverageMKLClassifier",
    "AverageMKLRegressor",
    "BestKernelClassifier",
    "BestKernelRegressor",
    "EasyMKLClassifier",
]
