"""Checks of an optimizer on problems whose optimum is known.

Where K_k = e_k e_k' for samples k = 1..m, and ridge regression without intercept is the machine,

    J(theta) = sum_k y_k^2 / (theta_k + alpha),        q_k = y_k^2 / (theta_k + alpha)^2

so that targets can be computed for given weights and scores. Weights of a domain that maximise theta'q - r(theta) are
then the optimum, for any domain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks import precomputed
from multikernel.combinations import HadamardPower, Linear
from multikernel.domains import Domain, EntropySimplex, NormBall, Orthant, Simplex
from multikernel.machines import HingeMachine, Machine, RidgeMachine
from multikernel.observer import Event
from multikernel.optimizers import Optimizer, Result
from multikernel.problem import Evaluation, Problem
from multikernel.testing.assertions import ROUNDING, must_refuse, refusal, require

_FINE = 1e-10  # the gap with which a value is recomputed


@dataclass(frozen=True, eq=False)
class KnownProblem:
    """A problem with bounds of its optimum that were computed in another way.

    Parameters
    ----------
    problem : Problem
    lower, upper : float, bounds of the optimum
    """

    problem: Problem
    lower: float
    upper: float


def known_problem(domain: Domain, weights: Array, scores: Array, alpha: float = 0.5) -> KnownProblem:
    """A problem over a domain whose optimum is at these weights, with these scores.

    Parameters
    ----------
    domain : Domain
    weights : array (m,), feasible
    scores : array (m,) >= 0; the weights have to maximise weights'scores - penalty
    alpha : float > 0, of the ridge machine

    Raises
    ------
    ValueError : where they do not
    """
    gain = float(weights @ scores) - domain.penalty(weights)
    if not (domain.contains(weights) and np.isclose(gain, domain.support(scores), rtol=1e-12)):
        raise ValueError(f"{weights} are not the best weights in {domain} for the scores {scores}")
    m = len(weights)
    y = np.sqrt(scores) * (weights + alpha)
    bank = precomputed(np.eye(m)[:, :, None] * np.eye(m)[:, None, :])
    problem = Problem(bank, Linear(), RidgeMachine(alpha, fit_intercept=False), domain, y)
    optimum = float((y**2 / (weights + alpha)).sum()) + domain.penalty(weights)
    return KnownProblem(problem, optimum, optimum)


def known_problems() -> list[KnownProblem]:
    """A problem over each kind of domain, with five kernels; on the simplex one of the kernels has no weight."""
    q = np.array([2.0, 0.5, 1.0, 0.2, 1.5])
    smooth = [NormBall(1.5), NormBall(2.0), NormBall(2.0, 0.7, 1.0), EntropySimplex(0.5), Orthant(0.8)]
    flat = np.array([1.0, 1.0, 1.0, 0.5, 1.0]), np.array([0.4, 0.3, 0.2, 0.0, 0.1])
    return [
        known_problem(Simplex(), flat[1], flat[0]),
        known_problem(Orthant(1.0, 1), flat[1], flat[0]),
        *(known_problem(domain, domain.maximiser(q), q) for domain in smooth),
    ]


def check_optimizer(optimizer: Optimizer, problems: Iterable[KnownProblem] | None = None) -> None:
    """Check an optimizer on every problem that it does not refuse; it may not refuse all.

    Parameters
    ----------
    optimizer : Optimizer, with the tolerance and the number of iterations to check
    problems : KnownProblem; ``known_problems()`` by default

    Raises
    ------
    AssertionError : with what is wrong

    Examples
    --------
    >>> from multikernel.optimizers import LevelMethod
    >>> from multikernel.testing.optimizers import check_optimizer
    >>> check_optimizer(LevelMethod(tol=1e-4))
    """
    all_problems = known_problems() if problems is None else list(problems)
    solved = [
        known_problem
        for known_problem in all_problems
        if refusal(partial(_checked, optimizer, known_problem.problem)) is None
    ]
    require(bool(solved), f"{optimizer} refuses every problem")
    reached = [check_run(optimizer, known_problem).converged for known_problem in solved]
    require(any(reached), f"{optimizer} reaches its tolerance on none of {len(solved)} problems")
    for known_problem in solved:
        check_stopped(optimizer, known_problem)
        check_start(optimizer, known_problem)
    if problems is None:
        check_refusals(optimizer, [known_problem.problem for known_problem in all_problems])


def check_run(optimizer: Optimizer, known_problem: KnownProblem) -> Result:
    """The result of a run, after checks of its certificate, its history and the events of its observer.

    A duality gap is no smaller than the distance to the optimum, and the value is that of the returned weights.
    """
    problem = _Counted.of(known_problem.problem)
    events = list[Event]()
    result = optimizer.minimise(problem, observe=events.append)
    _check_result(optimizer, known_problem, result)
    n = result.n_iter
    require(
        n == len(result.history) == len(events),
        f"{n} iterations, {len(result.history)} in the history, {len(events)} reported",
    )
    require(n == len(problem.solved), f"{len(problem.solved)} inner problems are solved, and {n} are reported")
    require([event.step for event in events] == list(range(1, n + 1)), "the observer's steps do not count from 1")
    bounds = [event.bound for event in events]
    uppers = [event.upper for event in events]
    require(all(a <= b for a, b in pairwise(bounds)), "the bound falls")
    require(all(event.value <= event.upper for event in events), "a value is above its upper value")
    reported = tuple(event.certificate.value for event in events)
    require(reported == result.history, "the observer receives other certificates than the history holds")
    require(events[-1].certificate == result.certificate, "the last certificate reported is not that of the result")
    if result.certificate.kind == "duality gap":
        require(result.evaluation.upper == min(uppers), "the point returned is not the best one found")
        require(bounds[-1] <= result.bound, "the observer received a better bound than that of the result")
    return result


def check_stopped(optimizer: Optimizer, known_problem: KnownProblem) -> None:
    """Stopped after one or two machines, it returns a result whose claims are true."""
    for max_iter in (1, 2):
        result = replace(optimizer, max_iter=max_iter).minimise(known_problem.problem)
        require(result.n_iter <= max_iter, f"max_iter={max_iter}, and {result.n_iter} machines are solved")
        _check_result(optimizer, known_problem, result)


def check_start(optimizer: Optimizer, known_problem: KnownProblem) -> None:
    """A start outside the domain is moved into it; one of another length is refused."""
    m = known_problem.problem.size
    start = np.linspace(2.0, -0.5, m)
    start_before = start.copy()
    _check_result(optimizer, known_problem, optimizer.minimise(known_problem.problem, start=start))
    require(np.array_equal(start, start_before), "the start is written into")
    must_refuse(lambda: optimizer.minimise(known_problem.problem, start=np.ones(m + 1)), "a start of another length")


def check_refusals(optimizer: Optimizer, problems: Iterable[Problem]) -> None:
    """Other domains, machines and combinations are solved for some steps, or refused in a sentence."""
    few = replace(optimizer, max_iter=3)
    for problem in problems:
        labels = np.where(np.arange(len(problem.target)) % 2 == 0, 1.0, -1.0)
        changes: list[dict[str, Any]] = [
            {},
            {"machine": HingeMachine(), "target": labels},
            {"combination": HadamardPower(2)},
            {"machine": HingeMachine(), "target": labels, "combination": HadamardPower(3)},
        ]
        for change in changes:
            refusal(partial(few.minimise, replace(problem, **change)))


def _check_result(optimizer: Optimizer, known_problem: KnownProblem, result: Result) -> None:
    """Check the claims of a result against the known bounds of the problem."""
    problem = known_problem.problem
    evaluation = result.evaluation
    certificate = result.certificate
    require(problem.domain.contains(result.theta), f"{result.theta} is not in {problem.domain}")
    fine = problem.evaluate(result.theta, machine=problem.machine.with_tolerance(_FINE))
    size = ROUNDING * abs(fine.value)
    require(
        evaluation.value <= fine.upper + size,
        f"the value is {evaluation.value!r}, and that of the weights {fine.upper!r}",
    )
    require(
        fine.value <= evaluation.upper + size,
        f"the upper value reported is {evaluation.upper!r}, and the value is {fine.value!r}",
    )
    require(
        known_problem.lower <= evaluation.upper + size,
        f"{evaluation.upper!r} is below the optimum {known_problem.lower!r}",
    )
    require(not np.isnan(certificate.value), "the certificate is NaN")
    reached = certificate.reached(optimizer.tol)
    require(result.converged == reached, f"converged is {result.converged} with {certificate}, tol={optimizer.tol}")
    kind = "duality gap" if np.isfinite(result.bound) else "stationarity"
    require(certificate.kind == kind, f"the certificate is called a {certificate.kind} and is a {kind}")
    if kind == "duality gap":
        claimed = evaluation.upper - certificate.value * abs(evaluation.upper)
        require(
            claimed <= known_problem.upper + size,
            f"{certificate}: nothing below {claimed!r}, but {known_problem.upper!r} is there",
        )


def _checked(optimizer: Optimizer, problem: Problem) -> None:
    problem.domain.check(problem.size)
    optimizer.check(problem)


@dataclass(frozen=True, eq=False)
class _Counted(Problem):
    """A problem that records the points at which it is solved."""

    solved: list[Array] = field(default_factory=list)

    @classmethod
    def of(cls, problem: Problem) -> _Counted:
        return cls(**{problem_field.name: getattr(problem, problem_field.name) for problem_field in fields(Problem)})

    def evaluate(self, theta: Array, warm: Any = None, machine: Machine | None = None) -> Evaluation:
        self.solved.append(theta)
        return super().evaluate(theta, warm, machine)
