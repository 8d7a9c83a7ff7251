"""Linear algebra that several packages use."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas

from multikernel._arrays import foreign, host, in_double, like, namespace, taken
from multikernel._typing import Array
from multikernel.tuning import PIECE_VALUES, TILE_ROWS


def as_columns(A: Array) -> Array:
    """A vector as a matrix of one column; a matrix unchanged."""
    if A.ndim == 1:
        return A[:, None]
    return A


def inverse_root(values: Array) -> Array:
    """1 / sqrt(v) entry by entry, 0 where v <= 0 and NaN where v is not finite; in the precision of the values."""
    positive = values > 0
    root = np.where(positive, 1.0 / np.sqrt(np.where(positive, values, 1.0)), 0.0)
    return np.where(np.isfinite(values), root, np.nan).astype(values.dtype)


def product(A: Any, V: Array) -> Array:
    """A V, for A dense or sparse and V of shape (c,) or (c, t).

    Products use SciPy's BLAS, as the factorisations do: idle threads of NumPy's separate BLAS would compete with them,
    which doubled the time of both on two cores. With a large A in single precision and V in double precision, sums are
    in double precision and A is not copied. Where A is of another library, its device computes the product, and the
    result is a NumPy array.
    """
    if foreign(A):
        return host(namespace(A).matmul(A, like(A, V)))
    if isinstance(A, np.ndarray) and A.dtype == np.float32 and V.dtype == np.float64 and A.size > PIECE_VALUES:
        return _in_tiles(A, V)
    contiguous = isinstance(A, np.ndarray) and (A.flags.c_contiguous or A.flags.f_contiguous)
    if not (contiguous and A.dtype == np.float64 and A.size and V.size):
        plain: Array = A @ V
        return plain
    by_rows = bool(A.flags.c_contiguous)
    # BLAS expects arrays that are stored by columns: one stored by rows is the transpose of such an array
    if by_rows:
        stored = A.T
    else:
        stored = A
    result: Array
    if V.ndim == 1:
        result = blas.dgemv(1.0, stored, V, trans=by_rows)
    else:
        result = blas.dgemm(1.0, stored, V, trans_a=by_rows)
    return result


def _in_tiles(A: Array, V: Array) -> Array:
    """A V, with A converted to double precision in tiles of rows, or of columns where A is stored by columns."""
    by_columns = A.flags.f_contiguous and not A.flags.c_contiguous
    out = np.zeros((len(A), *V.shape[1:]))
    length = len(A) if by_columns else A.shape[1]
    step = max(1, PIECE_VALUES // max(1, length))
    end = A.shape[1] if by_columns else len(A)
    for start in range(0, end, step):
        tile = slice(start, start + step)
        if by_columns:
            out += A[:, tile].astype(np.float64) @ V[tile]
        else:
            out[tile] = A[tile].astype(np.float64) @ V
    return out


def squared(F: Array, columns: Array | None = None, weight: Array | None = None) -> Array:
    """F'diag(s)F of some columns of a dense F, symmetric and in double precision; only blocks of rows are copied.

    Parameters
    ----------
    F : array (n, q)
    columns : int array, the columns; all by default
    weight : array (n,), s >= 0; 1 by default
    """
    if foreign(F):
        return _foreign_squared(F, columns, weight)
    q = F.shape[1] if columns is None else len(columns)
    total = np.zeros((q, q), order="F")
    step = max(1, 2 * PIECE_VALUES // max(1, F.shape[1]))
    for start in range(0, len(F), step):
        rows = slice(start, start + step)
        T = F[rows] if columns is None else F[rows][:, columns]
        T = np.ascontiguousarray(T, dtype=np.float64)
        if weight is not None:
            T = T * np.sqrt(weight[rows])[:, None]
        total = blas.dsyrk(1.0, T.T, beta=1.0, c=total, lower=1, overwrite_c=1)
    mirror(total)
    return total


def _foreign_squared(F: Any, columns: Array | None, weight: Array | None) -> Array:
    """``squared`` for an F of another library."""
    if columns is not None:
        F = taken(F, columns, axis=1)
    total = np.zeros((F.shape[1], F.shape[1]))
    step = max(1, 8 * PIECE_VALUES // max(1, F.shape[1]))
    row_slices = (slice(start, start + step) for start in range(0, F.shape[0], step))
    for T, rows in ((in_double(taken(F, rows)), rows) for rows in row_slices):
        total += host(namespace(F).matmul(T.T, T if weight is None else like(T, weight[rows])[:, None] * T))
    return 0.5 * (total + total.T)


def mirror(M: Array) -> None:
    """Copy the lower triangle of a square matrix to the upper one, some columns at a time."""
    for start in range(0, len(M), TILE_ROWS):
        rows = slice(start, start + TILE_ROWS)
        M[rows, rows.stop :] = M[rows.stop :, rows].T
        tile = M[rows, rows]
        tile[:] = np.tril(tile) + np.tril(tile, -1).T
