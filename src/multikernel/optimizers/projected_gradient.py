"""Spectral projected gradient (Birgin, Martinez and Raydan 2000).

    D = P(theta - t g) - theta,    theta' = theta + s D

The step length t is the inverse of the curvature between the last two gradients (Barzilai and Borwein 1988). The
fraction s of the step is chosen so that the value is somewhat lower than the highest of the last few values. The method
works on any domain and with any combination.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import Certificate
from multikernel.numerics.line_search import ARMIJO, SHORTEST, length_of_size, shorter
from multikernel.optimizers.base import Descent, Search
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Evaluation, Problem


@dataclass(frozen=True)
class ProjectedGradient(Descent):
    """Projected gradient with spectral steps and a nonmonotone search.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach, or the relative stationarity where K is not linear
    max_iter : int >= 1, how many inner problems at most are solved

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations import HadamardPower
    >>> from multikernel.domains import NormBall
    >>> from multikernel.machines import SquaredHingeMachine
    >>> from multikernel.optimizers import ProjectedGradient
    >>> from multikernel.problem import Problem
    >>> X, y = np.array([[0.0, 1.0], [0.2, -1.0], [1.0, 0.9], [1.2, -1.1]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> bank = bind(kernels.per_feature(kernels.RBF(1.0)), X)
    >>> problem = Problem(bank, HadamardPower(2), SquaredHingeMachine(C=10.0), NormBall(2.0), y)
    >>> found = ProjectedGradient(tol=1e-4).minimise(problem)
    >>> found.converged, found.theta.round(2)
    (True, array([0.94, 0.34]))
    """

    def certificate(self, problem: Problem, state: State) -> Certificate:
        """The duality gap; without a bound of the optimum, the smaller of two measures of stationarity.

        One follows from the domain's support, which is infinite where a penalty grows no faster than the scores, and
        too large where scores are negative in a ball around a point other than 0. The other is the first-order gain of
        a step along the gradient, as long as the norms of the weights and of the central point together.
        """
        by_support = super().certificate(problem, state)
        if np.isfinite(state.bound):
            return by_support
        best = state.best
        reach = float(np.linalg.norm(best.theta) + np.linalg.norm(problem.start()))
        gain = -float(best.gradient @ _step(problem, best, length_of_size(reach, best.gradient)))
        by_step = Certificate.stationarity(gain + best.upper - best.value, best.upper)
        return min(by_support, by_step, key=lambda certificate: certificate.value)

    def search(self, problem: Problem, state: State) -> Search:
        current = state.latest
        values = [state.latest.upper]
        size = float(np.linalg.norm(current.theta)) or float(np.linalg.norm(problem.start()))
        first = length_of_size(size, current.gradient)
        length = first
        while True:
            step = _step(problem, current, length)
            fraction = 1.0
            slope = float(current.gradient @ step)
            while True:
                if not (slope < 0.0 and fraction > SHORTEST):
                    return
                state = yield Proposal(problem.domain.feasible(current.theta + fraction * step))
                trial = state.latest
                if trial.value <= max(values) + ARMIJO * fraction * slope:
                    break
                fraction *= shorter(fraction * slope, trial.value - current.value)
            # Birgin, Martinez and Raydan (2000) have 1e-30 and 1e30 times the first length
            length = min(max(_spectral(current, trial, length), first * SHORTEST), first / SHORTEST)
            current = trial
            values = [*values[-7:], trial.upper]  # a new value has to be below the highest of the last eight


def _step(problem: Problem, current: Evaluation, length: float) -> Array:
    return problem.domain.project(current.theta - length * current.gradient) - current.theta


def _spectral(current: Evaluation, trial: Evaluation, length: float) -> float:
    """|step|^2 / step'(change of gradient); longer where the value is concave along the step."""
    step = trial.theta - current.theta
    curvature = float(step @ (trial.gradient - current.gradient))
    if curvature > 0.0:
        return float(step @ step) / curvature
    return 4.0 * length
