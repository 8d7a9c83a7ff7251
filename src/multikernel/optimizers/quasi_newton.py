"""Projected quasi-Newton steps (Schmidt, van den Berg, Friedlander and Murphy 2009).

    min_x  g'(x - theta) + 1/2 (x - theta)'B(x - theta)    over x in the domain

B is a limited-memory BFGS matrix of the last gradients (Byrd, Nocedal and Schnabel 1994), so the model costs nothing
beside a machine on n samples; it is minimised by spectral projected gradient, which needs the domain's projection only.
A part of the step to its minimiser is taken that makes the value lower.

Some fifty machines bring the widths of a product of Gaussians to four digits, where the gradient alone takes hundreds.
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

    Without a bound of the optimum the certificate is what other weights could gain to first order, relative to the
    value: any weights of a bounded domain, and where only a penalty bounds the weights, those whose sum, each in units
    of its typical weight, is at most that of the present and of the typical weights.

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
        """The finest gap from the beginning: B is made of differences of scores, which err by the root of a gap.

        They may err by 1/1000 of the stationarity asked for.
        """
        return (1e-3 * self.tol) ** 2

    def certificate(self, problem: Problem, state: State) -> Certificate:
        known = super().certificate(problem, state)
        at = state.best
        if np.isfinite(state.bound) or problem.domain.constrained:
            return known
        unit = self._units(problem)
        total = float(((at.theta + self._typical(problem)) / unit).sum())
        gain = (
            total * max(0.0, float(-(unit * at.gradient).min())) + float(at.gradient @ at.theta) + at.upper - at.value
        )
        return min(known, Certificate.stationarity(gain, at.upper), key=lambda each: each.value)

    def search(self, problem: Problem, state: State) -> Search:
        unit = self._units(problem)
        domain = problem.domain
        at = state.latest
        curvature = Curvature.none(problem.size, problem.linear)
        typical = float(np.linalg.norm(self._typical(problem) / unit))

        def project(z: Array) -> Array:
            return domain.project(unit * z) / unit

        while True:
            z = at.theta / unit
            slopes = unit * at.gradient
            if len(curvature.steps):
                step = unit * curvature.step(z, slopes, project)
            else:
                length = length_of_size(float(np.linalg.norm(z)) or typical, slopes)
                step = unit * (project(z - length * slopes) - z)
            slope = float(at.gradient @ step)
            part = 1.0
            lower = None
            while slope < 0.0 and part > SHORTEST and lower is None:
                state = yield Proposal(domain.feasible(at.theta + part * step))
                rise = state.latest.value - at.value
                if rise <= ARMIJO * part * slope + at.upper - at.value:
                    lower = state.latest
                part *= shorter(part * slope, rise)
            if lower is not None:
                curvature = curvature.with_pair((lower.theta - at.theta) / unit, unit * (lower.gradient - at.gradient))
                at = lower
            elif len(curvature.steps):
                curvature = Curvature.none(problem.size, problem.linear)
            else:
                return

    def _typical(self, problem: Problem) -> Array:
        if self.typical is None:
            return problem.start()
        return self.typical

    def _units(self, problem: Problem) -> Array:
        """The typical weights where only a penalty bounds the weights, else 1: a projection on a ball has no units."""
        typical = self._typical(problem)
        if problem.domain.constrained:
            return np.ones(problem.size)
        return np.where(typical > 0, typical, typical.mean() or 1.0)
