"""The loop of the interior point method: the pair at a point, whether its gap is small enough, the next step.

A problem makes of every interior point a feasible pair of weights and variables, with the values that enclose the
optimum. The loop ends with a pair whose gap is small enough, or with the best one where rounding lets the gap shrink no
further.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.certificate import NO_PROGRESS, Certificate
from multikernel.numerics.interior_point import NEGLIGIBLE_STEP, BarrierPoint, advance
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.interior.newton import Newton


@dataclass(frozen=True, eq=False, kw_only=True)
class InteriorPoint:
    """A feasible pair of weights and variables that the method finds, and the values that enclose the optimum.

    Parameters
    ----------
    a : array (N,), the variables of the support program
    weights : array (m,)
    active : bool array (m,), the kernels whose weight the optimality conditions hold above zero
    intercept : float
    upper, bound : float
    floor : float, a value that counts as zero
    history : the relative gap along the way, over the kernels that took part
    """

    a: Array
    weights: Array
    active: Array
    intercept: float
    upper: float
    bound: float
    floor: float = 0.0
    history: tuple[float, ...] = ()

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return Certificate.gap(self.upper, self.bound, self.floor).value

    @property
    def n_iter(self) -> int:
        """How many Newton steps were taken."""
        return max(len(self.history) - 1, 0)


Found = TypeVar("Found", bound=InteriorPoint)


class InteriorProblem(ABC, Generic[Found]):
    """Weights and support vectors together, as the loop sees them."""

    @abstractmethod
    def read(self, point: BarrierPoint) -> tuple[Found, BarrierPoint, Callable[[], Newton]]:
        """The pair at a point; the point to step from, and the Newton system there, made only where it is needed."""

    def due(self, gap: float, tol: float) -> bool:
        """Whether a pair of this gap is to be reviewed."""
        return gap <= tol

    def reviewed(
        self, found: Found, point: BarrierPoint, tol: float
    ) -> tuple[Found, InteriorProblem[Found], BarrierPoint | None]:
        """The pair as one of the whole problem; the problem to go on with, and from where, if not from this point."""
        return found, self, None


def solve(
    problem: InteriorProblem[Found],
    point: BarrierPoint,
    scale: float,
    tol: float,
    max_iter: int,
    observe: Observer = silent,
) -> Found:
    """From a first point to a relative duality gap of at most ``tol``, with at most ``max_iter`` Newton steps.

    The sum of the complementarity products times ``scale`` is the duality gap near the central path.
    """
    best: Found | None = None
    history: list[float] = []
    initial = point.complementarity
    stalled = 0
    length = 1.0
    for step in range(max_iter + 1):
        with np.errstate(over="ignore", invalid="ignore"):  # a point beyond the range of numbers proves nothing
            found, point, system = problem.read(point)
        value = max(min(abs(found.upper), abs(found.bound)), found.floor)  # the optimum is no smaller, if positive
        # the sum of the complementarity products is brought to 1/1000 of the gap asked for, or to 1e-20 of its first
        # value where the optimum is zero
        target = max(1e-3 * tol * value / scale, 1e-20 * initial)
        better = best is None or found.gap < NO_PROGRESS * best.gap
        # so near to its final value the sum promises no smaller gap than the one found
        exhausted = point.complementarity <= 10.0 * target and not better
        stalled = stalled + 1 if exhausted or length < NEGLIGIBLE_STEP else 0
        if best is None or found.gap < best.gap:
            best = found
        history.append(found.gap)
        observe(Event(step + 1, Certificate("duality gap", found.gap)))
        last = step == max_iter or stalled == 3 or time_is_up()
        if problem.due(found.gap, tol) or last:
            found, revised, restart = problem.reviewed(best if last else found, point, tol)
            if found.gap <= tol or last:
                break
            problem = revised
            if restart is not None:
                point = restart
                best = None
                stalled = 0
                continue
        length, point = advance(point, system, target)
    return replace(found, history=tuple(history))
