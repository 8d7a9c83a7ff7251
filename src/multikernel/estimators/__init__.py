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
from multikernel.estimators.hkl import HKLClassifier, HKLRegressor
from multikernel.estimators.l1mkl import L1MKLClassifier, L1MKLRegressor
from multikernel.estimators.linear_rls2 import LinearRLS2Classifier, LinearRLS2Regressor
from multikernel.estimators.lpmkl import LpMKLClassifier, LpMKLRegressor
from multikernel.estimators.one_class import OneClassMKL
from multikernel.estimators.polynomial import PolynomialMKLClassifier, PolynomialMKLRegressor
from multikernel.estimators.ridge_cv import MultipleKernelRidgeCV
from multikernel.estimators.rls2 import RLS2Classifier, RLS2Regressor
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
    "HKLClassifier",
    "HKLRegressor",
    "L1MKLClassifier",
    "L1MKLRegressor",
    "LinearRLS2Classifier",
    "LinearRLS2Regressor",
    "LpMKLClassifier",
    "LpMKLRegressor",
    "MultipleKernelRidgeCV",
    "OneClassMKL",
    "PolynomialMKLClassifier",
    "PolynomialMKLRegressor",
    "RLS2Classifier",
    "RLS2Regressor",
    "SMKLClassifier",
]
