"""The printed descent: its slope is that of F, and it ends at the optimum where its step suits the problem."""

from __future__ import annotations

import numpy as np
import pytest

from multikernel import PolynomialMKLRegressor, kernels
from multikernel.reproduce.polynomial import PolynomialMethod
from multikernel.reproduce.report.printed import MOST, choice, descent

RNG = np.random.default_rng(0)
X = RNG.random((30, 4))
Y = X[:, 0] - 0.5 * X[:, 1] + 0.1 * RNG.normal(size=30)
Y -= Y.mean()


def objective(theta: np.ndarray, degree: int, alpha: float) -> float:
    K = ((X * theta) @ X.T) ** degree
    return float(Y @ np.linalg.solve(K + alpha * np.eye(30), Y))


@pytest.mark.parametrize("degree", [1, 2])
def test_it_finds_the_optimum(degree: int) -> None:
    end = descent(X, Y, degree, alpha=1.0, radius=1.0)
    model = PolynomialMKLRegressor(
        kernels.linear_features(), alpha=1.0, degree=degree, radius=1.0, fit_intercept=False, tol=1e-8
    ).fit(X, Y)
    assert end.steps < MOST
    assert objective(end.weights, degree, 1.0) == pytest.approx(model.objective_, rel=1e-3)
    assert np.linalg.norm(end.weights - 1.0) == pytest.approx(1.0)


def test_the_fewest_and_the_most_steps_of_all_runs_are_kept() -> None:
    alone = [choice(X, Y, 1, [alpha], [1.0], 3, 0) for alpha in (0.1, 10.0)]
    both = choice(X, Y, 1, [0.1, 10.0], [1.0], 3, 0)
    fewest, most = zip(*(each["fewest and most steps"] for each in alone), strict=True)
    assert both["fewest and most steps"] == [min(fewest), max(most)]
    assert min(fewest) < both["steps"] < max(most)


def test_without_an_intercept_labels_keep_their_mean() -> None:
    train = np.arange(20)
    test = np.arange(20, 30)
    signs = np.where(Y > -0.1, 1.0, -1.0)
    coef = np.linalg.solve((X[train] @ X[train].T) ** 2 + 0.1 * np.eye(20), signs[train])
    error = float(np.sqrt(np.mean(((X[test] @ X[train].T) ** 2 @ coef - signs[test]) ** 2)))
    parameters = {"alpha": 0.1, "radius": 0.0}
    found = PolynomialMethod(2, None, intercept=False).test_errors(X, signs, (train, test), parameters, 1e-6)
    assert found["error"] == pytest.approx(error, rel=1e-9)
    assert PolynomialMethod(2, None).test_errors(X, signs, (train, test), parameters, 1e-6)["error"] != found["error"]
