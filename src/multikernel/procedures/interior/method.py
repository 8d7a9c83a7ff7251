"""Kernel weights and support vectors together, by a primal-dual interior point method.

    min_{d in D} max_a  scale (p'a - rho/2 |a|^2 - 1/2 b'(sum_k d_k K_k) b) + r(d),
    b = E a,  0 <= a <= u,  1'b = total

for every support vector machine and every separable domain (simplex, balls of any norm around an offset, penalties,
entropy) alike: a barrier on each inequality, Newton steps on the optimality conditions, Mehrotra's predictor and
corrector. Some fifteen steps bring the gap to 1e-8 whatever the kernels (duplicated, of low rank, badly scaled) and
whatever C; each costs one pass over the kernels that take part and one Cholesky factorisation.

The certificate is over all kernels, also over those that were left out of the steps (``working.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg

from multikernel.banks import KernelBank
from multikernel.domains import Domain
from multikernel.kernels.base import Array
from multikernel.machines.program import SupportProgram
from multikernel.procedures.interior.newton import Newton, Products
from multikernel.procedures.interior.point import Point
from multikernel.procedures.interior.working import WorkingSet

_STAY = 0.995  # of the way to the boundary that a step may go
_FIRST_LOOK = 1e-2  # gap of the working set at which all kernels are looked at for the first time
_PART = 1e-5  # of the value at equal coefficients for uncorrelated samples: less is known to this accuracy only
_SHORT = 1e-6  # steps this short lead nowhere: rounding has the better of the system
_FAR_BELOW = 1e-3  # of the gap asked for: where the products alone promise so little, rounding is all that is left
_NOTHING = 1e-20  # of the first products: the same where the optimum is zero
_PINNED = 1e-12  # of the largest total: with less room there is one feasible point
_EXTREME, _HALVINGS = 500.0, 20  # exponents of two between which first weights are sought, to a factor of 2^0.001
_ROUNDING = 4.0 * float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Saddle:
    """The problem: kernels, support program, domain."""

    bank: KernelBank
    program: SupportProgram
    domain: Domain

    def bound(self, a: Array, forms: Array) -> float:
        """A lower bound of the optimum by a feasible a with the forms b'K_k b.

        Where the domain's support is infinite, by the part of a at which it is not; it has to be feasible, too.
        """
        q = 0.5 * self.program.scale * forms
        reach = self.domain.reach(q)
        if reach < 1.0 and self.program.total != 0.0:
            return -np.inf
        return self.program.dual(np.sqrt(reach) * a, 0.0) - self.domain.support(reach * q)

    def gap(self, upper: float, bound: float) -> float:
        """upper - bound relative to upper."""
        return max(upper - bound, 0.0) / max(abs(upper), self.floor, float(np.finfo(float).tiny))

    @cached_property
    def floor(self) -> float:
        """A value that is none, as in the machine: where the coefficients' sum is given the optimum may be zero."""
        program, m = self.program, len(self.bank)
        if program.total == 0.0:
            return 0.0
        size = float(self.domain.start(m) @ self.bank.traces()) / program.n
        return _PART * 0.5 * program.scale * program.total**2 * size


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """Where the method stopped.

    Parameters
    ----------
    a : array (N,), the variables of the support program, feasible
    weights : array (m,), feasible
    active : bool array (m,), the kernels whose weight the optimality conditions hold above zero
    intercept : float
    upper, bound : the values that enclose the optimum
    gap : float, upper - bound relative to upper (``Saddle.gap``)
    converged : bool
    n_iter : int
    history : the relative gap along the way, over the kernels that took part
    """

    a: Array
    weights: Array
    active: Array
    intercept: float
    upper: float
    bound: float
    gap: float
    converged: bool
    n_iter: int
    history: tuple[float, ...]


def interior_point(
    saddle: Saddle,
    tol: float = 1e-6,
    max_iter: int = 200,
    start: Array | None = None,
    observe: Callable[[int, float], None] | None = None,
) -> InteriorPoint:
    """Solve to a relative duality gap of at most ``tol``.

    Parameters
    ----------
    saddle : the problem
    tol : float
    max_iter : int, Newton steps at most
    start : array (m,), weights of a neighbouring problem: the kernels that matter there take part first
    observe : called with the step and the relative gap over the kernels that take part
    """
    known = _known(saddle)
    if known is not None:
        return known
    program, domain = saddle.program, saddle.domain
    a = _central(program)
    working = WorkingSet.first(saddle.bank, domain, program.coef(a), start)
    point = _first_point(saddle, working, a)
    first, best = point.left(), None
    history: list[float] = []
    look_at, stuck = max(_FIRST_LOOK, tol), 0
    for step in range(max_iter + 1):
        products = working.products(_weights(domain, point.delta), program.coef(point.a))
        found = _read(saddle, point, products)
        best = found if best is None or not found.gap >= best.gap else best
        history.append(found.gap)
        if observe is not None:
            observe(step, found.gap)
        last = step == max_iter or stuck >= 3 or _spent(saddle, first, found, tol)
        if found.gap <= look_at or last:
            found = best if last else found
            b = program.coef(found.a)
            forms = working.forms(b, working.work.quad(b))
            found = found.against(saddle, forms)
            if found.gap <= tol or last:
                return _result(saddle, working, found, tol, history)
            revised, point = working.revised(point, forms, _limit(saddle, point.level), point.complementarity())
            look_at = max(0.1 * min(found.gap, look_at), 0.5 * tol) if not revised.complete else tol
            if revised is not working:
                working, best = revised, None
                continue
        length, point = _advance(saddle, point, products)
        stuck = stuck + 1 if length < _SHORT else 0
    raise AssertionError("unreachable")


@dataclass(frozen=True, eq=False)
class _Found:
    """A feasible pair read off an interior point, with its two values."""

    point: Point
    a: Array
    weights: Array
    intercept: float
    upper: float
    bound: float
    gap: float

    def against(self, saddle: Saddle, forms: Array) -> _Found:
        """The same pair with its bound over all kernels."""
        bound = saddle.bound(self.a, forms)
        return replace(self, bound=bound, gap=saddle.gap(self.upper, bound))


def _read(saddle: Saddle, point: Point, products: Products) -> _Found:
    """Any coefficients make a primal point; a dual point has to satisfy the equality, which the steps approach."""
    program, domain = saddle.program, saddle.domain
    weights = domain.feasible(_weights(domain, point.delta))
    f, norm = weights @ products.Z, float(weights @ products.v)
    intercept = program.best_intercept(f)
    upper = program.primal(f, norm, intercept) + domain.penalty(weights)
    a = _feasible(program, point.a)
    bound = saddle.bound(a, products.v)
    return _Found(point, a, weights, intercept, upper, bound, saddle.gap(upper, bound))


def _spent(saddle: Saddle, first: float, found: _Found, tol: float) -> bool:
    """Whether the products that the steps make smaller promise a gap far below tol: what is seen is rounding."""
    left = found.point.left()
    size = max(abs(found.upper), saddle.floor)
    return saddle.program.scale * left <= _FAR_BELOW * tol * size or left <= _NOTHING * first


def _feasible(program: SupportProgram, a: Array) -> Array:
    """Brought to the equality by taking from the side that has too much."""
    excess = float(program.sign @ a) - program.total
    if not program.intercept or excess == 0.0:
        return a
    side = program.sign * np.sign(excess) > 0
    if not side.any():  # one side only, with too little
        room = program.upper - a
        more: Array = a + room * (abs(excess) / float(room.sum()))
        return more
    return np.where(side, a * (1.0 - abs(excess) / float(a[side].sum())), a)


def _weights(domain: Domain, delta: Array) -> Array:
    weights: Array = domain.offset(len(delta)) + delta
    return weights


def _advance(saddle: Saddle, point: Point, products: Products) -> tuple[float, Point]:
    """A predictor to see how far the products could shrink, then the step that shrinks them so."""
    try:
        newton = Newton(saddle.program, saddle.domain, point, products)
    except linalg.LinAlgError:
        return 0.0, point
    mu = point.complementarity()
    predictor = newton.step(0.0)
    aimed = point.moved(predictor, newton.longest(predictor)).complementarity()
    step = newton.step((aimed / mu) ** 3 * mu, bent=predictor)
    length = min(1.0, _STAY * newton.longest(step))
    return length, point.moved(step, length)


def _limit(saddle: Saddle, level: float) -> float:
    """What v / 2 may not exceed where a weight is zero."""
    zero, domain = np.zeros(1), saddle.domain
    slope = level * float(domain.constraint(zero)[1][0]) if domain.constrained else 0.0
    return slope + float(domain.separable_penalty(zero)[1][0]) / saddle.program.scale


# -- where to start ----------------------------------------------------------------------------------------------------


def _known(saddle: Saddle) -> InteriorPoint | None:
    """The answer where it takes no steps: a = 0 loses nothing, or the equality leaves a single a."""
    program, domain, m = saddle.program, saddle.domain, len(saddle.bank)
    if program.total == 0.0:
        f = np.zeros(program.n)
        if program.primal(f, 0.0, program.best_intercept(f)) > _ROUNDING * program.primal(f, 0.0, 0.0):
            return None
        a, forms = np.zeros(len(program.sign)), np.zeros(m)
    else:
        side = program.sign * program.total > 0
        if abs(program.total) < (1.0 - _PINNED) * float(program.upper[side].sum()):
            return None
        a = np.where(side, program.upper, 0.0)
        forms = saddle.bank.quad(program.coef(a))
    weights = domain.start(m)
    if forms.any() or domain.penalty(weights) > 0.0:
        weights = domain.maximiser(0.5 * program.scale * forms)
    f = saddle.bank.combine(weights).multiply(program.coef(a))
    intercept = program.best_intercept(f)
    upper = program.primal(f, float(program.coef(a) @ f), intercept) + domain.penalty(weights)
    bound = saddle.bound(a, forms)
    gap = saddle.gap(upper, bound)
    return InteriorPoint(a, weights, np.ones(m, dtype=bool), intercept, upper, bound, gap, True, 0, (gap,))


def _central(program: SupportProgram) -> Array:
    """A point inside the box that satisfies the equality."""
    g = np.minimum(program.upper, 1.0)
    if not program.intercept:
        return 0.5 * g
    plus = program.sign > 0
    sums = np.array([g[~plus].sum(), g[plus].sum()])
    if program.total != 0.0:
        inside: Array = g * abs(program.total) / sums[int(program.total > 0)]
        return inside
    inside = 0.5 * g * sums.min() / np.where(plus, sums[1], sums[0])
    return inside


def _first_point(saddle: Saddle, working: WorkingSet, a: Array) -> Point:
    """The central point, brought to the size at which the linear and the quadratic part of the program agree."""
    program, domain = saddle.program, saddle.domain
    m = len(working.index)
    delta = domain.start(m) - domain.offset(m)
    products = working.products(_weights(domain, delta), program.coef(a))
    v = products.v
    if program.total == 0.0:
        linear = float(np.abs(program.linear) @ a)
        curved = float(np.diagonal(products.K)[program.sample] @ a**2 if linear > program.linear @ a else 0.0)
        quadratic = max(curved, float(_weights(domain, delta) @ v)) + program.ridge * float(a @ a)
        size = min(1.0, linear / quadratic) if quadratic > 0 else 1.0
        a, v = size * a, size**2 * v
    reach = domain.reach(program.scale * v)  # twice the scores: half of what the support allows
    a, v = np.sqrt(reach) * a, reach * v
    count = len(a) + int(np.isfinite(program.upper).sum()) + m
    mu = max(float(np.abs(program.linear) @ a), 0.5 * float(_weights(domain, delta) @ v), 1e-300) / count
    level = 0.0
    if domain.constrained:
        level = max(0.55 * float(v.max()) / float(domain.constraint(delta)[1].max()), mu)
    else:
        delta = _balanced(saddle, mu, 0.5 * v)
    room = program.upper - a
    return Point(a, room, mu / a, mu / room, 0.0, delta, mu / delta, level)


def _balanced(saddle: Saddle, mu: float, score: Array) -> Array:
    """Weights that only a penalty bounds, where its slope holds the score and a slack of mu / delta: by bisection."""
    low, high = np.full(len(score), -_EXTREME), np.full(len(score), _EXTREME)
    for _ in range(_HALVINGS):
        exponent = 0.5 * (low + high)
        delta = np.exp2(exponent)
        above = saddle.domain.separable_penalty(delta)[1] / saddle.program.scale > score + mu / delta
        low, high = np.where(above, low, exponent), np.where(above, exponent, high)
    weights: Array = np.exp2(low)
    return weights


# -- what to return ----------------------------------------------------------------------------------------------------


def _result(saddle: Saddle, working: WorkingSet, found: _Found, tol: float, history: list[float]) -> InteriorPoint:
    """A weight is active where it is larger, as a part of the largest, than its slack as a part of the limit."""
    point, active = found.point, np.ones(len(found.weights), dtype=bool)
    limit = _limit(saddle, point.level)
    if working.sparse and limit > 0.0:
        active = point.delta / point.delta.max() > point.slack / limit
    return InteriorPoint(
        a=found.a,
        weights=working.spread(found.weights),
        active=working.spread(active) > 0,
        intercept=found.intercept,
        upper=found.upper,
        bound=found.bound,
        gap=found.gap,
        converged=found.gap <= tol,
        n_iter=len(history) - 1,
        history=tuple(history),
    )
