"""The loop of the interior point method: the pair at a point, whether its gap is small enough, the next step.

A problem maps every interior point to a feasible pair of weights and variables, with the values that enclose the
optimum. The loop ends with a pair whose gap is small enough, or with the best one where the gap no longer shrinks
because of rounding.
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
    active : bool array (m,), the kernels whose weight is positive by the optimality conditions
    intercept : float
    upper, bound : float
    floor : float, a value that counts as zero
    history : the relative gap at each step, over the kernels of the working set
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


Pair = TypeVar("Pair", bound=InteriorPoint)


class InteriorProblem(ABC, Generic[Pair]):
    """The interface of a problem of weights and support vectors for the loop."""

    @abstractmethod
    def read(self, point: BarrierPoint) -> tuple[Pair, BarrierPoint, Callable[[], Newton]]:
        """The pair at a point; the point to step from; and a function that makes the Newton system there."""

    def due(self, gap: float, tol: float) -> bool:
        """Whether a pair with this gap has to be reviewed."""
        return gap <= tol

    def reviewed(
        self, pair: Pair, point: BarrierPoint, tol: float
    ) -> tuple[Pair, InteriorProblem[Pair], BarrierPoint | None]:
        """The pair for all kernels; the problem to continue with; and where to continue, if not at this point."""
        return pair, self, None

    def again(self) -> BarrierPoint | None:
        """A first point of this problem, to start again from; None to end where steps are blocked."""
        return None


def solve(
    problem: InteriorProblem[Pair],
    point: BarrierPoint,
    scale: float,
    tol: float,
    max_iter: int,
    observe: Observer = silent,
) -> Pair:
    """Iterate from a first point to a relative duality gap of at most ``tol``, by at most ``max_iter`` Newton steps.

    The sum of the complementarity products times ``scale`` is the duality gap near the central path.
    """
    best: Pair | None = None
    history: list[float] = []
    initial = point.complementarity
    stalled = 0
    length = 1.0
    moved = False  # whether steps go on from a point of an earlier problem, which may be near the boundary of this one
    for step in range(max_iter + 1):
        with np.errstate(over="ignore", invalid="ignore"):  # at a point that overflows, the gap is not finite
            pair, point, system = problem.read(point)
        value = max(min(abs(pair.upper), abs(pair.bound)), pair.floor)  # the optimum is no smaller, if positive
        # the sum of the complementarity products is reduced to 1/1000 of the requested gap, or to 1e-20 of its first
        # value where the optimum is zero
        target = max(1e-3 * tol * value / scale, 1e-20 * initial)
        better = best is None or pair.gap < NO_PROGRESS * best.gap
        # when the sum is so near its target, the next steps will not give a smaller gap
        exhausted = point.complementarity <= 10.0 * target and not better
        stalled = stalled + 1 if exhausted or length < NEGLIGIBLE_STEP else 0
        if best is None or pair.gap < best.gap:
            best = pair
        history.append(pair.gap)
        observe(Event(step + 1, Certificate("duality gap", pair.gap)))
        blocked = stalled == 3
        first = problem.again() if blocked and moved else None
        last = step == max_iter or (blocked and first is None) or time_is_up()
        if problem.due(pair.gap, tol) or last or blocked:
            pair, revised, restart = problem.reviewed(best if last or blocked else pair, point, tol)
            if pair.gap <= tol or last:
                break
            if first is None:
                problem = revised
                moved = moved or restart is not None
            else:
                restart = first
                moved = False
            if restart is not None:
                point = restart
                best = None
                stalled = 0
                continue
        length, point = advance(point, system, target)
    return replace(pair, history=tuple(history))
