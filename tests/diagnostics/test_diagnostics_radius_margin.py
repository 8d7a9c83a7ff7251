"""The radius-margin bound, and the distance of the hulls that it rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multikernel import diagnostics, kernels
from multikernel._typing import Array
from multikernel.banks import DenseGram
from multikernel.machines import DualSolution, MarginMachine


def squared_distance(K: Array, y: Array) -> float:
    return -MarginMachine(lam=0.0).solve(DenseGram(K), y).value


def conic_squared_distance(K: Array, y: Array) -> float:
    """Between the hulls of the rows of a Cholesky factor, as a cone programme."""
    F = np.linalg.cholesky(K + 1e-12 * np.eye(len(K)))
    g = cp.Variable(len(K), nonneg=True)
    sums = [cp.sum(g[y > 0]) == 1, cp.sum(g[y < 0]) == 1]
    distance = cp.Problem(cp.Minimize(cp.norm(F.T @ cp.multiply(y, g))), sums).solve(solver=cp.CLARABEL)
    return float(distance) ** 2


def test_full_rank_separates_every_labelling(zoo: dict[str, Array]) -> None:
    """Donini and Aiolli (2017), theorem 2: dist^2 >= (1/n_+ + 1/n_-) times the smallest eigenvalue."""
    rng = np.random.default_rng(4)
    for K in zoo.values():
        y = np.where(rng.permutation(len(K)) < len(K) // 3, 1.0, -1.0)
        bound = (1 / (y > 0).sum() + 1 / (y < 0).sum()) * np.linalg.eigvalsh(K)[0]
        assert squared_distance(K, y) >= bound - 1e-12 * np.trace(K)
        if bound > 1e-6 * K.diagonal().mean():
            assert np.isfinite(diagnostics.radius_margin_bound(K, y))


def test_radius_margin_is_four_squared_radii_over_the_squared_distance_of_the_hulls(zoo: dict[str, Array]) -> None:
    K, y = zoo["gaussian"], np.where(np.arange(40) % 3 == 0, 1.0, -1.0)
    expected = 4.0 * diagnostics.meb_radius(K).squared_radius / (40 * conic_squared_distance(K, y))
    assert diagnostics.radius_margin_bound(K, y) == pytest.approx(expected, rel=1e-5)
    names = np.where(y > 0, "yes", "no")
    assert diagnostics.radius_margin_bound(1e3 * K + 5.0, names) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-300, 1e307])
def test_radius_margin_of_kernels_of_any_size(scale: float) -> None:
    x = np.array([-2.0, -1.0, 1.0, 2.0])
    assert diagnostics.radius_margin_bound(scale * np.outer(x, x), [-1, -1, 1, 1]) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("n", [4, 10, 30])
def test_radius_margin_of_the_identity(n: int) -> None:
    """1 - 1/n, although leaving out any sample misclassifies it: the proved bound is four times as large."""
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    bound = diagnostics.radius_margin_bound(np.eye(n), y)
    assert bound == pytest.approx(1.0 - 1.0 / n, rel=1e-5)
    assert bound < leave_one_out_error(np.eye(n), y) == 1.0 <= 4.0 * bound


@pytest.mark.parametrize("seed", range(8))
def test_four_times_the_radius_margin_is_above_the_leave_one_out_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], 8)
    X = rng.normal(size=(16, 3)) + rng.uniform(0.0, 2.0) * y[:, None]
    K = kernels.RBF(float(rng.uniform(0.1, 2.0)))(X)
    assert leave_one_out_error(K, y) <= 4.0 * diagnostics.radius_margin_bound(K, y)


def leave_one_out_error(K: Array, y: Array) -> float:
    errors = 0
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        found = MarginMachine(lam=0.0).solve(DenseGram(K[np.ix_(rest, rest)].copy()), y[rest])
        errors += y[i] * (found.coef @ K[rest, i] + found.intercept) <= 0
    return errors / len(y)


@pytest.mark.parametrize(("gap", "expected"), [(0.25, 1.0 / 0.75), (2.0, np.inf)])
def test_radius_margin_stays_above_where_the_margin_is_not_found(
    monkeypatch: pytest.MonkeyPatch, gap: float, expected: float
) -> None:
    """A distance that is certain up to a gap counts without the gap."""
    solve = MarginMachine.solve

    def rough(self: MarginMachine, *given: Any) -> DualSolution:
        found = solve(self, *given)
        return replace(found, gap=gap, upper=found.value + gap * abs(found.value), converged=False)

    monkeypatch.setattr(MarginMachine, "solve", rough)
    with pytest.warns(ConvergenceWarning, match="larger than need be"):
        bound = diagnostics.radius_margin_bound(np.eye(10), np.tile([1, -1], 5))
    assert bound == pytest.approx(0.9 * expected, rel=1e-5)


def test_hulls_that_meet_have_no_bound() -> None:
    x = np.array([[-1.0], [0.0], [1.0], [2.0]])
    for K in (x @ x.T, (x + 1e3) @ (x + 1e3).T, np.ones((4, 4)), np.zeros((4, 4))):
        assert diagnostics.radius_margin_bound(K, [1, -1, 1, -1]) == np.inf
