"""Lp-MKL in a ball around an offset and in an ellipsoid, beside a conic solver."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import reference as ref
from multikernel import LpMKLClassifier, LpMKLRegressor, bind, kernels

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
Y = np.where(np.sin(2.0 * X[:, 0]) + 0.5 * rng.normal(size=30) > 0, 1, -1)
FAMILY = [kernels.RBF(0.5), kernels.RBF(2.0), kernels.Linear()]
K = bind(FAMILY, X).matrices()
SHAPE = np.array([[1.0, -0.8, 0.3], [-0.8, 2.0, 0.1], [0.3, 0.1, 0.5]])
C = 2.0


def largest(support: Any) -> float:
    """max_a sum a - h(q), 0 <= a <= C, y'a = 0, q_k = 1/2 a'Y K_k Y a, by Clarabel; p >= q stands for q in h."""
    a, p = cp.Variable(len(Y), nonneg=True), cp.Variable(3, nonneg=True)
    scores = [0.5 * cp.sum_squares(ref.root(each) @ cp.multiply(Y, a)) <= p[k] for k, each in enumerate(K)]
    return ref.conic(cp.Problem(cp.Maximize(cp.sum(a) - support(p)), [a <= C, Y @ a == 0, *scores]))


@pytest.mark.parametrize("offset", [0.0, np.array([0.1, 0.0, 0.3])], ids=["around 0", "around an offset"])
def test_weights_in_an_ellipsoid_are_optimal(offset: Any) -> None:
    """The support with multipliers of d >= 0: p = q + mu, mu >= 0."""
    model = LpMKLClassifier(FAMILY, C=C, shape=SHAPE, offset=offset, tol=1e-7).fit(X, Y)
    L, center = np.linalg.cholesky(SHAPE), np.broadcast_to(offset, 3)
    assert model.objective_ == pytest.approx(largest(lambda p: center @ p + cp.norm(L.T @ p)), rel=1e-6)
    assert model.duality_gap_ <= 1e-7
    delta = model.weights_ - center
    assert delta @ np.linalg.solve(SHAPE, delta) <= 1.0 + 1e-9


@pytest.mark.parametrize(("p", "dual", "offset"), [(1.0, "inf", 0.3), (3.0, 1.5, np.array([0.0, 1.0, 0.2]))])
def test_weights_in_a_ball_around_an_offset_are_optimal(p: float, dual: Any, offset: Any) -> None:
    model = LpMKLClassifier(FAMILY, C=C, p=p, offset=offset, tol=1e-8).fit(X, Y)
    center = np.broadcast_to(offset, 3)
    assert model.objective_ == pytest.approx(largest(lambda q: center @ q + cp.pnorm(q, dual)), rel=1e-6)
    assert model.duality_gap_ <= 1e-8
    assert (model.weights_ >= center - 1e-9).all()


def test_the_unit_matrix_is_the_ball_of_norm_two() -> None:
    y = X[:, 0] + np.sin(X[:, 1])
    ball = LpMKLRegressor(FAMILY, C=1.0, epsilon=0.1, tol=1e-8).fit(X, y)
    for shape in (np.eye(3), np.ones(3), [1, 1, 1]):
        model = LpMKLRegressor(FAMILY, C=1.0, epsilon=0.1, shape=shape, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(model.weights_, ball.weights_, rtol=1e-3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"shape": -SHAPE}, "shape must be a symmetric, positive definite matrix"),
        ({"shape": SHAPE, "p": 3.0}, "leave p at 2"),
        ({"shape": SHAPE, "solver": "block_norm"}, "balls around 0 only"),
        ({"offset": 1.0, "solver": "block_norm"}, "balls around 0 only"),
        ({"shape": np.eye(2)}, "2 rows for 3 kernels"),
    ],
)
def test_refusals(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        LpMKLClassifier(FAMILY, **given).fit(X, Y)
