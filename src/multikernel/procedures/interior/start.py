"""The start of the interior point method: a strictly feasible point near the central path."""

from __future__ import annotations

import numpy as np

from multikernel._floats import TINY
from multikernel._typing import Array
from multikernel.machines.support.coefficients import central, fitting
from multikernel.numerics.interior_point import FIRST_INSIDE, BarrierPoint
from multikernel.procedures.interior.newton import Products
from multikernel.procedures.interior.saddle import Saddle
from multikernel.procedures.interior.working import WorkingSet


def first_point(saddle: Saddle, working: WorkingSet) -> BarrierPoint:
    """The central point, scaled to the size at which the linear and the quadratic part of the program are equal.

    Among the multiples t a, the value t p'a - t^2/2 (b'K b + sum rho a^2) is largest there. The barrier parameter mu is
    chosen so that the complementarity products, whose sum is the gap, sum to about the value; multipliers are
    mu / variable. F_delta (``newton.py``), -v/2 + R' + nu c' - s = 0, requires reduced costs s > 0. With a constraint,
    nu has to exceed half of the largest v / c'; it is set to the largest v / c' (with 0.505 to 1.1 of it, fits of many
    kinds took 305 or 306 steps). Without a constraint, weights are such that R' = v/2 + mu / delta.
    """
    program = saddle.program
    domain = saddle.domain
    a = central(saddle.program)
    m = len(working.index)
    delta = domain.start(m) - domain.offset(m)
    products = working.products(saddle.weights(delta), program.coef(a))
    many = products.K.root is not None and program.total == 0.0 and bool(np.isfinite(program.upper).all())
    count = len(a) + int(np.isfinite(program.upper).sum()) + m
    size = _size(saddle, a, _quadratic(saddle, products, a))
    if not domain.constrained:
        size, delta = _agreed(saddle, a, size, _scores(saddle, working, products, a), count)
    if many:  # from near zero, many steps would be needed; in an estimator's units size was .024 to 1.6 for all C
        size = max(size, FIRST_INSIDE)
    size *= _finite(saddle, size**2 * products.v)  # twice the scores, so that scores are half of their limit
    a = size * a
    v = size**2 * products.v
    mu = _barrier(saddle, a, 0.5 * float(saddle.weights(delta) @ v), count)
    slack = program.upper - a
    intercept = 0.0
    below = mu / a
    above = mu / slack
    if many:
        below, above, intercept = fitting(program, a, size * products.f)
        mu = float(a @ below + slack @ above) / (2 * len(a))
    multiplier = 0.0
    if domain.constrained:
        multiplier = max(float(v.max()) / float(domain.constraint(delta)[1].max()), mu)
    else:
        delta = _balanced(saddle, mu, 0.5 * v)
    return BarrierPoint(a, slack, below, above, intercept, delta, mu / delta, multiplier)


def _agreed(saddle: Saddle, a: Array, size: float, v: Array, count: int) -> tuple[float, Array]:
    """The multiple of a, and weights that only a penalty bounds, each consistent with the other."""
    delta = np.zeros(len(v))
    for _ in range(20):
        size *= _finite(saddle, size**2 * v)
        delta = _balanced(saddle, _barrier(saddle, size * a, 0.0, count), 0.5 * size**2 * v)
        size = float(np.sqrt(size * _size(saddle, a, float(delta @ v))))
    return size, delta


def _finite(saddle: Saddle, v: Array) -> float:
    """The multiple of the variables at which twice their scores have a finite support."""
    return float(np.sqrt(saddle.domain.finite_part(saddle.program.scale * v)))


def _barrier(saddle: Saddle, a: Array, quadratic: float, count: int) -> float:
    """The mean of ``count`` complementarity products whose sum is about the value."""
    return max(float(np.abs(saddle.program.linear) @ a), quadratic, TINY) / count


def _size(saddle: Saddle, a: Array, quadratic: float) -> float:
    """The multiple of a at which the linear and the quadratic part agree, or half of the bounds; 1 for a given sum."""
    program = saddle.program
    curved = quadratic + program.cost(a)
    if program.total != 0.0 or not curved > 0.0:
        return 1.0
    return min(float(np.abs(program.linear) @ a) / curved, float((0.5 * program.upper / a).min()))


def _opposed(saddle: Saddle, a: Array) -> bool:
    """Whether variables of opposite signs cancel in the quadratic part, so that its diagonal has to be used."""
    linear = saddle.program.linear
    return float(np.abs(linear) @ a) > float(linear @ a)


def _quadratic(saddle: Saddle, products: Products, a: Array) -> float:
    """a'K a of the combined matrix."""
    value = max(float(products.f @ saddle.program.coef(a)), 0.0)
    if not _opposed(saddle, a):
        return value
    diagonal = np.asarray(products.K.diagonal())[saddle.program.sample]
    return max(value, float(diagonal @ a**2))


def _scores(saddle: Saddle, working: WorkingSet, products: Products, a: Array) -> Array:
    """a'K_k a of every kernel."""
    if not _opposed(saddle, a):
        return products.v
    diagonals: Array = working.kernels.diagonal() @ (a**2).reshape(-1, saddle.program.n).sum(axis=0)
    return np.maximum(products.v, diagonals)


def _balanced(saddle: Saddle, mu: float, half: Array) -> Array:
    """Weights that only a penalty bounds: its slope is half the score and mu / delta; by bisection.

    The slope rises in delta, and mu / delta falls, so that there is one such weight. It is sought between 2^-500 and
    2^500, to a factor of 2^0.001.
    """
    low = np.full(len(half), -500.0)
    high = np.full(len(half), 500.0)
    for _ in range(20):
        exponent = 0.5 * (low + high)
        delta = np.exp2(exponent)
        above = saddle.domain.separable_penalty(delta)[1] / saddle.program.scale > half + mu / delta
        low = np.where(above, low, exponent)
        high = np.where(above, exponent, high)
    return np.exp2(low)
