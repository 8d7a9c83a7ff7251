"""Scikit-learn estimators; each is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multikernel.estimators.easymkl import EasyMKLClassifier as EasyMKLClassifier
    from multikernel.estimators.forecast import Forecast as Forecast
    from multikernel.estimators.generalized.gmkl import GMKLClassifier as GMKLClassifier
    from multikernel.estimators.generalized.gmkl import GMKLRegressor as GMKLRegressor
    from multikernel.estimators.generalized.gmkl import GMKLSupportRegressor as GMKLSupportRegressor
    from multikernel.estimators.hierarchical.hkl import HKLClassifier as HKLClassifier
    from multikernel.estimators.hierarchical.hkl import HKLRegressor as HKLRegressor
    from multikernel.estimators.localized.convex import LocalizedMKLClassifier as LocalizedMKLClassifier
    from multikernel.estimators.localized.convex import LocalizedMKLRegressor as LocalizedMKLRegressor
    from multikernel.estimators.localized.gated import GatedMKLClassifier as GatedMKLClassifier
    from multikernel.estimators.localized.gated import GatedMKLRegressor as GatedMKLRegressor
    from multikernel.estimators.polynomial.polynomial import PolynomialMKLClassifier as PolynomialMKLClassifier
    from multikernel.estimators.polynomial.polynomial import PolynomialMKLRegressor as PolynomialMKLRegressor
    from multikernel.estimators.ridge_cv import MultipleKernelRidgeCV as MultipleKernelRidgeCV
    from multikernel.estimators.rls2.linear import LinearRLS2Classifier as LinearRLS2Classifier
    from multikernel.estimators.rls2.linear import LinearRLS2Regressor as LinearRLS2Regressor
    from multikernel.estimators.rls2.rls2 import RLS2Classifier as RLS2Classifier
    from multikernel.estimators.rls2.rls2 import RLS2Regressor as RLS2Regressor
    from multikernel.estimators.rules.alignment import AlignmentMKLClassifier as AlignmentMKLClassifier
    from multikernel.estimators.rules.alignment import AlignmentMKLRegressor as AlignmentMKLRegressor
    from multikernel.estimators.rules.baselines import AverageMKLClassifier as AverageMKLClassifier
    from multikernel.estimators.rules.baselines import AverageMKLRegressor as AverageMKLRegressor
    from multikernel.estimators.rules.baselines import BestKernelClassifier as BestKernelClassifier
    from multikernel.estimators.rules.baselines import BestKernelRegressor as BestKernelRegressor
    from multikernel.estimators.rules.proportional import ProportionalMKLClassifier as ProportionalMKLClassifier
    from multikernel.estimators.rules.proportional import ProportionalMKLRegressor as ProportionalMKLRegressor
    from multikernel.estimators.scales.learned_scales import LearnedScalesClassifier as LearnedScalesClassifier
    from multikernel.estimators.scales.learned_scales import LearnedScalesRegressor as LearnedScalesRegressor
    from multikernel.estimators.support.l1 import L1MKLClassifier as L1MKLClassifier
    from multikernel.estimators.support.l1 import L1MKLRegressor as L1MKLRegressor
    from multikernel.estimators.support.lp import LpMKLClassifier as LpMKLClassifier
    from multikernel.estimators.support.lp import LpMKLRegressor as LpMKLRegressor
    from multikernel.estimators.support.one_class import OneClassMKL as OneClassMKL
    from multikernel.estimators.support.smoothed import SMKLClassifier as SMKLClassifier
    from multikernel.estimators.support.smoothed import SMKLRegressor as SMKLRegressor
    from multikernel.estimators.two_layers.two_layers import TwoLayerClassifier as TwoLayerClassifier
    from multikernel.estimators.two_layers.two_layers import TwoLayerRegressor as TwoLayerRegressor

_FILES = {
    "easymkl": ("EasyMKLClassifier",),
    "forecast": ("Forecast",),
    "generalized.gmkl": (
        "GMKLClassifier",
        "GMKLRegressor",
        "GMKLSupportRegressor",
    ),
    "hierarchical.hkl": (
        "HKLClassifier",
        "HKLRegressor",
    ),
    "localized.convex": (
        "LocalizedMKLClassifier",
        "LocalizedMKLRegressor",
    ),
    "localized.gated": (
        "GatedMKLClassifier",
        "GatedMKLRegressor",
    ),
    "polynomial.polynomial": (
        "PolynomialMKLClassifier",
        "PolynomialMKLRegressor",
    ),
    "ridge_cv": ("MultipleKernelRidgeCV",),
    "rls2.linear": (
        "LinearRLS2Classifier",
        "LinearRLS2Regressor",
    ),
    "rls2.rls2": (
        "RLS2Classifier",
        "RLS2Regressor",
    ),
    "rules.alignment": (
        "AlignmentMKLClassifier",
        "AlignmentMKLRegressor",
    ),
    "rules.baselines": (
        "AverageMKLClassifier",
        "AverageMKLRegressor",
        "BestKernelClassifier",
        "BestKernelRegressor",
    ),
    "rules.proportional": (
        "ProportionalMKLClassifier",
        "ProportionalMKLRegressor",
    ),
    "scales.learned_scales": (
        "LearnedScalesClassifier",
        "LearnedScalesRegressor",
    ),
    "support.l1": (
        "L1MKLClassifier",
        "L1MKLRegressor",
    ),
    "support.lp": (
        "LpMKLClassifier",
        "LpMKLRegressor",
    ),
    "support.one_class": ("OneClassMKL",),
    "support.smoothed": (
        "SMKLClassifier",
        "SMKLRegressor",
    ),
    "two_layers.two_layers": (
        "TwoLayerClassifier",
        "TwoLayerRegressor",
    ),
}
_FILE_OF = {name: file for file, names in _FILES.items() for name in names}

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


if not TYPE_CHECKING:  # type checkers read the imports above

    def __getattr__(name: str) -> Any:
        if name in _FILE_OF:
            return getattr(import_module(f"{__name__}.{_FILE_OF[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
