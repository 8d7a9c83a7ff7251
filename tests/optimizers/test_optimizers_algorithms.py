"""What is special to single algorithms: monotone updates, other domains, kernels that are not linear in the weights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mkl_reference as mkl
import reference as ref
from multikernel import bind, kernels, precomputed
from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF
from multikernel.domains import Domain, EntropySimplex, NormBall, Orthant, Simplex
from multikernel.machines import EpsilonMachine, HingeMachine, Machine, RidgeMachine, SquaredHingeMachine
from multikernel.numerics.limited_memory import Curvature
from multikernel.optimizers import (
    BlockNorm,
    LevelMethod,
    Optimizer,
    ProjectedGradient,
    QuasiNewton,
    ReducedGradient,
)
from multikernel.optimizers.block_norm import _stretched
from multikernel.optimizers.reduced_gradient import _Path
from multikernel.problem import Problem
from outsiders import Logistic
from zoo import PROBLEMS

Array = Any
seeds = st.integers(0, 2**32 - 1)


def outer(name: str, domain: Domain, machine: Machine, combination: Combination | None = None) -> Problem:
    case = PROBLEMS[name]()
    return Problem(precomputed(case.K), combination or Linear(), machine, domain, case.y)


# -- alternation in closed form ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["random", "low-rank", "rank-one", "zero"])
@pytest.mark.parametrize("p", [1.0, 1.1, 2.0, 4.0])
def test_an_update_in_closed_form_never_raises_the_value(name: str, p: float) -> None:
    problem = outer(name, NormBall(p), HingeMachine(C=1.0, tol=1e-10))
    rng = np.random.default_rng(0)
    for _ in range(5):
        theta = NormBall(p).project(rng.exponential(size=problem.size))
        before = problem.evaluate(theta)
        after = problem.evaluate(NormBall(p).block_update(theta * np.sqrt(before.scores)))
        assert after.value <= before.value * (1.0 + 1e-9)


@given(seeds, st.integers(1, 6), st.sampled_from([1.0, 1.1, 2.0, 4.0]), st.sampled_from([1.0, 1.5, 10.0]))
def test_stretched_updates_stay_on_the_sphere(seed: int, m: int, p: float, stretch: float) -> None:
    rng = np.random.default_rng(seed)
    ball = NormBall(p, 1.5)
    d = ball.block_update(rng.exponential(size=m) * (rng.random(m) < 0.8))
    plain = ball.block_update(d * rng.exponential(size=m))
    stretched = _stretched(ball, d, plain, stretch)
    assert ball.contains(stretched)
    if plain.any():
        assert mkl.norm(stretched, p) == pytest.approx(1.5)
        np.testing.assert_array_equal(stretched > 0, plain > 0)


def test_a_start_with_zeros_is_moved_inside() -> None:
    problem = outer("random", NormBall(1.5), HingeMachine(C=1.0))
    corner = BlockNorm(tol=1e-5).minimise(problem, start=np.array([1.0, 0.0, 0.0, 0.0]))
    assert corner.converged
    assert (corner.theta > 0).all()


@pytest.mark.parametrize("name", ["random", "low-rank"])
def test_large_norms_make_the_weights_equal(name: str) -> None:
    found = BlockNorm(tol=1e-8).minimise(outer(name, NormBall(100.0), HingeMachine(C=1.0)))
    np.testing.assert_allclose(found.theta, found.theta[0], rtol=0.05)


# -- reduced gradient --------------------------------------------------------------------------------------------------


@given(seeds, st.integers(2, 8), st.booleans())
def test_the_way_leads_down_and_stays_in_the_simplex(seed: int, m: int, scaled: bool) -> None:
    """Along it a quadratic function has the slopes that differences tell; weights that reach zero stay there."""
    rng = np.random.default_rng(seed)
    d = rng.dirichlet(np.ones(m)) * (rng.random(m) < 0.6)
    d = d / d.sum() if d.any() else np.eye(m)[0]
    F, linear = rng.normal(size=(m, m)), rng.normal(size=m)

    def at(theta: Array) -> SimpleNamespace:
        return SimpleNamespace(theta=theta, gradient=F @ F.T @ theta + linear)

    curvature = Curvature.none(m, True)
    for s in rng.normal(size=(m if scaled else 0, m)):
        s = s - s.mean()
        curvature = curvature.with_pair(s, F @ F.T @ s)
    way = _Path.at(at(d), curvature, 1.0)
    first = way.slopes(0.0, at(d))[1]
    gradient = at(d).gradient
    if gradient[d > 0].max() <= gradient.min() + 1e-12:
        assert first >= -1e-10
        return
    assert first < 0.0
    passed = np.zeros(m, dtype=bool)
    for t in np.linspace(0.0, way.length, 20)[1:]:
        there = way.point(t)
        assert Simplex().contains(there)
        assert not there[passed].any()
        passed |= (there == 0.0) & (way.direction < 0.0)
    assert first == pytest.approx(gradient @ (way.point(1e-6 * way.length) - d) / (1e-6 * way.length), rel=1e-3)


def test_the_way_ends_where_the_largest_weight_or_all_others_are_zero() -> None:
    d, gradient = np.array([0.5, 0.3, 0.2]), np.array([1.0, 2.0, 3.0])
    others = _Path.at(SimpleNamespace(theta=d, gradient=gradient), Curvature.none(3, True), 1.0)
    np.testing.assert_allclose(others.point(others.length), [1.0, 0.0, 0.0])
    largest = _Path.at(SimpleNamespace(theta=d, gradient=-gradient), Curvature.none(3, True), 1.0)
    assert largest.length == pytest.approx(0.5 / 3.0)
    np.testing.assert_allclose(largest.point(largest.length), [0.0, 0.3 + 0.5 / 3.0, 0.2 + 1.0 / 3.0])


@pytest.mark.parametrize("C", [5.0, 60.0])
def test_tens_of_machines_reach_a_small_gap(C: float) -> None:
    """Gaussians of four widths on each of six features; steps along the reduced gradient itself took hundreds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    y = np.sign(X[:, 0] + 0.5 * X[:, 1] ** 2 - 0.4 + 0.3 * rng.normal(size=50))
    K = np.stack([kernels.RBF(g).on([j])(X, X) for j in range(6) for g in (0.01, 0.1, 1.0, 10.0)])
    found = ReducedGradient(tol=1e-6).minimise(Problem(precomputed(K), Linear(), HingeMachine(C=C), Simplex(), y))
    best = mkl.mkl(K, mkl.classification(y, C), 1.0)
    assert found.converged
    assert found.n_iter <= 40
    assert found.bound <= best.upper
    assert best.lower <= found.evaluation.upper <= best.lower * (1.0 + 1e-5)


def test_of_hundreds_of_kernels_most_become_zero_in_tens_of_machines() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 31))
    y = np.sign(X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=60))
    bank = bind([kernels.RBF(g).on([j]) for j in range(31) for g in np.logspace(-3, 3, 13)], X)
    found = ReducedGradient(tol=1e-6).minimise(Problem(bank, Linear(), HingeMachine(C=1.0), Simplex(), y))
    assert len(bank) == 403
    assert found.converged
    assert found.n_iter <= 100


def test_duplicates_share_what_one_of_them_would_have() -> None:
    case = PROBLEMS["duplicated"]()
    several = ReducedGradient(tol=1e-4).minimise(outer("duplicated", Simplex(), HingeMachine(C=1.0)))
    single = LevelMethod(tol=1e-6).minimise(
        Problem(precomputed(case.K[[0, 1, 3]]), Linear(), HingeMachine(C=1.0), Simplex(), case.y)
    )
    assert several.evaluation.value == pytest.approx(single.evaluation.value, rel=1e-3)


# -- projected gradient: convex problems -------------------------------------------------------------------------------


def penalised_value(K: Array, y: Array, C: float, penalty: Any) -> float:
    """max_a 1'a - h(q), q_k = 1/2 a'G_ka, with h given as an expression and constraints in q; by Clarabel.

    Where y'a = 0, a constant in a kernel has no part in q; kernels that are nothing else are left out.
    """
    centred = [ref.centred_matrix(matrix) for matrix in K]
    felt = [matrix for matrix in centred if np.abs(matrix).max() > 1e-12]
    a, q = cp.Variable(len(y), nonneg=True), cp.Variable(len(felt))
    below = [0.5 * cp.sum_squares(ref.root(matrix) * y @ a) <= q[k] for k, matrix in enumerate(felt)]
    value, constraints = penalty(q)
    problem = cp.Problem(cp.Maximize(cp.sum(a) - value), [*below, *constraints, a <= C, y @ a == 0])
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("name", ["random", "low-rank", "zero", "constant", "duplicated"])
def test_quadratic_penalty(name: str) -> None:
    case, strength = PROBLEMS[name](), 0.8
    found = ProjectedGradient(tol=1e-6).minimise(outer(name, Orthant(strength), HingeMachine(C=1.0)))
    want = penalised_value(case.K, case.y, 1.0, lambda q: (cp.sum_squares(q) / (4.0 * strength), []))
    assert found.converged
    assert found.evaluation.value == pytest.approx(want, rel=1e-5)


@pytest.mark.parametrize("name", ["random", "low-rank", "zero", "constant", "duplicated"])
@pytest.mark.parametrize("optimizer", [ProjectedGradient(tol=1e-6), QuasiNewton(tol=1e-6)], ids=type)
def test_linear_penalty(name: str, optimizer: Optimizer) -> None:
    """The domain's support is infinite but for the optimum itself; a part of the scores bounds the optimum."""
    case, strength = PROBLEMS[name](), 0.8
    found = optimizer.minimise(outer(name, Orthant(strength, 1), HingeMachine(C=1.0)))
    want = penalised_value(case.K, case.y, 1.0, lambda q: (0.0, [q <= strength]))
    assert found.converged
    assert found.certificate.kind == "duality gap"
    assert found.bound <= want * (1.0 + 1e-7) <= found.evaluation.upper * (1.0 + 2e-7)
    assert found.evaluation.value == pytest.approx(want, rel=1e-5)


@pytest.mark.parametrize("name", ["random", "low-rank", "duplicated"])
@pytest.mark.parametrize("smoothing", [0.5, 5.0])
def test_entropy_is_smoothed_mkl(name: str, smoothing: float) -> None:
    case = PROBLEMS[name]()
    problem = outer(name, EntropySimplex(0.5 * smoothing), HingeMachine(C=1.0, fit_intercept=False))
    found = ProjectedGradient(tol=1e-6).minimise(problem)
    assert found.converged
    assert -found.evaluation.value == pytest.approx(mkl.smoothed_value(case.K, case.y, 1.0, smoothing), rel=1e-5)


@pytest.mark.parametrize("machine", [HingeMachine(), SquaredHingeMachine(), RidgeMachine(), EpsilonMachine()])
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_every_machine_over_a_ball_by_two_algorithms(machine: Machine, p: float) -> None:
    problem = outer("low-rank", NormBall(p), machine)
    one = ProjectedGradient(tol=1e-6).minimise(problem)
    other = BlockNorm(tol=1e-3).minimise(problem)
    assert one.converged
    assert other.converged
    assert one.evaluation.upper >= other.evaluation.upper * (1.0 - other.certificate.value)
    assert other.evaluation.upper >= one.evaluation.upper * (1.0 - one.certificate.value)


def test_a_ball_around_another_point() -> None:
    """Shifting the centre by c adds sum_k c_k K_k to every kernel of the family."""
    case = PROBLEMS["random"]()
    machine = SquaredHingeMachine(C=1.0)
    found = ProjectedGradient(tol=1e-6).minimise(outer("random", NormBall(2.0, 0.7, 1.0), machine))
    assert found.converged
    rng = np.random.default_rng(0)
    for _ in range(20):
        delta = rng.exponential(size=len(case.K))
        other = machine.solve(precomputed(case.K).combine(1.0 + 0.7 * delta / np.linalg.norm(delta)), case.y)
        assert found.evaluation.value <= other.value * (1.0 + 1e-5)


# -- projected gradient: kernels that are not linear in the weights ----------------------------------------------------


@pytest.mark.parametrize("machine", [SquaredHingeMachine(C=1.0), RidgeMachine(alpha=0.5)])
@pytest.mark.parametrize("name", ["random", "low-rank"])
def test_squares_over_a_2_norm_ball_have_one_minimum(name: str, machine: Machine) -> None:
    """The problem is convex in the squares of the weights, so every start leads to the same value."""
    problem = outer(name, NormBall(2.0), machine, HadamardPower(2))
    rng = np.random.default_rng(0)
    found = [
        ProjectedGradient(tol=1e-7).minimise(problem, start=NormBall(2.0).project(rng.exponential(size=problem.size)))
        for _ in range(4)
    ]
    assert all(run.converged for run in found)
    values = [run.evaluation.value for run in found]
    np.testing.assert_allclose(values, min(values), rtol=1e-5)
    assert all(run.evaluation.bound == -np.inf for run in found)


@pytest.mark.parametrize("machine", [SquaredHingeMachine(C=1.0), RidgeMachine(alpha=0.5), EpsilonMachine(C=1.0)])
@pytest.mark.parametrize("domain", [Orthant(0.3), Orthant(0.3, 1), NormBall(2.0), NormBall(1.5, 0.5, 0.2)])
def test_widths_of_a_product_of_gaussians(machine: Machine, domain: Domain) -> None:
    """No neighbour of what it returns has a value that is lower to first order."""
    X = np.random.default_rng(1).normal(size=(30, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)  # the third feature says nothing
    bank = bind(kernels.linear_features(), X).distances()
    problem = Problem(bank, ProductOfRBF(), machine, domain, y)
    found = ProjectedGradient(tol=1e-6).minimise(problem)
    assert found.converged
    assert domain.contains(found.theta)
    assert found.evaluation.value <= problem.evaluate(problem.start()).upper
    rng = np.random.default_rng(2)
    for _ in range(20):
        there = domain.project(found.theta + 1e-3 * rng.normal(size=3))
        assert problem.evaluate(there).upper >= found.evaluation.value * (1.0 - 1e-5)


def test_what_stops_early_is_usable() -> None:
    problem = outer("random", NormBall(2.0), SquaredHingeMachine(), HadamardPower(3))
    found = ProjectedGradient(tol=1e-12, max_iter=2).minimise(problem)
    assert not found.converged
    assert found.n_iter == 2
    assert np.isfinite(found.certificate.value)
    assert NormBall(2.0).contains(found.theta)


def test_two_layers_with_logistic_losses_are_a_machine_on_the_simplex() -> None:
    """Of functions of the kernels, with half the square of the sum of their norms; Clarabel has the functions."""
    case = PROBLEMS["random"]()
    C = 0.7
    problem = Problem(precomputed(case.K), Linear(), Logistic(C, 1e-9), Simplex(), case.y)
    found = ReducedGradient(tol=1e-5).minimise(problem)
    roots = [np.linalg.cholesky(K + 1e-12 * np.trace(K) * np.eye(len(K))) for K in case.K]
    parts = [cp.Variable(len(K)) for K in case.K]
    f = sum(root @ part for root, part in zip(roots, parts, strict=True))
    norms = sum(cp.norm(part) for part in parts)
    losses = cp.sum(cp.logistic(-cp.multiply(case.y, f)))
    cp.Problem(cp.Minimize(C * losses + 0.5 * cp.square(norms))).solve(solver=cp.CLARABEL)
    want = C * losses.value + 0.5 * norms.value**2
    assert found.converged
    assert found.evaluation.upper == pytest.approx(want, rel=1e-4)
    share = np.array([np.linalg.norm(part.value) for part in parts])
    np.testing.assert_allclose(found.theta, share / share.sum(), atol=5e-3)


def test_steps_of_a_model_end_at_a_small_part_of_its_first_gradient() -> None:
    """Over a box, on a model whose curvatures differ by 30 times; all hundred of them were made before."""
    rng = np.random.default_rng(0)
    m = 20
    axes = np.linalg.qr(rng.normal(size=(m, m)))[0]
    B = axes @ np.diag(np.logspace(0, 1.5, m)) @ axes.T
    curvature = Curvature.none(m, True)
    for s in np.eye(m):
        curvature = curvature.with_pair(s, B @ s)
    size, W, M = curvature._form
    model = size * np.eye(m) - W.T @ np.linalg.solve(M, W)
    slope = 10.0 * rng.normal(size=m)
    points = []

    def project(z: Array) -> Array:
        points.append(z)
        return np.clip(z, 0.0, 1.0)

    start = np.full(m, 0.5)
    end = start + curvature.step(start, slope, project)
    assert 2 < len(points) < 60

    def gradient(x: Array, g: Array) -> float:
        return float(np.linalg.norm(np.clip(x - g / size, 0.0, 1.0) - x))

    assert gradient(end, slope + model @ (end - start)) <= 0.01 * gradient(start, slope)


def test_values_that_the_machine_does_not_resolve_end_the_run() -> None:
    """Squares of features that differ by five decades leave per cents of it to rounding: a thousand machines before."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12)) * np.logspace(3, -2, 12)
    y = np.sign(X[:, 9] * X[:, 2] + rng.normal(size=60))
    bank = bind(kernels.linear_features(), X)
    problem = Problem(bank, HadamardPower(2), RidgeMachine(1e-1), NormBall(1.0, 12.0, 1.0), y)
    result = QuasiNewton(tol=1e-6).minimise(problem)
    assert not result.converged
    assert result.n_iter < 100
    assert result.evaluation.dual.gap > 1e-6


def test_a_step_whose_gain_rounding_hides_is_not_made_for_ever() -> None:
    """Bounds of 1e12 leave a tenth of the value to rounding; the same weights were proposed until ``max_iter``."""
    rng = np.random.default_rng(2)
    K = [A @ A.T for A in (rng.normal(size=(12, 1)), rng.normal(size=(12, 12)), rng.normal(size=(12, 12)))]
    y = np.where(rng.integers(2, size=12) > 0, 1.0, -1.0)
    problem = Problem(precomputed(K), Linear(), HingeMachine(C=1e12), NormBall(8.0), y)
    found = BlockNorm(tol=1e-5, max_iter=1000).minimise(problem)
    assert not found.converged
    assert found.n_iter < 100
    assert found.certificate.value < 0.2


def test_model_of_next_to_no_curvature_overflows_without_a_warning() -> None:
    s, y = np.array([1.0, 1.0]), np.array([1e-100, 2e-100])
    model = Curvature.none(2, convex=False).with_pair(s, y).with_pair(np.array([1.0, -1.0]), np.array([3e-100, 1e-100]))
    step = model.step(np.zeros(2), np.array([1e250, -1e250]), lambda z: z)
    assert np.isfinite(step).all()


@pytest.mark.parametrize("optimizer", [ProjectedGradient(tol=1e-4), QuasiNewton(tol=1e-4)])
def test_weights_of_zero_are_a_start(optimizer: Optimizer) -> None:
    """Where a penalty lets them be; the gap says that the end is the optimum."""
    problem = outer("random", Orthant(0.5), SquaredHingeMachine(C=10.0, tol=1e-10))
    found = optimizer.minimise(problem, np.zeros(problem.size))
    assert found.converged
    assert found.theta.any()
    assert found.evaluation.value == pytest.approx(optimizer.minimise(problem).evaluation.value, rel=2e-4)


def test_typical_weights_may_be_a_list() -> None:
    problem = outer("random", Orthant(0.5), RidgeMachine())
    typical = np.linspace(0.5, 2.0, problem.size)
    found, other = (QuasiNewton(typical=given).minimise(problem) for given in (typical.tolist(), typical))
    np.testing.assert_array_equal(found.theta, other.theta)
