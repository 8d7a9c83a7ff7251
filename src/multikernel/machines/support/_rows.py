"""Passes over rows of a dense symmetric matrix, compiled, which use parts of the matrix without a copy."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def upper_triangle(K, index, shift, out):  # type: ignore[no-untyped-def]
    """out[a, b] = K[index[a], index[b]] for a <= b, with shift[a] added to the diagonal."""
    for a in range(len(index)):
        row = K[index[a]]
        for b in range(a, len(index)):
            out[a, b] = row[index[b]]
        out[a, a] += shift[a]


@njit(nogil=True, cache=True)
def products(K, index, values, out):  # type: ignore[no-untyped-def]
    """out = K[:, index] values, four rows at a time; sums in double precision."""
    out[:] = 0.0
    last = len(index) - len(index) % 4
    for k in range(0, last, 4):
        r0, r1, r2, r3 = K[index[k]], K[index[k + 1]], K[index[k + 2]], K[index[k + 3]]
        v0, v1, v2, v3 = values[k], values[k + 1], values[k + 2], values[k + 3]
        for t in range(len(out)):
            out[t] += (np.float64(r0[t]) * v0 + np.float64(r1[t]) * v1) + (
                np.float64(r2[t]) * v2 + np.float64(r3[t]) * v3
            )
    for k in range(last, len(index)):
        row, v = K[index[k]], values[k]
        for t in range(len(out)):
            out[t] += np.float64(row[t]) * v
