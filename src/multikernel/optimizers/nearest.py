"""The point of a level set of a cutting plane model that is nearest to a given one.

    min 1/2 |x - z|^2    over the simplex,    q_j'x >= b_j = c_j - level for every plane

By its dual in the planes' multipliers u >= 0, a concave function of few variables with pieces that are quadratic:

    phi(u) = 1/2 |x - z|^2 + u'(b - Q x),    x = x(u) = projection of z + Q'u on the simplex,    phi' = b - Q x

Newton steps on the multipliers that are free, with a ridge that grows where a step does not lead up (Levenberg). The
point is on the simplex, however accurate the multipliers are.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from multikernel._typing import Array
from multikernel.domains import Simplex
from multikernel.numerics.line_search import ARMIJO
from multikernel.optimizers.cuts import Cuts

# Of the largest height of a plane above the level at z: so much any plane may be above it at the end.
_PLANE_ACCURACY = 1e-9
_MOST_STEPS = 200  # of Newton's method at most
# of the diagonal, the slopes of the planes being of size one
_FIRST_RIDGE = 1e-6
_LEAST_RIDGE = 1e-12
_MOST_RIDGE = 1e12
_RIDGE_FACTOR = 10.0  # by which the ridge shrinks after a step that leads up, and grows after one that does not


def nearest(z: Array, cuts: Cuts, level: float) -> tuple[Array, Array]:
    """The point and the planes' multipliers, which are zero for planes that are below the level at the point."""
    # a constant added to all entries of a slope changes the plane on the whole simplex by one and the same number
    Q = cuts.slope - cuts.slope.mean(axis=1, keepdims=True)
    b = cuts.constant - level - cuts.total * cuts.slope.mean(axis=1)
    size = np.sqrt((Q**2).sum(axis=1))
    tilted = size > 0
    u = np.zeros(len(b))
    Q, b = Q[tilted] / size[tilted, None], b[tilted] / size[tilted]
    x, u[tilted] = _ascend(z, Q, b, Simplex(cuts.total))
    return x, u


def _ascend(z: Array, Q: Array, b: Array, simplex: Simplex) -> tuple[Array, Array]:
    u, x, ridge = np.zeros(len(b)), z, _FIRST_RIDGE
    value, slope = _phi(z, x, u, Q, b)
    accuracy = _PLANE_ACCURACY * max(float(slope.max(initial=0.0)), float(np.finfo(float).tiny))
    for _ in range(_MOST_STEPS):
        free = (u > 0) | (slope > 0)
        if float(np.where(u > 0, np.abs(slope), slope).max(initial=0.0)) <= accuracy:
            break
        up = np.maximum(u + _newton(Q[free], slope, free, x > 0, ridge), 0.0)
        there = simplex.project(z + up @ Q)
        higher, next_slope = _phi(z, there, up, Q, b)
        if higher >= value + ARMIJO * float(slope @ (up - u)) and (up != u).any():
            u, x, value, slope, ridge = up, there, higher, next_slope, max(ridge / _RIDGE_FACTOR, _LEAST_RIDGE)
        elif ridge > _MOST_RIDGE:
            break
        else:
            ridge *= _RIDGE_FACTOR
    return x, u


def _phi(z: Array, x: Array, u: Array, Q: Array, b: Array) -> tuple[float, Array]:
    slope: Array = b - Q @ x
    return 0.5 * float((x - z) @ (x - z)) + float(u @ slope), slope


def _newton(Q: Array, slope: Array, free: Array, support: Array, ridge: float) -> Array:
    """The step of the free multipliers; the curvature is that of the simplex's face in which x lies."""
    S = Q[:, support]
    S = S - S.mean(axis=1, keepdims=True)
    H = S @ S.T
    H.flat[:: len(H) + 1] += ridge
    step = np.zeros(len(free))
    _, step[free], _ = lapack.dposv(H, slope[free])  # definite: the ridge is far above rounding
    return step
