"""Compiled sums over pieces of the lattice, from packed symmetric matrices; no lock is held.

Sums may be reassociated: that changes rounding only, and no stopping test is computed here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from multikernel._floats import REORDERED
from multikernel.tuning import STRETCH

OUT, FACTOR, FREE = 0, 1, 2  # roles of a base kernel in a piece


@njit(nogil=True, cache=True, fastmath=REORDERED)
def split(K, M, c, roles, out, first, last):  # type: ignore[no-untyped-def]
    """Split the pieces first..last: out[s, i] for the free kernels i, the single node in out[s, p].

    With u the product of M and of the factors, out[s, i] = <u k_i prod_{l > i free} (1 + c k_l)> and out[s, p] = <u>.
    """
    p, N = K.shape
    buffer = np.empty(STRETCH)
    out[first:last] = 0.0
    for start in range(0, N, STRETCH):
        stop = min(start + STRETCH, N)
        v = buffer[: stop - start]
        for s in range(first, last):
            for e in range(len(v)):
                v[e] = M[start + e]
            for i in range(p):
                if roles[s, i] == FACTOR:
                    k = K[i, start:stop]
                    for e in range(len(v)):
                        v[e] *= k[e]
            total = 0.0
            for e in range(len(v)):
                total += v[e]
            out[s, p] += total
            for i in range(p - 1, -1, -1):
                if roles[s, i] == FREE:
                    k = K[i, start:stop]
                    total = 0.0
                    for e in range(len(v)):
                        x = v[e] * k[e]
                        total += x
                        v[e] += c * x
                    out[s, i] += total


@njit(nogil=True, cache=True)
def products(parent, last, R, out):  # type: ignore[no-untyped-def]
    """Fill ``out``: each row is its parent's times a row of R. The first row is given; parents precede children."""
    for k in range(1, len(out)):
        up = out[parent[k]]
        factor = R[last[k]]
        row = out[k]
        for e in range(len(row)):
            row[e] = up[e] * factor[e]
