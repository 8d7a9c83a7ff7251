"""Polynomial kernel learning for ridge regression (Cortes, Mohri and Rostamizadeh 2009, Learning non-linear
combinations of kernels).

    min  tr Y'(K(theta) + alpha I)^{-1} Y,        K(theta) = (sum_k theta_k K_k)^degree, entry by entry

over theta >= 0, |theta - center|_norm <= radius, or with the penalty strength |theta|^2 in place of the ball.

The value falls in every weight, so the optimum is on the surface of the ball. It is not convex in theta for a degree
above 1; where it is convex in theta^degree (``hidden_convexity``) every point has a global bound, and the result is
optimal up to its duality gap. Elsewhere it is stationary, and the best of several starts.

Zero weights may be the optimum for degree 2 with the penalty strength |theta|^2. At theta = 0 the coefficients are
Y / alpha, and to second order

    J(K(theta)) + strength |theta|^2 = |Y|^2 / alpha + theta'(strength I - B)theta,
    B_jk = tr Y'(K_j o K_k)Y / alpha^2,

so that zero weights are a local minimum where the strength is at least the largest eigenvalue of B; by hidden convexity
this minimum is global. The entries of B are >= 0, so power iteration finds the eigenvalue, with a pass over the kernels
in each step.

No start has a weight of zero, where a power of a sum may have no gradient. A problem that is not convex in powers of
its weights may have local minima that are not global; in experiments a few per cent of cases had them. Later starts are
the solution for a lower degree, points near the single kernels, and random weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from multikernel._floats import SINGULAR, TINY
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel._workers import in_time, time_is_up
from multikernel.banks import FactorGram, KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import Certificate
from multikernel.combinations import HadamardPower, Linear
from multikernel.domains import NormBall, Orthant, Separable
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.observer import Observer, silent
from multikernel.optimizers import Optimizer, Result
from multikernel.optimizers.block_norm import CENTRAL_SHARE
from multikernel.optimizers.published_gradient import PublishedGradient
from multikernel.optimizers.quasi_newton import QuasiNewton
from multikernel.optimizers.ridge.interpolated import Interpolated
from multikernel.optimizers.ridge.sphere import SphereTrustRegion
from multikernel.problem import Problem
from multikernel.procedures.base import Start, Weights, outcome, within
from multikernel.procedures.generalized import interpolates, is_program, sum_of_kernels
from multikernel.procedures.hidden_convexity import HiddenConvexProblem, hidden_convex, proved
from multikernel.procedures.polynomial.branch_and_bound import branch_and_bound
from multikernel.procedures.ridge_terms import solved_by_terms, unexplained
from multikernel.tuning import NEWTON_WEIGHTS

SOLVERS = ("auto", "projected_gradient", "interpolated", "trust_region", "branch_and_bound")
_BRANCHED_WEIGHTS = 8  # weights up to which branch and bound needs few enough boxes


def polynomial_mkl(
    problem: Problem,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 1000,
    n_init: int = 1,
    rng: np.random.RandomState | None = None,
    start: Start | None = None,
    observe: Observer = silent,
) -> tuple[Weights, DualSolution]:
    """The weights with their certificate, and the ridge machine's solution at them.

    Parameters
    ----------
    problem : Problem of a RidgeMachine over a NormBall, or an Orthant of norm 2
    solver : "auto", "trust_region" (2-norm ball), "interpolated" (degree 1, norm > 1), "projected_gradient" (as
        published, for comparisons) or "branch_and_bound" (few weights: global optima of problems that are not convex)
    tol : float, the relative duality gap to reach where the problem is convex in powers of its weights, else the
        relative stationarity
    max_iter : int, machines at most from each start
    n_init : int, how many starts where the problem is not convex: the central weights, the solution for the degree
        below, points near single kernels, random weights
    rng : of the random starts
    start : Start, in place of the central weights
    observe : called after each machine, or of each Newton step

    Raises
    ------
    ValueError : where the solver does not fit the problem
    """
    problem.domain.check(problem.size)
    random = rng or np.random.RandomState(0)

    def solve(
        inner: Problem, inner_tol: float, begin: Array | None, observer: Observer
    ) -> tuple[Weights, DualSolution]:
        first = start
        if begin is not None:
            variables = None if start is None else start.variables
            first = Start(begin, variables)
        return _solved(inner, solver, inner_tol, max_iter, n_init, random, first, observer)

    with one_blas_thread(problem.bank.shape[0]):
        return solved_by_terms(problem, solve, tol, observe)


def _solved(
    problem: Problem,
    solver: str,
    tol: float,
    max_iter: int,
    n_init: int,
    rng: np.random.RandomState,
    start: Start | None,
    observe: Observer,
) -> tuple[Weights, DualSolution]:
    idle = unexplained(problem) or collapsed(problem, tol)
    if idle is not None:
        return idle
    by_interior_point = None
    if solver == "auto" and _for_interior_point(problem):
        if start is None:
            begin = Start(problem.start())
        else:
            begin = replace(start, weights=problem.feasible(start.weights))
        by_interior_point = sum_of_kernels(problem, tol, max_iter, begin, observe)
        if by_interior_point[0].converged or by_interior_point[0].n_iter >= max_iter:
            return by_interior_point
    middle = central(problem)
    optimizer = _optimizer(problem, middle, solver, tol, max_iter)
    first = middle if start is None else inside(problem, start.weights, middle)
    if problem.linear or hidden_convex(problem):
        bounded = problem if problem.linear else HiddenConvexProblem.of(problem)
        answer = outcome(proved(bounded, optimizer, first, observe))
        if by_interior_point is None:
            return answer
        return _closer(by_interior_point, answer)
    starts = islice(chain([first], _lower(problem, optimizer, middle), later_starts(problem, middle, rng)), n_init)
    results = [
        optimizer.minimise(problem, begin, None, observe) for begin in in_time(starts, n_init, "starts of the weights")
    ]
    if solver == "branch_and_bound":
        best = min(results, key=lambda result: result.evaluation.upper)
        return _best([branch_and_bound(problem, best, tol, max_iter, observe)])
    return _best(results)


def _closer(one: tuple[Weights, DualSolution], other: tuple[Weights, DualSolution]) -> tuple[Weights, DualSolution]:
    """The result with the smaller gap: because of rounding the interior point method may not reach the optimum."""
    gaps = [np.inf if answer[0].gap is None else answer[0].gap for answer in (one, other)]
    if gaps[0] <= gaps[1]:
        return one
    return other


def _for_interior_point(problem: Problem) -> bool:
    """Whether the interior point method is the fastest: a sum of kernels, one target, samples of equal weight.

    It uses n x n matrices; where these have few features, an iteration that makes use of their structure is faster.
    """
    return is_program(problem) and not (interpolates(problem) and _few_features(problem.bank))


def _few_features(bank: KernelBank) -> bool:
    """Whether sums of the kernels have at most half as many features as samples."""
    if not isinstance(bank.select([0]).combine(np.ones(1)), FactorGram):
        return False
    gram = bank.combine(np.ones(len(bank)))
    return isinstance(gram, FactorGram) and 2 * gram.F.shape[1] <= gram.shape[0]


def _optimizer(problem: Problem, middle: Array, solver: str, tol: float, max_iter: int) -> Optimizer:
    """The optimizer of that name; ValueError where it cannot solve this problem."""
    ball = problem.domain
    power = isinstance(problem.combination, Linear | HadamardPower)
    sphere = isinstance(ball, NormBall) and ball.norm == 2 and ball.radius > 0 and power
    ridge = isinstance(problem.machine, RidgeMachine)
    if solver == "branch_and_bound" and not (
        isinstance(ball, NormBall) and ball.radius > 0 and problem.size <= _BRANCHED_WEIGHTS
    ):
        raise ValueError(
            f"solver='branch_and_bound' proves optima over a ball with a radius > 0, of up to {_BRANCHED_WEIGHTS} "
            "weights: for more, n_init of solver='auto' tries several starts"
        )
    match solver.replace("branch_and_bound", "auto"):
        case "auto" if ridge and sphere and problem.size <= NEWTON_WEIGHTS:
            return SphereTrustRegion(tol, max_iter)
        case "auto" if interpolates(problem):
            return Interpolated(tol, max_iter)
        case "auto":
            return QuasiNewton(tol, max_iter, typical=middle)
        case "projected_gradient":
            return PublishedGradient(tol, max_iter)
        case "trust_region":
            if not sphere:
                raise ValueError(
                    "solver='trust_region' works on the sphere of a ball of norm 2 with a radius > 0, and on powers of "
                    "sums: not with a penalty, another norm or free products; solver='auto' works with all of them"
                )
            return SphereTrustRegion(tol, max_iter)
        case "interpolated":
            if not problem.linear or (isinstance(ball, NormBall) and ball.norm == 1):
                raise ValueError(
                    "solver='interpolated' works for degree 1, in a ball of norm > 1 or with a penalty; "
                    "solver='auto' works for every degree and norm"
                )
            return Interpolated(tol, max_iter)
    raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {solver!r}")


def _best(results: Sequence[Result]) -> tuple[Weights, DualSolution]:
    """The lowest of several stationary points."""
    weights, dual = outcome(min(results, key=lambda result: result.evaluation.upper))
    if not weights.values.any():
        warn_of_collapse("as far as this start leads")
    total = sum(result.n_iter for result in results)
    return replace(weights, n_iter=total), dual


def _lower(problem: Problem, optimizer: Optimizer, middle: Array) -> Iterator[Array]:
    """The solution for the degree below."""
    combination = problem.combination
    if isinstance(combination, HadamardPower) and combination.degree > 1:
        below = replace(problem, combination=HadamardPower(combination.degree - 1))
        yield inside(problem, optimizer.minimise(below, middle).theta, middle)


# -- zero weights ------------------------------------------------------------------------------------------------------


def collapsed(problem: Problem, tol: float) -> tuple[Weights, DualSolution] | None:
    """Zero weights where they are optimal, with a warning; None where they are not, and for other problems."""
    domain = problem.domain
    if not (isinstance(domain, Orthant) and problem.combination == HadamardPower(2) and hidden_convex(problem)):
        return None
    convex_problem = HiddenConvexProblem.of(problem)
    zero = np.zeros(problem.size)
    evaluation = convex_problem.evaluate(zero)
    x = np.ones(problem.size)
    largest = 0.0
    for _ in range(400):  # power iteration
        x = x / max(float(np.linalg.norm(x)), TINY)
        q = 0.5 * problem.combination.pullback(problem.bank, x, evaluation.dual.factor)
        before = largest
        largest = float(x @ q)
        x = q
        if largest > domain.strength or time_is_up():
            return None
        if largest <= before * (1.0 + SINGULAR):
            break
    bound = convex_problem.bound(evaluation, x)
    gap = Certificate.gap(evaluation.upper, bound)
    warn_of_collapse(f"as it is from {largest:.3g} on")
    weights = Weights(
        values=zero,
        objective=evaluation.upper,
        certificate=gap,
        converged=gap.reached(tol),
        n_iter=1,
        history=(gap.value,),
        bound=bound,
    )
    return weights, within(weights, evaluation.dual)


def warn_of_collapse(where: str) -> None:
    """Warn that every weight is 0; ``where`` says from which penalty on, or for which start."""
    warn_user(
        f"polynomial kernel learning: the penalty outweighs what the kernels explain ({where}), so every weight is 0 "
        "and the predictor is constant; lower the penalty, or alpha."
    )


# -- starts ------------------------------------------------------------------------------------------------------------


def central(problem: Problem) -> Array:
    """The centre of the domain; where only a penalty bounds the weights, equal weights of the best of some sizes."""
    if problem.domain.constrained or not isinstance(problem.machine, RidgeMachine):
        return problem.start()
    even = np.ones(problem.size)
    self_value = float(problem.combination.gram(problem.bank, even).diagonal().mean())
    power = float(problem.combination.powers(problem.bank).max())
    if not (self_value > 0.0 and np.isfinite(power)):
        return problem.start()
    # by decades about the weights for which K and alpha have the same size
    sizes = (problem.machine.alpha / self_value) ** (1.0 / power) * 10.0 ** np.arange(-2.0, 5.0)
    values = [problem.evaluate(size * even).value for size in sizes]
    return float(sizes[int(np.argmin(values))]) * even


def inside(problem: Problem, theta: Array, middle: Array) -> Array:
    """The weights, moved slightly towards the central ones."""
    return problem.domain.feasible((1.0 - CENTRAL_SHARE) * theta + CENTRAL_SHARE * middle)


def later_starts(problem: Problem, middle: Array, rng: np.random.RandomState) -> Iterator[Array]:
    """An infinite sequence of starts: near the single kernels if these are few, then random ones."""
    if isinstance(problem.domain, Separable):
        low = problem.domain.offset(problem.size)
    else:
        low = np.zeros(problem.size)
    if problem.size <= 10:  # so few that there is a start for each
        for k in range(problem.size):
            single = low.copy()
            single[k] += _reach(problem, middle - low, k)
            yield inside(problem, single, middle)
    while True:
        scattered = low + (middle - low) * rng.exponential(size=problem.size)
        yield inside(problem, problem.domain.feasible(scattered), middle)


def _reach(problem: Problem, delta: Array, k: int) -> float:
    """The distance of a single weight from its offset, if it replaces all weights."""
    if isinstance(problem.domain, NormBall):
        return problem.domain.radius
    return float(delta[k]) * problem.size
