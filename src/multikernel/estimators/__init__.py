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
from multikernel.estimators.gmkl import GMKLClassifier, GMKLRegressor
from multikernel.estimators.l1mkl import L1MKLClassifier, L1MKLRegressor
from multikernel.estimators.lpmkl import LpMKLClassifier, LpMKLRegressor
from multikernel.estimators.one_class import OneClassMKL
from multikernel.estimators.smkl import SMKLClassifier

__all__ = [
    "AlignmentMKLClassifier",
    "AlignmentMKLRegressor",
    "AverageMKLClassifier",
    "AverageMKLRegressor",
    "BestKernelClassifier",
    "BestKernelRegressor",
    "EasyMKLClassifier",
    "GMKLClassifier",
    "GMKLRegressor",
    "L1MKLClassifier",
    "L1MKLRegressor",
    "LpMKLClassifier",
    "LpMKLRegressor",
    "OneClassMKL",
    "SMKLClassifier",
]
