"""Multiple kernel learning with a certificate of optimality, in the manner of scikit-learn."""

from multikernel import datasets, diagnostics, kernels
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
from multikernel.persistence import load, save
from multikernel.selection import BankSearchCV

__all__ = [
    "AlignmentMKLClassifier",
    "AlignmentMKLRegressor",
    "AverageMKLClassifier",
    "AverageMKLRegressor",
    "BankSearchCV",
    "BestKernelClassifier",
    "BestKernelRegressor",
    "EasyMKLClassifier",
    "KernelBank",
    "bind",
    "datasets",
    "diagnostics",
    "kernels",
    "load",
    "precomputed",
    "save",
]
