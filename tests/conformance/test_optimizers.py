"""Every optimizer by the suite that the package offers, on problems whose optimum Clarabel finds, and on all others."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import mkl_reference as mkl
import reference as ref
from cases import one_in
from multikernel import optimizers, precomputed
from multikernel.certificate import Certificate
from multikernel.combinations import Linear
from multikernel.domains import Domain, NormBall, Simplex
from multikernel.machines import DualSolution, EpsilonMachine, HingeMachine, Machine, RidgeMachine
from multikernel.optimizers import (
    BlockNorm,
    CuttingPlane,
    Interpolated,
    LevelMethod,
    Optimizer,
    ProjectedGradient,
    PublishedGradient,
    QuasiNewton,
    ReducedGradient,
    Result,
    SphereTrustRegion,
    Subgradient,
)
from multikernel.optimizers.base import Search
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Problem
from multikernel.testing.assertions import refusal
from multikernel.testing.optimizers import KnownProblem, check_optimizer, check_run, check_stopped, known_problem
from outsiders import ExponentialOfSum
from zoo import PROBLEMS
from zoo_problems import COMBINATIONS, DOMAINS, MACHINES, OPTIMIZERS, missing, pairings, small_problem

Array = Any
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
every_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)
simplex_optimizers = pytest.mark.parametrize("optimizer", ON_SIMPLEX.values(), ids=ON_SIMPLEX)
ball_optimizers = pytest.mark.parametrize("optimizer", ON_BALLS.values(), ids=ON_BALLS)
ridge_optimizers = pytest.mark.parametrize("optimizer", ON_RIDGE.values(), ids=ON_RIDGE)
TINY = 1e-9  # relative, for sums in another order


# -- every optimizer ---------------------------------------------------------------------------------------------------


def test_every_part_is_registered() -> None:
    assert not missing(Optimizer, OPTIMIZERS.values())


@every_optimizer
def test_it_is_an_optimizer(name: str) -> None:
    check_optimizer(OPTIMIZERS[name])


@every_optimizer
@pytest.mark.parametrize("step", one_in(2, [11, 1]))
def test_every_mismatch_gives_a_sentence_that_names_what_works(name: str, step: int) -> None:
    """Each pairing, or other ones of each optimizer, is solved for some steps, or refused."""
    few = replace(OPTIMIZERS[name], max_iter=1)
    for problem in islice(pairings(), list(OPTIMIZERS).index(name) % step, None, step):
        said = refusal(partial(few.minimise, problem))
        assert said is None or any(f"{other} work" in said for other in optimizers.__all__), said


@pytest.mark.crossed
@every_optimizer
@pytest.mark.parametrize("combination", ["cube of a sum", "an outsider's"])
@pytest.mark.parametrize("machine", ["hinge", "ridge"])
def test_without_a_bound_the_certificate_is_a_stationarity(name: str, combination: str, machine: str) -> None:
    """No gap is told where K is not linear in the weights, whatever the optimizer."""
    few = replace(OPTIMIZERS[name], max_iter=50)
    for domain in DOMAINS.values():
        problem = small_problem(domain, MACHINES[machine], COMBINATIONS[combination])
        if refusal(partial(few.check, problem)) is None:
            found = few.minimise(problem)
            assert found.certificate.kind == "stationarity"
            assert found.bound == -np.inf
            assert found.converged == (found.certificate.value <= few.tol)


@dataclass(frozen=True)
class Broken(ExponentialOfSum):
    """A combination whose gradient is NaN."""

    def pullback(self, bank: Any, theta: Array, A: Array) -> Array:
        return np.full(len(bank), np.nan)


@pytest.mark.parametrize("name", ["projected gradient", "quasi-Newton", "published gradient"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_certificate_that_is_nan_is_never_reached(name: str) -> None:
    problem = small_problem(Simplex(), RidgeMachine(0.3), Broken())
    assert problem.evaluate(problem.start()).certificate == Certificate("stationarity", np.inf)
    with suppress(ValueError, IndexError, np.linalg.LinAlgError):  # weights that are NaN go no further
        assert not replace(OPTIMIZERS[name], max_iter=5).minimise(problem).converged


# -- optimizers with a fault, which the suite has to find --------------------------------------------------------------


@dataclass(frozen=True)
class Faulty(ProjectedGradient):
    """A projected gradient with one thing wrong."""

    fault: str = "none"

    def certificate(self, problem: Problem, state: State) -> Certificate:
        known = super().certificate(problem, state)
        match self.fault:
            case "boastful":
                return Certificate(known.kind, 0.1 * known.value)
            case "misnamed":
                return Certificate("stationarity", known.value)
            case "NaN":
                return Certificate(known.kind, np.nan)
        return known

    def search(self, problem: Problem, state: State) -> Search:
        if self.fault == "idle":
            return
        if self.fault == "outside":
            state = yield Proposal(state.latest.theta * 1.5)
        if self.fault == "guessing":
            state = yield Proposal(state.latest.theta, state.best.upper)
        if self.fault == "secretive":
            problem.evaluate(problem.start())
        yield from super().search(problem, state)

    def first(self, problem: Problem, start: Array | None) -> Array:
        if self.fault == "obliging" and start is not None:
            return super().first(problem, np.resize(start, problem.size))
        return super().first(problem, start)

    def check(self, problem: Problem) -> None:
        if self.fault == "terse":
            raise TypeError("no")
        if self.fault == "crashing" and isinstance(problem.machine, HingeMachine):
            problem.machine.alpha  # type: ignore[attr-defined] # noqa: B018


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("boastful", "nothing below"),
        ("misnamed", "is called a stationarity"),
        ("NaN", "the certificate is NaN"),
        ("outside", "is not in"),
        ("guessing", "nothing below"),
        ("secretive", "inner problems are solved"),
        ("idle", "reaches its tolerance on none"),
        ("obliging", "a start of another length was not refused"),
        ("terse", "one sentence"),
        ("crashing", "no refusal but a AttributeError"),
    ],
)
def test_the_suite_finds_what_is_wrong(fault: str, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_optimizer(Faulty(tol=1e-5, max_iter=20, fault=fault))


def test_the_suite_knows_its_own_optima() -> None:
    with pytest.raises(ValueError, match="not the best weights"):
        known_problem(Simplex(), np.array([0.5, 0.5]), np.array([1.0, 2.0]))


# -- hinge loss --------------------------------------------------------------------------------------------------------


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


@cache
def optimum(name: str, C: float, p: float = 1.0) -> mkl.Optimum:
    problem = PROBLEMS[name]()
    return mkl.mkl(problem.K, mkl.classification(problem.y, C), p)


def classified(name: str, C: float, domain: Domain, p: float = 1.0) -> KnownProblem:
    """A problem of hinge losses, with the bounds of its optimum that Clarabel's points give."""
    case, truth = PROBLEMS[name](), optimum(name, C, p)
    problem = Problem(precomputed(case.K), Linear(), HingeMachine(C=C), domain, case.y)
    return KnownProblem(problem, truth.lower, truth.upper)


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


def assert_proved(optimizer: Optimizer, known: KnownProblem, p: float = 1.0) -> Result:
    """The suite's checks; and both values claimed follow from the points found alone."""
    problem = known.problem
    recorded = Recorded(problem.machine)
    result = check_run(optimizer, replace(known, problem=replace(problem, machine=recorded)))
    K, losses = problem.bank.matrices(), mkl.classification(problem.target, problem.machine.C)
    upper = result.evaluation.upper
    lower = upper - result.certificate.value * abs(upper)
    assert mkl.primal_value(K, losses, result.theta, result.evaluation.dual.coef) <= upper * (1.0 + TINY)
    if not isinstance(optimizer, Subgradient):  # which bounds by means of its points
        assert lower <= dual_bound(K, losses, recorded.coefs[: result.n_iter], p) + 1e-6 * abs(upper)
    return result


CASES = [
    *[("random", C) for C in (0.01, 1.0, 100.0)],
    *[("low-rank", C) for C in (0.01, 100.0)],
    *[("duplicated", 100.0), ("zero", 1.0), ("constant", 100.0), ("rank-one", 1.0), ("badly-scaled", 0.01)],
]


@pytest.mark.parametrize(
    ("name", "C", "optimizer"), one_in(7, ((*case, name) for case in CASES for name in ON_SIMPLEX))
)
def test_simplex(name: str, C: float, optimizer: str) -> None:
    assert assert_proved(ON_SIMPLEX[optimizer], classified(name, C, Simplex())).converged


@pytest.mark.parametrize(
    ("name", "C", "p"),
    [
        *[("random", 1.0, p) for p in (1.1, 1.5, 2.0, 4.0)],
        *[("low-rank", 100.0, 1.1), ("duplicated", 1.0, 1.5), ("zero", 100.0, 2.0), ("constant", 0.01, 2.0)],
        *[("rank-one", 100.0, 2.0), ("badly-scaled", 1.0, 4.0)],
    ],
)
@ball_optimizers
def test_balls(name: str, C: float, p: float, optimizer: Optimizer) -> None:
    assert assert_proved(optimizer, classified(name, C, NormBall(p), p), p).converged


@simplex_optimizers
def test_stopped_early_it_knows_how_far_it_got(optimizer: Optimizer) -> None:
    known = classified("rank-one", 1.0, Simplex())
    check_stopped(replace(optimizer, tol=1e-12), known)
    found = assert_proved(replace(optimizer, tol=1e-12, max_iter=5), known)
    assert not found.converged
    assert found.n_iter == 5


@simplex_optimizers
def test_a_simplex_of_another_size_is_another_scale_of_the_kernels(optimizer: Optimizer) -> None:
    case = PROBLEMS["random"]()
    truth = larger_optimum()
    problem = Problem(precomputed(case.K), Linear(), HingeMachine(C=1.0), Simplex(2.5), case.y)
    assert check_run(optimizer, KnownProblem(problem, truth.lower, truth.upper)).converged


@cache
def larger_optimum() -> mkl.Optimum:
    case = PROBLEMS["random"]()
    return mkl.mkl(2.5 * case.K, mkl.classification(case.y, 1.0))


# -- regression --------------------------------------------------------------------------------------------------------


@cache
def real_targets(name: str) -> Array:
    """Targets of a problem that are not labels."""
    y = PROBLEMS[name]().y
    return y + np.random.default_rng(0).normal(size=len(y))


@cache
def regression(name: str, p: float) -> KnownProblem:
    """A problem of epsilon-insensitive losses, with the bounds of its optimum."""
    K, y = PROBLEMS[name]().K, real_targets(name)
    truth = mkl.mkl(K, mkl.regression(y, 1.0, 0.3), p)
    assert -TINY <= truth.gap <= 1e-5
    domain: Domain = Simplex() if p == 1.0 else NormBall(p)
    problem = Problem(precomputed(K), Linear(), EpsilonMachine(C=1.0, epsilon=0.3), domain, y)
    return KnownProblem(problem, truth.lower, truth.upper)


@pytest.mark.parametrize("name", ["random", "low-rank", "duplicated"])
@simplex_optimizers
def test_regression(name: str, optimizer: Optimizer) -> None:
    assert check_run(optimizer, regression(name, 1.0)).converged


@pytest.mark.parametrize("p", [1.5, 3.0])
@ball_optimizers
def test_regression_on_balls(p: float, optimizer: Optimizer) -> None:
    assert check_run(optimizer, regression("random", p)).converged


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
def ridge(name: str, alpha: float, radius: float, center: float) -> tuple[Ridge, KnownProblem]:
    """Its formulas, and the problem with bounds of its optimum."""
    K, y = PROBLEMS[name]().K, real_targets(name)
    formulas = Ridge(K, y - y.mean(), alpha, radius, center)
    a = formulas.solution()
    q = ref.quad(K, a)
    problem = Problem(precomputed(K), Linear(), RidgeMachine(alpha), NormBall(2.0, radius, center), y)
    return formulas, KnownProblem(problem, formulas.bound(a), formulas.value(center + radius * q / np.linalg.norm(q)))


@pytest.mark.parametrize(
    ("name", "alpha", "radius", "center"),
    [
        *[("random", *rest) for rest in ((0.1, 1.0, 0.0), (1.0, 0.5, 1.0), (30.0, 5.0, 0.1))],
        *[("low-rank", 1.0, 0.5, 1.0), ("duplicated", 0.1, 1.0, 0.0), ("zero", 30.0, 5.0, 0.1)],
        *[("constant", 1.0, 0.5, 1.0), ("rank-one", 0.1, 1.0, 0.0), ("badly-scaled", 30.0, 5.0, 0.1)],
    ],
)
@ridge_optimizers
def test_ridge(name: str, alpha: float, radius: float, center: float, optimizer: Optimizer) -> None:
    formulas, known = ridge(name, alpha, radius, center)
    found = check_run(optimizer, known)
    check_stopped(replace(optimizer, tol=1e-14), known)
    assert found.converged or name == "badly-scaled" or isinstance(optimizer, PublishedGradient)
    assert formulas.value(found.theta) == pytest.approx(found.evaluation.upper, rel=1e-7)


# -- what holds whatever the problem -----------------------------------------------------------------------------------


@simplex_optimizers
def test_one_kernel_needs_no_search(optimizer: Optimizer) -> None:
    case = PROBLEMS["random"]()
    found = optimizer.minimise(Problem(precomputed(case.K[:1]), Linear(), HingeMachine(C=1.0), Simplex(), case.y))
    np.testing.assert_array_equal(found.theta, [1.0])
    assert found.converged
    assert found.evaluation.value == pytest.approx(ref.svm_value(case.K[0], case.y, 1.0), rel=1e-2)


@simplex_optimizers
def test_kernels_of_zeros_leave_the_losses(optimizer: Optimizer) -> None:
    y = PROBLEMS["random"]().y
    zeros = precomputed(np.zeros((3, len(y), len(y))))
    found = optimizer.minimise(Problem(zeros, Linear(), HingeMachine(C=2.0), Simplex(), y))
    assert found.converged
    assert found.evaluation.value == pytest.approx(2.0 * 2.0 * min((y > 0).sum(), (y < 0).sum()))
    assert np.isfinite(found.theta).all()


@pytest.mark.parametrize("optimizer", [CuttingPlane(tol=1e-4), LevelMethod(tol=1e-4)])
def test_planes_through_the_origin_are_a_model(optimizer: Optimizer) -> None:
    """The one-class machine's value is linear in K, so the constants of all planes are zero."""
    found = optimizer.minimise(small_problem(Simplex(), MACHINES["one class"], Linear()))
    other = ProjectedGradient(tol=1e-6).minimise(small_problem(Simplex(), MACHINES["one class"], Linear()))
    assert found.converged
    assert found.evaluation.value == pytest.approx(other.evaluation.value, rel=2e-4)


@simplex_optimizers
def test_inner_problems_get_more_accurate_with_the_outer_gap(optimizer: Optimizer) -> None:
    case = PROBLEMS["low-rank"]()
    machine = Recorded(HingeMachine(C=1.0))
    found = optimizer.minimise(Problem(precomputed(case.K), Linear(), machine, Simplex(), case.y))
    gaps = [1.0, *found.history[:-1]]
    for tol, gap in zip(machine.tols, gaps, strict=True):
        assert tol == pytest.approx(optimizer.inner_gap(min(max(gap, optimizer.tol), 1.0)))
        assert tol <= 0.01 * max(gap, optimizer.tol)


@simplex_optimizers
def test_no_point_is_solved_twice(optimizer: Optimizer) -> None:
    """A machine without a tolerance is exact: there is nothing to refine."""
    case, seen = PROBLEMS["low-rank"](), []
    outer = Problem(precomputed(case.K), Linear(), RidgeMachine(alpha=0.5), Simplex(), case.y)
    optimizer.minimise(outer, observe=lambda event: seen.append(tuple(event.theta)))
    assert len(set(seen)) == len(seen)


@simplex_optimizers
def test_a_start_at_the_optimum_ends_at_once(optimizer: Optimizer) -> None:
    case = PROBLEMS["random"]()
    outer = Problem(precomputed(case.K), Linear(), HingeMachine(C=1.0), Simplex(), case.y)
    best = LevelMethod(tol=1e-7).minimise(outer)
    again = optimizer.minimise(outer, start=best.theta, warm=best.evaluation.dual.warm)
    assert again.converged
    assert again.n_iter <= 3
