"""Reduced gradient on the simplex: SimpleMKL (Rakotomamonjy, Bach, Canu and Grandvalet 2008).

With u the largest weight, which follows from the others, and r_k = g_k - g_u the reduced gradient, the direction is

    D_k = 0 where d_k = 0 and r_k > 0,    else -r_k,        D_u = -sum_{k != u} D_k

A weight that becomes zero along this direction stays zero, and its component is removed from D and from D_u. So the
search path is d_k(t) = max(d_k + t D_k, 0) for k != u, with d_u the remainder of the sum; it ends where d_u = 0. A line
search along this path follows.

There are two differences from the published method. There, the corners of the path, where a weight becomes zero, are
tried one by one, and after the last that is lower the values on the next piece are compared (golden section). With
hundreds of kernels each of these takes a machine. Since a machine gives the slope with every value, the interval that
contains the minimum is reduced here, first to one corner or piece. And steps along -r alone zigzag: on 24 kernels, the
gap after hundreds of them is 1e-5. So from the second step on -r is multiplied by the inverse of a quasi-Newton matrix
of the reduced gradients, as in other reduced gradient methods (Murtagh and Saunders 1978); 20 to 70 machines then give
a gap of 1e-6.
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

Point = tuple[float, float, float]  # the position on the path, the value there, and its slope along the path


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
        current = state.best
        curvature = Curvature.none(problem.size, problem.linear)
        while True:
            path = _Path.at(current, curvature, total)
            lower = None
            if path.slopes(0.0, current)[1] < 0.0:
                lower = yield from _lowest(path, current)
            if lower is not None:
                curvature = curvature.with_pair(lower.theta - current.theta, lower.gradient - current.gradient)
                current = lower
            elif len(curvature.steps):
                curvature = Curvature.none(problem.size, problem.linear)
            else:
                return


@dataclass(frozen=True, eq=False)
class _Path:
    """d_k(t) = max(d_k + t D_k, 0) for k != u, with d_u the remainder of the sum, for 0 <= t <= length.

    Parameters
    ----------
    d : array (m,)
    direction : array (m,), D without D_u, which is 0 here
    largest : int, u
    total : float > 0, of the simplex
    length : float
    scaled : whether the direction is that of a quasi-Newton matrix, for which the step has the length 1
    """

    d: Array
    direction: Array
    largest: int
    total: float
    length: float
    scaled: bool

    @classmethod
    def at(cls, start: Evaluation, curvature: Curvature, total: float) -> _Path:
        """The path from a point; ``curvature`` is that of the full gradient, not of the reduced one."""
        d = start.theta
        u = int(np.argmax(start.theta))
        reduced = start.gradient - start.gradient[u]
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

    def slopes(self, t: float, evaluation: Evaluation) -> tuple[float, float]:
        """The derivatives of the value along the path before and after t, where a weight may become zero."""
        products = self.direction * (evaluation.gradient - evaluation.gradient[self.largest])
        before = self.d + (1.0 - 1e-6) * t * self.direction > 0.0  # t may be short of a corner by rounding
        rising = self.direction > 0.0
        return float(products[before | rising].sum()), float(products[(evaluation.theta > 0.0) | rising].sum())

    def nearest_corner(self, t: float, low: float, high: float) -> float:
        """The corner nearest to t among those between ``low`` and ``high``, as is t; t where there is none."""
        falling = self.direction < 0.0
        corners = self.d[falling] / -self.direction[falling]
        inside = corners[(corners > low) & (corners < high)]
        if not len(inside):
            return t
        return float(inside[np.argmin(np.abs(inside - t))])


def _quasi_newton(d: Array, reduced: Array, free: Array, curvature: Curvature) -> Array:
    """The quasi-Newton direction of the free weights, without zero weights that it would make negative."""
    while True:
        direction = curvature.newton(reduced, free)
        blocked = free & (d == 0.0) & (direction < 0.0)
        if not blocked.any():
            return direction
        free = free & ~blocked


def _end(d: Array, direction: Array, u: int) -> float:
    """The t at which d_u becomes zero, or all falling weights are zero; 0 where no weight changes."""
    falling = np.flatnonzero(direction < 0.0)
    with np.errstate(over="ignore", divide="ignore"):
        corners = d[falling] / -direction[falling]
        order = np.argsort(corners)
        # d_u is linear between corners: its value at 0, and its slope, without the weights that have become zero so far
        values_at_corners = d[u] + np.append(0.0, np.cumsum(d[falling][order]))
        remaining_slopes = np.append(np.cumsum(direction[falling][order][::-1])[::-1], 0.0)
        slope = -(float(direction[direction > 0.0].sum()) + remaining_slopes)
        ends = np.where(slope < 0.0, values_at_corners / -slope, np.inf)
    reached = np.isfinite(ends) & (ends <= np.append(corners[order], np.inf))
    if reached.any():
        return float(ends[reached][0])
    return float(corners[np.isfinite(corners)].max(initial=0.0))


def _lowest(path: _Path, start: Evaluation) -> Generator[Proposal, State, Evaluation | None]:
    """Propose points on the path until one is low enough and near the minimum; the lowest one, None if there is none.

    A point is near the minimum if the slope there is small or changes its sign; the end of the path is accepted, too,
    if values fall up to it, or if it is the end of a quasi-Newton step.
    """
    first = path.slopes(0.0, start)[1]
    t = path.length
    low: Point = (0.0, start.value, first)
    high: Point | None = None
    lower: Evaluation | None = None
    for _ in range(20):
        state = yield Proposal(path.point(t))
        trial = state.latest
        before, after = path.slopes(t, trial)
        falls = trial.value <= start.value + ARMIJO * t * first + start.upper - start.value
        if falls:
            if lower is None or trial.value < lower.value:
                lower = trial
            about_lowest = before <= 0.0 <= after or abs(after) <= 0.3 * abs(first)  # the strong Wolfe condition
            is_newton_step = high is None and path.scaled
            falls_to_the_end = high is None and after < 0.0
            if about_lowest or is_newton_step or falls_to_the_end:
                return lower
        if falls and after < 0.0 and high is not None:
            low = (t, trial.value, after)
        else:
            high = (t, trial.value, after)
        t = path.nearest_corner(_between(low, high), low[0], high[0])
    return lower


def _between(low: Point, high: Point) -> float:
    """The minimiser of the cubic through two values and slopes, at least 1/20 of the interval from its ends."""
    (s, a, down) = low
    (t, b, up) = high
    w = down + up - 3.0 * (b - a) / (t - s)
    root = np.sqrt(max(w * w - down * up, 0.0))
    curvature = up - down + 2.0 * root
    fraction = 1.0 - (up + root - w) / curvature if curvature > 0.0 else 0.5
    return s + min(max(fraction, 0.05), 0.95) * (t - s)
