"""Symmetric matrices in LAPACK's packed storage: the upper triangle, column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack

from multikernel._typing import Array
from multikernel.banks.threads import over_rows
from multikernel.tuning import PRODUCT_ROWS


def half_size(n: int) -> int:
    """The number of entries of the packed half of a matrix of order n."""
    return n * (n + 1) // 2


def pack(K: Array) -> Array:
    """The upper triangle of K, column by column: n (n + 1) / 2 values."""
    trttp = lapack.strttp if K.dtype == np.float32 else lapack.dtrttp
    # K.T is the Fortran-ordered view of a C-ordered array; its upper triangle holds the same entries by symmetry
    return trttp(K.T if K.flags.c_contiguous else K, uplo="U")[0]


def unpack(packed: Array, n: int, dtype: Any = None) -> Array:
    """The full symmetric matrix of order n, C-ordered, in ``dtype`` (None: as stored)."""
    from multikernel.banks import _packed

    K = np.empty((n, n), dtype=packed.dtype if dtype is None else dtype)
    over_rows(lambda r: _packed.unpack(packed[pairs_of_rows(r).start :], K, r.start, r.stop), n, PRODUCT_ROWS)
    return K


def full_matrices(entries: Callable[[slice, Array], None], count: int, n: int, pairs: int) -> list[Array]:
    """Full symmetric matrices of order n in double precision, of which only some rows are packed at a time.

    Parameters
    ----------
    entries : function of a slice of pairs and an array (count, pairs), into which it writes the entries of every matrix
    count : int, the number of matrices
    n : int
    pairs : int, about how many pairs are computed at a time
    """
    from multikernel.banks import _packed

    matrices = [np.empty((n, n)) for _ in range(count)]

    def rows(r: slice) -> None:
        pairs_of_slice = pairs_of_rows(r)
        halves = np.empty((count, pairs_of_slice.stop - pairs_of_slice.start))
        entries(pairs_of_slice, halves)
        for K, half in zip(matrices, halves, strict=True):
            _packed.unpack(half, K, r.start, r.stop)

    over_rows(rows, n, max(_packed.MIRRORED, pairs // max(1, n)))
    return matrices


def pairs_of_rows(rows: slice) -> slice:
    """The entries of these rows in a packed half."""
    return slice(half_size(rows.start), half_size(rows.stop))


def weights_of_pairs(M: Array) -> Array:
    """p with p'pack(K) = <K, M> for symmetric K: pairs i != j count M_ij + M_ji."""
    p = pack(M + M.T)
    ends = np.cumsum(np.arange(len(M)) + 1) - 1
    p[ends] /= 2.0
    return p


def products_of_pairs(B: Array, pairs: slice) -> Array:
    """``weights_of_pairs(b b')`` for each row b of B, for some pairs only: shape (rows, pairs).

    No array of the size of b b' is formed, which would exceed the memory for many samples.
    """
    out = np.empty((len(B), pairs.stop - pairs.start))
    done = 0
    i, j = (int(index[0]) for index in packed_pairs(np.array([pairs.start])))
    while done < out.shape[1]:
        count = min(i + 1 - j, out.shape[1] - done)
        np.multiply(2.0 * B[:, i : i + 1], B[:, j : j + count], out=out[:, done : done + count])
        done = done + count
        j = j + count
        if j > i:
            out[:, done - 1] /= 2.0  # the sample with itself counts once
            i = i + 1
            j = 0
    return out


def packed_pairs(numbers: Array) -> tuple[Array, Array]:
    """Row i and column j <= i of the numbered entries of a packed half: entry i (i + 1) / 2 + j."""
    rows = ((np.sqrt(8.0 * numbers + 1.0) - 1.0) / 2.0).astype(np.intp)
    return rows, numbers - rows * (rows + 1) // 2
