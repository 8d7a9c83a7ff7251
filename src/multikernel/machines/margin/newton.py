"""Newton's method on the support, for the support vector machine with squared hinge loss and a small ridge.

    max_a  2 sum a - a'(Y K Y + ridge I) a    over a >= 0, y'a = 0

On the support S = {a > 0} the optimality conditions are one linear system,

    (K_SS + ridge I) b + c 1 = y_S,    sum b = 0,        a = y b,

and the support is {i : y_i f(x_i) < 1} with f = K b + c. To solve for b and to determine the next support from f is a
semismooth Newton step; it is exact once the support no longer changes (Chapelle 2007, Training a support vector machine
in the primal).

With g of sum 1 on each class and Q(g) = g'(Y K Y + ridge I) g, a = t g has the value 4 t - t^2 Q(g), and at the best
t = 2 / Q(g) it is 4 / Q(g): scaled to sum 1 on each class, a has the least Q. With ridge = lam / (1 - lam) that is
EasyMKL's problem, divided by 1 - lam.

For the hard margin, lam = 0, a tiny ridge replaces 0 and is approached through larger ones. Where the hulls intersect,
the larger ones suffice: by the conditions above K b = y - c 1 - ridge b, so b grows like 1 / ridge while b'K b stays
bounded by the norm of the best separating function. Scaled to sum 1 on each class, Q then falls like ridge^2, as soon
as the support is exactly that for the ridge. With another support, negative entries are set to 0, and Q is much larger.
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
from multikernel.numerics.line_search import MOST_NEWTON_STEPS
from multikernel.tuning import SYSTEM_VALUES

_DIRECT = 4  # systems after which a hard margin should be reached from a near start; else the start is cold
# The largest ratio of two distances where hulls intersect: .002 to .02 occurred there, .06 and .4 elsewhere.
_FALLING = 0.03
_RIDGES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)  # fractions of the spread, the ridges of the first stages


def newton(
    gram: Gram,
    y: Array,
    ridge: float,
    scale: float,
    spread: float,
    start: Array | None,
    hard: bool,
    good: Callable[[Array], bool],
    max_systems: int,
) -> tuple[Array, int]:
    """A probability vector on each class that is ``good``, or the best one whose support settled; and the systems used.

    Parameters
    ----------
    gram : square Gram
    y : array (n,) of -1 and +1
    ridge : float > 0
    scale : the mean self-value
    spread : the same of the samples less their centre, which the first ridges are fractions of
    start : boolean array (n,), the support to start from; None for a cold start. A cold start first finds the support
        on every eighth, fourth and second sample, since the cost of a system is the cube of its support, and with
        larger ridges before small ones, since their supports change less
    hard : whether the ridge replaces 0, see ``_hard_margin``
    good : whether a vector is good enough to stop
    max_systems : how many systems at most
    """
    everyone = np.ones(len(y), dtype=bool)
    ridges = [*(fraction * spread for fraction in _RIDGES if fraction * spread > 10.0 * ridge), ridge]
    if hard:
        return _hard_margin(gram, y, ridges, scale, start, good, max_systems)
    limit = min(max_systems, MOST_NEWTON_STEPS)
    if start is not None:
        return _through([(everyone, ridge)], gram, y, scale, start, False, good, limit)
    stages = [(subset, ridges[0]) for subset in _subsets(y)]
    stages += [(everyone, stage_ridge) for stage_ridge in ridges]
    return _through(stages, gram, y, scale, everyone, False, good, limit)


def _hard_margin(
    gram: Gram,
    y: Array,
    ridges: list[float],
    scale: float,
    start: Array | None,
    good: Callable[[Array], bool],
    max_systems: int,
) -> tuple[Array, int]:
    """As ``newton``, where the smallest ridge replaces 0 and the hulls may intersect.

    The hulls of every eighth, fourth and second sample are compared before those of all samples: if the first
    intersect, so do the others, and their systems are much smaller. A support to start from is tried for a few systems:
    first of all if it has fewer samples than the smallest subset, and else after the subsets.
    """
    everyone = np.ones(len(y), dtype=bool)
    subsets = list(_subsets(y))
    attempts = []
    for k, universe in enumerate([*subsets, everyone]):
        stages = [(subset, ridges[0]) for subset in subsets[:k]]
        stages += [(universe, ridge) for ridge in ridges]
        attempts.append(_Attempt(stages, everyone, True, MOST_NEWTON_STEPS))
    if start is not None:
        position = 0 if subsets and start.sum() <= subsets[0].sum() else len(subsets)
        attempts.insert(position, _Attempt([(everyone, ridges[-1])], start, False, _DIRECT))
    steps = 0
    best = balanced(everyone.astype(float), y)
    least = np.inf
    for attempt in attempts:
        most = min(attempt.max_systems, max_systems - steps)
        g, systems = _through(attempt.stages, gram, y, scale, attempt.support, attempt.intersecting, good, most)
        steps += systems
        distance = float((y * g) @ gram.multiply_sparse(y * g))
        if distance < least:
            best = g
            least = distance
        if good(best) or steps == max_systems or out_of_time(len(y)):
            break
    return best, steps


@dataclass(frozen=True)
class _Attempt:
    """Stages in their order, the support of the first one, whether hulls may intersect, and the most systems."""

    stages: list[tuple[Array, float]]
    support: Array
    intersecting: bool
    max_systems: int


def _through(
    stages: list[tuple[Array, float]],
    gram: Gram,
    y: Array,
    scale: float,
    support: Array,
    intersecting: bool,
    good: Callable[[Array], bool],
    max_systems: int,
) -> tuple[Array, int]:
    """Newton's steps with the samples and the ridge of each stage, from a support, with at most ``max_systems``.

    With ``intersecting`` the hulls may intersect. Then every stage finds its support exactly until the distance of the
    hulls is seen not to vanish; after this, the hulls of a subset are of no use.
    """
    n = len(y)
    g = balanced(support.astype(float), y)
    steps = 0
    buffer = np.empty(min(n * n, SYSTEM_VALUES))
    half = buffer.view(np.float32)  # single precision suffices to find the support, at half the cost
    point: _Point | None = None
    exactly = intersecting
    distance = np.inf
    for stage, (universe, stage_ridge) in enumerate(stages):
        last = stage == len(stages) - 1
        # after eight systems in single precision, rounding may be the reason that the support still changes
        last_rough = steps + 8 if _survives_single_precision(stage_ridge, scale, n) else steps
        precise = False
        earlier: Array | None = None  # the support before the last one
        while True:
            precise = precise or steps >= last_rough
            check_interrupted()
            S = np.flatnonzero(support & universe)
            memory = buffer if precise else half
            if steps == max_systems or out_of_time(n) or len(S) ** 2 > len(memory) or len(np.unique(y[S])) < 2:
                return g, steps
            try:
                b, c = _on_support(gram, y, stage_ridge, S, memory)
            except LinAlgError:
                if precise:
                    return g, steps
                precise = True
                continue
            steps += 1
            coef = np.zeros(n)
            coef[S] = b
            point, full_step = _towards(point, _Point(coef, gram.multiply_sparse(coef), c), y, universe, stage_ridge)
            before = support & universe
            support = y * (point.values + point.intercept) < 1.0
            changed = int((before != (support & universe)).sum())
            repeats = earlier is not None and np.array_equal(earlier, support & universe)
            earlier = before
            most_changed = 0.05 * len(S)
            if exactly and not last:
                most_changed = 0.0
            # the stage ends, and the last one may be optimal; only rounding makes supports alternate with full steps
            settled = full_step and (changed <= most_changed or repeats)
            if settled:
                g = balanced(np.maximum(y * coef, 0.0), y)
            if settled and not last:
                if intersecting and good(g):
                    return g, steps  # if the hulls of some samples intersect, those of all samples do
                exactly = exactly and (stage_ridge == stages[0][1] or point.distance <= _FALLING * distance)
                if intersecting and not exactly and not universe.all():
                    return g, steps
                distance = point.distance
                break
            if settled and precise and (changed == 0 or repeats or good(g)):
                return g, steps
            precise = precise or changed <= 0.003 * len(S)  # the next system is likely the last
    return g, steps


def _survives_single_precision(ridge: float, scale: float, n: int) -> bool:
    """Whether the ridge is not lost in a factorisation in single precision, as it is where it is rounding of the trace.

    The units of the matrix, ``scale``, must be in the range of single precision, too.
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
    """The target if b'K b + |max(0, 1 - y f)|^2 / ridge is not larger there, else its minimum between point and target.

    Without this line search supports can cycle where the ridge is small. The second value says whether the result is
    the target, as it is where there is no point to start from.
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

    at_start = objective(0.0)
    rounding = 1e-9 * abs(at_start)  # because of cancellation, where the ridge is small
    if objective(1.0) <= at_start + rounding or not slope(0.0) < 0.0 < slope(1.0):
        return target, True
    best = brentq(slope, 0.0, 1.0, maxiter=1000)
    if objective(best) >= at_start - rounding:
        return target, True  # the possible decrease is only rounding
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


def _subsets(y: Array) -> Iterator[Array]:
    """Every eighth, fourth and second sample of each class, where a system of these is much smaller."""
    rank = np.zeros(len(y), dtype=int)
    for members in (y > 0, y < 0):
        rank[members] = np.arange(members.sum())
    for stride in (8, 4, 2):
        if len(y) / stride > 100:  # a smaller stage is not worth its systems
            yield rank % stride == 0


def _on_support(gram: Gram, y: Array, ridge: float, S: Array, buffer: Array) -> tuple[Array, float]:
    """b and c of (K_SS + ridge I) b + c 1 = y_S, sum b = 0."""
    both = gram.solve_shifted(ridge, np.column_stack([y[S], np.ones(len(S))]), on=S, work=buffer)
    c = float(both[:, 0].sum() / both[:, 1].sum())
    return both[:, 0] - c * both[:, 1], c
