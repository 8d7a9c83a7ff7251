"""Where the interior point method starts: inside, and near the central path."""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel.machines.support.coefficients import central, fitting
from multikernel.machines.support.point import Point
from multikernel.procedures.interior.saddle import Saddle
from multikernel.procedures.interior.working import WorkingSet

_EXTREME = 500.0  # first weights are sought between 2^-500 and 2^500
_HALVINGS = 20  # so often the interval of the exponents is halved: weights are found to a factor of 2^0.001
_INSIDE = 0.01  # of the middle of the box: where samples are very many no variable starts nearer to zero
_ABOVE = 0.55  # times the largest score is the first multiplier; with less than a half none is feasible


def first_point(saddle: Saddle, working: WorkingSet) -> Point:
    """The central point, brought to the size at which the linear and the quadratic part of the program agree."""
    program, domain, a = saddle.program, saddle.domain, central(saddle.program)
    m = len(working.index)
    delta = domain.start(m) - domain.offset(m)
    products = working.products(saddle.weights(delta), program.coef(a))
    v, scale = products.v, 1.0
    many = products.K.root is not None and program.total == 0.0 and bool(np.isfinite(program.upper).all())
    if program.total == 0.0:
        linear = float(np.abs(program.linear) @ a)
        curved = float(products.K.diagonal()[program.sample] @ a**2 if linear > program.linear @ a else 0.0)
        quadratic = max(curved, float(saddle.weights(delta) @ v)) + program.cost(a)
        size = min(1.0, linear / quadratic) if quadratic > 0 else 1.0
        if many:  # the two parts agree so near to zero that it would take many steps to get away from it
            size = max(size, _INSIDE)
        a, v, scale = size * a, size**2 * v, size
    part = domain.finite_part(program.scale * v)  # twice the scores, so that the scores are half of what is allowed
    a, v, scale = np.sqrt(part) * a, part * v, np.sqrt(part) * scale
    mu = max(float(np.abs(program.linear) @ a), 0.5 * float(saddle.weights(delta) @ v), 1e-300)
    mu = mu / (len(a) + int(np.isfinite(program.upper).sum()) + m)
    slack, intercept = program.upper - a, 0.0
    below, above = mu / a, mu / slack
    if many:
        below, above, intercept = fitting(program, a, scale * products.f)
        mu = float(a @ below + slack @ above) / (2 * len(a))
    multiplier = 0.0
    if domain.constrained:
        multiplier = max(_ABOVE * float(v.max()) / float(domain.constraint(delta)[1].max()), mu)
    else:
        delta = _balanced(saddle, mu, 0.5 * v)
    return Point(a, slack, below, above, intercept, delta, mu / delta, multiplier)


def _balanced(saddle: Saddle, mu: float, half: Array) -> Array:
    """Weights that only a penalty bounds: its slope is half the score and mu / delta; by bisection."""
    low, high = np.full(len(half), -_EXTREME), np.full(len(half), _EXTREME)
    for _ in range(_HALVINGS):
        exponent = 0.5 * (low + high)
        delta = np.exp2(exponent)
        above = saddle.domain.separable_penalty(delta)[1] / saddle.program.scale > half + mu / delta
        low, high = np.where(above, low, exponent), np.where(above, exponent, high)
    return np.exp2(low)
