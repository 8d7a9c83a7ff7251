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

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import Certificate
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.interior.newton import Products
from multikernel.procedures.interior.point import Point
from multikernel.procedures.interior.saddle import Saddle
from multikernel.procedures.interior.start import central, first_point
from multikernel.procedures.interior.steps import advance, feasible
from multikernel.procedures.interior.working import WorkingSet

_FIRST_LOOK = 1e-2  # gap of the working set at which all kernels are looked at for the first time
_BEYOND = 2.0  # times the limit: what a form exceeds by more throws the point too far off the path to go on from it
_SHORT = 1e-6  # steps this short lead nowhere: rounding has the better of the system
_IDLE = 3  # steps that lead nowhere until giving up
_FAR_BELOW = 1e-3  # of the gap asked for: to what the products shrink
_NOTHING = 1e-20  # of the first products: the same where the optimum is zero
_PROGRESS = 0.9  # of the best gap: where the products promise less, and a step brings no more, rounding is what is left
_PINNED = 1e-12  # of the variables: with less room there is one feasible point
_ROUNDING = 4.0 * float(np.finfo(float).eps)


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
    observe: Observer = silent,
) -> InteriorPoint:
    """Solve to a relative duality gap of at most ``tol``.

    Parameters
    ----------
    saddle : the problem
    tol : float
    max_iter : int, Newton steps at most
    start : array (m,), weights of a neighbouring problem: the kernels that matter there take part first
    observe : told of each step, with the duality gap over the kernels that take part
    """
    known = _known(saddle)
    if known is not None:
        return known
    program, domain = saddle.program, saddle.domain
    a = central(program)
    working = WorkingSet.first(saddle.bank, domain, program.coef(a), start)
    point = first_point(saddle, working, a)
    first, best = point.left(), None
    history: list[float] = []
    look_at, length, idle = max(_FIRST_LOOK, tol), 1.0, 0
    for step in range(max_iter + 1):
        products = working.products(saddle.weights(point.delta), program.coef(point.a))
        found = _read(saddle, point, products)
        least = max(_FAR_BELOW * tol * max(abs(found.upper), saddle.floor) / program.scale, _NOTHING * first)
        spent = best is not None and point.left() <= 10.0 * least and not found.gap < _PROGRESS * best.gap
        idle = idle + 1 if spent or length < _SHORT else 0
        best = found if best is None or found.gap < best.gap else best
        history.append(found.gap)
        observe(Event(step + 1, Certificate("duality gap", found.gap)))
        last = step == max_iter or idle == _IDLE
        if found.gap <= look_at or last:
            found = best if last else found
            b = program.coef(found.a)
            forms = working.forms(b, working.work.quad(b))
            found = found.against(saddle, forms)
            if found.gap <= tol or last:
                break
            limit = saddle.limit(point.level)
            beyond = 0.5 * float(forms.max()) > _BEYOND * limit
            revised, point = working.revised(point, forms, limit, point.complementarity(), keep=beyond)
            look_at = max(0.1 * min(found.gap, look_at), 0.5 * tol) if not revised.complete else tol
            if revised is not working:
                if beyond:
                    point = first_point(saddle, revised, a)
                working, best, idle = revised, None, 0
                continue
        length, point = advance(program, domain, point, products, least)
    return _result(saddle, working, found, tol, history)


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
        return replace(self, bound=bound, gap=saddle.certificate(self.upper, bound).value)


def _read(saddle: Saddle, point: Point, products: Products) -> _Found:
    """Any coefficients make a primal point; a dual point has to satisfy the equality, which the steps approach."""
    program, domain = saddle.program, saddle.domain
    weights = domain.feasible(saddle.weights(point.delta))
    f, norm = weights @ products.Z, float(weights @ products.v)
    intercept = program.best_intercept(f)
    upper = program.primal(f, norm, intercept) + domain.penalty(weights)
    a = feasible(program, point.a)
    bound = saddle.bound(a, products.v)
    return _Found(point, a, weights, intercept, upper, bound, saddle.certificate(upper, bound).value)


# -- what is known beforehand, and what to return ----------------------------------------------------------------------


def _known(saddle: Saddle) -> InteriorPoint | None:
    """The answer where there is nothing to do: a = 0 loses nothing, the equality leaves one a, or all kernels are 0."""
    program, domain, m = saddle.program, saddle.domain, len(saddle.bank)
    if program.total == 0.0:
        f = np.zeros(program.n)
        if program.primal(f, 0.0, program.best_intercept(f)) > _ROUNDING * program.primal(f, 0.0, 0.0):
            return None
        a, forms = np.zeros(len(program.sign)), np.zeros(m)
    else:
        a = np.minimum(central(program), program.upper)
        if saddle.floor > 0.0 and float((program.upper - a).max()) > _PINNED * float(a.max()):
            return None
        forms = saddle.bank.quad(program.coef(a))
    weights = domain.start(m)
    if forms.any() or domain.penalty(weights) > 0.0:
        weights = domain.maximiser(0.5 * program.scale * forms)
    f = saddle.bank.combine(weights).multiply(program.coef(a))
    intercept = program.best_intercept(f)
    upper = program.primal(f, float(program.coef(a) @ f), intercept) + domain.penalty(weights)
    bound = saddle.bound(a, forms)
    gap = saddle.certificate(upper, bound).value
    return InteriorPoint(a, weights, np.ones(m, dtype=bool), intercept, upper, bound, gap, True, 0, (gap,))


def _result(saddle: Saddle, working: WorkingSet, found: _Found, tol: float, history: list[float]) -> InteriorPoint:
    """A weight is active where it is larger, as a part of the largest, than its slack as a part of the limit."""
    point, active = found.point, np.ones(len(found.weights), dtype=bool)
    limit = saddle.limit(point.level)
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
