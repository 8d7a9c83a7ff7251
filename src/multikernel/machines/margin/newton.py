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

For the hard margin, lam = 0, the ridge stands for none and is reached through larger ones. Where the hulls meet, these
suffice. By the conditions above K b = y - c 1 - ridge b, so b grows like 1 / ridge while b'K b stays bounded by the
norm of a function that separates as well as it can: scaled to sum 1 on each class, Q falls like ridge^2, as soon as the
support is exactly that of the ridge. A vector that is still off has negative entries cut off, and Q far above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import brentq

from multikernel._typing import Array
from multikernel._workers import check_interrupted
from multikernel.banks import Gram
from multikernel.machines.base import out_of_time
from multikernel.tuning import SYSTEM_VALUES

_DIRECT = 4  # systems by which a start that is near leads to a hard margin; a far one needs larger ridges
_FALLING = 0.03  # of the last distance, or less, where hulls meet: .002 to .02 were seen there, .06 and .4 elsewhere
_RIDGES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)  # of the mean self-value: settled one after the other before a smaller ridge


def newton(
    gram: Gram,
    y: Array,
    ridge: float,
    scale: float,
    start: Array | None,
    hard: bool,
    good: Callable[[Array], bool],
    most: int,
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
    hard : whether the ridge stands for none: where a start does not lead to it at once, larger ones come before it, too
    good : whether a vector is good enough to stop
    most : how many systems at most
    """
    everyone = np.ones(len(y), dtype=bool)
    steps = 0
    if start is not None:
        direct = min(most, _DIRECT) if hard else most
        g, steps = _through([(everyone, ridge)], gram, y, scale, start, False, good, direct)
        if not hard or good(g):
            return g, steps
    stages = list(_stages(y, ridge, scale, cold=start is None))
    g, further = _through(stages, gram, y, scale, everyone if start is None else start, hard, good, most - steps)
    return g, steps + further


def _through(
    stages: list[tuple[Array, float]],
    gram: Gram,
    y: Array,
    scale: float,
    support: Array,
    hard: bool,
    good: Callable[[Array], bool],
    most: int,
) -> tuple[Array, int]:
    """Newton's steps with the samples and the ridge of each stage, from a support; ``most`` systems."""
    n = len(y)
    g = balanced(support.astype(float), y)
    steps = 0
    work = np.empty(min(n * n, SYSTEM_VALUES))
    half = work.view(np.float32)  # enough to tell who is in the support, at half the cost
    point: _Point | None = None
    exactly = hard  # hulls may meet, as far as the stages tell: each settles its support exactly
    distance = np.inf
    for stage, (universe, own_ridge) in enumerate(stages):
        last = stage == len(stages) - 1
        # after eight systems in single precision rounding may be what keeps the support from settling
        last_rough = steps + 8 if _survives_single_precision(own_ridge, scale, n) else steps
        precise = False
        while True:
            precise = precise or steps >= last_rough
            check_interrupted()
            S = np.flatnonzero(support & universe)
            memory = work if precise else half
            if steps == most or out_of_time(n) or len(S) ** 2 > len(memory) or len(np.unique(y[S])) < 2:
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
            point, whole = _towards(point, _Point(coef, gram.multiply(coef), c), y, universe, own_ridge)
            before = support & universe
            support = y * (point.values + point.intercept) < 1.0
            changed = int((before != (support & universe)).sum())
            most_changed = 0.05 * len(S)
            if exactly and not last:
                most_changed = 0.0
            settled = whole and changed <= most_changed  # the stage ends, and the last one may be optimal
            if settled:
                g = balanced(np.maximum(y * coef, 0.0), y)
            if settled and not last:
                if hard and good(g):
                    return g, steps  # where the hulls of some samples meet, those of all do
                exactly = exactly and (own_ridge == stages[0][1] or point.distance <= _FALLING * distance)
                distance = point.distance
                break
            if settled and precise and (changed == 0 or good(g)):
                return g, steps
            precise = precise or changed <= 0.003 * len(S)  # the next system is likely the last
    return g, steps


def _survives_single_precision(ridge: float, scale: float, n: int) -> bool:
    """Whether a factorisation in single precision still has the ridge: if it is not rounding beside the trace.

    Single precision also has to hold the units, ``scale``, of the matrix.
    """
    return ridge > 1.5e-7 * scale * n and 1e-20 < scale < 1e20


@dataclass(frozen=True, eq=False)
class _Point:
    """Coefficients, their values K b, and the intercept."""

    coef: Array
    values: Array
    intercept: float

    @property
    def distance(self) -> float:
        """The squared distance of the two points, once the coefficients of each class are scaled to sum 1."""
        total = 0.5 * float(np.abs(self.coef).sum())
        return float(self.coef / total @ (self.values / total))


def _towards(point: _Point | None, target: _Point, y: Array, universe: Array, ridge: float) -> tuple[_Point, bool]:
    """The target if b'K b + |max(0, 1 - y f)|^2 / ridge is not larger there, else the least point on the way to it.

    Without this search supports can go round in circles where the ridge is small. Also says whether it is the target,
    as it is where there is no point to come from.
    """
    if point is None:
        return target, True
    step = _Point(target.coef - point.coef, target.values - point.values, target.intercept - point.intercept)
    quadratic = (point.coef @ point.values, 2.0 * (point.coef @ step.values), step.coef @ step.values)
    missing = (1.0 - y * (point.values + point.intercept))[universe]  # of a margin of 1
    gained = (y * (step.values + step.intercept))[universe]

    def objective(t: float) -> float:
        losses = np.maximum(0.0, missing - t * gained)
        return float(quadratic[0] + t * quadratic[1] + t * t * quadratic[2] + losses @ losses / ridge)

    def slope(t: float) -> float:
        losses = np.maximum(0.0, missing - t * gained)
        return float(quadratic[1] + 2.0 * t * quadratic[2] - 2.0 * (losses @ gained) / ridge)

    here = objective(0.0)
    rounding = 1e-9 * abs(here)  # cancellation leaves no more digits where the ridge is small
    if objective(1.0) <= here + rounding or not slope(0.0) < 0.0 < slope(1.0):
        return target, True
    best = brentq(slope, 0.0, 1.0, maxiter=1000)
    if objective(best) >= here - rounding:
        return target, True  # what is left to gain is rounding
    moved = _Point(
        point.coef + best * step.coef, point.values + best * step.values, point.intercept + best * step.intercept
    )
    return moved, False


def balanced(g: Array, y: Array) -> Array:
    """g with each class summing to 1; a class without mass gets equal shares."""
    shares = np.asarray(g, dtype=float).copy()
    for members in (y > 0, y < 0):
        mass = shares[members].sum()
        if mass > 0:
            shares[members] = shares[members] / mass
        else:
            shares[members] = 1.0 / members.sum()
    return shares


def _stages(y: Array, ridge: float, scale: float, cold: bool) -> Iterator[tuple[Array, float]]:
    """The samples and the ridge of each stage; the last stage has all samples and the ridge itself."""
    everyone = np.ones(len(y), dtype=bool)
    larger = [part * scale for part in _RIDGES if part * scale > 10.0 * ridge]
    if cold:
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
