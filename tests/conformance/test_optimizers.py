"""Every optimizer over a zoo of small problems, against Clarabel and against bounds recomputed from its points."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import mkl_reference as mkl
import reference as ref
from multikernel import precomputed
from multikernel.combinations import Linear
from multikernel.domains import Domain, NormBall, Simplex
from multikernel.machines import DualSolution, EpsilonMachine, HingeMachine, Machine, RidgeMachine
from multikernel.optimizers import (
    BlockNorm,
    CuttingPlane,
    LevelMethod,
    Optimizer,
    ProjectedGradient,
    QuasiNewton,
    ReducedGradient,
    Result,
    Subgradient,
)
from multikernel.optimizers.published_gradient import PublishedGradient
from multikernel.optimizers.ridge.interpolated import Interpolated
from multikernel.optimizers.ridge.sphere import SphereTrustRegion
from multikernel.problem import Problem
from zoo import PROBLEMS

Array = Any
SMALL = [name for name in PROBLEMS if name != "breast-cancer"]
ON_SIMPLEX: dict[str, Optimizer] = {
    "reduced-gradient": ReducedGradient(tol=1e-2, max_iter=500),
    "cutting-plane": CuttingPlane(tol=1e-3),
    "level": LevelMethod(tol=1e-4),
    "subgradient": Subgradient(tol=1e-2),
    "block-norm": BlockNorm(tol=1e-2),
    "projected-gradient": ProjectedGradient(tol=1e-4),
}
ON_BALLS: dict[str, Optimizer] = {
    "block-norm": BlockNorm(tol=1e-6),
    "projected-gradient": ProjectedGradient(tol=1e-6),
    "subgradient": Subgradient(tol=1e-2),
}
ON_RIDGE: dict[str, Optimizer] = {
    "interpolated": Interpolated(tol=1e-11, max_iter=60),
    "published-gradient": PublishedGradient(tol=1e-2, max_iter=100),
    "projected-gradient": ProjectedGradient(tol=1e-8),
    "quasi-newton": QuasiNewton(tol=1e-8),
    "sphere": SphereTrustRegion(tol=1e-11, max_iter=20),
}
names = pytest.mark.parametrize("name", SMALL)
simplex_optimizers = pytest.mark.parametrize("optimizer", ON_SIMPLEX.values(), ids=ON_SIMPLEX)
ball_optimizers = pytest.mark.parametrize("optimizer", ON_BALLS.values(), ids=ON_BALLS)
ridge_optimizers = pytest.mark.parametrize("optimizer", ON_RIDGE.values(), ids=ON_RIDGE)
every_C = pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
TINY = 1e-9  # relative, for sums in another order


@dataclass(frozen=True)
class Recorded(Machine):
    """A machine that notes the coefficients it found and the gaps it was asked for."""

    machine: Any
    tol: float = 1e-3
    coefs: list[Array] = field(default_factory=list)
    tols: list[float] = field(default_factory=list)

    def with_tolerance(self, tol: float) -> Recorded:
        return replace(self, tol=tol)

    def solve(
        self, gram: Any, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        found = replace(self.machine, tol=self.tol).solve(gram, target, warm, sample_weight)
        self.coefs.append(found.coef)
        self.tols.append(self.tol)
        return found


@dataclass(frozen=True)
class Run:
    """What an optimizer found, and what it found it from."""

    optimizer: Optimizer
    problem: Problem
    machine: Recorded
    result: Result


def run(optimizer: Optimizer, K: Array, y: Array, machine: Any, domain: Domain) -> Run:
    recorded = Recorded(machine)
    problem = Problem(precomputed(K), Linear(), recorded, domain, y)
    return Run(optimizer, problem, recorded, optimizer.minimise(problem))


@cache
def optimum(name: str, C: float, p: float = 1.0) -> mkl.Optimum:
    problem = PROBLEMS[name]()
    return mkl.mkl(problem.K, mkl.classification(problem.y, C), p)


@cache
def real_targets(name: str) -> Array:
    """Targets of a problem that are not labels."""
    y = PROBLEMS[name]().y
    return y + np.random.default_rng(0).normal(size=len(y))


def dual_bound(K: Array, losses: mkl.Losses, coefs: list[Array], p: float) -> float:
    """What the dual points found bound together, J >= c_j - q_j'd: for p = 1 min_d max_j, else the best of them."""
    variables = [np.maximum(losses.sign * coef[losses.sample], 0.0) for coef in coefs]
    c = np.array([float(losses.gain @ a) for a in variables])
    q = np.array([0.5 * ref.quad(K, coef) for coef in coefs])
    if p > 1:
        return max(float(c_j) - mkl.norm(q_j, mkl.dual_exponent(p)) for c_j, q_j in zip(c, q, strict=True))
    m, unit = len(K), float(np.abs(c).max())
    program = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.column_stack([-q / unit, -np.ones(len(c))]),
        b_ub=-c / unit,
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * m + [(None, None)],
    )
    return unit * float(program.fun)


def assert_encloses(found: Run, K: Array, losses: mkl.Losses, truth: mkl.Optimum, p: float = 1.0) -> None:
    """The two values claimed enclose the optimum, and follow from the points found alone."""
    r = found.result
    assert 0.0 <= r.certificate.value == r.history[-1]
    assert r.n_iter == len(r.history) == len(found.machine.coefs)
    assert r.converged == (r.certificate.value <= found.optimizer.tol)
    assert found.problem.domain.contains(r.theta)
    upper = r.evaluation.upper
    lower = upper - r.certificate.value * abs(upper)
    assert truth.lower <= upper * (1.0 + TINY)
    assert lower <= truth.upper * (1.0 + TINY)
    assert mkl.primal_value(K, losses, r.theta, r.evaluation.dual.coef) <= upper * (1.0 + TINY)
    if not isinstance(found.optimizer, Subgradient):  # which bounds by means of its points
        assert lower <= dual_bound(K, losses, found.machine.coefs, p) + 1e-6 * abs(upper)


# -- hinge loss --------------------------------------------------------------------------------------------------------


@names
@every_C
@simplex_optimizers
def test_simplex(name: str, C: float, optimizer: Optimizer) -> None:
    problem = PROBLEMS[name]()
    found = run(optimizer, problem.K, problem.y, HingeMachine(C=C), Simplex())
    assert_encloses(found, problem.K, mkl.classification(problem.y, C), optimum(name, C))
    assert found.result.converged


@names
@pytest.mark.parametrize(("C", "p"), [(1.0, 1.1), (100.0, 1.1), (1.0, 1.5), (0.01, 2.0), (100.0, 2.0), (1.0, 4.0)])
@ball_optimizers
def test_balls(name: str, C: float, p: float, optimizer: Optimizer) -> None:
    problem = PROBLEMS[name]()
    found = run(optimizer, problem.K, problem.y, HingeMachine(C=C), NormBall(p))
    assert_encloses(found, problem.K, mkl.classification(problem.y, C), optimum(name, C, p), p)
    assert found.result.converged


@pytest.mark.parametrize("name", ["random", "zero"])
@simplex_optimizers
def test_a_simplex_of_another_size_is_another_scale_of_the_kernels(name: str, optimizer: Optimizer) -> None:
    problem = PROBLEMS[name]()
    found = run(optimizer, problem.K, problem.y, HingeMachine(C=1.0), Simplex(2.5))
    truth = mkl.mkl(2.5 * problem.K, mkl.classification(problem.y, 1.0))
    r = found.result
    assert r.converged
    assert found.problem.domain.contains(r.theta)
    assert truth.lower <= r.evaluation.upper * (1.0 + TINY)
    assert r.evaluation.upper * (1.0 - r.certificate.value) <= truth.upper * (1.0 + TINY)


# -- regression --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["random", "low-rank", "duplicated"])
@simplex_optimizers
def test_regression(name: str, optimizer: Optimizer) -> None:
    K, y = PROBLEMS[name]().K, real_targets(name)
    losses = mkl.regression(y, 1.0, 0.3)
    found = run(optimizer, K, y, EpsilonMachine(C=1.0, epsilon=0.3), Simplex())
    truth = mkl.mkl(K, losses)
    assert found.result.converged
    assert truth.lower <= found.result.evaluation.upper * (1.0 + TINY)
    assert found.result.evaluation.upper * (1.0 - found.result.certificate.value) <= truth.upper * (1.0 + TINY)
    assert mkl.l1_regression_value(K, y, 1.0, 0.3) == pytest.approx(found.result.evaluation.value, rel=optimizer.tol)


@pytest.mark.parametrize("p", [1.5, 3.0])
@ball_optimizers
def test_regression_on_balls(p: float, optimizer: Optimizer) -> None:
    K, y = PROBLEMS["random"]().K, real_targets("random")
    found = run(optimizer, K, y, EpsilonMachine(C=1.0, epsilon=0.3), NormBall(p)).result
    assert found.converged
    assert mkl.lp_regression_value(K, y, 1.0, 0.3, p) == pytest.approx(found.evaluation.value, rel=optimizer.tol + 1e-5)


# -- ridge regression over 2-norm balls around any point ---------------------------------------------------------------


@dataclass(frozen=True)
class Ridge:
    """min over |d - center| <= radius, d >= 0 of y'(sum_k d_k K_k + alpha I)^{-1}y, as formulas for centred targets."""

    K: Array
    y: Array
    alpha: float
    radius: float
    center: float

    def value(self, weights: Array) -> float:
        """At these weights."""
        S = ref.combine(self.K, weights) + self.alpha * np.eye(len(self.y))
        return float(self.y @ np.linalg.solve(S, self.y))

    def bound(self, a: Array) -> float:
        """Below the optimum, whatever a: of 2 a'y - alpha a'a - max_d sum_k d_k a'K_ka at the best multiple of a."""
        q = ref.quad(self.K, a)
        return float(a @ self.y) ** 2 / (self.alpha * a @ a + self.center * q.sum() + self.radius * np.linalg.norm(q))

    def solution(self) -> Array:
        """Clarabel's a."""
        a, q = cp.Variable(len(self.y)), cp.Variable(len(self.K), nonneg=True)
        below = [cp.sum_squares(ref.root(matrix) @ a) <= q[k] for k, matrix in enumerate(self.K)]
        penalty = self.alpha * cp.sum_squares(a) + self.center * cp.sum(q) + self.radius * cp.norm(q, 2)
        ref.conic(cp.Problem(cp.Maximize(2.0 * (self.y @ a) - penalty), below))
        return np.asarray(a.value)


@cache
def ridge(name: str, alpha: float, radius: float, center: float) -> tuple[Ridge, float, float]:
    """A problem, with bounds of its optimum from below and from above."""
    K, y = PROBLEMS[name]().K, real_targets(name)
    problem = Ridge(K, y - y.mean(), alpha, radius, center)
    a = problem.solution()
    q = ref.quad(K, a)
    return problem, problem.bound(a), problem.value(center + radius * q / np.linalg.norm(q))


def on_ridge(name: str, alpha: float, radius: float, center: float) -> Problem:
    K, ball = PROBLEMS[name]().K, NormBall(2.0, radius, center)
    return Problem(precomputed(K), Linear(), RidgeMachine(alpha), ball, real_targets(name))


@names
@pytest.mark.parametrize(("alpha", "radius", "center"), [(0.1, 1.0, 0.0), (1.0, 0.5, 1.0), (30.0, 5.0, 0.1)])
@ridge_optimizers
def test_ridge(name: str, alpha: float, radius: float, center: float, optimizer: Optimizer) -> None:
    truth, lower, higher = ridge(name, alpha, radius, center)
    problem = on_ridge(name, alpha, radius, center)
    found = optimizer.minimise(problem)
    upper, bound = found.evaluation.upper, found.evaluation.upper * (1.0 - found.certificate.value)
    assert problem.domain.contains(found.theta)
    assert found.converged == (found.certificate.value <= optimizer.tol)
    assert found.converged or name == "badly-scaled" or isinstance(optimizer, PublishedGradient)
    assert truth.value(found.theta) == pytest.approx(upper, rel=1e-7)
    assert lower <= upper * (1.0 + TINY)
    assert bound <= higher * (1.0 + TINY)


@pytest.mark.parametrize("max_iter", [1, 2])
@ridge_optimizers
def test_ridge_stopped_early(optimizer: Optimizer, max_iter: int) -> None:
    _, lower, higher = ridge("rank-one", 0.1, 1.0, 0.0)
    events: list[Any] = []
    hasty = replace(optimizer, tol=1e-14, max_iter=max_iter)
    found = hasty.minimise(on_ridge("rank-one", 0.1, 1.0, 0.0), observe=events.append)
    assert not found.converged
    assert found.n_iter == max_iter == len(events)
    assert min(event.upper for event in events) == found.evaluation.upper
    assert lower <= found.evaluation.upper * (1.0 + TINY)
    assert found.evaluation.upper * (1.0 - found.certificate.value) <= higher * (1.0 + TINY)


# -- what holds whatever the problem -----------------------------------------------------------------------------------


@simplex_optimizers
def test_one_kernel_needs_no_search(optimizer: Optimizer) -> None:
    problem = PROBLEMS["random"]()
    found = run(optimizer, problem.K[:1], problem.y, HingeMachine(C=1.0), Simplex())
    np.testing.assert_array_equal(found.result.theta, [1.0])
    assert found.result.converged
    assert found.result.evaluation.value == pytest.approx(ref.svm_value(problem.K[0], problem.y, 1.0), rel=1e-2)


@simplex_optimizers
def test_kernels_of_zeros_leave_the_losses(optimizer: Optimizer) -> None:
    y = PROBLEMS["random"]().y
    found = run(optimizer, np.zeros((3, len(y), len(y))), y, HingeMachine(C=2.0), Simplex()).result
    assert found.converged
    assert found.evaluation.value == pytest.approx(2.0 * 2.0 * min((y > 0).sum(), (y < 0).sum()))
    assert np.isfinite(found.theta).all()


@simplex_optimizers
@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_stopped_early_it_knows_how_far_it_got(optimizer: Optimizer, max_iter: int) -> None:
    problem = PROBLEMS["rank-one"]()
    hasty = replace(optimizer, tol=1e-12, max_iter=max_iter)
    found = run(hasty, problem.K, problem.y, HingeMachine(C=1.0), Simplex())
    assert not found.result.converged
    assert found.result.n_iter == max_iter
    assert_encloses(found, problem.K, mkl.classification(problem.y, 1.0), optimum("rank-one", 1.0))


@simplex_optimizers
def test_observers_see_every_solution(optimizer: Optimizer) -> None:
    problem = PROBLEMS["low-rank"]()
    recorded, events = Recorded(HingeMachine(C=1.0)), []
    outer = Problem(precomputed(problem.K), Linear(), recorded, Simplex(), problem.y)
    result = optimizer.minimise(outer, observe=events.append)
    assert [event.step for event in events] == list(range(1, result.n_iter + 1))
    assert len(recorded.coefs) == result.n_iter
    assert (np.diff([event.bound for event in events]) >= 0).all()
    assert (np.diff([event.certificate.value for event in events]) <= 1e-12).all()
    assert all(event.value <= event.upper for event in events)
    assert min(event.upper for event in events) == result.evaluation.upper


@simplex_optimizers
def test_inner_problems_get_more_accurate_with_the_outer_gap(optimizer: Optimizer) -> None:
    problem = PROBLEMS["low-rank"]()
    found = run(optimizer, problem.K, problem.y, HingeMachine(C=1.0), Simplex())
    gaps = [1.0, *found.result.history[:-1]]
    for tol, gap in zip(found.machine.tols, gaps, strict=True):
        assert tol == pytest.approx(optimizer.inner_gap(min(max(gap, optimizer.tol), 1.0)))
        assert tol <= 0.01 * max(gap, optimizer.tol)


@simplex_optimizers
def test_no_point_is_looked_at_twice(optimizer: Optimizer) -> None:
    """A machine without a tolerance is exact: there is nothing to refine."""
    problem, seen = PROBLEMS["low-rank"](), []
    outer = Problem(precomputed(problem.K), Linear(), RidgeMachine(alpha=0.5), Simplex(), problem.y)
    optimizer.minimise(outer, observe=lambda event: seen.append(tuple(event.theta)))
    assert len(set(seen)) == len(seen)


@simplex_optimizers
def test_a_start_at_the_optimum_ends_at_once(optimizer: Optimizer) -> None:
    problem = PROBLEMS["random"]()
    outer = Problem(precomputed(problem.K), Linear(), HingeMachine(C=1.0), Simplex(), problem.y)
    best = LevelMethod(tol=1e-7).minimise(outer)
    again = optimizer.minimise(outer, start=best.theta, warm=best.evaluation.dual.warm)
    assert again.converged
    assert again.n_iter <= 3
