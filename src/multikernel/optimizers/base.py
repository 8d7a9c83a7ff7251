"""Algorithms for the outer problem that use only the interface of the problem.

    min_{theta in D} J(K(theta)) + r(theta)

An algorithm proposes a point, receives the evaluation of the problem there, and proposes the next one. Everything else
is done here, for all algorithms: each inner problem is solved from the last solution, and no more accurately than the
outer gap requires; the best point and the best bound are kept; and the run ends as soon as these enclose the optimum
closely enough, or where the value of the machine is not known because of rounding:

    duality gap = (upper value at the returned point - best bound) / |upper value|

A bound holds for all points. Where K is not linear in theta there are no bounds; the certificate of a point is then its
stationarity, which says nothing about other points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from multikernel._parameters import Count, Positive, check_parameters
from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.certificate import FINEST_GAP, STALLED, Certificate
from multikernel.observer import Observer, silent
from multikernel.optimizers.state import Proposal, Result, State
from multikernel.problem import Problem

Search = Generator[Proposal, State, None]


@dataclass(frozen=True)
class Optimizer(ABC):
    """An algorithm with its parameters.

    Parameters
    ----------
    tol : float > 0, the certificate to reach, relative to the value
    max_iter : int >= 1, how many inner problems at most are solved
    """

    tol: Positive = 1e-3
    max_iter: Count = 1000

    inner: ClassVar[float] = 1e-2  # the requested inner gap, relative to the outer one

    def __post_init__(self) -> None:
        check_parameters(self)

    def check(self, problem: Problem) -> None:  # noqa: B027 - some algorithms solve every problem
        """Refuse a problem that the algorithm cannot solve, by the functions of ``needs``.

        Raises
        ------
        TypeError, ValueError : with a sentence that names what works instead
        """

    @abstractmethod
    def search(self, problem: Problem, state: State) -> Search:
        """Propose points; the state is sent after each. The search ends where the algorithm has no better point."""

    def first(self, problem: Problem, start: Array | None) -> Array:
        """The first point: the domain's central one, or a start made feasible."""
        if start is None:
            return problem.start()
        return problem.feasible(start)

    def inner_gap(self, gap: float) -> float:
        """The gap to which inner problems are solved while the outer one is ``gap``."""
        return self.inner * gap

    def certificate(self, problem: Problem, state: State) -> Certificate:
        """How far the best point may be from the optimum, or from being stationary."""
        if np.isfinite(state.bound):
            return Certificate.gap(state.best.upper, state.bound)
        return state.best.certificate

    def minimise(
        self,
        problem: Problem,
        start: Array | None = None,
        warm: Array | None = None,
        observe: Observer = silent,
    ) -> Result:
        """Minimise until the certificate is at most ``tol``, or the algorithm makes no more progress.

        Parameters
        ----------
        problem : Problem
        start : array (d,), where to begin; the domain's central point if not given
        warm : a start for the first inner problem: ``evaluation.dual.warm`` of an earlier result
        observe : called after each solution of an inner problem

        Raises
        ------
        TypeError, ValueError : where the algorithm cannot solve the problem, with a sentence that names what works
        ValueError : for a start of another length or with NaN, and for what the machine cannot take
        """
        problem.domain.check(problem.size)
        self.check(problem)
        state = self._evaluated(problem, self.first(problem, start), warm, None, observe)
        if not self._finished(state):
            state = self._continued(problem, state, observe)
        observe(state.event)
        return Result(
            theta=state.best.theta,
            evaluation=state.best,
            certificate=state.certificate,
            bound=state.bound,
            converged=state.certificate.reached(self.tol),
            n_iter=len(state.history),
            history=state.history,
        )

    def _finished(self, state: State) -> bool:
        # the last values were mostly not known, or differ by less than the gap of the machine
        given_up = state.unknown >= 3 or state.unresolved >= STALLED
        over = len(state.history) >= self.max_iter or given_up or time_is_up()
        return over or state.certificate.reached(self.tol)

    def _continued(self, problem: Problem, state: State, observe: Observer) -> State:
        """Evaluate the points that the search proposes; the bound of a proposal may end the run."""
        search = self.search(problem, state)
        proposal = next(search, None)
        while proposal is not None:
            state = replace(state, bound=max(state.bound, proposal.bound))
            state = state.certified(self.certificate(problem, state), step=False)
            if self._finished(state):
                break
            observe(state.event)
            state = self._evaluated(problem, proposal.theta, state.latest.dual.warm, state, observe)
            proposal = None if self._finished(state) else _answer(search, state)
        return state

    def _evaluated(self, problem: Problem, theta: Array, warm: Any, state: State | None, observe: Observer) -> State:
        """The state after an evaluation at theta, repeated until its inner gap is small enough if it is the best point.

        The observer is called for repeated evaluations here; for the last one it is called later, when the bound of the
        next proposal, which belongs to this state, is known.
        """
        gap = state.certificate.value if state is not None else 1.0
        before = np.inf
        while True:
            inner_tolerance = max(self.inner_gap(min(max(gap, self.tol), 1.0)), FINEST_GAP)
            evaluation = problem.evaluate(theta, warm, problem.machine.with_tolerance(inner_tolerance))
            if state is None:
                state = State.first(evaluation)
            else:
                state = state.after(evaluation, self.tol, inner_tolerance)
            state = state.certified(self.certificate(problem, state))
            gap = state.certificate.value
            # an inner gap of more than a tenth of the outer one has to shrink before the algorithm goes on
            sharp = evaluation is not state.best or evaluation.dual.gap <= 0.1 * gap
            if self._finished(state) or sharp or not evaluation.dual.converged or inner_tolerance >= before:
                return state
            before = inner_tolerance
            observe(state.event)
            warm = evaluation.dual.warm


class Descent(Optimizer):
    """An algorithm that compares values of points that are close, and relies on their gradients."""

    def inner_gap(self, gap: float) -> float:
        """The error of the gradient, and of the bound that follows from it, is the square root of the inner gap."""
        return self.inner * gap * min(self.inner, gap)


def _answer(search: Search, state: State) -> Proposal | None:
    """The next proposal, or None where the search ends."""
    try:
        return search.send(state)
    except StopIteration:
        return None
