"""Scikit-learn estimators."""

from multikernel.estimators.forecast import Forecast
from multikernel.estimators.rls2.linear import LinearRLS2Classifier, LinearRLS2Regressor
from multikernel.estimators.rls2.rls2 import RLS2Classifier, RLS2Regressor
from multikernel.estimators.scales.learned_scales import LearnedScalesClassifier, LearnedScalesRegressor
from multikernel.estimators.support.l1 import L1MKLClassifier, L1MKLRegressor
from multikernel.estimators.support.lp import LpMKLClassifier, LpMKLRegressor
from multikernel.estimators.support.one_class import OneClassMKL
from multikernel.estimators.support.smoothed import SMKLClassifier, SMKLRegressor

__all__ = [
    "AlignmentMKLClassifier",
    "AlignmentMKLRegressor",
    "AverageMKLClassifier",
    "AverageMKLRegressor",
    "BestKernelClassifier",
    "BestKernelRegressor",
    "EasyMKLClassifier",
    "Forecast",
    "GMKLClassifier",
    "GMKLRegressor",
    "GMKLSupportRegressor",
    "GatedMKLClassifier",
    "GatedMKLRegressor",
    "HKLClassifier",
    "HKLRegressor",
    "L1MKLClassifier",
    "L1MKLRegressor",
    "LearnedScalesClassifier",
    "LearnedScalesRegressor",
    "LinearRLS2Classifier",
    "LinearRLS2Regressor",
    "LocalizedMKLClassifier",
    "LocalizedMKLRegressor",
    "LpMKLClassifier",
    "LpMKLRegressor",
    "MultipleKernelRidgeCV",
    "OneClassMKL",
    "PolynomialMKLClassifier",
    "PolynomialMKLRegressor",
    "ProportionalMKLClassifier",
    "ProportionalMKLRegressor",
    "RLS2Classifier",
    "RLS2Regressor",
    "SMKLClassifier",
    "SMKLRegressor",
    "TwoLayerClassifier",
    "TwoLayerRegressor",
]
