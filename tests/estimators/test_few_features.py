"""Many samples of few features: no estimator needs a matrix of n rows and n columns for kernels of their features."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import multikernel as mk
from cases import one_in
from multikernel import kernels

N, P = 5000, 6
X = np.random.default_rng(0).normal(size=(N, P))
Z = X[:, 0] - 0.6 * X[:, 1] + 0.3 * X[:, 3] + 0.7 * np.random.default_rng(1).normal(size=N)
Y = np.where(Z > 0.2, 1, -1)
FEATURES = kernels.linear_features()
MATRIX = 8 * N * N  # bytes: 200 MB

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "L1": lambda: mk.L1MKLClassifier(FEATURES),
    "L1, level": lambda: mk.L1MKLClassifier(FEATURES, solver="level", tol=1e-2),
    "Lp": lambda: mk.LpMKLClassifier(FEATURES),
    "smoothed": lambda: mk.SMKLClassifier(FEATURES),
    "generalised": lambda: mk.GMKLClassifier(FEATURES),
    "EasyMKL": lambda: mk.EasyMKLClassifier(FEATURES),
    "average": lambda: mk.AverageMKLClassifier(FEATURES),
    "average, margin": lambda: mk.AverageMKLClassifier(FEATURES, learner="margin"),
    "polynomial": lambda: mk.PolynomialMKLClassifier(FEATURES, degree=1),
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "L1": lambda: mk.L1MKLRegressor(FEATURES, C=0.1, tol=1e-3),
    "Lp": lambda: mk.LpMKLRegressor(FEATURES, C=0.1, tol=1e-3),
    "average": lambda: mk.AverageMKLRegressor(FEATURES),
    "polynomial": lambda: mk.PolynomialMKLRegressor(FEATURES, degree=1),
    "polynomial, sparse": lambda: mk.PolynomialMKLRegressor(FEATURES, degree=1, norm=1),
    "generalised": lambda: mk.GMKLRegressor(FEATURES),
    "two layers": lambda: mk.RLS2Regressor(FEATURES, alpha=1e-3),
    "two layers, as published": lambda: mk.RLS2Regressor(FEATURES, alpha=1e-3, mode="paper"),
    "two layers, linear": lambda: mk.LinearRLS2Regressor(alpha=1e-3),
    "held-out errors": lambda: mk.MultipleKernelRidgeCV(FEATURES),
}


def fitted(model: Any, *data: Any) -> Any:
    """The model, fitted without so much memory as a tenth of a matrix takes."""
    clone(model).fit(*(each[:1000] for each in data))  # imports and compiled code are there from now on
    tracemalloc.start()
    model.fit(*data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * MATRIX, f"{peak / MATRIX:.2f} of a matrix"
    assert model.converged_ or getattr(model, "mode", "") == "paper"  # which ends by a rule of its own
    return model


@pytest.mark.parametrize("name", one_in(2, CLASSIFIERS))
def test_classifiers(name: str) -> None:
    assert fitted(CLASSIFIERS[name](), X, Y).score(X, Y) > 0.78


@pytest.mark.parametrize("name", one_in(2, REGRESSORS))
def test_regressors(name: str) -> None:
    assert fitted(REGRESSORS[name](), X, Z).score(X, Z) > 0.7


def test_one_class() -> None:
    fitted(mk.OneClassMKL(FEATURES), X + 3.0)


def test_several_classes_share_the_features() -> None:
    labels = np.digitize(Z, [-0.5, 0.5])
    assert fitted(mk.L1MKLClassifier(FEATURES), X, labels).score(X, labels) > 0.6
