"""Newton's method on the support, for the support vector machine with squared hinge loss and a small ridge.

    max_a  2 sum a - a'(Y K Y + ridge I) a    over a >= 0, y'a = 0

On the support S = {a > 0} the optimality conditions are one linear system,

    (K_SS + ridge I) b + c 1 = y_S,    sum b = 0,        a = y b,

and the support is {i : y_i f(x_i) < 1} with f = K b + c. Solving for b and reading off the next support is a semismooth
Newton step; it is exact once the support no longer changes (Chapelle 2007, Training a support vector machine in the
primal).

With g of sum 1 on each class and Q(g) = g'(Y K Y + ridge I) g, a = t g has the value 4 t - t^2 Q(g), and at the best
t = 2 / Q(g) it is 4 / Q(g): scaled to sum 1 on each class, a has the least Q. With ridge = lam / (1 - lam) that is
EasyMKL's problem, divided by 1 - lam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from multikernel._typing import Array
from multikernel._workers import check_interrupted
from multikernel.banks import Gram
from multikernel.machines.base import out_of_time
from multikernel.tuning import SYSTEM_VALUES

_LENGTHS = (0.7, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02, 0.01)  # step lengths that are tried where the whole step is uphill
_RIDGES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)  # of the mean self-value: settled one after the other before a smaller ridge


def newton(
    gram: Gram, y: Array, ridge: float, scale: float, start: Array | None, good: Callable[[Array], bool]
) -> tuple[Array, int]:
    """A probability vector on each class that is ``good``, or the last one that settled; and how many systems it took.

    Parameters
    ----------
    gram : square Gram
    y : array (n,) of -1 and +1
    ridge : float > 0
    scale : the mean self-value
    start : boolean array (n,), the support to start from; None for a cold start. That settles the support on every
        eighth, fourth and second sample first, since a system costs the cube of its support, and with larger ridges
        before small ones, since their supports change less
    good : whether a vector is good enough to stop
    """
    n = len(y)
    everyone = np.ones(n, dtype=bool)
    support = everyone if start is None else start
    g = balanced(support.astype(float), y)
    steps = 0
    work = np.empty(min(n * n, SYSTEM_VALUES))
    half = work.view(np.float32)  # enough to tell who is in the support, at half the cost
    point: _Point | None = None
    stages = list(_stages(y, ridge, scale, cold=start is None))
    for stage, (universe, own_ridge) in enumerate(stages):
        # a ridge above 1.5e-7 of the trace survives a factorisation in single precision, and after eight such systems
        # rounding may be what keeps the support from settling
        last_rough = steps + 8 if own_ridge > 1.5e-7 * scale * n else steps
        precise = False
        while True:
            precise = precise or steps >= last_rough
            check_interrupted()
            S = np.flatnonzero(support & universe)
            memory = work if precise else half
            if steps == 80 or out_of_time(n) or len(S) ** 2 > len(memory) or len(np.unique(y[S])) < 2:
                return g, steps
            try:
                b, c = _on_support(gram, y, own_ridge, S, memory)
            except LinAlgError:
                if precise:
                    return g, steps
                precise = True
                continue
            steps += 1
            coef = np.zeros(n)
            coef[S] = b
            target = _Point(coef, gram.multiply(coef), c)
            if point is None:
                point = target
                whole = True
            else:
                point, whole = _towards(point, target, y, universe, own_ridge)
            before = support & universe
            support = y * (point.values + point.intercept) < 1.0
            changed = int((before != (support & universe)).sum())
            settled = whole and changed <= 0.05 * len(S)  # the stage ends, and the last one may be optimal
            if settled:
                g = balanced(np.maximum(y * coef, 0.0), y)
            if settled and stage < len(stages) - 1:
                break
            if settled and precise and (changed == 0 or good(g)):
                return g, steps
            precise = precise or (whole and changed <= 0.003 * len(S))  # the next system is likely the last
    return g, steps


@dataclass(frozen=True, eq=False)
class _Point:
    """Coefficients, their values K b, and the intercept."""

    coef: Array
    values: Array
    intercept: float


def _towards(point: _Point, target: _Point, y: Array, universe: Array, ridge: float) -> tuple[_Point, bool]:
    """The target if b'K b + |max(0, 1 - y f)|^2 / ridge is not larger there, else the best of some points before it.

    Without this search supports can go round in circles where the ridge is small. Also says whether it is the target.
    """
    step = _Point(target.coef - point.coef, target.values - point.values, target.intercept - point.intercept)
    quadratic = (point.coef @ point.values, 2.0 * (point.coef @ step.values), step.coef @ step.values)
    margins = y * (point.values + point.intercept), y * (step.values + step.intercept)

    def objective(t: float) -> float:
        losses = np.maximum(0.0, 1.0 - margins[0] - t * margins[1])[universe]
        return float(quadratic[0] + t * quadratic[1] + t * t * quadratic[2] + losses @ losses / ridge)

    here = objective(0.0)
    if objective(1.0) <= here + 1e-9 * abs(here):  # cancellation leaves no more digits where the ridge is small
        return target, True
    best = min(_LENGTHS, key=objective)
    moved = _Point(
        point.coef + best * step.coef, point.values + best * step.values, point.intercept + best * step.intercept
    )
    return moved, False


def balanced(g: Array, y: Array) -> Array:
    """g with each class summing to 1; a class without mass gets equal shares."""
    shares = np.asarray(g, dtype=float).copy()
    for members in (y > 0, y < 0):
        mass = shares[members].sum()
        shares[members] = shares[members] / mass if mass > 0 else 1.0 / members.sum()
    return shares


def _stages(y: Array, ridge: float, scale: float, cold: bool) -> Iterator[tuple[Array, float]]:
    """The samples and the ridge of each stage; the last stage has all samples and the ridge itself."""
    everyone = np.ones(len(y), dtype=bool)
    if cold:
        larger = [part * scale for part in _RIDGES if part * scale > 10.0 * ridge]
        rank = np.zeros(len(y), dtype=int)
        for members in (y > 0, y < 0):
            rank[members] = np.arange(members.sum())
        for step in (8, 4, 2):
            if len(y) / step > 100:  # a smaller stage is not worth its systems
                yield rank % step == 0, max([ridge, *larger])
        for step_ridge in larger:
            yield everyone, step_ridge
    yield everyone, ridge


def _on_support(gram: Gram, y: Array, ridge: float, S: Array, work: Array) -> tuple[Array, float]:
    """b and c of (K_SS + ridge I) b + c 1 = y_S, sum b = 0."""
    both = gram.solve_shifted(ridge, np.column_stack([y[S], np.ones(len(S))]), on=S, work=work)
    c = float(both[:, 0].sum() / both[:, 1].sum())
    return both[:, 0] - c * both[:, 1], c
