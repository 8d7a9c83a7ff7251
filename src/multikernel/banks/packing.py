"""Symmetric matrices in LAPACK's packed storage: the upper triangle, column by column."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from multikernel.kernels.base import Array

_TILE = 256  # rows mirrored at a time: two tiles stay in the cache


def pack(K: Array) -> Array:
    """The upper triangle of K, column by column: n (n + 1) / 2 values."""
    trttp = lapack.strttp if K.dtype == np.float32 else lapack.dtrttp
    # K.T is the Fortran-ordered view of a C-ordered array: its upper triangle is our lower one, the same by symmetry
    packed: Array = trttp(K.T if K.flags.c_contiguous else K, uplo="U")[0]
    return packed


def unpack(packed: Array, n: int) -> Array:
    """The full symmetric matrix, C-ordered."""
    tpttr = lapack.stpttr if packed.dtype == np.float32 else lapack.dtpttr
    K: Array = tpttr(n, packed, uplo="U")[0].T  # its lower triangle is filled
    for start in range(0, n, _TILE):
        stop = min(start + _TILE, n)
        K[:start, start:stop] = K[start:stop, :start].T
        tile = K[start:stop, start:stop]
        upper = np.triu_indices(stop - start, 1)
        tile[upper] = tile.T[upper]
    return K


def weights_of_pairs(M: Array) -> Array:
    """p with p'pack(K) = <K, M> for symmetric K: pairs i != j count M_ij + M_ji."""
    p = pack(M + M.T)
    ends = np.cumsum(np.arange(len(M)) + 1) - 1
    p[ends] /= 2.0
    return p
