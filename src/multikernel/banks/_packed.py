"""Compiled passes over packed symmetric matrices; each stored entry is read once, no lock is held.

Row i of a packed matrix is the stretch of i + 1 entries K_i0 .. K_ii that starts at i (i + 1) / 2. Sums are taken in
double precision whatever the storage, so forms of matrices in single precision are exact for the rounded entries.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from multikernel._floats import REORDERED
from multikernel.tuning import STRETCH

# The number of rows that are mirrored at a time: they become columns, and entries side by side in a row share a line of
# the cache. With 64, unpacking 1500 x 1500 took 50 ms instead of 17 ms.
MIRRORED = 32


@njit(nogil=True, cache=True, fastmath=REORDERED)
def forms(packed, chosen, A, rows, out, first, last):  # type: ignore[no-untyped-def]
    """out[k, t] = a_t'K a_t for K = packed[chosen[k]], k = first..last; A is (t, n), zero outside the rows."""
    for k in range(first, last):
        K = packed[chosen[k]]
        out[k] = 0.0
        for i in rows:
            start = i * (i + 1) // 2
            row, diagonal = K[start : start + i], K[start + i]
            for t in range(len(A)):
                a = A[t]
                total = 0.0
                for j in range(len(row)):
                    total += row[j] * a[j]
                out[k, t] += a[i] * (2.0 * total + diagonal * a[i])


@njit(nogil=True, cache=True, fastmath=REORDERED)
def inner(packed, chosen, p, out, first, last):  # type: ignore[no-untyped-def]
    """out[k] = packed[chosen[k]]'p for k = first..last, four at a time."""
    out[first:last] = 0.0
    for start in range(0, len(p), STRETCH):
        v = p[start : start + STRETCH]
        stop = start + len(v)
        k = first
        while k + 4 <= last:
            K0, K1 = packed[chosen[k], start:stop], packed[chosen[k + 1], start:stop]
            K2, K3 = packed[chosen[k + 2], start:stop], packed[chosen[k + 3], start:stop]
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for j in range(len(v)):
                s0 += K0[j] * v[j]
                s1 += K1[j] * v[j]
                s2 += K2[j] * v[j]
                s3 += K3[j] * v[j]
            out[k] += s0
            out[k + 1] += s1
            out[k + 2] += s2
            out[k + 3] += s3
            k += 4
        while k < last:
            K0 = packed[chosen[k], start:stop]
            s0 = 0.0
            for j in range(len(v)):
                s0 += K0[j] * v[j]
            out[k] += s0
            k += 1


@njit(nogil=True, cache=True, fastmath=REORDERED)
def sums(packed, chosen, W, out, first, last):  # type: ignore[no-untyped-def]
    """out[t] = sum_k W[t, k] packed[chosen[k]], of the entries first..last only; four matrices at a time."""
    for start in range(first, last, STRETCH):
        stop = min(start + STRETCH, last)
        out[:, start - first : stop - first] = 0.0
        k = 0
        while k + 4 <= len(chosen):
            K0, K1 = packed[chosen[k], start:stop], packed[chosen[k + 1], start:stop]
            K2, K3 = packed[chosen[k + 2], start:stop], packed[chosen[k + 3], start:stop]
            for t in range(len(W)):
                w0, w1, w2, w3 = W[t, k], W[t, k + 1], W[t, k + 2], W[t, k + 3]
                total = out[t, start - first : stop - first]
                for j in range(len(total)):
                    total[j] += w0 * K0[j] + w1 * K1[j] + w2 * K2[j] + w3 * K3[j]
            k += 4
        while k < len(chosen):
            K0 = packed[chosen[k], start:stop]
            for t in range(len(W)):
                w0, total = W[t, k], out[t, start - first : stop - first]
                for j in range(len(total)):
                    total[j] += w0 * K0[j]
            k += 1


@njit(nogil=True, cache=True, fastmath=REORDERED)
def products(packed, chosen, C, out, first, last):  # type: ignore[no-untyped-def]
    """out[k, t] = K c_t for K = packed[chosen[k]], k = first..last; C is (t, n).

    With several columns four rows are processed at a time, which reads c and y once: the pass is then limited by
    arithmetic, not by memory.
    """
    n = C.shape[1]
    blocked = n - n % 4 if len(C) > 1 else 0
    for k in range(first, last):
        K = packed[chosen[k]]
        out[k] = 0.0
        for i in range(0, blocked, 4):
            start0 = i * (i + 1) // 2
            start1, start2, start3 = start0 + i + 1, start0 + 2 * i + 3, start0 + 3 * i + 6
            r0, r1, r2, r3 = (
                K[start0 : start0 + i],
                K[start1 : start1 + i],
                K[start2 : start2 + i],
                K[start3 : start3 + i],
            )
            for t in range(len(C)):
                c, y = C[t], out[k, t, :i]
                c0, c1, c2, c3 = c[i], c[i + 1], c[i + 2], c[i + 3]
                y0, y1, y2, y3 = 0.0, 0.0, 0.0, 0.0
                for j in range(i):
                    y0 += r0[j] * c[j]
                    y1 += r1[j] * c[j]
                    y2 += r2[j] * c[j]
                    y3 += r3[j] * c[j]
                    y[j] += r0[j] * c0 + r1[j] * c1 + r2[j] * c2 + r3[j] * c3
                k10, k20, k21 = K[start1 + i], K[start2 + i], K[start2 + i + 1]
                k30, k31, k32 = K[start3 + i], K[start3 + i + 1], K[start3 + i + 2]
                out[k, t, i] = y0 + K[start0 + i] * c0 + k10 * c1 + k20 * c2 + k30 * c3
                out[k, t, i + 1] = y1 + k10 * c0 + K[start1 + i + 1] * c1 + k21 * c2 + k31 * c3
                out[k, t, i + 2] = y2 + k20 * c0 + k21 * c1 + K[start2 + i + 2] * c2 + k32 * c3
                out[k, t, i + 3] = y3 + k30 * c0 + k31 * c1 + k32 * c2 + K[start3 + i + 3] * c3
        for i in range(blocked, n):
            start = i * (i + 1) // 2
            row, diagonal = K[start : start + i], K[start + i]
            for t in range(len(C)):
                c, y = C[t], out[k, t, :i]
                ci = c[i]
                total = diagonal * ci
                for j in range(len(row)):
                    total += row[j] * c[j]
                    y[j] += row[j] * ci
                out[k, t, i] = total


@njit(nogil=True, cache=True)
def lower(packed, first, tile):  # type: ignore[no-untyped-def]
    """The rows first, first + 1, .. of the full matrix, up to the diagonal of the last of these rows."""
    for a in range(len(tile)):
        start = (first + a) * (first + a + 1) // 2
        row = tile[a]
        for j in range(first + a + 1):
            row[j] = packed[start + j]
        for b in range(a):
            tile[b, first + a] = row[first + b]


@njit(nogil=True, cache=True)
def unpack(packed, K, first, last):  # type: ignore[no-untyped-def]
    """These rows of the full matrix up to the diagonal, and their mirror image, tile by tile to stay in the cache.

    ``packed`` begins with row ``first``.
    """
    offset = first * (first + 1) // 2
    for top in range(first, last, MIRRORED):
        for left in range(0, min(top + MIRRORED, last), MIRRORED):
            for i in range(top, min(top + MIRRORED, last)):
                start = i * (i + 1) // 2 - offset
                for j in range(left, min(left + MIRRORED, i + 1)):
                    K[i, j] = packed[start + j]
                    K[j, i] = packed[start + j]


@njit(nogil=True, cache=True)
def rows(packed, chosen, K):  # type: ignore[no-untyped-def]
    """K[a] = row chosen[a] of the full matrix, tile by tile: entries beyond the diagonal are read from a column."""
    n = K.shape[1]
    for top in range(0, len(chosen), MIRRORED):
        for left in range(0, n, MIRRORED):
            for a in range(top, min(top + MIRRORED, len(chosen))):
                i = chosen[a]
                start = i * (i + 1) // 2
                for j in range(left, min(left + MIRRORED, n)):
                    if j <= i:
                        K[a, j] = packed[start + j]
                    else:
                        K[a, j] = packed[j * (j + 1) // 2 + i]


@njit(nogil=True, cache=True)
def principal(packed, chosen, rows, out, first, last):  # type: ignore[no-untyped-def]
    """out[k] = the packed half of some rows and columns, in this order, of packed[chosen[k]], k = first..last.

    If the rows are in ascending order, every entry is stored in the row of the later sample, and no comparison is
    needed.
    """
    ascending = True
    for a in range(1, len(rows)):
        ascending &= rows[a - 1] <= rows[a]
    columns = rows.astype(np.uint32)
    for k in range(first, last):
        K = packed[chosen[k]]
        offset = 0
        for a in range(len(rows)):
            i = rows[a]
            start = i * (i + 1) // 2
            row, out_row = K[start : start + i + 1], out[k, offset : offset + a + 1]
            if ascending:
                for b in range(a + 1):
                    out_row[b] = row[columns[b]]
            else:
                for b in range(a + 1):
                    j = rows[b]
                    out_row[b] = row[j] if j <= i else K[j * (j + 1) // 2 + i]
            offset += a + 1
