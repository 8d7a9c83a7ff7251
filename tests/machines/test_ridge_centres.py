"""Ridge regression by centres, beside least squares on the same functions in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multikernel.kernels import RBF, Laplacian, Linear
from multikernel.machines.ridge.centres import Tile, by_sums, certified, definite, in_turn, refined, summed

ROWS = 600
KERNELS = [Laplacian(0.3), RBF(0.2), RBF(1e-3), Linear()]


class Problem:
    """Samples, two targets, weights, and centres; ``solution`` is by QR of the stacked system."""

    def __init__(self, kernel, M=80, alpha=1e-2, weighted=True, precision=float, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(ROWS, 4))
        self.Y = np.column_stack([np.sin(2 * self.X[:, 0]) * self.X[:, 1], self.X[:, 2] + 3.0])
        self.Y = self.Y + 0.1 * rng.normal(size=(ROWS, 2))
        self.weight = rng.uniform(0.2, 2.0, ROWS) if weighted else None
        self.Z = self.X[:M]
        self.alpha, self.precision, self.kernel = alpha, precision, kernel
        self.K, self.C = kernel(self.Z, self.Z), kernel(self.X, self.Z)
        self.s = np.ones(ROWS) if self.weight is None else self.weight
        self.mean = np.average(self.Y, axis=0, weights=self.s)

    def tiles(self, rows=slice(None)):
        index = np.arange(ROWS)[rows]
        for part in np.array_split(index, 7):
            weight = None if self.weight is None else self.weight[part]
            yield Tile(self.C[part].astype(self.precision), self.Y[part], weight)

    def values(self, found):
        return self.C @ found.coef + found.intercept

    def objective(self, coef):
        left = self.Y - self.mean - self.C @ coef
        return float((self.s[:, None] * left**2).sum() + self.alpha * (coef * (self.K @ coef)).sum())

    def solution(self):
        values, vectors = np.linalg.eigh(self.K)
        half = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        left = np.vstack([np.sqrt(self.s)[:, None] * self.C, np.sqrt(self.alpha) * half])
        right = np.vstack([np.sqrt(self.s)[:, None] * (self.Y - self.mean), np.zeros((len(half), 2))])
        return np.linalg.lstsq(left, right, rcond=1e-13)[0]


@pytest.mark.parametrize(("kernel", "alpha"), [(k, 1e-2) for k in KERNELS if k != RBF(1e-3)] + [(RBF(1e-3), 1.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_refined_solution_is_that_of_least_squares(kernel, alpha, weighted):
    problem = Problem(kernel, weighted=weighted, alpha=alpha)
    found = refined(problem.K, in_turn(problem.tiles), problem.alpha, summed(problem.tiles()), tol=1e-11)
    assert found.certificate.value <= 1e-11
    expected = problem.C @ problem.solution() + problem.mean
    np.testing.assert_allclose(problem.values(found), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_tiles_in_single_precision_are_near(kernel):
    problem = Problem(kernel, precision=np.float32, alpha=1.0)
    found = by_sums(problem.K, summed(problem.tiles()), problem.alpha)
    expected = problem.C @ problem.solution() + problem.mean
    np.testing.assert_allclose(problem.values(found), expected, atol=2e-3 * np.abs(expected).max())
    assert problem.objective(found.coef) <= 1.0001 * problem.objective(problem.solution())


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=str)
def test_sums_of_a_part_precondition(kernel):
    problem = Problem(kernel)
    part = slice(0, 150)
    share = problem.weight[part].sum() / problem.weight.sum()
    found = refined(problem.K, in_turn(problem.tiles), problem.alpha, summed(problem.tiles(part)), share, tol=1e-10)
    assert found.certificate.value <= 1e-10
    assert 1 <= found.n_iter < 100


@given(
    steps=st.integers(0, 6),
    alpha=st.sampled_from([1e-4, 1e-1, 10.0]),
    seed=st.integers(0, 1000),
    kernel=st.sampled_from(KERNELS[:2]),
)
@settings(max_examples=25, deadline=None)
def test_no_point_is_farther_from_the_minimum_than_its_certificate_says(steps, alpha, seed, kernel):
    problem = Problem(kernel, M=40, alpha=alpha, seed=seed)
    part = slice(0, 60)
    found = refined(
        problem.K, in_turn(problem.tiles), alpha, summed(problem.tiles(part)), 0.1, tol=1e-13, max_iter=steps
    )
    value = problem.objective(found.coef)
    least = problem.objective(problem.solution())
    assert value - least <= found.certificate.value * value + 1e-9 * value


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_certificate_by_sums_has_the_rounding_of_sums(kernel, fit_intercept):
    """The smoother the kernel, the larger its coefficients, and what rounding makes of sums; a pass knows better.

    The certificates are those of the kernel matrix that ``definite`` returns: with coefficients of 1e9 the minimum
    depends on the last digits of this matrix.
    """
    problem = Problem(kernel, alpha=1e-6)
    stated = Problem(kernel, alpha=1e-6)
    stated.K = definite(problem.K)[0]
    if not fit_intercept:
        problem.mean = stated.mean = np.zeros(2)
    least = stated.objective(stated.solution())
    sums = summed(problem.tiles())
    found = certified(problem.K, sums, problem.alpha, 1e-3, fit_intercept)
    value = stated.objective(found.coef)
    assert value - least <= found.certificate.value * value + 1e-9 * value
    np.testing.assert_allclose(found.intercept, problem.mean)
    by_tiles = refined(
        problem.K, in_turn(problem.tiles), problem.alpha, sums, tol=1e-3, fit_intercept=fit_intercept, start=found.coef
    )
    value = stated.objective(by_tiles.coef)
    assert by_tiles.value == pytest.approx(value, rel=1e-6)
    assert value - least <= by_tiles.certificate.value * value + 1e-9 * value


def test_centres_that_are_the_same_are_no_fault():
    problem = Problem(Laplacian(0.3))
    twice = np.r_[np.arange(40), np.arange(40)]
    problem.K, problem.C = problem.K[np.ix_(twice, twice)], problem.C[:, twice]
    found = refined(problem.K, in_turn(problem.tiles), problem.alpha, summed(problem.tiles()), tol=1e-8)
    once = Problem(Laplacian(0.3), M=40)
    np.testing.assert_allclose(problem.values(found), once.C @ once.solution() + once.mean, atol=1e-4)


def test_no_step_is_taken_without_time(monkeypatch):
    monkeypatch.setattr("multikernel.machines.ridge.centres.time_is_up", lambda: True)
    problem = Problem(RBF(0.2))
    found = refined(
        problem.K, in_turn(problem.tiles), problem.alpha, summed(problem.tiles(slice(0, 90))), 0.15, tol=1e-12
    )
    assert found.n_iter == 0
    assert 1e-12 < found.certificate.value < np.inf


def test_kernels_that_are_all_zero_are_no_fault():
    problem = Problem(RBF(0.2))
    problem.K, problem.C = np.zeros_like(problem.K), np.zeros_like(problem.C)
    for found in (
        by_sums(problem.K, summed(problem.tiles()), 1.0),
        refined(problem.K, in_turn(problem.tiles), 1.0, summed(problem.tiles())),
    ):
        np.testing.assert_allclose(problem.values(found), np.tile(problem.mean, (ROWS, 1)))


def test_what_is_refused():
    problem = Problem(RBF(0.2))
    with pytest.raises(ValueError, match="needs samples, and got no tile"):
        summed(iter(()))
    broken = problem.C.copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match="must be finite numbers"):
        summed([Tile(broken, problem.Y)])
    with pytest.raises(ValueError, match="not positive semi-definite"):
        by_sums(-1e6 * np.eye(80), summed(problem.tiles()), 1.0)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        refined(np.full((80, 80), np.nan), in_turn(problem.tiles), 1.0, summed(problem.tiles()))
