"""The contract of every domain of weights, of this package or of another one.

>>> from multikernel.domains import Simplex
>>> from multikernel.testing.domains import check_domain
>>> check_domain(Simplex(total=2.0), m=3)
"""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np

from multikernel._typing import Array
from multikernel.domains import Domain, HasBlockUpdate, Separable, as_separable
from multikernel.domains.separable import Jet
from multikernel.testing.assertions import require

_SCALES = (1e-3, 1.0, 1e3)  # of points to project, and of scores
_TIMES = 5  # random vectors that a property is tried on, at each scale


def check_domain(domain: Domain, m: int, points: Array | None = None, seed: int = 0) -> None:
    """Check that a domain's projection, support, penalty and capabilities belong to one and the same set.

    The projection is the nearest point, the support bounds every point and its maximiser attains it, the penalty's
    gradient is that of finite differences; likewise the update in closed form and the description as a sum over the
    kernels, where the domain has them.

    Parameters
    ----------
    domain : Domain
    m : int, the number of kernels to check it for
    points : array (count, m) of feasible weights that were not computed by the domain, at which it is checked as well
    seed : int, of the random vectors

    Raises
    ------
    AssertionError : where a property does not hold, which the message names
    """
    rng = np.random.default_rng(seed)
    domain.check(m)
    feasible_points = _own_points(domain, m, rng)
    if points is not None:
        feasible_points = np.concatenate([feasible_points, np.reshape(points, (-1, m))])
    _check_points(domain, feasible_points, rng)
    _check_projection(domain, feasible_points, rng)
    _check_support(domain, feasible_points, rng)
    _check_penalty(domain, feasible_points)
    _check_units(domain, feasible_points)
    _check_rest(domain, feasible_points, rng)
    if isinstance(domain, HasBlockUpdate):
        _check_block_update(domain, domain.block_update, feasible_points, rng)
    separable = as_separable(domain)
    if separable is not None:
        _check_description(separable, m, rng)
        _check_maximiser(separable, m, rng)


def _own_points(domain: Domain, m: int, rng: np.random.Generator) -> Array:
    """The central point, projections at each scale, and points between pairs of them."""
    ends = [domain.start(m), *(domain.project(scale * rng.normal(size=m)) for scale in 3 * _SCALES)]
    between = [fraction * ends[i] + (1.0 - fraction) * ends[i - 1] for i, fraction in enumerate(rng.random(len(ends)))]
    return np.array([*ends, *between])


def _finite_scores(domain: Domain, q: Array) -> Array:
    """The scores, halved until their support is finite."""
    while not np.isfinite(domain.support(q)):
        q = 0.5 * q
    return q


# -- the set -----------------------------------------------------------------------------------------------------------


def _check_points(domain: Domain, points: Array, rng: np.random.Generator) -> None:
    m = len(points[0])
    size = 1.0 + float(np.abs(points).max())
    start = domain.start(m)
    require(start.shape == (m,), f"start({m}) has shape {start.shape}")
    require(domain.contains(start, 1e-12), "the central point is not contained")
    require(not domain.contains(start - 5.0 * size * np.eye(m)[0]), "negative weights are contained")
    require(not domain.contains(np.full(m, np.nan)), "weights that are NaN are contained")
    for d in points:
        require(domain.contains(d), f"the feasible weights {d} are not contained")
        _require_close(domain.feasible(d), d, 1e-12 * size, "feasible() moves feasible weights")
        repaired = domain.feasible(d + 1e-6 * size * rng.normal(size=m))
        require(domain.contains(repaired, 1e-12), "feasible() leaves nearly feasible weights infeasible")
        _require_close(repaired, d, 1e-4 * size, "feasible() moves nearly feasible weights too far")
    again = pickle.loads(pickle.dumps(domain))
    _require_close(again.project(points.sum(axis=0)), domain.project(points.sum(axis=0)), 0.0, "a pickled copy differs")


def _check_projection(domain: Domain, points: Array, rng: np.random.Generator) -> None:
    """Check that (z - d)'(other - d) <= 0 for all points, the condition for d to be the projection of z."""
    size = 1.0 + float(np.abs(points).max())
    for d in points:
        _require_close(domain.project(d), d, 1e-9 * size, "feasible weights are not their own projection")
    for scale in _TIMES * _SCALES:
        z = scale * rng.normal(size=len(points[0]))
        d = domain.project(z)
        require(domain.contains(d, 1e-12), f"the projection of {z} is not contained")
        _require_close(domain.project(d), d, 1e-12 * size, "the projection of a projection is another point")
        nearer = float(((points - d) @ (z - d)).max())
        require(nearer <= 1e-11 * size * (1.0 + np.abs(z).max()), f"a point is nearer to {z} than its projection")


def _check_units(domain: Domain, points: Array) -> None:
    """Check that ``in_units`` has the weights divided by their unit, and the penalty divided by the unit of values."""
    for weight, value in ((1.0, 1e3), (1e-2, 1.0)):
        other = domain.in_units(weight, value)
        if other is None:
            continue
        for d in points:
            require(other.contains(d / weight), f"in_units({weight:g}, {value:g}) leaves out the weights {d}")
            price = domain.penalty(d) / value
            size = 1e-12 * (1.0 + abs(domain.penalty(d)) / value)
            require(
                abs(other.penalty(d / weight) - price) <= size, f"in_units({weight:g}, {value:g}) has another price"
            )
            outside = d + 5.0 * (1.0 + float(np.abs(points).max()))
            same = other.contains(outside / weight) == domain.contains(outside)
            require(same, f"in_units({weight:g}, {value:g}) is another set")


# -- the support and the penalty ---------------------------------------------------------------------------------------


def _check_support(domain: Domain, points: Array, rng: np.random.Generator) -> None:
    m = len(points[0])
    prices = np.array([domain.penalty(d) for d in points])
    for scale in _TIMES * _SCALES:
        q = _finite_scores(domain, scale * rng.exponential(size=m) * (rng.random(m) < 0.8))
        best = domain.maximiser(q)
        h = domain.support(q)
        rounding = 1e-12 * (1.0 + abs(h) + float((points @ q).max()))
        require(domain.contains(best, 1e-12), f"the maximiser for the scores {q} is not contained")
        require(bool(abs(best @ q - domain.penalty(best) - h) <= rounding), f"the maximiser does not attain h at {q}")
        require((points @ q - prices).max() <= h + rounding, f"a point exceeds the support at {q}")
        q = _finite_scores(domain, scale * rng.normal(size=m))
        h = domain.support(q)
        rounding = 1e-12 * (1.0 + abs(h) + float(np.abs(points * q).sum(axis=1).max()))
        require((points @ q - prices).max() <= h + rounding, f"a point exceeds the support at {q}")
        require(domain.contains(domain.maximiser(q), 1e-12), f"the maximiser for the scores {q} is not contained")
    best = domain.maximiser(np.zeros(m))
    require(domain.contains(best, 1e-12), "the maximiser for scores of zero is not contained")
    require(abs(domain.support(np.zeros(m)) + domain.penalty(best)) <= 1e-12, "h(0) is not minus the least penalty")


def _check_rest(domain: Domain, points: Array, rng: np.random.Generator) -> None:
    """Check ``constrained``, ``minimal`` for idle weights, and ``finite_part`` of scores."""
    m = len(points[0])
    free = domain.contains(np.full(m, 1e6 * (1.0 + float(np.abs(points).max()))))
    require(domain.constrained != free, f"constrained is {domain.constrained}, and large weights say otherwise")
    for d in points:
        idle = rng.random(m) < 0.5
        minimal_weights = domain.minimal(d, idle)
        size = 1e-12 * (1.0 + float(d.max()))
        require(domain.contains(minimal_weights), f"minimal leaves the domain at {d}")
        _require_close(minimal_weights[~idle], d[~idle], size, "minimal changes weights that are not idle")
    for scale in _SCALES:
        q = scale * rng.exponential(size=m)
        factor = domain.finite_part(q)
        finite = bool(np.isfinite(domain.support(q)))
        require((factor == 1.0) == finite, "finite_part is 1 where the support is infinite, or smaller where it is not")
        require(np.isfinite(domain.support(factor * q)), "the support of the finite part is infinite")


def _check_penalty(domain: Domain, points: Array) -> None:
    """Check the penalty on lines from the central point, where neither derivatives nor values are infinite."""
    start = domain.start(len(points[0]))
    step = 1e-4
    for d in points:
        require(np.isfinite([domain.penalty(d), *domain.penalty_gradient(d)]).all(), f"the penalty is infinite at {d}")
        line = d - start
        middle = 0.5 * (d + start)
        above, value, below = (domain.penalty(middle + t * line) for t in (step, 0.0, -step))
        slope = float(domain.penalty_gradient(middle) @ line)
        size = 1.0 + abs(value)
        require(abs((above - below) / (2.0 * step) - slope) <= 1e-6 * (size + abs(slope)), "penalty_gradient is wrong")
        require(above + below - 2.0 * value >= -1e-12 * size, "the penalty is not convex")


def _check_block_update(
    domain: Domain, update: Callable[[Array], Array], points: Array, rng: np.random.Generator
) -> None:
    start = domain.start(len(points[0]))
    for scale in _TIMES * _SCALES:
        norms = scale * (rng.exponential(size=len(start)) + 1e-3)
        try:
            d = update(norms)
        except ValueError:  # no closed form for these parameters
            return
        require(domain.contains(d, 1e-12), "the block update is not contained")
        with np.errstate(divide="ignore"):  # a weight of zero has an infinite cost
            smallest = (norms**2 / (0.5 * (points + start))).sum(axis=1).min()
            attained = (norms**2 / d).sum()
        require(attained <= smallest * (1.0 + 1e-9), "a point is better than the block update")


# -- the description as a sum over the kernels -------------------------------------------------------------------------


def _check_description(domain: Separable, m: int, rng: np.random.Generator) -> None:
    """Check derivatives by finite differences, and that offset + delta are the points and have their penalty."""
    offset = domain.offset(m)
    delta = np.resize([0.3, 0.02, 0.7, 1.2], m)
    for jet in (domain.constraint, domain.separable_penalty):
        _check_jet(jet, delta)
    for _ in range(_TIMES):
        delta = rng.exponential(size=m) + 1e-3
        if domain.constrained:
            delta = _active(domain, delta)
            beyond = offset + (1.0 + 1e-6) * delta
            require(not domain.contains(beyond), "weights beyond the constraint are contained")
        require(domain.contains(offset + delta), "offset + delta is not contained where the constraint is active")
        penalty = domain.penalty(offset + delta)
        sum_of_penalties = float(domain.separable_penalty(delta)[0].sum())
        require(
            abs(penalty - sum_of_penalties) <= 1e-12 * (1.0 + abs(penalty)), "the penalty is not the sum of its parts"
        )


def _check_jet(jet: Callable[[Array], Jet], delta: Array) -> None:
    step = 1e-6
    value, slope, curvature = jet(delta)
    above = jet(delta + step)
    below = jet(delta - step)
    require(value.shape == slope.shape == curvature.shape == delta.shape, f"{jet} has another shape than delta")
    _require_close(
        (above[0] - below[0]) / (2.0 * step), slope, 1e-6 * (1.0 + np.abs(slope)), f"{jet}: first derivative"
    )
    second = (above[1] - below[1]) / (2.0 * step)
    _require_close(second, curvature, 1e-4 * (1.0 + np.abs(curvature)), f"{jet}: second derivative")
    require(np.isfinite(jet(np.full(len(delta), 1e-100))).all(), f"{jet} is infinite close to zero")
    at_zero = jet(np.zeros(len(delta)))
    require(np.isfinite(at_zero[:2]).all(), f"{jet}: value or slope at zero is infinite")
    require(not np.isnan(at_zero[2]).any(), f"{jet}: the second derivative at zero is NaN")


def _check_maximiser(domain: Separable, m: int, rng: np.random.Generator) -> None:
    """Check q_k = multiplier c'(delta_k) + R'(delta_k) for delta_k > 0, <= for delta_k = 0, at the constraint."""
    for _ in range(_TIMES):
        q = _finite_scores(domain, rng.exponential(size=m) + 0.01)
        delta = domain.maximiser(q) - domain.offset(m)
        values, slope, _ = domain.constraint(delta)
        excess = q - domain.separable_penalty(delta)[1]
        multiplier = 0.0
        if domain.constrained:
            require(abs(values.sum() - 1.0) <= 1e-9, "the constraint is not active at the maximiser")
            multiplier = float(excess @ delta / (slope @ delta))
        reduced_scores = excess - multiplier * slope
        require((reduced_scores <= 1e-9).all(), "a kernel without weight deserves some, by the description")
        require(
            np.abs(reduced_scores[delta > 1e-9]).max(initial=0.0) <= 1e-9,
            "the maximiser does not solve the described problem",
        )


def _active(domain: Separable, delta: Array) -> Array:
    """The multiple of delta at which the constraint is active, by bisection: it increases in every entry."""

    def within(factor: float) -> bool:
        return float(domain.constraint(factor * delta)[0].sum()) < 1.0

    low, high = 0.0, 1.0
    while within(high):
        low, high = high, 2.0 * high
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if within(middle) else (low, middle)
    return high * delta


def _require_close(actual: Array, expected: Array, tol: float | Array, complaint: str) -> None:
    require((np.abs(actual - expected) <= tol).all(), f"{complaint}: {actual} where {expected} was expected")
