"""Predictor-corrector steps of a primal-dual interior point method, and the barrier of a box.

Variables 0 < a < u have multipliers ``below`` and ``above`` of their bounds, further variables delta > 0 (kernel
weights, where these are learned) have ``reduced_cost``. On the central path all complementarity products are equal,

    a below = mu,    (u - a) above = mu,    delta reduced_cost = mu,

and mu -> 0 leads to the optimum. A Newton step linearises the products, a below + below da + a dbelow = target, so that
each multiplier's step follows from that of its variable,

    dbelow = (target / a - below) - (below / a) da,

and a linear system in the variables remains, which the problem solves. After Mehrotra (1992), a predictor step to
mu = 0 shows how small the products can become, say a mean of mu_p; then the step is taken towards (mu_p / mu)^3 mu,
with targets that are corrected by the predictor's da dbelow, the term without which the products were linearised.

S. Mehrotra (1992), On the implementation of a primal-dual interior point method, SIAM J. Optimization 2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from multikernel._typing import Array

NEGLIGIBLE_STEP = 1e-6  # a shorter step changes nothing: rounding dominates the system
FIRST_INSIDE = 0.01  # of the middle of a bounded box: many first variables should not be nearer to zero


@dataclass(frozen=True, eq=False)
class BarrierPoint:
    """A point inside, or a step from one point to another.

    Parameters
    ----------
    a : array (N,), 0 < a < u
    slack : array (N,), u - a, stored because subtraction would lose its digits; infinite where u is
    below, above : arrays (N,), multipliers of a >= 0 and of a <= u (0 where u is infinite)
    intercept : float, multiplier of an equality
    delta : array (m,) > 0; empty where there are no further variables
    reduced_cost : array (m,), multipliers of delta >= 0
    multiplier : float, of a constraint of delta
    """

    a: Array
    slack: Array
    below: Array
    above: Array
    intercept: float
    delta: Array
    reduced_cost: Array
    multiplier: float

    def moved(self, step: BarrierPoint, length: float) -> BarrierPoint:
        """self + length step."""
        return BarrierPoint(**{name: x + length * getattr(step, name) for name, x in vars(self).items()})

    def longest(self, step: BarrierPoint) -> float:
        """The largest step length, at most 1, for which self + length step stays inside."""
        longest = 1.0
        for name in ("a", "below", "slack", "above", "delta", "reduced_cost"):
            x = getattr(self, name)
            dx = getattr(step, name)
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

    def on(self, index: Array) -> BarrierPoint:
        """The point with only some of the further variables."""
        return replace(self, delta=self.delta[index], reduced_cost=self.reduced_cost[index])

    def joined_by(self, delta: Array, reduced_cost: Array) -> BarrierPoint:
        """The point with more of the further variables."""
        return replace(
            self,
            delta=np.concatenate([self.delta, delta]),
            reduced_cost=np.concatenate([self.reduced_cost, reduced_cost]),
        )

    @property
    def finite(self) -> bool:
        """Whether no number of it has overflowed."""
        return all(np.isfinite(value).all() for value in (self.a, self.delta, self.intercept, self.multiplier))

    def curvature(self, ridge: Array) -> Array:
        """A ridge and the second derivatives of the barrier, ridge + below / a + above / (u - a): shape (N,)."""
        return ridge + self.below / self.a + self.above / self.slack


@dataclass(frozen=True, eq=False)
class Targets:
    """The values that the complementarity products of a point should have after a step.

    Parameters
    ----------
    point : BarrierPoint
    below, above : arrays (N,), of the variables and of their slacks
    cost : array (m,), of the further variables
    """

    point: BarrierPoint
    below: Array
    above: Array
    cost: Array

    @classmethod
    def of(cls, point: BarrierPoint, mu: float, predictor: BarrierPoint | None) -> Targets:
        """mu for each product, less what a predictor step from the same point adds to it in second order."""
        bounded = np.isfinite(point.slack)
        if predictor is None:
            return cls(point, np.full(len(point.a), mu), np.where(bounded, mu, 0.0), np.full(len(point.delta), mu))
        p = predictor  # its slack has the step -da
        above = np.where(bounded, mu + p.a * p.above, 0.0)
        return cls(point, mu - p.a * p.below, above, mu - p.delta * p.reduced_cost)

    def slope(self, before: Array) -> Array:
        """The slope in a, ``before`` with the changes of ``below`` less those of ``above`` at da = 0."""
        point = self.point
        return before + (self.below / point.a - point.below) - (self.above / point.slack - point.above)

    def reduced_slope(self, before: Array) -> Array:
        """The slope in delta, ``before`` with the changes of the reduced costs at ddelta = 0."""
        return before + self.cost / self.point.delta - self.point.reduced_cost

    def step(self, da: Array, intercept: float, ddelta: Array | None = None, multiplier: float = 0.0) -> BarrierPoint:
        """The whole step from that of the variables."""
        point = self.point
        if ddelta is None:
            ddelta = np.empty(0)
        return BarrierPoint(
            a=da,
            slack=-da,
            below=self.below / point.a - point.below - point.below / point.a * da,
            above=self.above / point.slack - point.above + point.above / point.slack * da,
            intercept=intercept,
            delta=ddelta,
            reduced_cost=self.cost / point.delta - point.reduced_cost - point.reduced_cost / point.delta * ddelta,
            multiplier=multiplier,
        )


class NewtonSystem(ABC):
    """The linear system at one point: factored once, solved for several right-hand sides."""

    point: BarrierPoint

    @abstractmethod
    def step(self, mu: float, predictor: BarrierPoint | None = None) -> BarrierPoint:
        """The step towards the barrier parameter mu, corrected by a predictor from the same point."""

    def arrived(self, step: BarrierPoint, length: float) -> tuple[float, BarrierPoint]:
        """The length of the step, at most the given one, and the point at its end."""
        return length, self.point.moved(step, length)


def advance(point: BarrierPoint, system: Callable[[], NewtonSystem], target: float = 0.0) -> tuple[float, BarrierPoint]:
    """One predictor-corrector step: its length and the point that it leads to.

    The length is 0 and the point the same where rounding made the system singular, or the step infinite.

    Parameters
    ----------
    point : BarrierPoint
    system : makes the system at the point
    target : float, below which the sum of the complementarity products need not fall: with a smaller sum the system
        is worse conditioned
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            newton = system()
            predictor = newton.step(0.0)
            predicted = point.moved(predictor, point.longest(predictor)).mu
            fraction = max((predicted / point.mu) ** 3, target / point.complementarity)
            step = newton.step(fraction * point.mu, predictor)
        except LinAlgError:
            return 0.0, point
        # 0.995 of the way to the boundary: Mehrotra (1992) has 0.99 to 0.9995
        length, moved = newton.arrived(step, min(1.0, 0.995 * point.longest(step)))
    if moved.finite:
        return (length, moved)
    return (0.0, point)
