"""Ridge regression with learned weights from tiny to huge alpha: certificates against values in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import rational
from cases import one_in
from multikernel import (
    AverageMKLRegressor,
    GMKLRegressor,
    LinearRLS2Regressor,
    PolynomialMKLRegressor,
    RLS2Regressor,
    bind,
    kernels,
)
from multikernel.banks import FactorGram
from multikernel.combinations import Linear
from multikernel.domains import NormBall
from multikernel.machines import RidgeMachine
from multikernel.problem import Problem
from multikernel.procedures.polynomial import polynomial_mkl
from multikernel.procedures.rls2 import rls2

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


@pytest.mark.crossed
@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
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


# -- sums of three features, against fractions -------------------------------------------------------------------------

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(15, 3))
EXPLAINED = FEATURES @ [1.0, 0.25, 0.1]  # but for the mean, which the intercept takes
TARGETS = {"explained": EXPLAINED, "with noise": EXPLAINED + RNG.normal(size=15)}
ALPHAS = [1e-8, 1e-4, 1.0, 1e4, 1e8, 1e12]
SUMS: dict[str, dict[str, Any]] = {
    "norm 1": {"norm": 1, "offset": 0.0},
    "norm 2": {"norm": 2, "offset": 0.0},
    "norm 2 around 1": {"norm": 2, "offset": 1.0},
    "norm 1.5": {"norm": 1.5, "offset": 0.0},
    "penalty": {"penalty": 1e-3},
}


def largest(where: dict[str, Any], q: Array) -> float:
    """max over the weights of theta'q less the penalty."""
    if "penalty" in where:
        return float(q @ q) / (4.0 * where["penalty"])
    p = where["norm"]
    return where["offset"] * float(q.sum()) + float(np.linalg.norm(q, np.inf if p == 1 else p / (p - 1.0)))


def exact_gap(where: dict[str, Any], y: Array, alpha: float, theta: Array) -> float:
    """The duality gap of the weights relative to what weights can change, the coefficients being exact."""
    theta = np.where(theta > 1e-14 * theta.max(), theta, 0.0)
    J, A = rational.ridge(FEATURES, theta, y, alpha)
    q = rational.scores(FEATURES, A).astype(float)
    penalty = where.get("penalty", 0.0) * float(theta @ theta)
    lowest = rational.ridge(FEATURES, np.full(3, 1e60), y, alpha)[0]
    empty = rational.fractions(y) @ rational.fractions(y) / Fraction(alpha)
    changed = min(float(J - lowest) + penalty, float(empty - J) - penalty)
    return (largest(where, q) - float(theta @ q) + penalty) / changed


@pytest.mark.parametrize(("target", "where", "alpha"), one_in(7, product(TARGETS, SUMS.values(), ALPHAS)))
def test_weights_of_features_from_tiny_to_huge_alpha(target: str, where: dict[str, Any], alpha: float) -> None:
    y = TARGETS[target]
    given = where | ({"penalty": where["penalty"] / alpha**2} if "penalty" in where and alpha > 1.0 else {})
    model = PolynomialMKLRegressor(kernels.linear_features(), degree=1, alpha=alpha, tol=1e-6, **given).fit(FEATURES, y)
    assert model.converged_
    assert model.duality_gap_ <= 1e-6
    assert exact_gap(given, centred(y), alpha, model.weights_) <= 1e-5
    want = float(rational.ridge(FEATURES, model.weights_, centred(y), alpha)[0])
    want += given.get("penalty", 0.0) * float(model.weights_ @ model.weights_)
    assert model.objective_ == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_target_that_is_explained_is_predicted(alpha: float) -> None:
    """The coefficients belong to the weights: to those of one feature, where the sum of the weights is bounded."""
    where = {"kernels": kernels.linear_features(), "degree": 1, "norm": 1, "offset": 0.0}
    model = PolynomialMKLRegressor(alpha=alpha, **where).fit(FEATURES, EXPLAINED)
    y, w = centred(EXPLAINED), model.weights_
    v = np.linalg.solve(FEATURES.T @ FEATURES * w + alpha * np.eye(3), FEATURES.T @ y)
    want = FEATURES @ (w * v) + EXPLAINED.mean()
    np.testing.assert_allclose(model.predict(FEATURES), want, atol=1e-6 * np.abs(y).max())


# -- kernels of full rank, against the limit for large alpha -----------------------------------------------------------

BANK = bind(kernels.rbf_grid([0.1, 0.5, 2.0, 8.0]), RNG.normal(size=(30, 2)))
MATRICES = BANK.matrices()
WAVE = np.sin(np.arange(30.0))


def forms(power: int) -> Array:
    """y'K_k y; for power 2 y'(K_j o K_k)y."""
    y = centred(WAVE)
    if power == 1:
        return np.array([y @ K @ y for K in MATRICES])
    return np.array([[y @ (j * k) @ y for k in MATRICES] for j in MATRICES])


@pytest.mark.parametrize("alpha", [1e8, 1e10, 1e12])
@pytest.mark.parametrize("make", [PolynomialMKLRegressor, GMKLRegressor])
def test_large_alphas_have_the_weights_of_the_limit(make: Any, alpha: float) -> None:
    c = forms(1)
    for norm, want in (
        (1, np.eye(4)[c.argmax()]),
        (1.5, c**2 / np.linalg.norm(c**2, 1.5)),
        (2, c / np.linalg.norm(c)),
        (4, c ** (1 / 3) / np.linalg.norm(c ** (1 / 3), 4)),
    ):
        where = {"degree": 1, "offset": 0.0} if make is PolynomialMKLRegressor else {"radius": 1.0}
        model = make(alpha=alpha, norm=norm, tol=1e-10, **where).fit(BANK, WAVE)
        np.testing.assert_allclose(model.weights_, want, atol=1e-5)
        assert model.converged_
        assert model.objective_ == pytest.approx(float(centred(WAVE) @ centred(WAVE)) / alpha, rel=1e-6)


@pytest.mark.parametrize("alpha", [1e8, 1e12])
def test_large_alphas_have_the_square_of_the_limit(alpha: float) -> None:
    values, vectors = np.linalg.eigh(forms(2))
    model = PolynomialMKLRegressor(alpha=alpha, offset=0.0).fit(BANK, WAVE)
    np.testing.assert_allclose(model.weights_, np.abs(vectors[:, -1]), atol=1e-3)
    gain = float(model.weights_ @ forms(2) @ model.weights_) / values[-1]
    assert 1.0 - gain <= model.duality_gap_ + 1e-6


@pytest.mark.parametrize("alpha", [1e2, 1e6, 1e12])
@pytest.mark.parametrize("weighted", [False, True])
def test_reduced_values_are_those_of_fractions(alpha: float, weighted: bool) -> None:
    s = RNG.uniform(0.5, 2.0, size=15) if weighted else np.ones(15)
    y, root = EXPLAINED, np.sqrt(s)
    machine = RidgeMachine(alpha, fit_intercept=False, reduced=True)
    found = machine.solve(FactorGram(FEATURES, np.ones(3), FEATURES), y, None, s if weighted else None)
    J = rational.ridge(root[:, None] * FEATURES, np.ones(3), root * y, alpha)[0]
    r = rational.fractions(root * y)
    want = float(J - r @ r / Fraction(alpha))
    assert found.value == pytest.approx(want, rel=1e-10)
    assert found.value <= found.upper
    assert 0.0 <= found.gap <= 1e-12


@pytest.mark.parametrize(
    ("model", "size"),
    one_in(
        7,
        product(
            [
                PolynomialMKLRegressor(),
                PolynomialMKLRegressor(degree=1, norm=1),
                RLS2Regressor(),
                LinearRLS2Regressor(),
                AverageMKLRegressor(),
            ],
            [1e-200, 1e77, 1e200, 1e300],
        ),
    ),
    ids=str,
)
def test_targets_whose_squares_are_no_numbers(model: Any, size: float) -> None:
    want = model.fit(FEATURES, WAVE[:15]).predict(FEATURES)
    model.fit(FEATURES, size * WAVE[:15])
    assert model.converged_
    np.testing.assert_allclose(model.predict(FEATURES) / size, want, atol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_target_that_is_no_number_is_refused(bad: float) -> None:
    y = np.where(np.arange(15) == 3, bad, EXPLAINED)
    bank = bind(kernels.linear_features(), FEATURES)
    for learn in (
        lambda: rls2(bank, y, 1.0, np.ones(3)),
        lambda: polynomial_mkl(Problem(bank, Linear(), RidgeMachine(), NormBall(2.0), y)),
    ):
        with pytest.raises(ValueError, match="NaN or infinite"):
            learn()
