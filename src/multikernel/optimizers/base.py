"""Algorithms for the outer problem that see nothing but the problem.

    min_{theta in D} J(K(theta)) + r(theta)

An algorithm proposes a point, receives what was found there, and proposes the next one. All else is done here, for all
algorithms: each inner problem is solved from the last solution, and no more accurately than the outer gap is worth; the
best point and the best bound are kept; and the run ends as soon as these enclose the optimum closely enough, or where
rounding leaves the value of the machine unknown:

    duality gap = (upper value at the point returned - best bound) / |upper value|

A bound holds wherever it was found. Where K is not linear in theta there are no bounds; the certificate of a point is
then its stationarity, which says nothing about other points.
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

    inner: ClassVar[float] = 1e-2  # the inner gap that is asked for, as a part of the outer one

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
        """Propose points, being sent the state after each; ends where the algorithm has no better point."""

    def first(self, problem: Problem, start: Array | None) -> Array:
        """The first point: the domain's central one, or a start made feasible."""
        if start is None:
            return problem.start()
        return problem.feasible(start)

    def inner_gap(self, gap: float) -> float:
        """The gap to ask of the inner problems while the outer one is ``gap``."""
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
        """Minimise until the certificate is at most ``tol``, or as far as the algorithm gets.

        Parameters
        ----------
        problem : Problem
        start : array (d,), where to begin; the domain's central point if not given
        warm : what the first inner problem may start from: ``evaluation.dual.warm`` of an earlier result
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
        # so many values in a row were mostly unknown, or differ by less than the machine resolves
        given_up = state.unknown >= 3 or state.unresolved >= STALLED
        over = len(state.history) >= self.max_iter or given_up or time_is_up()
        return over or state.certificate.reached(self.tol)

    def _continued(self, problem: Problem, state: State, observe: Observer) -> State:
        """Evaluate the points that the search proposes; the bound that comes with a proposal may end the run."""
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
        """The state after an evaluation at theta; the best point's is repeated until its inner gap is small enough.

        The observer is called for repeated evaluations here, and for the last one once the bound of the next
        proposal, which belongs to it, is known.
        """
        gap = state.certificate.value if state is not None else 1.0
        before = np.inf
        while True:
            asked = max(self.inner_gap(min(max(gap, self.tol), 1.0)), FINEST_GAP)
            found = problem.evaluate(theta, warm, problem.machine.with_tolerance(asked))
            if state is None:
                state = State.first(found)
            else:
                state = state.after(found, self.tol, asked)
            state = state.certified(self.certificate(problem, state))
            gap = state.certificate.value
            # an inner gap of more than a tenth of the outer one has to shrink before the algorithm goes on
            sharp = found is not state.best or found.dual.gap <= 0.1 * gap
            if self._finished(state) or sharp or not found.dual.converged or asked >= before:
                return state
            before = asked
            observe(state.event)
            warm = found.dual.warm


class Descent(Optimizer):
    """An algorithm that compares values of points that are close, and relies on their gradients."""

    def inner_gap(self, gap: float) -> float:
        """An inner gap enters the gradient, and the bound that comes of it, by its square root."""
        return self.inner * gap * min(self.inner, gap)


def _answer(search: Search, state: State) -> Proposal | None:
    """The next proposal, or None where the search ends."""
    try:
        return search.send(state)
    except StopIteration:
        return None
