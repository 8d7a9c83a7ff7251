"""Newton's step within bounds, compiled: an active set method on one Cholesky factor.

    max_x  s'x - 1/2 x'A x,    low <= x <= high,    1'x = 0, if there is an equality

A = U'U with U stored by rows. Newton's step ends at the first bound that it reaches; that variable stays there, its row
and column are removed from the factor by rotations, and the other variables make a new step. A variable does not leave
a bound again: the result need not be the optimum, but every step increases the objective. Triangular solves are
backward stable, so a nearly singular A is no problem: a long step has a small residual.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from multikernel._floats import REORDERED


@njit(nogil=True, cache=True, fastmath=REORDERED)
def solve(U, m, x):  # type: ignore[no-untyped-def]
    """x := (U'U)^{-1} x for the leading m rows."""
    for k in range(m):
        x[k] /= U[k, k]
        value = x[k]
        row, tail = U[k, k + 1 : m], x[k + 1 : m]
        for t in range(len(tail)):
            tail[t] -= value * row[t]
    for k in range(m - 1, -1, -1):
        row, tail = U[k, k + 1 : m], x[k + 1 : m]
        total = 0.0
        for t in range(len(tail)):
            total += row[t] * tail[t]
        x[k] = (x[k] - total) / U[k, k]


@njit(nogil=True, cache=True)
def remove(U, m, k):  # type: ignore[no-untyped-def]
    """Take row and column k out of A: the leading m - 1 rows of U are its factor then."""
    for j in range(k):
        row = U[j]
        for t in range(k, m - 1):
            row[t] = row[t + 1]
    for j in range(k, m - 1):  # rows j and j + 1 of the factor without column k: rotate away what is below the diagonal
        first, second = U[j], U[j + 1]
        x, z = first[j + 1], second[j + 1]
        size = np.hypot(x, z)
        cosine, sine = (x / size, z / size) if size > 0.0 else (1.0, 0.0)
        for t in range(j + 1, m):
            x, z = first[t], second[t]
            first[t - 1] = cosine * x + sine * z
            second[t] = cosine * z - sine * x


@njit(nogil=True, cache=True)
def climb_within(U, s, low, high, equality, limit):  # type: ignore[no-untyped-def]
    """x, after at most ``limit`` bounds were reached. U is overwritten."""
    m = len(s)
    x, live, slope = np.zeros(m), np.arange(m), s.copy()
    d, ones = np.empty(m), np.empty(m)
    for _ in range(limit + 1):
        multiplier = 0.0  # of the equality
        for t in range(m):
            d[t] = slope[t]
        solve(U, m, d)
        if equality:
            ones[:m] = 1.0
            solve(U, m, ones)
            multiplier = d[:m].sum() / ones[:m].sum()
            for t in range(m):
                d[t] -= multiplier * ones[t]
        fraction, first, end = 1.0, -1, 0.0
        for t in range(m):
            bound = high[live[t]] if d[t] > 0.0 else low[live[t]]
            distance = bound - x[live[t]]
            if d[t] != 0.0 and distance / d[t] < fraction:
                fraction, first, end = distance / d[t], t, bound
        for t in range(m):
            x[live[t]] += fraction * d[t]
            slope[t] = (1.0 - fraction) * (slope[t] - multiplier)
        if first < 0 or m == 1:
            break
        x[live[first]] = end
        remove(U, m, first)
        m -= 1
        for t in range(first, m):
            live[t], slope[t] = live[t + 1], slope[t + 1]
    return x
