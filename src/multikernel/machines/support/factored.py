"""Support vector machines on a matrix of few features, K = G G': no matrix larger than G is formed.

A primal-dual interior point method, whose Newton system has the order of the features. At variables a with multipliers
``below`` and ``above`` of their bounds, and with f = K b,

    F_a     p - rho a - E'(f + c 1) + below - above = 0        a below = mu,   (u - a) above = mu
    F_b     1'b - total = 0

the linearised products give the steps of the multipliers,

    dbelow = mu / a - below - below / a da,        dabove = mu / (u - a) - above + above / (u - a) da.

Substituted into the linearised F_a, with s = G'db the change of G'b and dc that of the intercept, they give

    theta da = r - E'(G s + dc 1),        theta = rho + below / a + above / (u - a),
    r = F_a + (mu / a - below) - (mu / (u - a) - above).

db = E da must satisfy s = G'db and 1'db = -F_b. With the diagonal matrix D = E theta^{-1} E' these conditions are

    s + G'D (G s + dc 1) = G'E (r / theta)
        1'D (G s + dc 1) = 1'E (r / theta) + F_b

At the end the variables are computed exactly (``settled.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from scipy.linalg import blas

from multikernel._floats import SINGULAR
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.machines.base import DualSolution, out_of_time
from multikernel.machines.support.certified import solution, value_floor
from multikernel.machines.support.coefficients import central, feasible, fitting
from multikernel.machines.support.program import SupportProgram
from multikernel.machines.support.settled import at_bounds, settled
from multikernel.numerics.cholesky import cholesky, solved
from multikernel.numerics.interior_point import (
    FIRST_INSIDE,
    NEGLIGIBLE_STEP,
    BarrierPoint,
    NewtonSystem,
    Targets,
    advance,
)
from multikernel.numerics.line_search import MOST_NEWTON_STEPS


@dataclass(frozen=True, eq=False)
class FactoredProgram:
    """A support program on K = G G'.

    Parameters
    ----------
    program : SupportProgram
    G : array (n, q)
    tol : float, the relative duality gap to reach
    exact : bool, whether variables between their bounds are computed from their linear equations at the end, which for
        many variables takes ten times as long as the steps; else the steps end where the gap is reached
    """

    program: SupportProgram
    G: Array
    tol: float
    exact: bool = True

    @cached_property
    def sizes(self) -> Array:
        """The norms of the samples."""
        return np.sqrt(np.einsum("ij,ij->i", self.G, self.G))

    @cached_property
    def floor(self) -> float:
        """A value that counts as zero."""
        return value_floor(self.program, self.sizes)

    def solve(self, start: Array | None, max_iter: int) -> DualSolution:
        """Solve from an earlier solution if its variables settle; else along the central path, until they do."""
        best = self._settled(self._at(self.program.feasible(start)))
        if best.converged or self._pinned():
            return best
        for step, point in enumerate(self._path(), 1):
            current = self._at(feasible(self.program, point.a), step, best.history)
            best = replace(_smaller_gap(current, best), n_iter=step, history=current.history)
            if current.converged:
                end = self._settled(current)
                if not self.exact or (end.converged and end is not current):
                    return replace(end, n_iter=step)
                best = replace(_smaller_gap(end, best), n_iter=step, history=current.history)
            if step == max_iter or self._exhausted(point, current) or out_of_time(self.program.n):
                return best
        return best

    def values(self, b: Array) -> Array:
        """K b."""
        return product(self.G, product(self.G.T, b))

    def _at(self, a: Array, n_iter: int = 0, history: tuple[float, ...] = ()) -> DualSolution:
        """The solution at feasible variables, with its certificate."""
        f = self.values(self.program.coef(a))
        return solution(self.program, a, f, self.sizes, self.tol, n_iter, history)

    def _exhausted(self, point: BarrierPoint, current: DualSolution) -> bool:
        """Whether the sum of complementarity products is so small that later steps will not reduce the gap."""
        value = max(abs(current.value), self.floor) / self.program.scale
        return current.gap < 1.0 and point.complementarity <= 1e-2 * self.tol * value

    def _settled(self, start: DualSolution) -> DualSolution:
        """The solution with variables at their bounds, and the others from their equations, if its gap is smaller."""
        best = current = start
        if not self.exact:
            f = self.values(current.coef)
            current = self._at(
                at_bounds(self.program, current.warm, f, current.intercept), current.n_iter, start.history[:-1]
            )
            if current.gap < start.gap or current.converged:
                return current
            return start
        for _ in range(5):
            f = self.values(current.coef)
            current = self._at(
                settled(self.program, self.G, current.warm, f, current.intercept), current.n_iter, start.history[:-1]
            )
            if best is not start and current.gap >= best.gap:
                break
            if current.gap < best.gap or current.converged:
                best = current
        return best

    def _pinned(self) -> bool:
        """Whether the sum of the coefficients allows only one feasible point."""
        a = np.minimum(central(self.program), self.program.upper)
        return bool((self.program.upper - a).max() <= SINGULAR * a.max())

    def _path(self) -> Iterator[BarrierPoint]:
        """Points that approach the optimum, until steps are negligible because of rounding."""
        point = self._first()
        for _ in range(MOST_NEWTON_STEPS):
            yield point
            length, point = advance(point, partial(_FeatureSystem, self, point))
            if length < NEGLIGIBLE_STEP:
                return

    def _first(self) -> BarrierPoint:
        """A point inside the box where linear and quadratic part are equal, unless that is near zero; F_a is zero.

        Among the multiples t a, the value t p'a - t^2/2 (b'K b + sum rho a^2) is largest where the two parts are equal,
        t p'a = t^2 (b'K b + sum rho a^2).
        """
        program = self.program
        empty = np.empty(0)
        a = self._middle()
        w = product(self.G.T, program.coef(a))
        linear = float(np.abs(program.linear) @ a)
        quadratic = float(w @ w) + program.cost(a)
        bounded = np.isfinite(program.upper)
        if program.total == 0.0 and quadratic > 0.0:
            a = a * min(max(linear / quadratic, FIRST_INSIDE if bounded.any() else 0.0), 1.0)
        below, above, c = fitting(program, a, self.values(program.coef(a)))
        return BarrierPoint(a, program.upper - a, below, above, c, empty, empty, 0.0)

    def _middle(self) -> Array:
        """The central point of the box, for bounds of any size."""
        upper = self.program.upper
        size = float(upper.max()) if np.isfinite(upper).all() else 1.0
        return size * central(replace(self.program, upper=upper / size, total=self.program.total / size))


def _smaller_gap(first: DualSolution, second: DualSolution) -> DualSolution:
    """The solution with the smaller gap, the first one where gaps are equal."""
    if second.gap < first.gap:
        return second
    return first


class _FeatureSystem(NewtonSystem):
    """The linear system at one point: factored once, solved for several right-hand sides."""

    def __init__(self, factored: FactoredProgram, point: BarrierPoint) -> None:
        self.program = factored.program
        self.point = point
        program = factored.program
        f = factored.values(program.coef(point.a))
        slope = program.linear - program.ridge * point.a - program.sign * (f + point.intercept)[program.sample]
        self.F_a = slope + point.below - point.above
        self.F_b = float(program.sign @ point.a) - program.total
        self.theta = point.curvature(program.ridge)
        D = (1.0 / self.theta).reshape(-1, program.n).sum(axis=0)
        if program.intercept:
            self.G = np.column_stack([factored.G, np.ones(program.n)])
        else:
            self.G = factored.G
        scaled = np.sqrt(D)[:, None] * self.G
        M = blas.dsyrk(1.0, scaled.T, lower=1).T  # its upper triangle is read as the lower one of the transpose
        q = factored.G.shape[1]
        M = np.triu(M) + np.triu(M, 1).T
        M.flat[: q * len(M) : len(M) + 1] += 1.0
        self.scale = 1.0 / np.sqrt(M.diagonal())
        self.factor = cholesky(M * self.scale[:, None] * self.scale)

    def step(self, mu: float, predictor: BarrierPoint | None = None) -> BarrierPoint:
        program = self.program
        targets = Targets.of(self.point, mu, predictor)
        r = targets.slope(self.F_a)
        right = product(self.G.T, program.coef(r / self.theta))
        if program.intercept:
            right[-1] += self.F_b
        x = self.scale * solved(self.factor, self.scale * right)
        da = (r - program.sign * product(self.G, x)[program.sample]) / self.theta
        return targets.step(da, float(x[-1]) if program.intercept else 0.0)
