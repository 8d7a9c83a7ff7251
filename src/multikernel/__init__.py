"""Multiple kernel learning with a certificate of optimality, in the manner of scikit-learn."""

from multikernel import datasets, kernels
from multikernel.banks import KernelBank, bind, precomputed
from multikernel.estimators import (
    AlignmentMKLClassifier,
    AlignmentMKLRegressor,
    AverageMKLClassifier,
    AverageMKLRegressor,
    BestKernelClassifier,
    BestKernelRegressor,
    EasyMKLClassifier,
)

__all__ = [
    "AlignmentMKLClassifier",
    "AlignmentMKLRegressor",
    "AverageMKLClassifier",
    "AverageMKLRegressor",
    "BestKernelClassifier",
    "BestKernelRegressor",
    "EasyMKLClassifier",
    "KernelBank",
    "bind",
    "datasets",
    "kernels",
    "precomputed",
]
