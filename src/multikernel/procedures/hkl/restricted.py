"""Hierarchical kernel learning restricted to a hull: node weights and support vectors together.

    min_{gamma in simplex} max_a  scale (p'a - 1/2 sum_j ridge_j a_j^2 - 1/2 h(gamma, q)),    q_w = b'K_w b,    b = E a

with a in its box and h of ``norm``: concave in a, convex in gamma, smooth inside. The interior point method for sums of
kernels (``procedures/interior``) solves it with the second derivatives of h in its Newton system: those in b are added
to the combined matrix, those in gamma to the border. It takes some fifteen steps, each with a pass over the nodes and
one Cholesky factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from multikernel._floats import TINY
from multikernel._typing import Array
from multikernel.banks import DenseGram, KernelBank
from multikernel.domains import Simplex
from multikernel.machines.support.coefficients import central, feasible
from multikernel.machines.support.program import SupportProgram
from multikernel.numerics.interior_point import BarrierPoint
from multikernel.procedures.hkl.lattice import ClosedSet
from multikernel.procedures.hkl.norm import DualNorm, exponent
from multikernel.procedures.interior.driver import InteriorPoint, InteriorProblem, solve
from multikernel.procedures.interior.newton import Newton, Products


@dataclass(frozen=True, eq=False, kw_only=True)
class HullPoint(InteriorPoint):
    """The result on a hull: ``weights`` are those of the nodes' kernels, ``active`` refers to gamma.

    Parameters
    ----------
    gamma : array (m,) > 0, of sum 1
    """

    gamma: Array


@dataclass(frozen=True, eq=False)
class HullProblem(InteriorProblem[HullPoint]):
    """The problem: nodes with their kernels, support program, rho."""

    bank: KernelBank
    hull: ClosedSet
    program: SupportProgram
    rho: float

    def norm(self, gamma: Array, q: Array) -> DualNorm:
        """h at these node weights and scores."""
        return DualNorm(self.hull, self.rho, gamma, np.maximum(q, 0.0))

    def solved(self, tol: float, max_iter: int) -> HullPoint:
        """The solution to a relative gap of ``tol`` over the hull, with at most ``max_iter`` Newton steps for each rho.

        Near rho = 1 the curvature of h is so large that Newton steps converge only from a small neighbourhood of the
        solution: solutions for larger values of rho lead into it.
        """
        first = self._first_point()
        solution = None
        if first is None:
            return self._without_kernels()
        for rho in _approach(self.rho):
            problem = replace(self, rho=rho)
            if rho == self.rho:
                tolerance = tol
            else:
                tolerance = max(tol, 1e-2)  # on the way there, a gap of 1/100
            point = first if solution is None else problem._near(solution)
            solution = solve(problem, point, self.program.scale, tolerance, max_iter)
        assert solution is not None
        return solution

    def read(self, point: BarrierPoint) -> tuple[HullPoint, BarrierPoint, Callable[[], Newton]]:
        """The pair at an interior point: node weights scaled to sum 1, variables made to satisfy the equality."""
        program = self.program
        b = self.program.coef(point.a)
        Z = self._images(b)
        norm = self.norm(point.delta, Z @ b)
        total = float(point.delta.sum())
        weights = norm.weights * total ** (-1.0 / exponent(self.rho))
        f = weights @ Z
        a = feasible(program, point.a)
        intercept = program.best_intercept(f)
        pair = HullPoint(
            a=a,
            weights=weights,
            active=point.delta * point.multiplier > point.reduced_cost * point.delta.max(),
            intercept=intercept,
            upper=program.primal(f, float(b @ f), intercept),
            bound=program.dual(a, norm.bound),
            gamma=point.delta / total,
        )
        return pair, point, lambda: Newton(program, Simplex(), point, self._products(norm, Z), 0.5 * norm.curvature)

    def _images(self, b: Array) -> Array:
        """K_w b for every node, shape (m, n)."""
        return self.bank.apply(b[:, None])[:, :, 0]

    def _products(self, norm: DualNorm, Z: Array) -> Products:
        """The products for the Newton system, with the second derivatives of h in the coefficients."""
        K = self.bank.combine(norm.weights).dense()
        F = norm.hessian_factor(Z)
        if F is not None:
            K = linalg.blas.dgemm(1.0, F.T, F.T, trans_b=True, beta=1.0, c=np.array(K, order="F"), overwrite_c=1)
        return Products(DenseGram(K), norm.mixed @ Z, norm.gradient, norm.weights @ Z)

    def _first_point(self) -> BarrierPoint | None:
        """Equal node weights, variables at which linear and quadratic part agree; None where all kernels vanish.

        As in ``interior/start.py``: h is homogeneous in the scores, of degree one, so that for t a it is t^2 h; and the
        multiplier is the largest slope of h, half of which would be too little for reduced costs to be positive.
        """
        program = self.program
        m = len(self.bank)
        a = central(program)
        if len(a) > program.n:  # a variable above and one below for each sample, whose difference should not be zero
            a = np.maximum(program.linear, 0.0)
            a = np.minimum(a + 0.1 * float(a.mean()) + TINY, 0.5 * program.upper)
        b = program.coef(a)
        q = self._images(b) @ b
        # a score below this fraction of its bound from the kernel's diagonal counts as zero
        if not (q > 1e-16 * (np.sqrt(np.maximum(self.bank.diagonal(), 0.0)) @ np.abs(b)) ** 2).any():
            return None
        gamma = np.full(m, 1.0 / m)
        norm = self.norm(gamma, q)
        linear = abs(float(program.linear @ a))
        quadratic = norm.value + program.cost(a)
        size = min(1.0, linear / quadratic) if quadratic > 0 else 1.0
        a = size * a
        count = len(a) + int(np.isfinite(program.upper).sum()) + m
        mu = max(float(np.abs(program.linear) @ a), TINY) / count
        slack = program.upper - a
        multiplier = max(size**2 * float(norm.gradient.max()), mu)
        return BarrierPoint(a, slack, mu / a, mu / slack, 0.0, gamma, mu / gamma, multiplier)

    def _near(self, pair: HullPoint) -> BarrierPoint:
        """The point near the central path where the complementarity products sum to the gap of a pair."""
        a = pair.a
        gamma = pair.gamma
        program = self.program
        slack = program.upper - a
        count = len(a) + int(np.isfinite(program.upper).sum()) + len(gamma)
        mu = max(pair.upper - pair.bound, TINY) / program.scale / count
        b = program.coef(a)
        norm = self.norm(gamma, self._images(b) @ b)
        multiplier = max(float(norm.gradient.max()), mu)
        return BarrierPoint(a, slack, mu / a, mu / slack, pair.intercept, gamma, mu / gamma, multiplier)

    def _without_kernels(self) -> HullPoint:
        """The solution where all kernels vanish: each coefficient depends on the loss of its sample only."""
        program = self.program
        m = len(self.bank)
        a = program.upper
        if program.ridged:
            a = np.minimum(np.maximum(program.linear, 0.0) / program.ridge, program.upper)
        a = feasible(program, a)
        f = np.zeros(program.n)
        gamma = np.full(m, 1.0 / m)
        intercept = program.best_intercept(f)
        return HullPoint(
            a=a,
            weights=self.norm(gamma, np.ones(m)).weights,
            active=np.ones(m, dtype=bool),
            intercept=intercept,
            upper=program.primal(f, 0.0, intercept),
            bound=program.dual(a, 0.0),
            gamma=gamma,
        )


def _approach(rho: float) -> list[float]:
    """The sequence of values of rho for which the problem is solved, ending with rho itself.

    From 1.1 on the method starts at equal node weights; nearer to 1, at the solution for a rho 1.5 times as far from 1.
    """
    values = [rho]
    while values[-1] < 1.1:
        values.append(1.0 + 1.5 * (values[-1] - 1.0))
    return values[::-1]
