"""Hierarchical kernel learning restricted to a hull: node weights and support vectors together.

    min_{gamma in simplex} max_a  scale (p'a - ridge/2 |a|^2 - 1/2 h(gamma, q)),    q_w = b'K_w b,    b = E a in its box

with h of ``norm``: concave in a, convex in gamma, smooth inside. A primal-dual interior point method as for sums of
kernels (``procedures/interior``), whose Newton system takes the second derivatives of h: in b they join the combined
matrix, in gamma the border. Some fifteen steps, each a pass over the nodes and one Cholesky factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.certificate import Certificate
from multikernel.domains import Simplex
from multikernel.machines.support.program import SupportProgram
from multikernel.procedures.hkl.lattice import Hull
from multikernel.procedures.hkl.norm import DualNorm, exponent
from multikernel.procedures.interior.newton import Products
from multikernel.procedures.interior.point import Point
from multikernel.procedures.interior.start import central
from multikernel.procedures.interior.steps import advance, feasible

_FAR_BELOW = 1e-3  # of the gap asked for: to what the products shrink
_SHORT = 1e-6  # steps this short lead nowhere: rounding has the better of the system
_NEAR = 0.1  # of the mean product, and as many times as much: how far the others may be from it
_IDLE = 3  # steps that bring no progress until giving up
_PROGRESS = 0.9  # of the best gap
_NOTHING = 1e-20  # of the first products: the same where the optimum is zero
_EVEN = 0.1  # of the mean target: what both variables of a sample start with, where there are two
_ROUNDING = 1e-16  # of what a form may be: smaller ones are none
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Restricted:
    """The problem: nodes with their kernels, support program, rho."""

    bank: KernelBank
    hull: Hull
    program: SupportProgram
    rho: float

    def norm(self, gamma: Array, q: Array) -> DualNorm:
        """h at these node weights and forms."""
        return DualNorm(self.hull, self.rho, gamma, np.maximum(q, 0.0))


@dataclass(frozen=True, eq=False)
class RestrictedPoint:
    """A feasible pair with the two values that enclose the optimum over the hull.

    Parameters
    ----------
    a : array (N,), the variables of the support program
    gamma : array (m,) > 0, of sum 1
    active : bool array (m,), the nodes whose gamma the optimality conditions hold above zero
    weights : array (m,), of the nodes' kernels
    upper, bound : float
    n_iter : int
    history : the relative gap after each step
    """

    a: Array
    gamma: Array
    active: Array
    weights: Array
    upper: float
    bound: float
    n_iter: int = 0
    history: tuple[float, ...] = ()

    @property
    def gap(self) -> float:
        """upper - bound relative to upper."""
        return Certificate.gap(self.upper, self.bound).value


def solve_restricted(problem: Restricted, tol: float, max_iter: int) -> RestrictedPoint:
    """Solve to a relative gap of ``tol``; ``max_iter`` Newton steps at most."""
    program = problem.program
    point = _first_point(problem)
    if point is None:
        return _nothing(problem)
    best, idle, length, first = None, 0, 1.0, point.left()
    history: list[float] = []
    for _ in range(max_iter + 1):
        Z = _images(problem, program.coef(point.a))
        norm = problem.norm(point.delta, Z @ program.coef(point.a))
        point = _centred(point, norm)
        found = _read(problem, point, norm, Z)
        history.append(found.gap)
        least = max(_FAR_BELOW * tol * max(found.bound, 0.0) / program.scale, _NOTHING * first)
        spent = best is not None and point.left() <= 10.0 * least and not found.gap < _PROGRESS * best.gap
        idle = idle + 1 if spent or length < _SHORT else 0
        best = found if best is None or found.gap < best.gap else best
        if best.gap <= tol or idle == _IDLE:
            break
        bent = _products(problem, norm, Z)
        length, point = advance(program, Simplex(), point, bent, least, 0.5 * norm.curvature)
    assert best is not None
    return RestrictedPoint(
        best.a, best.gamma, best.active, best.weights, best.upper, best.bound, len(history) - 1, tuple(history)
    )


def _images(problem: Restricted, b: Array) -> Array:
    """K_w b for every node, shape (m, n)."""
    return problem.bank.apply(b[:, None])[:, :, 0]


def _first_point(problem: Restricted) -> Point | None:
    """Equal node weights, and coefficients at the size where linear and quadratic part agree; None for zero kernels."""
    program, m = problem.program, len(problem.bank)
    a = central(program)
    if len(a) > program.n:  # a variable above and one below for each sample, whose difference should not be zero
        a = np.maximum(program.linear, 0.0)
        a = np.minimum(a + _EVEN * float(a.mean()) + _TINY, 0.5 * program.upper)
    b = program.coef(a)
    q = _images(problem, b) @ b
    if not (q > _ROUNDING * (np.sqrt(np.maximum(problem.bank.diagonal(), 0.0)) @ np.abs(b)) ** 2).any():
        return None  # every kernel vanishes where the coefficients can go
    gamma = np.full(m, 1.0 / m)
    norm = problem.norm(gamma, q)
    linear, quadratic = abs(float(program.linear @ a)), norm.value + program.ridge * float(a @ a)
    size = min(1.0, linear / quadratic) if quadratic > 0 else 1.0
    a = size * a
    count = len(a) + int(np.isfinite(program.upper).sum()) + m
    mu = max(float(np.abs(program.linear) @ a), _TINY) / count
    room = program.upper - a
    level = max(0.55 * size**2 * float(norm.gradient.max()), mu)
    return Point(a, room, mu / a, mu / room, 0.0, gamma, mu / gamma, level)


def _centred(point: Point, norm: DualNorm) -> Point:
    """The slacks brought to what the slopes of h leave of the level, as far as the products stay near their mean.

    h bends so strongly where node weights vanish together that a Newton step leaves much of this condition open.
    """
    mu = point.complementarity() / point.delta
    return replace(point, slack=np.clip(point.level - 0.5 * norm.gradient, _NEAR * mu, mu / _NEAR))


def _read(problem: Restricted, point: Point, norm: DualNorm, Z: Array) -> RestrictedPoint:
    """The pair at an interior point: node weights brought to sum 1, coefficients to the equality."""
    program = problem.program
    total = float(point.delta.sum())
    weights = norm.weights * total ** (-1.0 / exponent(problem.rho))
    f = weights @ Z
    upper = program.primal(f, float(program.coef(point.a) @ f), program.best_intercept(f))
    a = feasible(program, point.a)
    bound = program.dual(a, norm.bound)
    active = point.delta * point.level > point.slack * point.delta.max()
    return RestrictedPoint(a, point.delta / total, active, weights, upper, bound)


def _products(problem: Restricted, norm: DualNorm, Z: Array) -> Products:
    """What the Newton system takes, with the second derivatives of h in the coefficients."""
    K = problem.bank.combine(norm.weights).dense()
    bend = norm.bend(Z)
    if bend is not None:
        K = linalg.blas.dgemm(1.0, bend.T, bend.T, trans_b=True, beta=1.0, c=np.array(K, order="F"), overwrite_c=1)
    return Products(K, norm.mixed @ Z, norm.gradient, norm.weights @ Z)


def _nothing(problem: Restricted) -> RestrictedPoint:
    """Kernels that vanish: every sample has the coefficient that its loss alone asks for."""
    program, m = problem.program, len(problem.bank)
    asked = np.maximum(program.linear, 0.0)
    a = feasible(program, np.minimum(asked / program.ridge, program.upper) if program.ridge else program.upper)
    f = np.zeros(program.n)
    upper = program.primal(f, 0.0, program.best_intercept(f))
    gamma = np.full(m, 1.0 / m)
    weights = problem.norm(gamma, np.ones(m)).weights
    return RestrictedPoint(a, gamma, np.ones(m, dtype=bool), weights, upper, program.dual(a, 0.0))
