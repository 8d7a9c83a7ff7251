"""Compiled passes over a dense matrix; no lock is held."""

from __future__ import annotations

import numpy as np
from numba import njit

from multikernel._floats import REORDERED


@njit(nogil=True, cache=True)
def lower_triangle(K, index, out, first, last):  # type: ignore[no-untyped-def]
    """out[a, b] = K[index[a], index[b]] for b <= a, which a factorisation reads, for the rows first..last."""
    for a in range(first, last):
        row = K[index[a]]
        for b in range(a + 1):
            out[a, b] = row[index[b]]


@njit(nogil=True, cache=True, fastmath=REORDERED)
def add_product(K, v, out):  # type: ignore[no-untyped-def]
    """out += K v with sums in double precision for any precision of K."""
    for i in range(len(K)):
        row = K[i]
        total = 0.0
        for j in range(len(v)):
            total += row[j] * v[j]
        out[i] += total


@njit(nogil=True, cache=True)
def upper_triangle(K, index, shift, out):  # type: ignore[no-untyped-def]
    """out[a, b] = K[index[a], index[b]] for a <= b, with shift[a] added to the diagonal."""
    for a in range(len(index)):
        row = K[index[a]]
        for b in range(a, len(index)):
            out[a, b] = row[index[b]]
        out[a, a] += shift[a]


@njit(nogil=True, cache=True)
def combine_rows(K, index, values, out, first, last):  # type: ignore[no-untyped-def]
    """out = the sum of values[k] K[index[k]] in the columns first..last, four rows at a time, in double precision."""
    out[first:last] = 0.0
    by_four = len(index) - len(index) % 4
    for k in range(0, by_four, 4):
        r0, r1, r2, r3 = K[index[k]], K[index[k + 1]], K[index[k + 2]], K[index[k + 3]]
        v0, v1, v2, v3 = values[k], values[k + 1], values[k + 2], values[k + 3]
        for t in range(first, last):
            out[t] += (np.float64(r0[t]) * v0 + np.float64(r1[t]) * v1) + (
                np.float64(r2[t]) * v2 + np.float64(r3[t]) * v3
            )
    for k in range(by_four, len(index)):
        row, v = K[index[k]], values[k]
        for t in range(first, last):
            out[t] += np.float64(row[t]) * v
