"""Reduced gradient on the simplex: SimpleMKL (Rakotomamonjy, Bach, Canu and Grandvalet 2008).

With u the largest weight, which follows from the others, and r_k = g_k - g_u the reduced gradient, the direction is

    D_k = 0 where d_k = 0 and r_k > 0,    else -r_k,        D_u = -sum_{k != u} D_k

A weight that becomes zero on the way along it stays zero, and its component is taken off the direction and off D_u. So
the way is d_k(t) = max(d_k + t D_k, 0) for k != u with d_u the rest, and it ends where d_u = 0. A search along it
follows.

Two things differ from what was published. There the corners of the way, where a weight becomes zero, are tried one by
one, and after the last that is lower the values on the next piece are compared (golden section). Of hundreds of kernels
each costs a machine. Since a machine gives the slope with every value, here the interval that holds the lowest point
shrinks, first to one corner or piece. And steps along -r alone zigzag: on 24 kernels, hundreds of them leave a gap of
1e-5. So from the second step on -r is multiplied by the inverse of a quasi-Newton matrix of the reduced gradients, as
reduced gradient methods do (Murtagh and Saunders 1978); 20 to 70 machines then leave 1e-6.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.numerics.limited_memory import Curvature
from multikernel.numerics.line_search import ARMIJO
from multikernel.optimizers.base import Descent, Search
from multikernel.optimizers.needs import need_simplex
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Evaluation, Problem

Point = tuple[float, float, float]  # how far along the way, the value there, and its slope along the way


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
        at = state.best
        curvature = Curvature.none(problem.size, problem.linear)
        while True:
            way = _Way.at(at, curvature, total)
            lower = None
            if way.slopes(0.0, at)[1] < 0.0:
                lower = yield from _lowest(way, at)
            if lower is not None:
                curvature = curvature.with_pair(lower.theta - at.theta, lower.gradient - at.gradient)
                at = lower
            elif len(curvature.steps):
                curvature = Curvature.none(problem.size, problem.linear)
            else:
                return


@dataclass(frozen=True, eq=False)
class _Way:
    """d_k(t) = max(d_k + t D_k, 0) for k != u with d_u the rest, for 0 <= t <= length.

    Parameters
    ----------
    d : array (m,)
    direction : array (m,), D without D_u, which is 0 here
    largest : int, u
    total : float > 0, of the simplex
    length : float
    scaled : whether the direction is that of a quasi-Newton matrix, along which 1 is the length to go
    """

    d: Array
    direction: Array
    largest: int
    total: float
    length: float
    scaled: bool

    @classmethod
    def at(cls, at: Evaluation, curvature: Curvature, total: float) -> _Way:
        """The way from a point; curvature is of steps and changes of the gradient, not reduced."""
        d = at.theta
        u = int(np.argmax(at.theta))
        reduced = at.gradient - at.gradient[u]
        free = (d > 0.0) | (reduced < 0.0)
        free[u] = False
        scaled = len(curvature.steps) > 0
        direction = np.where(free, -reduced, 0.0)
        if scaled:
            direction = _quasi_newton(d, reduced, free, curvature.reduced(u))
        end = _end(d, direction, u)
        return cls(d, direction, u, total, min(1.0, end) if scaled else end, scaled)

    def point(self, t: float) -> Array:
        """The weights at t, feasible."""
        d = np.maximum(self.d + t * self.direction, 0.0)
        d[self.largest] = 0.0
        d[self.largest] = self.total - d.sum()
        d = np.where(d > 1e-8 * self.total, d, 0.0)  # a smaller weight becomes zero
        return d * (self.total / d.sum())

    def slopes(self, t: float, found: Evaluation) -> tuple[float, float]:
        """The derivatives of the value along the way before and after t, where a weight may become zero."""
        each = self.direction * (found.gradient - found.gradient[self.largest])
        before = self.d + (1.0 - 1e-6) * t * self.direction > 0.0  # t may be short of a corner by rounding
        rising = self.direction > 0.0
        return float(each[before | rising].sum()), float(each[(found.theta > 0.0) | rising].sum())

    def nearest_corner(self, t: float, left: float, right: float) -> float:
        """Of the corners between left and right the one nearest to t, which is between them; t where there is none."""
        falling = self.direction < 0.0
        corners = self.d[falling] / -self.direction[falling]
        inside = corners[(corners > left) & (corners < right)]
        if not len(inside):
            return t
        return float(inside[np.argmin(np.abs(inside - t))])


def _quasi_newton(d: Array, reduced: Array, free: Array, curvature: Curvature) -> Array:
    """The quasi-Newton direction of the free weights, without those that are zero and that it would make smaller."""
    while True:
        direction = curvature.newton(reduced, free)
        held = free & (d == 0.0) & (direction < 0.0)
        if not held.any():
            return direction
        free = free & ~held


def _end(d: Array, direction: Array, u: int) -> float:
    """The t at which d_u becomes zero, or all others have; 0 where nothing moves."""
    falling = np.flatnonzero(direction < 0.0)
    with np.errstate(over="ignore", divide="ignore"):
        corners = d[falling] / -direction[falling]
        order = np.argsort(corners)
        # d_u is linear between corners: its value at 0, and its slope, without the weights that have become zero so far
        own = d[u] + np.append(0.0, np.cumsum(d[falling][order]))
        left = np.append(np.cumsum(direction[falling][order][::-1])[::-1], 0.0)
        slope = -(float(direction[direction > 0.0].sum()) + left)
        ends = np.where(slope < 0.0, own / -slope, np.inf)
    reached = np.isfinite(ends) & (ends <= np.append(corners[order], np.inf))
    if reached.any():
        return float(ends[reached][0])
    return float(corners[np.isfinite(corners)].max(initial=0.0))


def _lowest(way: _Way, at: Evaluation) -> Generator[Proposal, State, Evaluation | None]:
    """Points on the way until one is low enough and about the lowest; the lowest such, None if there is none.

    It is about the lowest where the slope is small or changes its sign, and at the end of the way, where values fall up
    to there or the step there is that of a quasi-Newton matrix.
    """
    first = way.slopes(0.0, at)[1]
    t = way.length
    left: Point = (0.0, at.value, first)
    right: Point | None = None
    lower: Evaluation | None = None
    for _ in range(20):
        state = yield Proposal(way.point(t))
        found = state.latest
        before, after = way.slopes(t, found)
        falls = found.value <= at.value + ARMIJO * t * first + at.upper - at.value
        if falls:
            if lower is None or found.value < lower.value:
                lower = found
            about_lowest = before <= 0.0 <= after or abs(after) <= 0.3 * abs(first)  # the strong Wolfe condition
            whole_newton_step = right is None and way.scaled
            falls_to_the_end = right is None and after < 0.0
            if about_lowest or whole_newton_step or falls_to_the_end:
                return lower
        if falls and after < 0.0 and right is not None:
            left = (t, found.value, after)
        else:
            right = (t, found.value, after)
        t = way.nearest_corner(_between(left, right), left[0], right[0])
    return lower


def _between(left: Point, right: Point) -> float:
    """The minimiser of the cubic through two values and slopes, kept away from the ends by 1/20 of the interval."""
    (s, a, down) = left
    (t, b, up) = right
    w = down + up - 3.0 * (b - a) / (t - s)
    root = np.sqrt(max(w * w - down * up, 0.0))
    curvature = up - down + 2.0 * root
    part = 1.0 - (up + root - w) / curvature if curvature > 0.0 else 0.5
    return s + min(max(part, 0.05), 0.95) * (t - s)
