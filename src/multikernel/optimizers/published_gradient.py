"""Projected gradient with the published steps (Cortes, Mohri and Rostamizadeh 2009, algorithm 1).

    theta' = P(theta - step g),        step times factor whenever |theta' - theta| has grown

This algorithm is here to be compared with. Two misprints are put right. P is the Euclidean projection and not a scaling
of theta - center to the norm of the ball, which is the same for the 2-norm only; and with a penalty the step leads
down. Its defects remain. The step length is not relative to anything, so a gradient that is small because alpha is
large hardly moves theta. Values may rise. And |theta' - theta| < change, the printed end, shows how long the step was
and not how far the optimum is, which the certificate does.
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
    factor : float in (0, 1], what the length is multiplied by where a step was longer than the one before
    change : float > 0, the printed end: the search ends once |theta' - theta| is smaller; by default the certificate
        alone ends it
    """

    step: Positive = 1.0
    factor: Part = 0.8
    change: Positive | None = None

    def search(self, problem: Problem, state: State) -> Search:
        step = self.step
        previous = np.inf
        while True:
            at = state.latest
            theta, step = self._moved(problem, at, step)
            moved = float(np.linalg.norm(theta - at.theta))
            if moved <= (self.change or 0.0):
                return
            state = yield Proposal(theta)
            if moved > previous:
                step *= self.factor
            previous = moved

    def _moved(self, problem: Problem, at: Evaluation, step: float) -> tuple[Array, float]:
        """The next point, and the step length; a step after which every weight would be zero is shortened."""
        theta = problem.domain.project(at.theta - step * at.gradient)
        for _ in range(self.max_iter):
            if theta.any() or not at.theta.any():
                break
            step *= self.factor
            theta = problem.domain.project(at.theta - step * at.gradient)
        return theta, step
