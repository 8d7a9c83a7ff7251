"""Compiled passes over the absolute differences of columns; no matrix is stored, no lock is held."""

from __future__ import annotations

import numpy as np
from numba import njit

from multikernel._floats import REORDERED
from multikernel.tuning import ROW_TILE


@njit(nogil=True, cache=True, fastmath=REORDERED)
def weighted_sum(X, Z, s, out):  # type: ignore[no-untyped-def]
    """out[i, l] = sum_j s_j |X[j, i] - Z[j, l]|, samples in columns."""
    for first in range(0, Z.shape[1], ROW_TILE):
        last = min(first + ROW_TILE, Z.shape[1])
        for i in range(X.shape[1]):
            row = out[i, first:last]
            row[:] = 0.0
            for j in range(len(s)):
                factor, x, z = s[j], X[j, i], Z[j, first:last]
                if factor != 0.0:
                    for c in range(last - first):
                        row[c] += factor * abs(x - z[c])


@njit(nogil=True, cache=True, fastmath=REORDERED)
def inner(X, Z, M, out):  # type: ignore[no-untyped-def]
    """out[j] += sum_il M[i, l] |X[j, i] - Z[j, l]|, samples in columns; a tile is summed in X's precision."""
    zero = X.dtype.type(0.0)
    for first in range(0, Z.shape[1], ROW_TILE):
        last = min(first + ROW_TILE, Z.shape[1])
        for i in range(X.shape[1]):
            row = M[i, first:last]
            for j in range(len(out)):
                x = X[j, i]
                z = Z[j, first:last]
                total = zero
                for c in range(last - first):
                    total += row[c] * abs(x - z[c])
                out[j] += total


@njit(nogil=True, cache=True, fastmath=REORDERED)
def inner_square(X, M, out, begin, end):  # type: ignore[no-untyped-def]
    """out[j] += sum over l < i of (M[i, l] + M[l, i]) |X[j, i] - X[j, l]| for begin <= i < end, samples in columns."""
    row = np.empty(ROW_TILE)
    for i in range(begin, end):
        for first in range(0, i, ROW_TILE):
            last = min(first + ROW_TILE, i)
            for c in range(first, last):
                row[c - first] = M[i, c] + M[c, i]
            for j in range(len(out)):
                x = X[j, i]
                z = X[j, first:last]
                total = 0.0
                for c in range(last - first):
                    total += row[c] * abs(x - z[c])
                out[j] += total
