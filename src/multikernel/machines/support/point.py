"""Where an interior point method is: the variables, their multipliers, and how far a step can go.

One that learns kernel weights as well has them here; on a fixed matrix there are none.
"""

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
    slack : array (N,), u - a, with the digits that subtraction would lose; infinite where u is
    below, above : arrays (N,), multipliers of a >= 0 and of a <= u (0 where u is infinite)
    intercept : float, multiplier of 1'b = total
    delta : array (m,), the weights above the domain's offset, > 0
    reduced_cost : array (m,), multipliers of delta >= 0
    multiplier : float, of the domain's constraint
    """

    a: Array
    slack: Array
    below: Array
    above: Array
    intercept: float
    delta: Array
    reduced_cost: Array
    multiplier: float

    def moved(self, step: Point, length: float) -> Point:
        """self + length step."""
        return Point(**{name: x + length * getattr(step, name) for name, x in vars(self).items()})

    def longest(self, step: Point) -> float:
        """The largest step length, at most 1, for which self + length step stays inside."""
        longest = 1.0
        for name in ("a", "below", "slack", "above", "delta", "reduced_cost"):
            x, dx = getattr(self, name), getattr(step, name)
            falling = dx < 0
            if falling.any():
                longest = min(longest, float((-x[falling] / dx[falling]).min()))
        return longest

    @property
    def complementarity(self) -> float:
        """The sum of the complementarity products: each variable times its multiplier, zero at the optimum."""
        bounded = np.isfinite(self.slack)
        upper = self.slack[bounded] @ self.above[bounded]
        return float(self.a @ self.below + upper + self.delta @ self.reduced_cost)

    @property
    def mu(self) -> float:
        """The barrier parameter that fits the point: the mean of the complementarity products."""
        return self.complementarity / (len(self.a) + int(np.isfinite(self.slack).sum()) + len(self.delta))

    def on(self, kept: Array) -> Point:
        """The point with only some of the kernels."""
        return replace(self, delta=self.delta[kept], reduced_cost=self.reduced_cost[kept])

    def with_kernels(self, delta: Array, reduced_cost: Array) -> Point:
        """The point with further kernels."""
        return replace(
            self,
            delta=np.concatenate([self.delta, delta]),
            reduced_cost=np.concatenate([self.reduced_cost, reduced_cost]),
        )
