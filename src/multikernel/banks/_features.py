"""Compiled passes over dense features of many samples, stored sample by sample; no copy is made, no lock is held.

Only blocks of columns are used: block k has the columns first[k] to last[k]. Sums are in double precision.
"""

from __future__ import annotations

from numba import njit

from multikernel._floats import REORDERED


@njit(nogil=True, cache=True, fastmath=REORDERED)
def dot(row, v, first, last):  # type: ignore[no-untyped-def]
    """The product of a row and v over the blocks."""
    total = 0.0
    for k in range(len(first)):
        x, z = row[first[k] : last[k]], v[first[k] : last[k]]
        block_sum = 0.0
        for j in range(len(x)):
            block_sum += x[j] * z[j]
        total += block_sum
    return total


@njit(nogil=True, cache=True)
def images(F, v, first, last, out):  # type: ignore[no-untyped-def]
    """out[i] = sum_j F[i, j] v[j]."""
    for i in range(len(out)):
        out[i] = dot(F[i], v, first, last)


@njit(nogil=True, cache=True, fastmath=REORDERED)
def sums(F, b, first, last, out):  # type: ignore[no-untyped-def]
    """out[j] += sum_i b[i] F[i, j]."""
    for i in range(len(b)):
        if b[i] != 0.0:
            for k in range(len(first)):
                x, z = F[i, first[k] : last[k]], out[first[k] : last[k]]
                for j in range(len(x)):
                    z[j] += b[i] * x[j]


@njit(nogil=True, cache=True, fastmath=REORDERED)
def lengths(F, w, first, last, out):  # type: ignore[no-untyped-def]
    """out[i] = sum_j w[j] F[i, j]^2."""
    for i in range(len(out)):
        total = 0.0
        for k in range(len(first)):
            x, s = F[i, first[k] : last[k]], w[first[k] : last[k]]
            block_sum = 0.0
            for j in range(len(x)):
                block_sum += s[j] * x[j] * x[j]
            total += block_sum
        out[i] = total
