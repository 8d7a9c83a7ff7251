"""Where the interior point method is: the variables, their multipliers, and how far a step can go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel.kernels.base import Array


@dataclass(frozen=True, eq=False)
class Point:
    """A point, or a step from one point to another.

    Parameters
    ----------
    a : array (N,), the variables of the support program, 0 < a < u
    below, above : arrays (N,), multipliers of a >= 0 and of a <= u (0 where u is infinite)
    intercept : float, multiplier of 1'b = total
    delta : array (m,), the weights above the domain's offset, > 0
    slack : array (m,), multipliers of delta >= 0
    level : float, multiplier of the domain's constraint, >= 0
    """

    a: Array
    below: Array
    above: Array
    intercept: float
    delta: Array
    slack: Array
    level: float

    def moved(self, step: Point, length: float) -> Point:
        """self + length step."""
        return Point(
            self.a + length * step.a,
            self.below + length * step.below,
            self.above + length * step.above,
            self.intercept + length * step.intercept,
            self.delta + length * step.delta,
            self.slack + length * step.slack,
            self.level + length * step.level,
        )

    def longest(self, step: Point, upper: Array) -> float:
        """The largest length, at most 1, for which self + length step stays inside."""
        free = np.isfinite(upper)
        pairs = (
            (self.a, step.a),
            (self.below, step.below),
            ((upper - self.a)[free], -step.a[free]),
            (self.above[free], step.above[free]),
            (self.delta, step.delta),
            (self.slack, step.slack),
        )
        longest = 1.0
        for x, dx in pairs:
            falling = dx < 0
            if falling.any():
                longest = min(longest, float((-x[falling] / dx[falling]).min()))
        if step.level < 0:
            longest = min(longest, -self.level / step.level)
        return longest

    def complementarity(self, upper: Array) -> float:
        """The mean of all products that are zero at the optimum."""
        free = np.isfinite(upper)
        products = self.a @ self.below + (upper - self.a)[free] @ self.above[free] + self.delta @ self.slack
        return float(products) / (len(self.a) + int(free.sum()) + len(self.delta))

    def on(self, kept: Array) -> Point:
        """The point with only some of the kernels."""
        return Point(self.a, self.below, self.above, self.intercept, self.delta[kept], self.slack[kept], self.level)

    def with_kernels(self, delta: Array, slack: Array) -> Point:
        """The point with further kernels."""
        return Point(
            self.a,
            self.below,
            self.above,
            self.intercept,
            np.concatenate([self.delta, delta]),
            np.concatenate([self.slack, slack]),
            self.level,
        )
