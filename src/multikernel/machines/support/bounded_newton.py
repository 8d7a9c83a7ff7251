"""Newton's step on the variables between their bounds.

    max_x  s'x - 1/2 x'(K + R) x    over steps x of a set F within bounds,    1'x = 0, if there is an intercept

with s the gradient and R the ridges on the diagonal. F contains the variables between their bounds, and those at a
bound whose gradient points away from it. Without bounds the step is one linear system, (K_FF + R_FF) x + v 1 = s_F.
Bounds are taken into account in two ways: the feasible point nearest to the end of that step, with a line search
towards it, reaches many bounds at once; where it gains little, an active set method reaches them one after the other.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from multikernel._floats import SINGULAR
from multikernel._typing import Array
from multikernel.machines.support.program import SupportProgram, equality_multiplier
from multikernel.numerics.cholesky import factorise, solved

_MULTIPLES = (1.0, 1e2, 1e4, 1e6)  # of the jitter, tried in this order until the factorisation succeeds


def newton_step(
    K: Array,
    program: SupportProgram,
    b: Array,
    gradient: Array,
    intercept: float,
    F: Array,
    buffer: Array,
    patience: int,
) -> tuple[Array, Array] | None:
    """The next b and its gradient; None where no step leads up, or the system is larger than the memory.

    Parameters
    ----------
    K : array (n, n), rows contiguous
    program : its bounds and ridge
    b, gradient : arrays (N,), signed variables and the derivative there
    intercept : float, an estimate
    F : int array, the ``candidates``
    buffer : flat array, memory for the system
    patience : int, the multiple of the usual number of bounds that may be reached one after the other
    """
    from multikernel.banks import _dense

    if len(F) == 0 or len(F) ** 2 > len(buffer):
        return None
    factor, jitter = _factor(K, program.sample[F], program.ridge[F], buffer)
    if factor is None:
        return None
    s = gradient[F] - intercept
    low = program.low[F] - b[F]
    high = program.high[F] - b[F]
    step = _step(factor, jitter, s, low, high, program.intercept, patience)
    if step is None:
        return None
    moved_b = b.copy()
    moved_b[F] = np.clip(b[F] + step, program.low[F], program.high[F])
    if program.intercept:
        moved_b = program.balanced(moved_b)
    change = np.empty(len(K))
    moved = program.sign * (moved_b - b)
    coef = program.coef(moved)
    S = np.flatnonzero(coef)
    _dense.combine_rows(K, S, coef[S], change, 0, len(K))
    return moved_b, gradient - change[program.sample] - program.ridge * (moved_b - b)


def candidates(program: SupportProgram, b: Array, gradient: Array, intercept: float) -> Array:
    """The variables between their bounds, and those at a bound with the largest slopes away from it."""
    slope = gradient - intercept
    up = b < program.high
    down = program.low < b
    free = up & down
    leaving = np.flatnonzero(~free & ((up & (slope > 0.0)) | (down & (slope < 0.0))))
    limit = max(int(free.sum()), 20)
    if len(leaving) > limit:
        leaving = leaving[np.argpartition(-np.abs(slope[leaving]), limit)[:limit]]
    return np.sort(np.concatenate([np.flatnonzero(free), leaving]))


def _factor(K: Array, S: Array, ridge: Array, buffer: Array) -> tuple[Array | None, float]:
    """U with U'U = K_SS + diag(ridge) + jitter I, by rows, and the jitter."""
    from multikernel.banks import _dense

    n = len(S)
    matrix = buffer[: n * n].reshape(n, n)
    largest = float((np.diagonal(K)[S] + ridge).max())
    for multiple in _MULTIPLES if largest > 0.0 else ():
        jitter = multiple * SINGULAR * largest
        _dense.upper_triangle(K, S, ridge + jitter, matrix)
        # the transpose is Fortran-ordered: LAPACK factors it in place
        if factorise(matrix.T):
            return matrix, jitter
    return None, 0.0


def _step(U: Array, jitter: float, s: Array, low: Array, high: Array, equality: bool, patience: int) -> Array | None:
    """The better of the two steps within bounds; None where neither gains anything."""
    from multikernel.machines.support import _bounded_newton

    d = _unbounded(U, s, equality)
    if equality:
        nearest = np.clip(d - equality_multiplier(d, low, high, 1.0, 0.0), low, high)
    else:
        nearest = np.clip(d, low, high)
    slope = float(s @ nearest)
    image = blas.dtrmv(U.T, nearest, lower=1, trans=1)
    curvature = float(image @ image) - jitter * float(nearest @ nearest)
    fraction = 1.0 if curvature <= slope else slope / curvature
    gain = fraction * slope - 0.5 * fraction * fraction * max(curvature, 0.0)
    # half of the gain of the step d without bounds, which is s'd / 2, since (K + R) d = s - v 1 and 1'd = 0
    if gain > 0.5 * 0.5 * float(s @ d):
        return fraction * nearest
    factor = U.copy()
    # a system of m unknowns costs about as much as m / 30 + 1e6 / m^2 bounds that are reached one after the other
    limit = patience * (len(s) // 30 + int(1e6 / len(s) ** 2))
    climbed = _bounded_newton.climb_within(U, s, low, high, equality, limit)
    image = blas.dtrmv(factor.T, climbed, lower=1, trans=1)
    gain_of_climb = float(s @ climbed) - 0.5 * (float(image @ image) - jitter * float(climbed @ climbed))
    if max(gain, gain_of_climb) <= 0.0:
        return None
    if gain_of_climb > gain:
        return climbed
    return fraction * nearest


def _unbounded(U: Array, s: Array, equality: bool) -> Array:
    """The step without bounds: H^{-1} (s - v 1), H = U'U, with the v at which its sum is zero."""
    both = solved(U.T, np.column_stack([s, np.ones(len(s))]))
    step: Array = both[:, 0]
    if equality:
        step = step - step.sum() / both[:, 1].sum() * both[:, 1]
    return step
