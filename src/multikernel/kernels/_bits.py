"""Compiled similarities of fingerprints, by counts of bits in words of 64: exact, and in tiles that stay in the cache.

Two tiles of fingerprints of 2048 bits are 32 KB of words, which fit into the first-level cache. No lock is held.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from multikernel.tuning import TILE_ROWS


@intrinsic
def _ones(context, word):  # type: ignore[no-untyped-def]
    """The number of ones in a word, by one instruction of the processor."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@njit(nogil=True, cache=True)
def counts(A):  # type: ignore[no-untyped-def]
    """The number of ones in each row, int array (len(A),)."""
    out = np.zeros(len(A), dtype=np.int64)
    for i in range(len(A)):
        for w in range(A.shape[1]):
            out[i] += np.int64(_ones(A[i, w]))
    return out


@njit(nogil=True, cache=True)
def shares(A, B, of_a, of_b, K, same):  # type: ignore[no-untyped-def]
    """K[i, j] = the number of ones that row i of A and row j of B share, divided by that of ones in either; 0 if none.

    of_a and of_b count the ones of each row. Where A is B (``same``), each pair is compared once.
    """
    for top in range(0, len(A), TILE_ROWS):
        bottom = min(top + TILE_ROWS, len(A))
        for left in range(0, bottom if same else len(B), TILE_ROWS):
            right = min(left + TILE_ROWS, len(B))
            for i in range(top, bottom):
                a = A[i]
                for j in range(left, min(right, i + 1) if same else right):
                    b = B[j]
                    common = np.uint64(0)
                    for w in range(len(a)):
                        common += _ones(a[w] & b[w])
                    union = of_a[i] + of_b[j] - np.int64(common)
                    K[i, j] = np.int64(common) / union if union > 0 else 0.0
            if same:
                for j in range(left, min(right, bottom)):
                    for i in range(max(top, j), bottom):
                        K[j, i] = K[i, j]
