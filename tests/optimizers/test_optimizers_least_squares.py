"""Solvers of ridge regression with learned kernels: the interpolated iteration, the published gradient, the sphere."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import mkl_reference as mkl
import reference as ref
from cases import one_in
from multikernel import precomputed
from multikernel.combinations import Combination, HadamardPower, Linear
from multikernel.domains import Domain, NormBall, Orthant
from multikernel.machines import RidgeMachine
from multikernel.optimizers import Optimizer, ProjectedGradient, QuasiNewton, Result
from multikernel.optimizers.published_gradient import PublishedGradient
from multikernel.optimizers.ridge import sphere
from multikernel.optimizers.ridge.interpolated import Interpolated
from multikernel.optimizers.ridge.sphere import SphereTrustRegion
from multikernel.problem import Problem
from zoo import PROBLEMS

Array = Any
LINEAR = Linear()
ORTHOGONAL = np.array([np.diag([1.0, 1.0, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0, 1.0])])


def posed(
    name: str, domain: Domain, alpha: float = 1.0, combination: Combination = LINEAR, y: Array | None = None
) -> Problem:
    case = PROBLEMS[name]()
    return Problem(precomputed(case.K), combination, RidgeMachine(alpha), domain, case.y if y is None else y)


def small(seed: int, m: int, combination: Combination = LINEAR, targets: int = 0) -> Problem:
    """Random kernels of low rank whose sizes are two decades apart, a random alpha, radius and centre."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(m + 2, 25))
    features = [rng.normal(size=(n, int(rng.integers(1, 4)))) * 10.0 ** rng.uniform(-1, 1) for _ in range(m)]
    ball = NormBall(2.0, 10.0 ** rng.uniform(-2, 1.5), float(rng.choice([0.0, 0.1, 1.0])))
    y = rng.normal(size=(n, targets) if targets else n)
    return Problem(
        precomputed(np.array([F @ F.T for F in features])),
        combination,
        RidgeMachine(10.0 ** rng.uniform(-3, 3)),
        ball,
        y,
    )


def ridge_value(K: Array, y: Array, alpha: float, weights: Array, degree: int = 1) -> float:
    """tr Y'(K + alpha I)^{-1}Y for centred targets."""
    Y = y - y.mean(axis=0)
    S = ref.combine(K, weights) ** degree
    return float((Y * np.linalg.solve(S + alpha * np.eye(len(S)), Y)).sum())


def thetas(optimizer: Optimizer, problem: Problem) -> list[Array]:
    seen: list[Array] = []
    optimizer.minimise(problem, observe=lambda event: seen.append(event.theta))
    return seen


# -- interpolated iteration --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "center", "alpha"),
    one_in(
        5,
        product(
            ["random", "low-rank", "rank-one", "zero", "duplicated", "constant"], [0.0, 0.1, 10.0], [1e-3, 1.0, 1e4]
        ),
    ),
)
def test_forty_machines_bring_the_gap_to_rounding(name: str, alpha: float, center: float) -> None:
    found = Interpolated(tol=1e-13, max_iter=40).minimise(posed(name, NormBall(2.0, 1.0, center), alpha))
    assert found.converged


@pytest.mark.parametrize("seed", one_in(5, range(18)))
def test_so_do_they_for_random_problems_and_several_targets(seed: int) -> None:
    found = Interpolated(tol=1e-13, max_iter=40).minimise(small(seed, 1 + seed % 6, targets=seed % 3))
    assert found.converged


@pytest.mark.parametrize(
    ("norm", "alpha", "center"),
    one_in(
        3,
        (
            (norm, *others)
            for norm in [1.2, 1.5, 2.0, 3.0, 6.0]
            for others in [(1e-2, 0.0), (1e-2, 1.0), (1.0, 0.0), (100.0, 0.3)]
        ),
    ),
)
def test_errors_shrink_by_the_factor_of_the_theorem(norm: float, alpha: float, center: float) -> None:
    """Of the means A, in the norm e'(K + alpha I)e: the last ones above rounding, for the theorem is a local one."""
    ball = NormBall(norm, 2.0, center)
    problem = posed("low-rank", ball, alpha)
    limit = Interpolated(tol=1e-15, max_iter=400).minimise(problem)
    M = problem.combination.gram(problem.bank, limit.theta).dense() + alpha * np.eye(len(problem.target))
    solutions = [problem.evaluate(theta).dual.factor for theta in thetas(Interpolated(1e-15, 60), problem)]
    mean, errors = solutions[0], []
    for A in solutions[1:]:
        e = mean - limit.evaluation.dual.factor
        errors.append(float(np.sqrt(e @ M @ e)))
        mean = mean / norm + (1.0 - 1.0 / norm) * A
    size = float(np.sqrt(mean @ M @ mean))
    ratios = [b / a for a, b in pairwise(errors) if a > 1e-6 * size]
    assert max(ratios[-3:]) <= 1.1 / norm


@pytest.mark.parametrize(("seed", "norm"), one_in(7, product(range(10), [1.3, 2.0, 4.0])))
def test_the_inequality_behind_the_theorem(seed: int, norm: float) -> None:
    problem = replace(small(seed, 4), domain=NormBall(norm, 1.5, 0.2))
    at = problem.evaluate(np.random.default_rng(seed).uniform(0.1, 2.0, size=4))
    assert isinstance(problem.machine, RidgeMachine)
    W = problem.bank.apply(at.dual.factor[:, None])[:, :, 0].T
    M = problem.combination.gram(problem.bank, at.theta).dense() + problem.machine.alpha * np.eye(len(W))
    scale = np.sqrt(at.theta / at.scores)
    assert np.linalg.eigvalsh(scale[:, None] * (W.T @ np.linalg.solve(M, W)) * scale).max() <= 1.0 + 1e-9


def test_without_interpolation_it_goes_to_and_fro() -> None:
    """One kernel for every sample, alpha = 0.01: theta halves what the others have, and takes it back."""
    K = np.array([np.diag(row) for row in np.eye(4)])
    y = np.array([-1.0, 1.0, -3.0, 3.0])
    problem = Problem(precomputed(K), Linear(), RidgeMachine(1e-3), NormBall(2.0), y)
    undamped = Interpolated(tol=1e-9, max_iter=200, step=1.0).minimise(problem)
    assert not undamped.converged
    assert undamped.certificate.value > 1e-4
    assert Interpolated(tol=1e-12, max_iter=40).minimise(problem).converged


@pytest.mark.parametrize(
    ("name", "alpha", "strength"),
    one_in(4, product(["random", "low-rank", "duplicated"], [1e-2, 1.0, 100.0], [1e-3, 0.3, 100.0])),
)
def test_a_squared_penalty(name: str, alpha: float, strength: float) -> None:
    found = Interpolated(tol=1e-12, max_iter=60).minimise(posed(name, Orthant(strength), alpha))
    assert found.converged
    error = found.theta - found.evaluation.scores / (2.0 * strength)
    assert strength * (error @ error) <= 1.1e-12 * found.evaluation.value


def test_degree_one_of_a_power_is_a_sum() -> None:
    one = Interpolated(tol=1e-10).minimise(posed("random", NormBall(3.0, 2.0, 1.0)))
    other = Interpolated(tol=1e-10).minimise(posed("random", NormBall(3.0, 2.0, 1.0), combination=HadamardPower(1)))
    assert one.converged
    assert other.evaluation.stationarity <= 1e-9 * other.evaluation.value
    np.testing.assert_allclose(other.theta, one.theta, rtol=1e-8)


# -- published gradient ------------------------------------------------------------------------------------------------


def least(K: Array, y: Array, alpha: float, p: float, radius: float, center: float) -> float:
    """max_a 2 a'y - alpha a'a - center'q - radius |q|_{p*}, q_k >= a'K_ka, by Clarabel."""
    y = y - y.mean()
    a, q = cp.Variable(len(y)), cp.Variable(len(K), nonneg=True)
    below = [cp.sum_squares(ref.root(matrix) @ a) <= q[k] for k, matrix in enumerate(K)]
    scores = center * cp.sum(q) + radius * cp.norm(q, mkl.dual_exponent(p))
    problem = cp.Problem(cp.Maximize(2.0 * (y @ a) - alpha * cp.sum_squares(a) - scores), below)
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.crossed
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("name", ["random", "low-rank"])
def test_the_true_projection_reaches_the_optimum_in_every_norm(name: str, p: float) -> None:
    """Scaling theta - center to the norm of the ball, as printed, does so for p = 2 only."""
    case = PROBLEMS[name]()
    problem = posed(name, NormBall(p, 1.0, 0.3), 5.0)
    found = PublishedGradient(tol=1e-6, max_iter=2000).minimise(problem)
    want = least(case.K, case.y, 5.0, p, 1.0, 0.3)
    assert found.converged
    assert found.evaluation.value == pytest.approx(want, rel=1e-5)
    theta = problem.start()
    for _ in range(100):
        delta = theta + problem.evaluate(theta).scores - 0.3
        theta = 0.3 + delta / mkl.norm(delta, p)
    printed = ridge_value(case.K, case.y, 5.0, theta)
    assert printed > want * (1.0 + 1e-4) if p != 2.0 else printed == pytest.approx(want, rel=1e-5)


def test_in_the_2_norm_the_projection_is_the_printed_scaling() -> None:
    problem = posed("random", NormBall(2.0, 0.5, 1.0), 1.0, HadamardPower(2))
    first, second = thetas(PublishedGradient(max_iter=2, tol=1e-15), problem)
    delta = first + problem.evaluate(first).scores - 1.0
    np.testing.assert_allclose(second, 1.0 + 0.5 * delta / np.linalg.norm(delta))


@pytest.mark.parametrize("degree", [1, 2])
def test_the_printed_end_says_nothing_where_alpha_is_large(degree: int) -> None:
    sizes = np.array([0.1, 1.0, 1.0, 2.0])[:, None, None]
    case, ball = PROBLEMS["random"](), NormBall(2.0, 1.0, 1.0)
    problem = Problem(precomputed(sizes * case.K), HadamardPower(degree), RidgeMachine(1e4), ball, case.y)
    printed = PublishedGradient(tol=1e-8, change=1e-3).minimise(problem)
    assert printed.n_iter == 1
    assert not printed.converged
    assert printed.certificate.value > 1e-7
    other = ProjectedGradient(tol=1e-8).minimise(problem)
    assert other.converged
    cosine = printed.evaluation.scores @ (printed.theta - 1.0) / np.linalg.norm(printed.evaluation.scores)
    assert cosine < 0.95  # 1 at the optimum


def test_values_may_rise_and_the_best_is_returned() -> None:
    values: list[float] = []
    found = PublishedGradient(tol=1e-6, max_iter=60).minimise(
        small(3, 4, HadamardPower(2)), observe=lambda event: values.append(event.value)
    )
    assert found.evaluation.value == min(values)
    rising = [
        seed
        for seed in range(12)
        if (np.diff([e.value for e in events(PublishedGradient(1e-9, 60), small(seed, 4))]) > 1e-9).any()
    ]
    assert rising


def events(optimizer: Optimizer, problem: Problem) -> list[Any]:
    seen: list[Any] = []
    optimizer.minimise(problem, observe=seen.append)
    return seen


@pytest.mark.parametrize("degree", [1, 2])
def test_with_a_penalty_the_step_leads_down(degree: int) -> None:
    problem = posed("random", Orthant(0.5), 1.0, HadamardPower(degree))
    found = PublishedGradient(tol=1e-7, max_iter=2000).minimise(problem)
    other = ProjectedGradient(tol=1e-9).minimise(problem)
    assert found.converged
    assert found.evaluation.value < problem.evaluate(problem.start()).value
    assert found.evaluation.value == pytest.approx(other.evaluation.value, rel=1e-6)


def test_a_step_to_no_kernel_at_all_is_shortened() -> None:
    """At theta = 0 the scores of a power vanish: it would never come back."""
    problem = posed("random", Orthant(50.0), 1.0, HadamardPower(2))
    assert not np.maximum(problem.start() - problem.evaluate(problem.start()).gradient, 0.0).any()
    seen = thetas(PublishedGradient(tol=1e-9, max_iter=30), problem)
    assert all(theta.any() for theta in seen)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"step": 0.0}, "step must be"), ({"factor": 1.5}, "factor must be"), ({"change": 0.0}, "change must be")],
)
def test_parameters_of_the_published_gradient(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        PublishedGradient(**wrong)


def test_steps_of_the_iteration() -> None:
    with pytest.raises(ValueError, match=r"step must be a number in \(0, 1\] or None"):
        Interpolated(step=1.5)


# -- the sphere --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", one_in(5, range(28)))
def test_a_handful_of_machines(seed: int) -> None:
    problem = small(seed, 1 + seed % 7, HadamardPower(1 + seed % 3), targets=seed % 4)
    found = SphereTrustRegion(tol=1e-12, max_iter=15).minimise(problem)
    other = QuasiNewton(tol=1e-8, max_iter=500).minimise(problem)
    assert found.converged
    assert found.evaluation.value <= other.evaluation.value * (1.0 + 1e-8)
    assert problem.domain.contains(found.theta)


@pytest.mark.parametrize("seed", one_in(5, range(12)))
def test_by_conjugate_gradients(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = small(seed, 1 + seed % 7, HadamardPower(1 + seed % 3))
    exact = SphereTrustRegion(tol=1e-11).minimise(problem)
    for limit in ("HESSIAN_WEIGHTS", "HESSIAN_WEIGHTS_CUBIC"):
        monkeypatch.setattr(sphere, limit, 0)
    found = SphereTrustRegion(tol=1e-11, max_iter=30).minimise(problem)
    assert found.converged
    assert found.evaluation.value == pytest.approx(exact.evaluation.value, rel=1e-9)


SOLVERS: list[Optimizer] = [
    PublishedGradient(tol=1e-6, max_iter=3000, step=5.0),
    ProjectedGradient(tol=1e-8),
    QuasiNewton(tol=1e-8),
    SphereTrustRegion(tol=1e-12),
]


@pytest.mark.parametrize(
    ("name", "alpha", "radius", "center"),
    [
        *[("random", 0.1, 1.0, 1.0), ("low-rank", 1.0, 0.5, 0.0), ("zero", 10.0, 3.0, 0.2)],
        *[("duplicated", 0.1, 1.0, 1.0), ("constant", 1.0, 0.5, 0.0), ("rank-one", 10.0, 3.0, 0.2)],
    ],
)
def test_squares_have_one_minimum_and_all_find_it(name: str, alpha: float, radius: float, center: float) -> None:
    """Over a 2-norm ball the problem of degree 2 is convex in the squares of the weights."""
    case = PROBLEMS[name]()
    problem = posed(name, NormBall(2.0, radius, center), alpha, HadamardPower(2))
    found: list[Result] = [solver.minimise(problem) for solver in SOLVERS]
    assert all(run.converged for run in found)
    values = [ridge_value(case.K, case.y, alpha, run.theta, 2) for run in found]
    np.testing.assert_allclose(values, min(values), rtol=1e-5)
    assert values[-1] <= min(values) * (1.0 + 1e-10)


@pytest.mark.parametrize(
    "start", [[-3.0, 1.0, 9.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.2, 5.0, 1.0, 1.0]]
)
@pytest.mark.parametrize("optimizer", [SphereTrustRegion(1e-10), PublishedGradient(1e-10, 2000), Interpolated(1e-10)])
def test_starts_that_are_not_feasible_or_at_the_centre(optimizer: Optimizer, start: list[float]) -> None:
    problem = posed("random", NormBall(2.0, 0.7, 1.0), 1.0)
    found = optimizer.minimise(problem, start=np.array(start))
    want = optimizer.minimise(problem)
    assert found.converged
    assert problem.domain.contains(found.theta)
    np.testing.assert_allclose(found.theta, want.theta, rtol=1e-4)


def test_a_start_with_zeros_leaves_them() -> None:
    """Kernels that have no sample in common: at a weight of zero a square has no gradient to leave it by."""
    y = np.array([1.0, -1.0, 1.5, -1.5])
    problem = Problem(precomputed(ORTHOGONAL), HadamardPower(2), RidgeMachine(1.0), NormBall(2.0), y)
    assert problem.evaluate(np.array([0.0, 1.0])).certificate.value < 1e-12
    found = SphereTrustRegion(tol=1e-10).minimise(problem, start=np.array([0.0, 1.0]))
    assert found.converged
    assert (found.theta > 0.1).all()
    assert found.evaluation.value < problem.evaluate(np.array([0.0, 1.0])).value


def test_weights_stay_above_the_centre_and_on_the_sphere() -> None:
    problem = posed("rank-one", NormBall(2.0, 2.0, 0.3), 0.1, HadamardPower(2))
    for theta in thetas(SphereTrustRegion(tol=1e-12), problem):
        assert (theta >= 0.3).all()
        assert np.linalg.norm(theta - 0.3) == pytest.approx(2.0)


def test_equal_kernels_get_equal_weights_and_useless_ones_none() -> None:
    found = SphereTrustRegion(tol=1e-12).minimise(posed("duplicated", NormBall(2.0, 1.0, 0.5), 0.3, HadamardPower(2)))
    np.testing.assert_allclose(found.theta[[2, 4]], found.theta[0], rtol=1e-5)
    useless = SphereTrustRegion(tol=1e-12).minimise(posed("zero", NormBall(2.0, 1.0, 0.5), 0.3))
    assert useless.theta[1] == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("optimizer", [SphereTrustRegion(), PublishedGradient(), Interpolated()])
def test_what_needs_no_search(optimizer: Optimizer) -> None:
    K, y = PROBLEMS["random"]().K, PROBLEMS["random"]().y
    one = optimizer.minimise(Problem(precomputed(K[:1]), Linear(), RidgeMachine(), NormBall(2.0, 0.5, 1.0), y))
    np.testing.assert_allclose(one.theta, [1.5])
    point = optimizer.minimise(Problem(precomputed(K), Linear(), RidgeMachine(), NormBall(2.0, 0.0, 1.0), y))
    np.testing.assert_array_equal(point.theta, 1.0)
    nothing = optimizer.minimise(Problem(precomputed(K), Linear(), RidgeMachine(), NormBall(2.0), np.full(len(y), 3.0)))
    assert nothing.evaluation.value == 0.0
    assert all(run.converged and run.n_iter == 1 for run in (one, point, nothing))


def test_weighted_samples() -> None:
    """A sample of weight zero is not there."""
    case, weight = PROBLEMS["random"](), np.ones(30)
    weight[20:] = 0.0
    ball = NormBall(2.0, 0.7, 1.0)
    whole = Problem(precomputed(case.K), HadamardPower(2), RidgeMachine(0.3), ball, case.y, weight)
    part = Problem(precomputed(case.K[:, :20, :20]), HadamardPower(2), RidgeMachine(0.3), ball, case.y[:20])
    one, other = (SphereTrustRegion(tol=1e-12, max_iter=8).minimise(problem) for problem in (whole, part))
    assert one.converged
    np.testing.assert_allclose(one.theta, other.theta, rtol=1e-6)


@pytest.mark.parametrize("optimizer", [SphereTrustRegion(), PublishedGradient(), Interpolated()])
def test_a_centre_of_another_length_is_refused(optimizer: Optimizer) -> None:
    with pytest.raises(ValueError, match="3 entries for 4 kernels"):
        optimizer.minimise(posed("random", NormBall(2.0, 1.0, np.ones(3))))
