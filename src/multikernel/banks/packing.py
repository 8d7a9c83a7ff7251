"""Symmetric matrices in LAPACK's packed storage: the upper triangle, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from multikernel._typing import Array
from multikernel.banks.threads import over_rows

_ROWS = 512  # of a matrix that a thread unpacks at a time


def pack(K: Array) -> Array:
    """The upper triangle of K, column by column: n (n + 1) / 2 values."""
    trttp = lapack.strttp if K.dtype == np.float32 else lapack.dtrttp
    # K.T is the Fortran-ordered view of a C-ordered array; its upper triangle holds the same entries by symmetry
    return trttp(K.T if K.flags.c_contiguous else K, uplo="U")[0]


def unpack(packed: Array, n: int, dtype: Any = None) -> Array:
    """The whole symmetric matrix of order n, C-ordered, in ``dtype`` (None: as stored)."""
    from multikernel.banks import _packed

    K = np.empty((n, n), dtype=packed.dtype if dtype is None else dtype)
    over_rows(lambda r: _packed.unpack(packed, K, r.start, r.stop), n, _ROWS)
    return K


def weights_of_pairs(M: Array) -> Array:
    """p with p'pack(K) = <K, M> for symmetric K: pairs i != j count M_ij + M_ji."""
    p = pack(M + M.T)
    ends = np.cumsum(np.arange(len(M)) + 1) - 1
    p[ends] /= 2.0
    return p


def packed_positions(rows: Array, columns: Array) -> Array:
    """The numbers, in a packed half, of the entries in these rows and columns."""
    high, low = np.maximum(rows, columns), np.minimum(rows, columns)
    return high * (high + 1) // 2 + low


def packed_pairs(numbers: Array) -> tuple[Array, Array]:
    """Row i and column j <= i of the numbered entries of a packed half: entry i (i + 1) / 2 + j."""
    rows = ((np.sqrt(8.0 * numbers + 1.0) - 1.0) / 2.0).astype(np.intp)
    return rows, numbers - rows * (rows + 1) // 2
