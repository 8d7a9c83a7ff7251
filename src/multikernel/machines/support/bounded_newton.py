"""Newton's step on the coefficients between their bounds.

    max_x  s'x - 1/2 x'(K + ridge I) x    over moves x on a set F within bounds,    1'x = 0, if there is an intercept

with s the score. F is what lies between its bounds, and what lies at a bound but wants to leave it. Without bounds it
is one linear system, (K_FF + ridge I) x + v 1 = s_F. Bounds are kept in two ways: by the point nearest to the whole
step, with a search on the way there, which meets many bounds at once; where that brings little, bound after bound.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from multikernel._typing import Array
from multikernel.machines.support.program import SupportProgram, level

_JITTER = 1e-12  # of the largest self-value, what a factorisation of a singular matrix needs; more where that fails
_MORE = (1.0, 1e2, 1e4, 1e6)
_ENOUGH = 0.5  # of what the whole step would gain, to take the nearest point
_BOUNDS = 1e6  # over m^2 and m / 30 more are met one after the other in a system of m unknowns: about its own cost


def newton_step(
    K: Array, program: SupportProgram, b: Array, score: Array, intercept: float, F: Array, work: Array, patience: int
) -> tuple[Array, Array] | None:
    """The next b and its score, or None where there is no way up or no room for the system.

    Parameters
    ----------
    K : array (n, n), rows contiguous
    program : its bounds and ridge
    b, score : arrays (N,), signed variables and the derivative there
    intercept : float, an estimate
    F : int array, the ``candidates``
    work : flat array, room for the system
    patience : int, how many times the usual number of bounds to meet one after the other
    """
    from multikernel.machines.support import _pairs

    if len(F) == 0 or len(F) ** 2 > len(work):
        return None
    factor, jitter = _factor(K, program.sample[F], program.ridge, work)
    if factor is None:
        return None
    s, low, high = score[F] - intercept, program.low[F] - b[F], program.high[F] - b[F]
    move = _move(factor, jitter, s, low, high, program.intercept, patience)
    if move is None:
        return None
    new = b.copy()
    new[F] = np.clip(b[F] + move, program.low[F], program.high[F])
    new = program.balanced(new) if program.intercept else new
    change, moved = np.empty(len(K)), program.sign * (new - b)
    coef = program.coef(moved)
    S = np.flatnonzero(coef)
    _pairs.products(K, S, coef[S], change)
    return new, score - change[program.sample] - program.ridge * (new - b)


def candidates(program: SupportProgram, b: Array, score: Array, intercept: float) -> Array:
    """What lies between its bounds or wants to leave one."""
    slope = score - intercept
    up, down = b < program.high, program.low < b
    free = up & down
    wanting = np.flatnonzero(~free & ((up & (slope > 0.0)) | (down & (slope < 0.0))))
    most = max(int(free.sum()), 20)
    if len(wanting) > most:
        wanting = wanting[np.argpartition(-np.abs(slope[wanting]), most)[:most]]
    return np.sort(np.concatenate([np.flatnonzero(free), wanting]))


def _factor(K: Array, S: Array, ridge: float, work: Array) -> tuple[Array | None, float]:
    """U with U'U = K_SS + (ridge + jitter) I, by rows, and the jitter."""
    from multikernel.machines.support import _bounded_newton

    n = len(S)
    matrix = work[: n * n].reshape(n, n)
    largest = float(np.diagonal(K)[S].max()) + ridge
    for more in _MORE if largest > 0.0 else ():
        jitter = more * _JITTER * largest
        _bounded_newton.upper_triangle(K, S, ridge + jitter, matrix)
        # the transpose is Fortran-ordered: LAPACK factors it where it stands
        _, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        if info == 0:
            return matrix, jitter
    return None, 0.0


def _move(U: Array, jitter: float, s: Array, low: Array, high: Array, equality: bool, patience: int) -> Array | None:
    """The best move found, or None where none is uphill."""
    from multikernel.machines.support import _bounded_newton

    d = _whole(U, s, equality)
    nearest = np.clip(d - level(d, low, high, 1.0, 0.0) if equality else d, low, high)
    slope, image = float(s @ nearest), blas.dtrmv(U.T, nearest, lower=1, trans=1)
    curvature = float(image @ image) - jitter * float(nearest @ nearest)
    part = 1.0 if curvature <= slope else slope / curvature
    gain = part * slope - 0.5 * part * part * max(curvature, 0.0)
    if gain > _ENOUGH * 0.5 * float(s @ d):
        return part * nearest
    V = U.copy()
    turn = _bounded_newton.climb_within(
        U, s, low, high, equality, patience * (len(s) // 30 + int(_BOUNDS / len(s) ** 2))
    )
    image = blas.dtrmv(V.T, turn, lower=1, trans=1)
    other = float(s @ turn) - 0.5 * (float(image @ image) - jitter * float(turn @ turn))
    if max(gain, other) <= 0.0:
        return None
    return turn if other > gain else part * nearest


def _whole(U: Array, s: Array, equality: bool) -> Array:
    """The move without bounds."""
    both, _ = lapack.dpotrs(U.T, np.column_stack([s, np.ones(len(s))]), lower=1)
    step: Array = both[:, 0]
    if equality:
        step = step - step.sum() / both[:, 1].sum() * both[:, 1]
    return step
