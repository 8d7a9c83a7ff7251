"""Newton's step on the variables between their bounds.

    max_x  s'x - 1/2 x'(K + R) x    over steps x of a set F within bounds,    1'x = 0, if there is an intercept

with s the gradient and R the ridges on the diagonal. F holds the variables between their bounds, and those at a bound
that the gradient leads away from it. Without bounds the step is one linear system, (K_FF + R_FF) x + v 1 = s_F. There
are two ways to keep the bounds: the feasible point nearest to the end of that step, with a search along the line to it,
meets many bounds at once; where it gains little, an active set method meets them one after the other.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from multikernel._floats import SINGULAR
from multikernel._typing import Array
from multikernel.machines.support.program import SupportProgram, equality_multiplier
from multikernel.numerics.cholesky import factorise, solved

_MORE = (1.0, 1e2, 1e4, 1e6)  # times the jitter, in turn, until the factorisation succeeds


def newton_step(
    K: Array, program: SupportProgram, b: Array, gradient: Array, intercept: float, F: Array, work: Array, patience: int
) -> tuple[Array, Array] | None:
    """The next b and its gradient; None where no step leads up, or the system is larger than the memory.

    Parameters
    ----------
    K : array (n, n), rows contiguous
    program : its bounds and ridge
    b, gradient : arrays (N,), signed variables and the derivative there
    intercept : float, an estimate
    F : int array, the ``candidates``
    work : flat array, memory for the system
    patience : int, how many times the usual number of bounds to meet one after the other
    """
    from multikernel.machines.support import _rows

    if len(F) == 0 or len(F) ** 2 > len(work):
        return None
    factor, jitter = _factor(K, program.sample[F], program.ridge[F], work)
    if factor is None:
        return None
    s = gradient[F] - intercept
    low = program.low[F] - b[F]
    high = program.high[F] - b[F]
    step = _step(factor, jitter, s, low, high, program.intercept, patience)
    if step is None:
        return None
    new = b.copy()
    new[F] = np.clip(b[F] + step, program.low[F], program.high[F])
    if program.intercept:
        new = program.balanced(new)
    change = np.empty(len(K))
    moved = program.sign * (new - b)
    coef = program.coef(moved)
    S = np.flatnonzero(coef)
    _rows.products(K, S, coef[S], change)
    return new, gradient - change[program.sample] - program.ridge * (new - b)


def candidates(program: SupportProgram, b: Array, gradient: Array, intercept: float) -> Array:
    """The variables between their bounds, and those at a bound with the largest slopes away from it."""
    slope = gradient - intercept
    up = b < program.high
    down = program.low < b
    free = up & down
    leaving = np.flatnonzero(~free & ((up & (slope > 0.0)) | (down & (slope < 0.0))))
    most = max(int(free.sum()), 20)
    if len(leaving) > most:
        leaving = leaving[np.argpartition(-np.abs(slope[leaving]), most)[:most]]
    return np.sort(np.concatenate([np.flatnonzero(free), leaving]))


def _factor(K: Array, S: Array, ridge: Array, work: Array) -> tuple[Array | None, float]:
    """U with U'U = K_SS + diag(ridge) + jitter I, by rows, and the jitter."""
    from multikernel.machines.support import _rows

    n = len(S)
    matrix = work[: n * n].reshape(n, n)
    largest = float((np.diagonal(K)[S] + ridge).max())
    for more in _MORE if largest > 0.0 else ():
        jitter = more * SINGULAR * largest
        _rows.upper_triangle(K, S, ridge + jitter, matrix)
        # the transpose is Fortran-ordered: LAPACK factors it where it stands
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
    part = 1.0 if curvature <= slope else slope / curvature
    gain = part * slope - 0.5 * part * part * max(curvature, 0.0)
    # Half of what the step d without bounds would gain: (K + R) d = s - v 1 and 1'd = 0, so that it gains s'd / 2.
    if gain > 0.5 * 0.5 * float(s @ d):
        return part * nearest
    factor = U.copy()
    # a system of m unknowns costs about as much as meeting m / 30 + 1e6 / m^2 bounds one after the other
    most = patience * (len(s) // 30 + int(1e6 / len(s) ** 2))
    climbed = _bounded_newton.climb_within(U, s, low, high, equality, most)
    image = blas.dtrmv(factor.T, climbed, lower=1, trans=1)
    other = float(s @ climbed) - 0.5 * (float(image @ image) - jitter * float(climbed @ climbed))
    if max(gain, other) <= 0.0:
        return None
    if other > gain:
        return climbed
    return part * nearest


def _unbounded(U: Array, s: Array, equality: bool) -> Array:
    """The step without bounds: H^{-1} (s - v 1), H = U'U, with the v at which its sum is zero."""
    both = solved(U.T, np.column_stack([s, np.ones(len(s))]))
    step: Array = both[:, 0]
    if equality:
        step = step - step.sum() / both[:, 1].sum() * both[:, 1]
    return step
