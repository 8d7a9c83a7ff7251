"""Multiple kernel learning with a certificate of optimality, in the manner of scikit-learn.

Names are imported when they are first used, so that ``import multikernel`` takes almost no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multikernel import datasets as datasets
    from multikernel import diagnostics as diagnostics
    from multikernel import kernels as kernels
    from multikernel import streams as streams
    from multikernel import testing as testing
    from multikernel._warnings import PredictionWarning as PredictionWarning
    from multikernel.auto import MultiKernelClassifier as MultiKernelClassifier
    from multikernel.auto import MultiKernelRegressor as MultiKernelRegressor
    from multikernel.banks import KernelBank as KernelBank
    from multikernel.banks import precomputed as precomputed
    from multikernel.estimators import *  # noqa: F403 - each name is listed below
    from multikernel.inspection import KernelImportance as KernelImportance
    from multikernel.inspection import WeightStability as WeightStability
    from multikernel.inspection import explainable_variance as explainable_variance
    from multikernel.inspection import kernel_importance as kernel_importance
    from multikernel.inspection import normalized_scores as normalized_scores
    from multikernel.inspection import source_values as source_values
    from multikernel.inspection import weight_stability as weight_stability
    from multikernel.inspection.noise_ceiling import noise_ceiling as noise_ceiling
    from multikernel.paths import Path as Path
    from multikernel.paths import path as path
    from multikernel.persistence import checkpoints as checkpoints
    from multikernel.persistence import load as load
    from multikernel.persistence import register as register
    from multikernel.persistence import save as save
    from multikernel.procedures import simplex_least_squares as simplex_least_squares
    from multikernel.selection import BankSearchCV as BankSearchCV
    from multikernel.sources import Delayer as Delayer
    from multikernel.sources import bind as bind
    from multikernel.sources import views as views

_MODULES = ("datasets", "diagnostics", "kernels", "streams", "testing")
_ROOMS = {
    "app.report.page": ("report",),  # not imported for type checkers: the rooms below the application import this file
    "_warnings": ("PredictionWarning",),
    "auto": ("MultiKernelClassifier", "MultiKernelRegressor"),
    "banks": ("KernelBank", "precomputed"),
    "estimators": (
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
        "GatedMKLClassifier",
        "GatedMKLRegressor",
        "GMKLSupportRegressor",
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
    ),
    "inspection": (
        "KernelImportance",
        "WeightStability",
        "explainable_variance",
        "kernel_importance",
        "noise_ceiling",
        "normalized_scores",
        "source_values",
        "weight_stability",
    ),
    "paths": ("Path", "path"),
    "persistence": ("checkpoints", "load", "register", "save"),
    "procedures": ("simplex_least_squares",),
    "selection": ("BankSearchCV",),
    "sources": ("Delayer", "bind", "views"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = sorted((*_ROOM_OF, *_MODULES))


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        return getattr(import_module(f"{__name__}.{_ROOM_OF[name]}"), name)
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("multikernel")
    raise AttributeError(f"module 'multikernel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
