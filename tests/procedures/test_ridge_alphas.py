"""Ridge regression with learned weights from tiny to huge alpha: certificates against values in exact arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import rational
from multikernel import PolynomialMKLRegressor, kernels

Array = Any


def centred(y: Array) -> Array:
    return y - y.mean()


def interpolated(X: Array, y: Array, alpha: float, strength: float, steps: int) -> Array:
    """Weights v / (2 strength) of the features for their own scores v, damped, by singular values."""
    theta = np.full(X.shape[1], 1e-3)
    A = 0.0 * y
    for step in range(steps):
        U, roots, _ = np.linalg.svd(X * np.sqrt(theta), full_matrices=False)
        Z = U.T @ y
        there = y - U @ Z
        now = U @ (Z / (roots**2 + alpha)) + (there - U @ (U.T @ there)) / alpha
        A = now if step == 0 else 0.5 * (A + now)
        theta = np.maximum((X.T @ A) ** 2 / (2.0 * strength), 1e-30)
    return theta


@pytest.mark.parametrize("alpha", [1e-6, 1e-8])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_features_as_they_are_measured(load: Any, alpha: float) -> None:
    """Some are a million times larger than others, and small ones must not be lost beside them."""
    X, y = load(return_X_y=True)
    X, y = X[::3, :13], y[::3].astype(float)
    model = PolynomialMKLRegressor(kernels.linear_features(), degree=1, alpha=alpha, penalty=1e-6).fit(X, y)
    weights = interpolated(X, centred(y), alpha, 1e-6, 60)
    lowest = float(rational.ridge(X, weights, centred(y), alpha)[0]) + 1e-6 * float(weights @ weights)
    reached = float(rational.ridge(X, model.weights_, centred(y), alpha)[0])
    reached += 1e-6 * float(model.weights_ @ model.weights_)
    assert model.converged_
    assert model.objective_ == pytest.approx(reached, rel=1e-8)
    assert reached * (1.0 - model.duality_gap_) <= lowest * (1.0 + 1e-9)
    assert reached <= lowest * (1.0 + 1e-6)
