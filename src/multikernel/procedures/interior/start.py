"""Where the interior point method starts: inside, and near the central path."""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel.machines.support.program import SupportProgram
from multikernel.procedures.interior.point import Point
from multikernel.procedures.interior.saddle import Saddle
from multikernel.procedures.interior.working import WorkingSet

_EXTREME, _HALVINGS = 500.0, 20  # exponents of two between which first weights are sought, to a factor of 2^0.001


def central(program: SupportProgram) -> Array:
    """A point inside the box that satisfies the equality."""
    g = np.minimum(program.upper, 1.0)
    if not program.intercept:
        return 0.5 * g
    plus = program.sign > 0
    sums = np.array([g[~plus].sum(), g[plus].sum()])
    if program.total != 0.0:
        return g * abs(program.total) / sums[int(program.total > 0)]
    inside = 0.5 * g * sums.min() / np.where(plus, sums[1], sums[0])
    return inside


def first_point(saddle: Saddle, working: WorkingSet, a: Array) -> Point:
    """The central point, brought to the size at which the linear and the quadratic part of the program agree."""
    program, domain = saddle.program, saddle.domain
    m = len(working.index)
    delta = domain.start(m) - domain.offset(m)
    products = working.products(saddle.weights(delta), program.coef(a))
    v = products.v
    if program.total == 0.0:
        linear = float(np.abs(program.linear) @ a)
        curved = float(np.diagonal(products.K)[program.sample] @ a**2 if linear > program.linear @ a else 0.0)
        quadratic = max(curved, float(saddle.weights(delta) @ v)) + program.ridge * float(a @ a)
        size = min(1.0, linear / quadratic) if quadratic > 0 else 1.0
        a, v = size * a, size**2 * v
    reach = domain.finite_part(program.scale * v)  # twice the scores: half of what the support allows
    a, v = np.sqrt(reach) * a, reach * v
    count = len(a) + int(np.isfinite(program.upper).sum()) + m
    mu = max(float(np.abs(program.linear) @ a), 0.5 * float(saddle.weights(delta) @ v), 1e-300) / count
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
    return np.exp2(low)
