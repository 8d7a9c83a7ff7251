"""Kernel ridge regression by a half factor and tiles, against dense solutions in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from multikernel.kernels import RBF, Laplacian, Linear
from multikernel.machines.ridge import all_samples
from multikernel.machines.ridge.all_samples import AllSamplesRidge, by_all_samples


class Problem:
    def __init__(self, kernel, n, weighted=False, fit_intercept=True):
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(n + 20, 3))
        self.kernel = kernel
        self.rows = np.sort(rng.permutation(n + 20)[:n])
        self.Y = np.stack([np.sin(2.0 * self.X[self.rows, 0]), self.X[self.rows, 1] ** 2 + 3.0], axis=1)
        self.weight = rng.uniform(0.1, 2.0, n) if weighted else None
        self.problem = AllSamplesRidge(self.between, self.rows, self.Y, self.weight, fit_intercept)

    def between(self, rows, columns):
        return self.kernel(self.X[rows], self.X[columns])

    def solution(self, alpha):
        K, s = self.between(self.rows, self.rows), np.ones(len(self.rows)) if self.weight is None else self.weight
        return np.linalg.solve(K + alpha * np.diag(1.0 / s), self.Y - self.problem.constant)

    def objective(self, A, alpha):
        K, s = self.between(self.rows, self.rows), np.ones(len(self.rows)) if self.weight is None else self.weight
        return float((s[:, None] * (self.Y - self.problem.constant - K @ A) ** 2).sum() + alpha * (A * (K @ A)).sum())


@pytest.mark.parametrize("n", [1, 2, 7, 300, 301])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_solution_is_that_of_the_dense_system(n, weighted, monkeypatch):
    monkeypatch.setattr(all_samples, "BUFFER_VALUES", 40_000)  # tiles of some tens of rows
    own = Problem(Laplacian(0.5), n, weighted)
    found = by_all_samples(own.problem, 0.01, tol=1e-13)
    np.testing.assert_allclose(found.coef, own.solution(0.01), rtol=1e-5, atol=1e-6)
    s = np.ones(n) if own.weight is None else own.weight
    np.testing.assert_allclose(found.intercept, np.average(own.Y, axis=0, weights=s))
    assert found.certificate.value <= 1e-13


@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(1e-3), Linear()], ids=repr)
@pytest.mark.parametrize("alpha", [1.0, 1e-6])
def test_the_gap_bounds_the_distance_from_the_optimum(kernel, alpha):
    own = Problem(kernel, 200, weighted=True, fit_intercept=False)
    least = min(own.objective(own.solution(alpha), alpha), by_all_samples(own.problem, alpha, 1e-10).value)
    for steps in (0, 2):
        found = by_all_samples(own.problem, alpha, tol=1e-14, max_iter=steps)
        value = own.objective(found.coef, alpha)
        assert found.value == pytest.approx(value, rel=1e-5)
        assert value - least <= found.certificate.value * value + 1e-6 * value
        assert found.n_iter == steps or found.certificate.value <= 1e-14
    assert not found.intercept.any()
    assert by_all_samples(own.problem, alpha, tol=1e-3).certificate.value <= 1e-3


@pytest.mark.parametrize("unit", [1e-10, 1e12])
def test_units_do_not_matter(unit):
    own = Problem(RBF(1e-3), 200)
    scaled = AllSamplesRidge(lambda r, c: unit * own.between(r, c), own.rows, own.Y)
    assert by_all_samples(scaled, unit * 1e-6, tol=1e-6).certificate.value <= 1e-6


def test_no_time_and_no_kernel(monkeypatch):
    own = Problem(RBF(0.3), 50)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        by_all_samples(AllSamplesRidge(lambda r, c: -own.between(r, c), own.rows, own.Y), 1e-3)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        by_all_samples(AllSamplesRidge(lambda r, c: np.nan * own.between(r, c), own.rows, own.Y), 1e-3)
    monkeypatch.setattr(all_samples, "time_is_up", lambda: True)
    assert by_all_samples(own.problem, 1e-6, tol=1e-15).n_iter == 0
