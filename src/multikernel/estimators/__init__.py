"""Scikit-learn estimators."""

from multikernel.estimators.easymkl import EasyMKLClassifier
from multikernel.estimators.forecast import Forecast
from multikernel.estimators.generalized.gmkl import GMKLClassifier, GMKLRegressor, GMKLSupportRegressor
from multikernel.estimators.hierarchical.hkl import HKLClassifier, HKLRegressor
from multikernel.estimators.localized.convex import LocalizedMKLClassifier, LocalizedMKLRegressor
from multikernel.estimators.localized.gated import GatedMKLClassifier, GatedMKLRegressor
from multikernel.estimators.polynomial.polynomial import PolynomialMKLClassifier, PolynomialMKLRegressor
from multikernel.estimators.ridge_cv import MultipleKernelRidgeCV
from multikernel.estimators.rls2.linear import LinearRLS2Classifier, LinearRLS2Regressor
from multikernel.estimators.rls2.rls2 import RLS2Classifier, RLS2Regressor
from multikernel.estimators.rules.alignment import AlignmentMKLClassifier, AlignmentMKLRegressor
from multikernel.estimators.rules.baselines import (
    AverageMKLClassifier,
    AverageMKLRegressor,
    BestKernelClassifier,
    BestKernelRegressor,
)
from multikernel.estimators.rules.proportional import ProportionalMKLClassifier, ProportionalMKLRegressor
from multikernel.estimators.scales.learned_scales import LearnedScalesClassifier, LearnedScalesRegressor
from multikernel.estimators.support.l1 import L1MKLClassifier, L1MKLRegressor
from multikernel.estimators.support.lp import LpMKLClassifier, LpMKLRegressor
from multikernel.estimators.support.one_class import OneClassMKL
from multikernel.estimators.support.smoothed import SMKLClassifier, SMKLRegressor
from multikernel.estimators.two_layers.two_layers import TwoLayerClassifier, TwoLayerRegressor

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
