"""More kernels than samples: the steps against those of order m, what is told of them, and an end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from sklearn.exceptions import ConvergenceWarning

from cases import one_in
from multikernel import MultipleKernelRidgeCV, kernels, precomputed
from multikernel.procedures.ridge_cv import Folds, HeldOutError
from multikernel.procedures.ridge_cv.model import Tall, Wide

Array = Any
LARGEST = 1e9


def models(rows: int = 6, m: int = 25) -> tuple[Wide, Tall, Array]:
    rng = np.random.default_rng(0)
    G, v = rng.normal(size=(rows, m)), rng.exponential(size=m) * (rng.random(m) < 0.5)
    slope = G.T @ rng.normal(size=rows)
    return Wide(v, slope, G), Tall(v, slope, G.T @ G), np.einsum("ik,ik->k", G, G)


@pytest.mark.parametrize("damping", [1e-6, 1e-2, 1.0])
def test_a_step_is_a_least_squares_problem_with_bounds(damping: float) -> None:
    wide, tall, squares = models()
    D, sizes = damping * squares, np.ones(len(squares))
    A = np.vstack([wide.G, np.diag(np.sqrt(D))])
    target = np.concatenate([-np.linalg.lstsq(wide.G.T, wide.slope)[0], np.zeros(len(D))])
    with np.errstate(divide="ignore"):
        expected = lsq_linear(A, target, (-wide.v - 1e-300, np.full(len(D), np.inf)), tol=1e-14, max_iter=1000).x
    for model in (wide, tall):
        s = model.step(D, sizes, np.inf)
        assert (wide.v + s >= -1e-12).all()
        np.testing.assert_allclose(s, expected, atol=1e-6 * np.abs(expected).max())


def test_weights_that_are_bounded_are_optimal_among_these() -> None:
    wide, tall, squares = models()
    sizes, D = np.linspace(1.0, 2.0, len(squares)), 1e-3 * squares
    free = float(sizes @ (wide.v + wide.step(D, sizes, np.inf)))
    largest = 0.5 * (free + float(sizes @ wide.v)) if free > sizes @ wide.v else 0.5 * free
    for model in (wide, tall):
        s = model.step(D, sizes, largest)
        assert sizes @ (model.v + s) == pytest.approx(largest, rel=1e-9)
        g = 2.0 * (model.slope + wide.G.T @ (wide.G @ s) + D * s)
        multiplier = (-g / sizes)[model.v + s > 1e-9]  # the same for all weights that are not zero
        np.testing.assert_allclose(multiplier, multiplier[0], rtol=1e-5)


@pytest.mark.parametrize("cv", one_in(2, [5, "loo"]))
def test_hundreds_of_kernels_on_twenty_samples(cv: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 50))
    y = X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.normal(size=20)
    family = [kernels.RBF(gamma).on([j]) for j in range(50) for gamma in np.logspace(-2, 2, 8)]
    model = MultipleKernelRidgeCV(family, cv=cv).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 100
    assert model.cv_loss_ < 1e-3 * y.var()


def test_the_stationarity_told_does_not_depend_on_the_way() -> None:
    """One weight alone promises a part of what all do: the decrease of its own parabola."""
    rng = np.random.default_rng(1335)
    X = 1000.0 * rng.normal(size=(15, 2))
    K = np.stack([(X @ X.T) ** d for d in range(3)])
    y = K[1] @ rng.normal(size=15)
    y = y / np.abs(y).max() + 0.3 * rng.normal(size=15)
    with pytest.warns(ConvergenceWarning):  # for steps gain too little to go on
        model = MultipleKernelRidgeCV("precomputed", cv=4, tol=2e-6).fit(K, y)
    assert not model.converged_
    error = HeldOutError(precomputed(K), y[:, None], Folds.of(4, 15, y))
    point = error.at(model.weights_ / model.alpha_)
    assert point is not None
    near = error.model(point)
    s = np.maximum(-near.slope / near.diagonal, -point.v)
    promised = float((-s * (2.0 * near.slope + s * near.diagonal)).max()) / max(point.value, 0.01 * error.constant())
    assert promised <= 1.01 * model.stationarity_ + 1e-9
