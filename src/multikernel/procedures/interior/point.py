"""Where the interior point method is: the variables, their multipliers, and how far a step can go."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array


@dataclass(frozen=True, eq=False)
class Point:
    """A point, or a step from one point to another.

    Parameters
    ----------
    a : array (N,), the variables of the support program, 0 < a < u
    room : array (N,), u - a, to the accuracy that the difference of the two does not have; infinite where u is
    below, above : arrays (N,), multipliers of a >= 0 and of a <= u (0 where u is infinite)
    intercept : float, multiplier of 1'b = total
    delta : array (m,), the weights above the domain's offset, > 0
    slack : array (m,), multipliers of delta >= 0
    level : float, multiplier of the domain's constraint
    """

    a: Array
    room: Array
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
            self.room + length * step.room,
            self.below + length * step.below,
            self.above + length * step.above,
            self.intercept + length * step.intercept,
            self.delta + length * step.delta,
            self.slack + length * step.slack,
            self.level + length * step.level,
        )

    def longest(self, step: Point) -> float:
        """The largest length, at most 1, for which self + length step stays inside."""
        pairs = (
            (self.a, step.a),
            (self.below, step.below),
            (self.room, step.room),
            (self.above, step.above),
            (self.delta, step.delta),
            (self.slack, step.slack),
        )
        longest = 1.0
        for x, dx in pairs:
            falling = dx < 0
            if falling.any():
                longest = min(longest, float((-x[falling] / dx[falling]).min()))
        return longest

    def left(self) -> float:
        """The sum of all products that are zero at the optimum."""
        free = np.isfinite(self.room)
        return float(self.a @ self.below + self.room[free] @ self.above[free] + self.delta @ self.slack)

    def complementarity(self) -> float:
        """Their mean."""
        return self.left() / (len(self.a) + int(np.isfinite(self.room).sum()) + len(self.delta))

    def on(self, kept: Array) -> Point:
        """The point with only some of the kernels."""
        return replace(self, delta=self.delta[kept], slack=self.slack[kept])

    def with_kernels(self, delta: Array, slack: Array) -> Point:
        """The point with further kernels."""
        return replace(self, delta=np.concatenate([self.delta, delta]), slack=np.concatenate([self.slack, slack]))
