"""Projected gradient with the published steps (Cortes, Mohri and Rostamizadeh 2009, algorithm 1).

    theta' = P(theta - step g),        step times factor whenever |theta' - theta| has grown

This algorithm is included for comparisons. Two misprints are corrected: P is the Euclidean projection and not a scaling
of theta - center to the norm of the ball, which is the same only for the 2-norm; and with a penalty the step leads
down. Its defects remain. The step length is not relative to anything, so a gradient that is small because alpha is
large hardly moves theta. Values may rise. And |theta' - theta| < change, the printed stopping rule, measures the length
of the step and not the distance from the optimum, which the certificate does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._parameters import Part, Positive
from multikernel._typing import Array
from multikernel.optimizers.base import Optimizer, Search
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Evaluation, Problem


@dataclass(frozen=True)
class PublishedGradient(Optimizer):
    """Projected gradient with the published rule for its steps, for any combination and any domain with a projection.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach, or the relative stationarity where K is not linear
    max_iter : int >= 1, how many inner problems at most are solved
    step : float > 0, the first length of a step
    factor : float in (0, 1], by which the length is multiplied where a step was longer than the one before
    change : float > 0, for the printed rule: the search ends once |theta' - theta| is smaller; by default only the
        certificate ends it
    """

    step: Positive = 1.0
    factor: Part = 0.8
    change: Positive | None = None

    def search(self, problem: Problem, state: State) -> Search:
        step = self.step
        previous = np.inf
        while True:
            current = state.latest
            theta, step = self._moved(problem, current, step)
            moved = float(np.linalg.norm(theta - current.theta))
            if moved <= (self.change or 0.0):
                return
            state = yield Proposal(theta)
            if moved > previous:
                step *= self.factor
            previous = moved

    def _moved(self, problem: Problem, current: Evaluation, step: float) -> tuple[Array, float]:
        """The next point, and the step length; a step after which every weight would be zero is shortened."""
        theta = problem.domain.project(current.theta - step * current.gradient)
        for _ in range(self.max_iter):  # with a factor of 1 the step keeps its length
            if theta.any() or not current.theta.any():
                break
            step *= self.factor
            theta = problem.domain.project(current.theta - step * current.gradient)
        return theta, step
