"""Ridge regression for many alphas from one tridiagonal form, against a system solved for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel.banks import DenseGram
from multikernel.machines import RidgeMachine
from multikernel.machines.ridge.along import RidgeTridiagonal, along
from multikernel.machines.ridge.solved import Solved, _with_separate_factor, direct, reduced, spectral
from multikernel.machines.ridge.spectrum import RidgeSpectrum

Array = Any
ALPHAS = np.geomspace(1e-3, 1e6, 7)


def matrix(n: int, rank: int, unit: float = 1.0, dtype: Any = float) -> Array:
    F = np.random.default_rng(n).normal(size=(n, rank))
    return (unit * (F @ F.T)).astype(dtype)


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize(("n", "rank", "t"), [(1, 1, 1), (2, 2, 1), (3, 1, 2), (40, 40, 1), (41, 30, 3)])
def test_every_alpha_is_a_system(n: int, rank: int, t: int, unit: float) -> None:
    K, Y = matrix(n, rank), np.random.default_rng(1).normal(size=(n, t))
    found = along(DenseGram(unit * K), Y, unit * ALPHAS)
    for alpha, each in zip(ALPHAS, found, strict=True):
        want = np.linalg.solve(K + alpha * np.eye(n), Y)
        np.testing.assert_allclose(unit * each.coef, want, atol=1e-9 * np.abs(want).max())
        assert each.gap <= 1e-13


@pytest.mark.parametrize("K", [np.zeros((6, 6)), np.diag([0.0, 0.0, 1.0, 2.0, 0.0, 3.0]), np.ones((6, 6))])
def test_matrices_with_a_null_space(K: Array) -> None:
    Y = np.arange(1.0, 7.0)[:, None]
    for alpha, each in zip([1e-9, 1e-3, 1.0], along(DenseGram(K), Y, [1e-9, 1e-3, 1.0]), strict=True):
        function = Y - alpha * np.linalg.solve(K + alpha * np.eye(6), Y)
        np.testing.assert_allclose(K @ each.coef, function, atol=1e-6)
        assert each.gap <= 1e-6


def test_single_precision_is_solved_in_double() -> None:
    K, y = matrix(50, 50, dtype=np.float32), np.random.default_rng(2).normal(size=(50, 1))
    form = RidgeTridiagonal.of(DenseGram(K), y)
    want = np.linalg.solve(K.astype(float) + 0.1 * np.eye(50), y)
    np.testing.assert_allclose(form.solve(0.1), want, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-20, 1.0])
def test_a_matrix_that_is_no_kernel_is_refused(unit: float) -> None:
    K = matrix(20, 20) - 5.0 * np.eye(20)
    with pytest.raises(ValueError, match="no negative eigenvalues"):
        along(DenseGram(unit * K), np.ones((20, 1)), [100.0 * unit, 1000.0 * unit])


@pytest.mark.parametrize("wrong", [-1.0, 0.0, np.nan])
@pytest.mark.parametrize("more", [[], [1.0, 2.0, 3.0, 4.0]], ids=["few", "many"])
def test_alphas_that_are_none_are_refused(wrong: float, more: list[float]) -> None:
    with pytest.raises(ValueError, match=r"each of RidgeMachine.solve_along: alphas must be a finite number > 0"):
        RidgeMachine().solve_along(DenseGram(matrix(6, 6)), np.arange(6.0), [wrong, *more])


def test_a_system_that_fails_is_no_number() -> None:
    form = RidgeTridiagonal.of(DenseGram(np.zeros((3, 3))), np.ones((3, 1)))
    assert np.isnan(form.solve(-1.0)).all()


def values(K: Array, Y: Array, alpha: float, A: Array, C: Array) -> tuple[float, float]:
    """The dual value of A and the primal value of the predictor K C, in long double."""
    K, Y, A, C = (np.asarray(each, dtype=np.longdouble) for each in (K, Y, A, C))
    dual = 2.0 * (A * Y).sum() - (A * (K @ A)).sum() - alpha * (A * A).sum()
    return float(dual), float((C * (K @ C)).sum() + ((Y - K @ C) ** 2).sum() / alpha)


def test_any_coefficients_have_their_own_values() -> None:
    K, rng = matrix(12, 12), np.random.default_rng(3)
    Y, alpha = rng.normal(size=(12, 2)), 0.7
    C = np.linalg.solve(K + alpha * np.eye(12), Y) * (1.0 + 0.1 * rng.random((12, 1)))
    found = Solved.at(DenseGram(K), Y, alpha, C)
    assert (found.value, found.upper) == pytest.approx(values(K, Y, alpha, C, C), rel=1e-12)
    assert found.gap == pytest.approx((found.upper - found.value) / found.upper, rel=1e-9)
    less = found.less(3.0)
    assert (less.value, less.upper) == (found.value - 3.0, found.upper - 3.0)
    assert less.gap == pytest.approx((found.upper - found.value) / abs(less.upper), rel=1e-9)


@pytest.mark.parametrize("reached", [True, False])
def test_what_is_returned_proves_no_less_than_eigenvectors_or_a_factorisation(reached: bool) -> None:
    """A singular matrix of features of several sizes, where either of the two may have lost more."""
    rng = np.random.default_rng(6)
    for alpha in np.geomspace(1e-14, 1e-8, 40):
        X = rng.normal(size=(6, 5)) * np.geomspace(1.0, 1e-3, 5)
        Y = X @ rng.normal(size=(5, 1)) if reached else rng.normal(size=(6, 1))
        gram = DenseGram(X @ X.T)
        found = along(gram, Y, [alpha])[0]
        others = spectral(RidgeSpectrum.of(gram, Y), gram, Y, alpha), direct(gram, Y, alpha)
        assert found.gap <= max(min(each.gap for each in others), 1e-14)


def test_reduced_values_are_less_that_of_no_kernel() -> None:
    K, Y = matrix(12, 12), np.random.default_rng(4).normal(size=(12, 2))
    alpha = 1e3
    found = reduced(DenseGram(K), Y, alpha, 1.001 * np.linalg.solve(K + alpha * np.eye(12), Y))
    dual, primal = values(K, Y, alpha, found.factor, found.coef)
    nothing = float((Y * Y).sum()) / alpha
    assert found.value == pytest.approx(dual - nothing, rel=1e-9)
    assert found.upper == pytest.approx(primal - nothing, rel=1e-9)
    assert found.value <= found.upper < 0.0
    assert found.gap == pytest.approx((found.upper - found.value) / -found.upper, rel=1e-6)


def test_a_part_beyond_the_matrix_that_it_does_meet_costs_value() -> None:
    """Coefficients C + D where K D should be zero: what D adds to A'K A is taken off."""
    K, rng = matrix(12, 12), np.random.default_rng(5)
    Y, alpha = rng.normal(size=(12, 1)), 0.7
    whole = np.linalg.solve(K + alpha * np.eye(12), Y)
    for size in (1e-3, 1e-2, 0.1):
        beyond = size * rng.normal(size=(12, 1))
        found = _with_separate_factor(DenseGram(K), Y, alpha, whole - beyond, beyond)
        dual, primal = values(K, Y, alpha, found.factor, found.coef)
        assert found.value <= dual * (1.0 + 1e-12)
        assert found.upper == pytest.approx(primal, rel=1e-9)


@pytest.mark.parametrize("unit", [1.0, 1e-6])
@pytest.mark.parametrize("inside", [0.0, 1.0])
def test_a_solution_with_a_part_beyond_the_matrix_has_no_gap_in_any_unit(inside: float, unit: float) -> None:
    """K = diag(1, 0), alpha = 1/2, A = (c, 2): J = <A, Y> with Y = (3/2 c, 1)."""
    C, beyond = unit * np.array([[inside], [0.0]]), unit * np.array([[0.0], [2.0]])
    found = _with_separate_factor(DenseGram(np.diag([1.0, 0.0])), 1.5 * C + 0.5 * beyond, 0.5, C, beyond)
    assert found.value == pytest.approx(unit**2 * (1.5 * inside**2 + 2.0), rel=1e-12)
    assert found.upper == pytest.approx(found.value, rel=1e-12)
    assert found.gap <= 1e-12
    np.testing.assert_allclose(found.beyond, 0.5 * beyond, rtol=1e-12)  # what of Y the matrix cannot reach


def test_reduced_values_where_the_factorisation_fails() -> None:
    """A shift below the rounding of a singular matrix leaves the spectrum."""
    F = np.random.default_rng(0).normal(size=(12, 2))
    K, y = F @ F.T, F @ np.array([1.0, -2.0])
    found = RidgeMachine(alpha=1e-32, fit_intercept=False, reduced=True).solve(DenseGram(K), y)
    np.testing.assert_allclose((K @ found.factor).ravel(), y, rtol=1e-6, atol=1e-6)
