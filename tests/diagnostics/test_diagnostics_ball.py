"""The minimum enclosing ball against a conic solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multikernel import diagnostics, kernels
from multikernel._typing import Array

MATRICES = (
    "linear",
    "linear far away",
    "gaussian",
    "narrow gaussian",
    "duplicates",
    "identity",
    "unequal scales",
    "real linear",
    "real gaussian",
    "real cubic",
)


def factor(K: Array) -> Array:
    """F with FF' = K."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-12 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def conic_squared_radius(K: Array) -> float:
    """The smallest ball around the rows of a factor, each row a cone."""
    J = np.eye(len(K)) - 1.0 / len(K)
    F = factor(J @ K @ J)
    centre, radius = cp.Variable(F.shape[1]), cp.Variable()
    distances = cp.norm(F - cp.reshape(centre, (1, F.shape[1]), order="C"), axis=1)
    cp.Problem(cp.Minimize(radius), [distances <= radius]).solve(solver=cp.CLARABEL, tol_gap_rel=1e-10)
    return float(radius.value) ** 2


@pytest.mark.parametrize("name", MATRICES)
def test_ball_agrees_with_a_conic_solver(zoo: dict[str, Array], name: str) -> None:
    ball = diagnostics.meb_radius(zoo[name])
    assert ball.squared_radius == pytest.approx(conic_squared_radius(zoo[name]), rel=1e-6)


@pytest.mark.parametrize("name", MATRICES)
def test_certificate_of_the_ball(zoo: dict[str, Array], name: str) -> None:
    K = zoo[name]
    ball = diagnostics.meb_radius(K)
    a, Ka, rounding = ball.weights, K @ ball.weights, 1e-13 * np.trace(K)
    assert a.min() >= 0.0
    assert a.sum() == pytest.approx(1.0, abs=1e-12)
    value, upper = a @ np.diag(K) - a @ Ka, (np.diag(K) - 2.0 * Ka).max() + a @ Ka
    assert ball.squared_radius == pytest.approx(value, abs=rounding)
    assert ball.squared_radius + ball.gap == pytest.approx(upper, abs=rounding)
    assert 0.0 <= ball.gap <= 1e-8 * ball.squared_radius
    assert ball.average_bound == pytest.approx(np.diag(K).mean() - K.mean(), abs=rounding)
    assert ball.average_bound <= ball.squared_radius + ball.gap
    assert float(ball) == ball.radius == np.sqrt(ball.squared_radius)


@pytest.mark.parametrize("scale", [1e-250, 1.0, 1e250])
def test_known_balls(scale: float) -> None:
    assert float(diagnostics.meb_radius(scale * np.eye(5))) == pytest.approx(np.sqrt(scale * 0.8))
    assert float(diagnostics.meb_radius(scale * np.diag([4.0, 0.0]))) == pytest.approx(np.sqrt(scale))
    assert float(diagnostics.meb_radius(scale * np.full((6, 6), 0.7))) == 0.0


@pytest.mark.parametrize("K", [np.zeros((4, 4)), [[3.0]], np.ones((4, 4))])
def test_samples_at_one_place_have_radius_zero(K: Array) -> None:
    ball = diagnostics.meb_radius(K)
    assert float(ball) == ball.gap == ball.average_bound == 0.0
    assert ball.weights.sum() == pytest.approx(1.0)


def test_ball_says_when_steps_ran_out(zoo: dict[str, Array]) -> None:
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        ball = diagnostics.meb_radius(zoo["narrow gaussian"], max_iter=2)
    assert ball.squared_radius <= diagnostics.meb_radius(zoo["narrow gaussian"]).squared_radius
    assert ball.gap > 1e-8


def test_radius_grows_with_the_degree_only_where_dot_products_are_positive() -> None:
    """Erratum E-D4: for x, -x the squared radius goes from 1 (degree 1) to 0 (degree 2)."""
    pair = np.array([[1.0], [-1.0]])
    assert [float(diagnostics.meb_radius((pair @ pair.T) ** d)) for d in (1, 2)] == [1.0, 0.0]
    X = np.random.default_rng(3).uniform(size=(30, 4))
    radii = [float(diagnostics.meb_radius(kernels.HomogeneousPolynomial(d).normalized()(X))) for d in range(1, 7)]
    assert (np.diff(radii) > 0).all()


def test_radius_of_a_mix_is_at_most_the_mix_of_the_radii(zoo: dict[str, Array]) -> None:
    matrices = [zoo[name] for name in ("linear", "gaussian", "narrow gaussian")]
    weights = np.array([0.2, 0.5, 0.3])
    mix = diagnostics.meb_radius(np.tensordot(weights, matrices, 1)).squared_radius
    assert mix <= weights @ [diagnostics.meb_radius(K).squared_radius for K in matrices]
