"""Reduced gradient on the simplex: SimpleMKL (Rakotomamonjy, Bach, Canu and Grandvalet 2008).

With u the largest weight and r_k = g_k - g_u the direction is

    D_k = 0 where d_k = 0 and r_k > 0,    else -r_k,        D_u = -sum_{k != u} D_k

A step leads to the boundary, where some weight becomes zero. Where the value is lower there, that weight stays zero,
its component is taken off the direction and off D_u, and the next boundary is tried. Where the value is higher, a
search along the line to the boundary follows. The published search compares values (golden section); since a machine
gives the gradient with every value, this one finds where the slope D'g changes its sign.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.optimizers.base import Descent, Search
from multikernel.optimizers.needs import need_simplex
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Evaluation, Problem

_ZERO = 1e-8  # of the total: a smaller weight becomes zero
_FLAT = 0.3  # of the slope at the start of a line: the search along it ends at a smaller slope
_TRIALS = 10  # along one line at most
_APART = 0.05  # of an interval: a trial is at least so far from its ends

Line = Generator[Proposal, State, State]
Point = tuple[float, Evaluation]  # how far along the line, and what was found there


@dataclass(frozen=True)
class ReducedGradient(Descent):
    """SimpleMKL: reduced gradient steps over a Simplex.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach
    max_iter : int >= 1, how many inner problems at most are solved
    """

    def check(self, problem: Problem) -> None:
        need_simplex(self, problem)

    def search(self, problem: Problem, state: State) -> Search:
        total = need_simplex(self, problem)
        while True:
            start = at = state.best
            largest = int(np.argmax(at.theta))
            direction = _direction(at.theta, at.gradient, largest)
            while direction.any():
                boundary = _boundary(at.theta, direction)
                state = yield Proposal(_cleaned(at.theta + boundary * direction, total))
                if state.best is at:
                    state = yield from _line(at, state, direction, boundary, total)
                    break
                at = state.best
                direction = _without(direction, at.theta, largest)
            if state.best is start:
                return


def _line(at: Evaluation, state: State, direction: Array, boundary: float, total: float) -> Line:
    """Points between ``at`` and the boundary, whose value is higher, until the slope is small at a lower value."""
    left, right = (0.0, at), (boundary, state.latest)
    first = float(direction @ at.gradient)
    for _ in range(_TRIALS):
        length = _between(left, right, direction)
        state = yield Proposal(_cleaned(at.theta + length * direction, total))
        found = (length, state.latest)
        slope = float(direction @ state.latest.gradient)
        if abs(slope) <= _FLAT * abs(first) and state.best is not at:
            break
        left, right = (found, right) if slope < 0.0 else (left, found)
    return state


def _direction(d: Array, gradient: Array, largest: int) -> Array:
    reduced = gradient - gradient[largest]
    direction: Array = np.where((d == 0.0) & (reduced > 0.0), 0.0, -reduced)
    direction[largest] = -direction.sum()  # its own component is 0 so far
    return direction


def _without(direction: Array, d: Array, largest: int) -> Array:
    """The direction without the weights that have become zero; none where the largest is among them."""
    if d[largest] == 0.0:
        return np.zeros_like(direction)
    kept = np.where((d == 0.0) & (direction < 0.0), 0.0, direction)
    kept[largest] = 0.0
    kept[largest] = -kept.sum()
    return kept


def _boundary(d: Array, direction: Array) -> float:
    """The step at which the first weight becomes zero."""
    falling = direction < 0.0
    return float((d[falling] / -direction[falling]).min())


def _cleaned(d: Array, total: float) -> Array:
    d = np.where(d > _ZERO * total, d, 0.0)
    return d * (total / d.sum())


def _between(left: Point, right: Point, direction: Array) -> float:
    """The minimiser of the cubic through two values and slopes, kept away from the ends."""
    (s, a), (t, b) = left, right
    slopes = float(direction @ a.gradient), float(direction @ b.gradient)
    w = slopes[0] + slopes[1] - 3.0 * (b.value - a.value) / (t - s)
    root = np.sqrt(max(w * w - slopes[0] * slopes[1], 0.0))
    curvature = slopes[1] - slopes[0] + 2.0 * root
    part = 1.0 - (slopes[1] + root - w) / curvature if curvature > 0.0 else 0.5
    return s + min(max(part, _APART), 1.0 - _APART) * (t - s)
