"""Logistic regression on centres, against scikit-learn's in features and a foreign optimizer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from multikernel.kernels import RBF, Laplacian, Linear
from multikernel.machines.logistic import centres
from multikernel.machines.logistic.centres import LogisticSamples, logistic_by_centres
from multikernel.machines.ridge.centres import Tile, summed

ROWS = 400


class Problem:
    """Samples of three classes, a column of labels for each, and their kernels with 30 centres."""

    def __init__(self, kernel, weighted=False):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(ROWS, 3))
        value = X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.3 * rng.normal(size=ROWS)
        self.labels = np.where(np.digitize(value, [-0.5, 0.5])[:, None] == np.arange(3), 1.0, -1.0)
        self.C, self.K = kernel(X, X[:30]), kernel(X[:30], X[:30])
        self.weight = rng.integers(0, 3, ROWS).astype(float) if weighted else None
        self.samples = LogisticSamples(self.parts, self.labels, self.weight)
        self.sums = summed([Tile(self.C, self.labels, self.weight)])

    def parts(self):
        return np.split(self.C, [150, 151])

    def solve(self, alpha, **options):
        return logistic_by_centres(self.K, self.samples, self.sums, alpha, **options)

    def objective(self, j, alpha, a, c):
        s = np.ones(ROWS) if self.weight is None else self.weight
        return s @ np.logaddexp(0.0, -self.labels[:, j] * (self.C @ a + c)) + 0.5 * alpha * a @ self.K @ a


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 1e-3])
def test_the_solution_is_that_of_logistic_regression_in_features(alpha, weighted):
    problem = Problem(RBF(0.3), weighted)
    found = problem.solve(alpha, tol=1e-11)
    features = np.linalg.solve(np.linalg.cholesky(problem.K + 1e-13 * np.eye(30)), problem.C.T).T
    for j in range(3):
        other = LogisticRegression(C=1.0 / alpha, solver="newton-cholesky", tol=1e-12, max_iter=1000)
        other.fit(features, problem.labels[:, j], sample_weight=problem.weight)
        values = problem.C @ found.coef[:, j] + found.intercept[j]
        np.testing.assert_allclose(values, other.decision_function(features), atol=1e-3)
    assert found.certificate.kind == "duality gap"
    assert found.certificate.value <= 1e-11


@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(1e-3), Laplacian(0.5), Linear()], ids=repr)
def test_the_gap_bounds_the_distance_from_the_optimum(kernel):
    problem = Problem(kernel)
    best = problem.solve(1e-2, tol=1e-9, max_iter=200)
    for steps in (0, 1, 3):
        found = problem.solve(1e-2, tol=1e-12, max_iter=steps)
        value = sum(problem.objective(j, 1e-2, found.coef[:, j], found.intercept[j]) for j in range(3))
        assert found.value == pytest.approx(value, rel=1e-9)
        assert value - best.value <= found.certificate.value * value + 1e-7 * value
        assert found.n_iter <= steps


def test_without_an_intercept():
    problem = Problem(Laplacian(0.5))
    found = problem.solve(0.1, tol=1e-10, fit_intercept=False)
    assert not found.intercept.any()
    for j in range(3):
        least = minimize(lambda a, j=j: problem.objective(j, 0.1, a, 0.0), np.zeros(30), method="BFGS").fun
        assert problem.objective(j, 0.1, found.coef[:, j], 0.0) == pytest.approx(least, rel=1e-6)


def test_a_start_takes_fewer_steps():
    problem = Problem(RBF(0.3))
    far = problem.solve(1e-3, tol=1e-8)
    near = problem.solve(1e-3, tol=1e-8, start=problem.solve(2e-3, tol=1e-8))
    assert near.n_iter < far.n_iter
    assert near.value == pytest.approx(far.value, rel=1e-6)


def test_one_class_alone_and_classes_far_apart_end():
    problem = Problem(RBF(0.3))
    same = LogisticSamples(problem.parts, np.full((ROWS, 1), -1.0))
    found = logistic_by_centres(problem.K, same, problem.sums, 1.0)
    assert (problem.C @ found.coef + found.intercept < -5.0).all()
    sure = LogisticSamples(problem.parts, np.where(problem.C[:, :1] > np.median(problem.C[:, 0]), 1.0, -1.0))
    found = logistic_by_centres(problem.K, sure, problem.sums, 1e-9, max_iter=200)
    assert ((problem.C @ found.coef + found.intercept > 0) == (sure.labels > 0)).all()
    assert found.certificate.value <= 1e-3


def test_no_time_is_said_by_the_certificate(monkeypatch):
    monkeypatch.setattr(centres, "time_is_up", lambda: True)
    found = Problem(RBF(0.3)).solve(1e-3, tol=1e-8)
    assert found.n_iter == 0
    assert 1e-8 < found.certificate.value < np.inf


def test_what_is_no_kernel_matrix_is_refused():
    problem = Problem(RBF(0.3))
    with pytest.raises(ValueError, match="not positive semi-definite"):
        logistic_by_centres(np.full((30, 30), np.nan), problem.samples, problem.sums, 1.0)
