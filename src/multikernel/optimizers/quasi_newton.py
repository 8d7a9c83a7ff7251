"""Projected quasi-Newton steps (Schmidt, van den Berg, Friedlander and Murphy 2009).

    min_x  g'(x - theta) + 1/2 (x - theta)'B(x - theta)    over x in the domain

B is a limited-memory BFGS matrix of the last gradients (Byrd, Nocedal and Schnabel 1994), so the cost of the model is
negligible compared with a machine on n samples. It is minimised by spectral projected gradient, which needs only the
domain's projection. A fraction of the step to its minimiser is taken for which the value is lower.

Some fifty machines give the widths of a product of Gaussians to four digits; gradient steps would take hundreds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._parameters import NonNegativeVector
from multikernel._typing import Array
from multikernel.certificate import Certificate
from multikernel.numerics.limited_memory import Curvature
from multikernel.numerics.line_search import ARMIJO, SHORTEST, length_of_size, shorter
from multikernel.optimizers.base import Optimizer, Search
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Problem


@dataclass(frozen=True, eq=False)
class QuasiNewton(Optimizer):
    """Projected quasi-Newton, for any combination and any domain with a projection.

    Without a bound of the optimum the certificate is the first-order gain that other weights could have, relative to
    the value: any weights of a bounded domain; if only a penalty bounds the weights, those whose sum, each in units of
    its typical weight, is at most the sum of the current and the typical weights.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach, or the relative stationarity where K is not linear
    max_iter : int >= 1, how many inner problems at most are solved
    typical : array (d,) >= 0, weights of the size to expect, the domain's central point by default. Where only a
        penalty bounds the weights, these are the units in which steps are measured: kernels may differ in size
    """

    typical: NonNegativeVector | None = None

    def check(self, problem: Problem) -> None:
        if self.typical is not None and np.shape(self.typical) != (problem.size,):
            raise ValueError(
                f"QuasiNewton: typical has shape {np.shape(self.typical)}, and the problem has {problem.size} "
                "parameters: give a weight for each"
            )

    def inner_gap(self, gap: float) -> float:
        """The smallest gap from the start, because B is computed from differences of scores.

        The error of scores is the root of a gap; it may be 1/1000 of the requested stationarity.
        """
        return (1e-3 * self.tol) ** 2

    def certificate(self, problem: Problem, state: State) -> Certificate:
        by_support = super().certificate(problem, state)
        best = state.best
        if np.isfinite(state.bound) or problem.domain.constrained:
            return by_support
        unit = self._units(problem)
        total = float(((best.theta + self._typical(problem)) / unit).sum())
        gain = (
            total * max(0.0, float(-(unit * best.gradient).min()))
            + float(best.gradient @ best.theta)
            + best.upper
            - best.value
        )
        return min(by_support, Certificate.stationarity(gain, best.upper), key=lambda certificate: certificate.value)

    def search(self, problem: Problem, state: State) -> Search:
        unit = self._units(problem)
        domain = problem.domain
        current = state.latest
        curvature = Curvature.none(problem.size, problem.linear)
        typical = float(np.linalg.norm(self._typical(problem) / unit))

        def project(z: Array) -> Array:
            return domain.project(unit * z) / unit

        while True:
            z = current.theta / unit
            slopes = unit * current.gradient
            if len(curvature.steps):
                step = unit * curvature.step(z, slopes, project)
            else:
                length = length_of_size(float(np.linalg.norm(z)) or typical, slopes)
                step = unit * (project(z - length * slopes) - z)
            slope = float(current.gradient @ step)
            fraction = 1.0
            lower = None
            while slope < 0.0 and fraction > SHORTEST and lower is None:
                state = yield Proposal(domain.feasible(current.theta + fraction * step))
                rise = state.latest.value - current.value
                if rise <= ARMIJO * fraction * slope + current.upper - current.value:
                    lower = state.latest
                fraction *= shorter(fraction * slope, rise)
            if lower is not None:
                curvature = curvature.with_pair(
                    (lower.theta - current.theta) / unit, unit * (lower.gradient - current.gradient)
                )
                current = lower
            elif len(curvature.steps):
                curvature = Curvature.none(problem.size, problem.linear)
            else:
                return

    def _typical(self, problem: Problem) -> Array:
        if self.typical is None:
            return problem.start()
        return np.asarray(self.typical, dtype=float)

    def _units(self, problem: Problem) -> Array:
        """The typical weights where only a penalty bounds the weights; else 1, as projections on balls need."""
        typical = self._typical(problem)
        if problem.domain.constrained:
            return np.ones(problem.size)
        return np.where(typical > 0, typical, typical.mean() or 1.0)
