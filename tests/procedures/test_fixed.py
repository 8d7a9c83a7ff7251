"""Columns without penalty: criteria against models that are trained fold by fold, and against written-out densities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel import bind, kernels
from multikernel.procedures.ridge_cv import Evidence, Folds, HeldOutError
from multikernel.procedures.ridge_cv.fixed import FixedColumns, determined

Array = Any
RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 3))
F = np.column_stack([np.ones(N), RNG.normal(size=(N, 2)), np.arange(N) % 3 == 0])
Y = np.column_stack([np.sin(X[:, 0]) + F @ [1.0, 2.0, 3.0, 4.0], F @ [5.0, 0.0, 1.0, 1.0] + X[:, 1]])
Y += 0.3 * RNG.normal(size=Y.shape)
FEW = [kernels.RBF(0.1), kernels.RBF(1.0), kernels.Linear()]
FACTORS = list(kernels.linear_features().resolve(kernels.Features.of(X)))  # in few coordinates
FIXED = FixedColumns.of(F)


def held_out(K: Array, labels: Array) -> float:
    """The squared error of generalised least squares and kriging, trained anew for each fold."""
    total = 0.0
    for fold in np.unique(labels):
        T, V = labels != fold, labels == fold
        H = np.linalg.inv(K[np.ix_(T, T)] + np.eye(T.sum()))
        b = np.linalg.solve(F[T].T @ H @ F[T], F[T].T @ H @ Y[T])
        rest = Y[V] - F[V] @ b - K[np.ix_(V, T)] @ H @ (Y[T] - F[T] @ b)
        total += float((rest**2).sum())
    return total / N


def restricted(K: Array) -> float:
    """The restricted density by a basis of contrasts."""
    Q = np.linalg.svd(F)[0][:, 4:]
    S, Z = Q.T @ K @ Q + np.eye(N - 4), Q.T @ Y
    energies = np.einsum("it,it->t", Z, np.linalg.solve(S, Z))
    return float(np.exp(np.log(energies / (N - 4)).mean() + np.linalg.slogdet(S)[1] / (N - 4)))


@pytest.mark.parametrize("family", [FEW, FACTORS])
@pytest.mark.parametrize("count", [3, N, None])
def test_values_and_gradients(family: Any, count: int | None) -> None:
    bank, Z = bind(family, X), FIXED.rest(Y)
    K, v = bank.matrices(), RNG.exponential(size=len(family))
    labels = np.arange(N) if count == N else np.arange(N) // 20
    error: Any = Evidence.of(bank, Z, basis=FIXED.basis)
    if count is not None:
        error = HeldOutError.of(bank, Z, Folds(labels, count), basis=FIXED.basis)

    def truth(weights: Array) -> float:
        matrix = np.tensordot(weights, K, 1)
        return restricted(matrix) if count is None else held_out(matrix, labels)

    point = error.at(v)
    assert point.value == pytest.approx(truth(v), rel=1e-9)
    assert error.constant() == pytest.approx(truth(0.0 * v), rel=1e-9)
    numeric = [(truth(v + step) - truth(v - step)) / 2e-5 for step in 1e-5 * np.eye(len(v))]
    np.testing.assert_allclose(2.0 * error.model(point).slope, numeric, rtol=1e-4, atol=1e-7)


def test_coefficients_are_those_of_generalised_least_squares() -> None:
    """Also where columns are constant, zero, or depend on others, in any unit."""
    bank = bind(FEW, X)
    H = np.linalg.inv(bank.combine(np.ones(3)).dense() + 0.5 * np.eye(N))
    covariance = np.linalg.inv(F.T @ H @ F)
    b = covariance @ F.T @ H @ Y
    rest = Y - F @ b
    scale = np.einsum("it,ij,jt->t", rest, H, rest) / (N - 4)
    wide = np.column_stack([F, F[:, 1] + 2.0, np.zeros(N), 1e6 * F[:, 2] - F[:, 3]])
    for columns in (F, wide, np.column_stack([F[:, 0], 1e9 * F[:, 1], 1e-9 * F[:, 2:]])):
        fixed = FixedColumns.of(columns)
        found, values = fixed.effects(bank.combine(np.ones(3)), 0.5, Y, fixed.rest(Y))
        np.testing.assert_allclose(columns @ found.coef, F @ b, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(values, F @ b, rtol=1e-8, atol=1e-8)
        unit = np.abs(columns).max(axis=0)[:4] / np.abs(F).max(axis=0)
        np.testing.assert_allclose(found.coef[:4] * unit[:, None], b, rtol=1e-7)
        errors = np.sqrt(np.outer(np.diagonal(covariance), scale))
        np.testing.assert_allclose(found.errors[:4] * unit[:, None], errors, rtol=1e-7)
        assert np.isnan(found.errors[4:]).all()
        assert not found.coef[4:].any()


def test_folds_that_do_not_determine_the_coefficients() -> None:
    level = (np.arange(N) < 20).astype(float)
    basis = FixedColumns.of(np.column_stack([np.ones(N), level])).basis
    assert not determined(basis, Folds(np.arange(N) // 20, 3))
    assert determined(basis, Folds(np.arange(N) % 3, 3))
    error = HeldOutError.of(bind(FEW, X), FIXED.rest(Y), Folds(np.arange(N), N), basis=basis)
    assert error.model(error.at(np.ones(3))).slope.shape == (3,)  # ten merged folds would not determine them


def test_a_kernel_that_is_almost_constant() -> None:
    """It is 1e8 times the ridge in the direction of the intercept, where rounding must not reach the gradient."""
    bank, Z = bind([kernels.RBF(1e-3), kernels.RBF(10.0)], X), FIXED.rest(Y[:, :1])
    error, v = Evidence.of(bank, Z, basis=FIXED.basis), np.array([1e8, 1e6])
    points = [error.at(v * np.exp(step)) for step in ([1e-3, 0.0], [-1e-3, 0.0])]
    numeric = (points[0].value - points[1].value) / 2e-3
    assert 2.0 * error.model(error.at(v)).slope[0] * v[0] == pytest.approx(numeric, rel=1e-3)
