"""Projected quasi-Newton steps (Schmidt, van den Berg, Friedlander and Murphy 2009).

    min_x  g'(x - theta) + 1/2 (x - theta)'B(x - theta)    over x in the domain

B is a limited-memory BFGS matrix of the last gradients (Byrd, Nocedal and Schnabel 1994), so the model costs nothing
beside a machine on n samples; it is minimised by spectral projected gradient, which needs the domain's projection only.
A part of the step to its minimiser is taken that makes the value lower.

Some fifty machines bring the widths of a product of Gaussians to four digits, where the gradient alone takes hundreds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from multikernel._parameters import NonNegativeVector
from multikernel._typing import Array
from multikernel.certificate import Certificate
from multikernel.optimizers.base import Optimizer, Search
from multikernel.optimizers.state import Proposal, State
from multikernel.optimizers.steps import length_of_size, shorter
from multikernel.problem import Problem

_INNER = 0.1  # of the stationarity asked for: the errors of the scores that inner gaps may cause
_MEMORY = 50  # pairs of steps and changes of the gradient that B is made of
_CURVED = 1e-10  # cosine of a pair: with a smaller one it tells nothing of the curvature
_FALL = 1e-4  # of what the slope predicts: by so much the value must be lower at the end of a step
_LEAST = 1e-8  # of a step: where a shorter part of it has no lower value, none has
_MODEL_STEPS = 100  # of spectral projected gradient on the model, at most
_MODEL_TOL = 1e-2  # of the model's first projected gradient: a smaller one ends these steps

Map = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class QuasiNewton(Optimizer):
    """Projected quasi-Newton, for any combination and any domain with a projection.

    Without a bound of the optimum the certificate is what other weights could gain to first order, relative to the
    value: any weights of a bounded domain, and where only a penalty bounds the weights, those whose sum is at most that
    of the present and of the typical weights.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach, or the relative stationarity where K is not linear
    max_iter : int >= 1, how many inner problems at most are solved
    typical : array (d,) >= 0, weights of the size to expect, the domain's central point by default. Where only a
        penalty bounds the weights, these are the units in which steps are measured: kernels may differ in size
    """

    typical: NonNegativeVector | None = None

    def inner_gap(self, gap: float) -> float:
        """The finest gap from the beginning: B is made of differences of scores, which err by the root of a gap."""
        return (_INNER * self.tol) ** 2

    def certificate(self, problem: Problem, state: State) -> Certificate:
        known, at = super().certificate(problem, state), state.best
        if problem.bounded or problem.domain.constrained:
            return known
        total = float(at.theta.sum() + self._typical(problem).sum())
        gain = total * max(0.0, float(-at.gradient.min())) + float(at.gradient @ at.theta) + at.upper - at.value
        return min(known, Certificate.stationarity(gain, at.upper), key=lambda each: each.value)

    def search(self, problem: Problem, state: State) -> Search:
        unit, domain = self._units(problem), problem.domain
        at, curvature = state.latest, Curvature.none(problem.size)
        typical = float(np.linalg.norm(self._typical(problem) / unit))

        def project(z: Array) -> Array:
            return domain.project(unit * z) / unit

        while True:
            z, slopes = at.theta / unit, unit * at.gradient
            step = unit * (
                curvature.step(z, slopes, project)
                if len(curvature.steps)
                else project(z - length_of_size(float(np.linalg.norm(z)) or typical, slopes) * slopes) - z
            )
            slope, part, lower = float(at.gradient @ step), 1.0, None
            while slope < 0.0 and part > _LEAST and lower is None:
                state = yield Proposal(domain.feasible(at.theta + part * step))
                rise = state.latest.value - at.value
                if rise <= _FALL * part * slope + at.upper - at.value:
                    lower = state.latest
                part *= shorter(part * slope, rise)
            if lower is not None:
                curvature = curvature.with_pair((lower.theta - at.theta) / unit, unit * (lower.gradient - at.gradient))
                at = lower
            elif len(curvature.steps):
                curvature = Curvature.none(problem.size)
            else:
                return

    def _typical(self, problem: Problem) -> Array:
        return problem.start() if self.typical is None else self.typical

    def _units(self, problem: Problem) -> Array:
        """The typical weights where only a penalty bounds the weights, else 1: a projection on a ball has no units."""
        typical = self._typical(problem)
        if problem.domain.constrained:
            return np.ones(problem.size)
        return np.where(typical > 0, typical, typical.mean() or 1.0)


@dataclass(frozen=True, eq=False)
class Curvature:
    """B of the pairs of steps S and changes of the gradient Y, in rows from old to new.

    B = size I - W'M^{-1}W,    W = [size S; Y],    M = [[size S S', L], [L', -D]],
    with L the part of S Y' below the diagonal, D its diagonal, and size = y'y / s'y of the last pair.
    """

    steps: Array
    changes: Array

    @classmethod
    def none(cls, d: int) -> Curvature:
        return cls(np.empty((0, d)), np.empty((0, d)))

    def with_pair(self, s: Array, y: Array) -> Curvature:
        """With a further pair if it shows positive curvature; then the oldest is dropped where there are many."""
        if not float(s @ y) > _CURVED * float(np.linalg.norm(s) * np.linalg.norm(y)):
            return self
        return Curvature(np.vstack([self.steps[1 - _MEMORY :], s]), np.vstack([self.changes[1 - _MEMORY :], y]))

    def matrix(self) -> tuple[float, Map]:
        """size, and the product v -> B v."""
        S, Y = self.steps, self.changes
        products = S @ Y.T
        size = float(Y[-1] @ Y[-1]) / float(products[-1, -1])
        W, L = np.vstack([size * S, Y]), np.tril(products, -1)
        M = np.block([[size * (S @ S.T), L], [L.T, -np.diag(np.diag(products))]])
        inner = np.linalg.solve(M, W)

        def product(v: Array) -> Array:
            return size * v - (W @ v) @ inner

        return size, product

    def step(self, z: Array, slope: Array, project: Map) -> Array:
        """x - z for the model's minimiser x, by spectral projected gradient with exact line searches."""
        size, product = self.matrix()
        x, length, first = z, 1.0 / size, np.inf
        for _ in range(_MODEL_STEPS):
            step = project(x - length * slope) - x
            change = float(np.linalg.norm(step)) / length
            first = min(first, change)
            descent = float(slope @ step)
            if change <= _MODEL_TOL * first or not descent < 0.0:
                break
            image = product(step)
            curved = float(step @ image)
            part = min(1.0, -descent / curved) if curved > 0.0 else 1.0
            x, slope = x + part * step, slope + part * image
            length = float(step @ step) / curved if curved > 0.0 else 1.0 / size
        return x - z
