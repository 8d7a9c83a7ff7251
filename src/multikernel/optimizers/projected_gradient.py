"""Spectral projected gradient (Birgin, Martinez and Raydan 2000).

    D = P(theta - t g) - theta,    theta' = theta + s D

The step length t is the inverse of the curvature that the last two gradients show (Barzilai and Borwein 1988). The part
s of the step that is taken makes the value somewhat lower than the highest of the last few values. It works on any
domain and with any combination.
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
        too large where scores are negative in a ball around another point than 0. The other is what a step along the
        gradient gains to first order, its size being that of the weights and of the central point.
        """
        known = super().certificate(problem, state)
        if np.isfinite(state.bound):
            return known
        at = state.best
        reach = float(np.linalg.norm(at.theta) + np.linalg.norm(problem.start()))
        gain = -float(at.gradient @ _step(problem, at, length_of_size(reach, at.gradient)))
        by_step = Certificate.stationarity(gain + at.upper - at.value, at.upper)
        return min(known, by_step, key=lambda each: each.value)

    def search(self, problem: Problem, state: State) -> Search:
        at = state.latest
        values = [state.latest.upper]
        size = float(np.linalg.norm(at.theta)) or float(np.linalg.norm(problem.start()))
        first = length_of_size(size, at.gradient)
        length = first
        while True:
            step = _step(problem, at, length)
            part = 1.0
            slope = float(at.gradient @ step)
            while True:
                if not (slope < 0.0 and part > SHORTEST):
                    return
                state = yield Proposal(problem.domain.feasible(at.theta + part * step))
                found = state.latest
                if found.value <= max(values) + ARMIJO * part * slope:
                    break
                part *= shorter(part * slope, found.value - at.value)
            # Birgin, Martinez and Raydan (2000) have 1e-30 and 1e30 times the first length
            length = min(max(_spectral(at, found, length), first * SHORTEST), first / SHORTEST)
            at = found
            values = [*values[-7:], found.upper]  # a new value has to be below the highest of the last eight


def _step(problem: Problem, at: Evaluation, length: float) -> Array:
    return problem.domain.project(at.theta - length * at.gradient) - at.theta


def _spectral(at: Evaluation, found: Evaluation, length: float) -> float:
    """|step|^2 / step'(change of gradient); longer where the value is concave along the step."""
    step = found.theta - at.theta
    curvature = float(step @ (found.gradient - at.gradient))
    if curvature > 0.0:
        return float(step @ step) / curvature
    return 4.0 * length
