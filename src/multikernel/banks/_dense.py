"""Compiled passes over a dense matrix; no lock is held."""

from __future__ import annotations

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
def multiply(K, v, out, first, last):  # type: ignore[no-untyped-def]
    """out = K v for the rows first..last with sums in double precision for any precision of K."""
    for i in range(first, last):
        row = K[i]
        total = 0.0
        for j in range(len(v)):
            total += row[j] * v[j]
        out[i] = total
