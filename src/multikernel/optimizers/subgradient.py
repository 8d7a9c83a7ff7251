"""Projected subgradient steps of Polyak's length.

    theta' = P(theta - t g),    t the step at which the tangent would reach the target

with the target halfway between the best value and the best bound. Because of the projection P the path of theta' is a
curve, and t is the length at which the tangent reaches the target along it; this t exists, because the target is above
the tangent's minimum.

The bounds at the iterates themselves converge slowly. A mean of the tangents J >= c - q'theta is a bound of J as well,
and its minimum over the domain a bound of the optimum: c - h(q), where c and q are means weighted by the step lengths,
and more for later steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from multikernel._floats import TINY
from multikernel._typing import Array
from multikernel.domains import Domain
from multikernel.duality import dual_value
from multikernel.optimizers.base import Optimizer, Search
from multikernel.optimizers.needs import need_linear
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Evaluation, Problem


@dataclass(frozen=True)
class Subgradient(Optimizer):
    """Projected subgradient method with Polyak's steps; for kernels linear in the weights, over any domain.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach
    max_iter : int >= 1, how many inner problems at most are solved
    """

    def check(self, problem: Problem) -> None:
        need_linear(self, problem)

    def search(self, problem: Problem, state: State) -> Search:
        domain = problem.domain
        mean = _Tangent(0.0, 0.0, np.zeros(problem.size))
        number = 0
        while True:
            current = state.latest
            number = number + 1
            target = 0.5 * (state.best.upper + max(state.bound, -abs(state.best.upper)))
            length = _length(domain, current, current.upper - target)
            if length == 0.0:
                return
            # the first tangents give poor bounds of the optimum
            mean = mean.plus(domain, current, length * number**3.0)
            state = yield Proposal(_along(domain, current, length), dual_value(mean.constant, mean.slope, domain))


@dataclass(frozen=True, eq=False)
class _Tangent:
    """A weighted mean of tangents of J: constant - slope'theta."""

    weight: float
    constant: float
    slope: Array

    def plus(self, domain: Domain, evaluation: Evaluation, weight: float) -> _Tangent:
        constant = evaluation.value - domain.penalty(evaluation.theta) + float(evaluation.scores @ evaluation.theta)
        total = self.weight + weight
        fraction = weight / total
        return _Tangent(
            total,
            self.constant + fraction * (constant - self.constant),
            self.slope + fraction * (evaluation.scores - self.slope),
        )


def _along(domain: Domain, evaluation: Evaluation, length: float) -> Array:
    return domain.project(evaluation.theta - length * evaluation.gradient)


def _length(domain: Domain, evaluation: Evaluation, fall: float) -> float:
    """The step length at which the tangent has decreased by ``fall`` along the projected path; 0 if it does not."""

    def excess(t: float) -> float:
        return fall - float(evaluation.gradient @ (evaluation.theta - _along(domain, evaluation, t)))

    size = float(evaluation.gradient @ evaluation.gradient)
    if not (size > 0.0 and fall > 0.0):
        return 0.0
    length = fall / size
    for _ in range(100):  # four times as long each time, until the tangent has decreased enough
        if excess(length) <= 0.0:
            return float(brentq(excess, 0.0, length, rtol=1e-3, xtol=TINY))
        length *= 4.0
    return length
