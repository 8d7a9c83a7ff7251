"""Second derivatives of ridge regression, on the sphere too, and the quadratic models made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel import bind, kernels, precomputed
from multikernel.banks import KernelBank
from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF
from multikernel.domains import NormBall
from multikernel.machines import HingeMachine, RidgeMachine
from multikernel.numerics.trust_region import descend_in_ball, minimise_in_ball
from multikernel.optimizers.ridge import sphere
from multikernel.optimizers.ridge.sphere import hessian, hessian_product
from multikernel.problem import Problem
from zoo import PROBLEMS

Array = Any
STEP = 1e-5
COMBINATIONS: list[Combination] = [Linear(), HadamardPower(1), HadamardPower(2), HadamardPower(3), HadamardPower(4)]
BANKS: dict[str, Callable[[], KernelBank]] = {
    "stack": lambda: precomputed(PROBLEMS["random"]().K),
    "features": lambda: bind(kernels.linear_features(), np.random.default_rng(1).normal(size=(30, 5))),
    "groups": lambda: bind(
        [kernels.Linear().on([0, 2]), kernels.RBF(0.5), kernels.Linear().on([1])],
        np.random.default_rng(1).normal(size=(30, 3)),
    ),
}
every_combination = pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
every_bank = pytest.mark.parametrize("name", BANKS)


def posed(bank: KernelBank, combination: Combination, targets: int = 0, weighted: bool = False) -> Problem:
    rng, n = np.random.default_rng(0), bank.shape[0]
    y = rng.normal(size=(n, targets) if targets else n)
    weights = rng.uniform(0.0, 2.0, size=n) if weighted else None
    return Problem(bank, combination, RidgeMachine(0.7), NormBall(2.0, 0.9, 0.5), y, weights)


def differences(problem: Problem, theta: Array) -> Array:
    """Central differences of the gradient."""
    columns = [
        (problem.evaluate(theta + STEP * e).gradient - problem.evaluate(theta - STEP * e).gradient) / (2.0 * STEP)
        for e in np.eye(len(theta))
    ]
    return np.array(columns)


# -- second derivatives ------------------------------------------------------------------------------------------------


@every_bank
@every_combination
def test_differences_of_the_gradient(name: str, combination: Combination) -> None:
    problem = posed(BANKS[name](), combination)
    theta = np.random.default_rng(2).uniform(0.5, 1.5, size=problem.size)
    want = differences(problem, theta)
    np.testing.assert_allclose(hessian(problem, problem.evaluate(theta)), want, atol=1e-7 * np.abs(want).max())


@pytest.mark.parametrize(("targets", "weighted"), [(3, False), (0, True), (2, True)])
@every_combination
def test_several_targets_and_weighted_samples(combination: Combination, targets: int, weighted: bool) -> None:
    problem = posed(BANKS["stack"](), combination, targets, weighted)
    theta = np.random.default_rng(2).uniform(0.5, 1.5, size=problem.size)
    want = differences(problem, theta)
    np.testing.assert_allclose(hessian(problem, problem.evaluate(theta)), want, atol=1e-7 * np.abs(want).max())


@every_bank
@every_combination
@pytest.mark.parametrize("targets", [0, 2])
def test_products_do_without_the_matrix(name: str, combination: Combination, targets: int) -> None:
    problem = posed(BANKS[name](), combination, targets)
    rng = np.random.default_rng(2)
    at = problem.evaluate(rng.uniform(0.5, 1.5, size=problem.size))
    H, product = hessian(problem, at), hessian_product(problem, at)
    for _ in range(3):
        v = rng.normal(size=problem.size)
        np.testing.assert_allclose(product(v), H @ v, atol=1e-10 * np.linalg.norm(H) * np.linalg.norm(v))


def test_a_ridge_that_rounding_swallows_leaves_the_derivatives_finite() -> None:
    problem = Problem(precomputed(np.ones((2, 6, 6))), Linear(), RidgeMachine(1e-17), NormBall(2.0), np.arange(6.0))
    assert np.isfinite(hessian(problem, problem.evaluate(np.ones(2)))).all()


def test_other_machines_have_none() -> None:
    case = PROBLEMS["random"]()
    problem = Problem(precomputed(case.K), Linear(), HingeMachine(), NormBall(2.0), case.y)
    with pytest.raises(TypeError, match=r"^the second derivative needs a RidgeMachine.*HingeMachine"):
        hessian(problem, problem.evaluate(problem.start()))


def test_nor_have_products_of_gaussians() -> None:
    X = np.random.default_rng(0).normal(size=(8, 2))
    bank = bind(kernels.linear_features(), X).distances()
    problem = Problem(bank, ProductOfRBF(), RidgeMachine(), NormBall(2.0), X[:, 0])
    with pytest.raises(TypeError, match=r"second derivatives, which ProductOfRBF\(\) does not have; ProjectedGradient"):
        hessian(problem, problem.evaluate(problem.start()))


@every_combination
@pytest.mark.parametrize("exact", [True, False])
def test_on_the_sphere(combination: Combination, exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Along the curve of a tangent step brought back: slope and bend are the first two derivatives of the value."""
    for limit in ("HESSIAN_WEIGHTS", "HESSIAN_WEIGHTS_CUBIC"):
        monkeypatch.setattr(sphere, limit, 1000 if exact else 0)
    problem = posed(BANKS["stack"](), combination)
    ball, rng, h = problem.domain, np.random.default_rng(3), 1e-3
    assert isinstance(ball, NormBall)
    x = rng.uniform(0.3, 1.0, size=problem.size)
    theta = sphere._on_sphere(ball, x)
    local = sphere._Local.of(problem, ball, problem.evaluate(theta))
    assert local.slope @ local.x == pytest.approx(0.0, abs=1e-12 * np.linalg.norm(local.slope))
    v = rng.normal(size=problem.size)
    v -= local.x * (local.x @ v) / (local.x @ local.x)
    v /= 10.0 * np.linalg.norm(v)
    down, there, up = (problem.evaluate(sphere._on_sphere(ball, local.x + t * v)).value for t in (-h, 0.0, h))
    assert (up - down) / (2.0 * h) == pytest.approx(local.slope @ v, rel=1e-4)
    assert (up - 2.0 * there + down) / h**2 == pytest.approx(v @ local.curvature(v), rel=1e-3)


# -- quadratic models --------------------------------------------------------------------------------------------------


def value(H: Array, g: Array, z: Array) -> float:
    return float(g @ z + 0.5 * (z @ H @ z))


def assert_lowest(H: Array, g: Array, radius: float, z: Array) -> None:
    """(H + t I) z = -g, H + t I without negative eigenvalue, t >= 0, and t = 0 or the ball's boundary."""
    size, scale = float(np.linalg.norm(z)), float(np.abs(H).max()) + float(np.linalg.norm(g)) / radius
    assert size <= radius * (1.0 + 1e-9)
    t = -float(z @ (H @ z + g)) / size**2 if size > 0 else 0.0
    np.testing.assert_allclose(H @ z + t * z, -g, atol=1e-7 * scale * radius)
    assert t >= -1e-7 * scale
    assert float(np.linalg.eigvalsh(H)[0]) + t >= -1e-7 * scale
    assert size >= radius * (1.0 - 1e-6) or abs(t) <= 1e-7 * scale


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.floats(0.01, 100.0), st.sampled_from([-2.0, 0.0, 2.0]))
def test_the_lowest_point_in_a_ball(seed: int, d: int, radius: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(d, d))
    H = H + H.T + shift * np.eye(d)
    g = rng.normal(size=d)
    z = minimise_in_ball(H, g, radius)
    assert_lowest(H, g, radius, z)
    cg = descend_in_ball(lambda v: H @ v, g, radius)
    assert np.linalg.norm(cg) <= radius * (1.0 + 1e-9)
    along = -g * min(radius / np.linalg.norm(g), (g @ g) / (g @ H @ g) if g @ H @ g > 0 else np.inf)
    assert (
        value(H, g, z)
        <= value(H, g, cg) + 1e-9 * abs(value(H, g, z))
        <= value(H, g, along) + 1e-7 * abs(value(H, g, z))
    )


@pytest.mark.parametrize("lowest", [-1.0, -1e-3])
def test_a_gradient_that_says_nothing_of_the_lowest_direction(lowest: float) -> None:
    H, g = np.diag([lowest, 1.0, 2.0]), np.array([0.0, 0.3, -0.2])
    z = minimise_in_ball(H, g, 5.0)
    assert_lowest(H, g, 5.0, z)
    assert abs(z[0]) > 4.0


def test_without_gradient_and_without_negative_curvature_it_stays() -> None:
    np.testing.assert_array_equal(minimise_in_ball(np.eye(3), np.zeros(3), 1.0), 0.0)
    np.testing.assert_array_equal(descend_in_ball(lambda v: v, np.zeros(3), 1.0), 0.0)


def test_a_flat_model_leads_down_its_slope_to_the_boundary() -> None:
    np.testing.assert_allclose(minimise_in_ball(np.zeros((2, 2)), np.array([3.0, 4.0]), 2.0), [-1.2, -1.6])
    np.testing.assert_allclose(descend_in_ball(np.zeros_like, np.array([3.0, 4.0]), 2.0), [-1.2, -1.6])
