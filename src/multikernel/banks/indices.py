"""Rows and columns of banks by position, and the precision of their entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._arrays import taken
from multikernel._rules import abbreviated
from multikernel._typing import Array, Columns, Index


def positions(index: Index, n: int) -> Array:
    """Any index of samples as integer positions."""
    return np.arange(n)[index]


def checked_positions(index: Any, n: int) -> Array:
    """The positions of samples that a user's index selects from n samples, shape (selected,).

    Raises
    ------
    IndexError : for a sample that does not exist
    TypeError : where the index is no number, slice, vector of numbers or mask
    ValueError : for a mask of another length
    """
    if isinstance(index, slice):
        return positions(index, n)
    array = np.atleast_1d(np.asarray(index))
    if not array.size:
        array = array.astype(int)
    if array.dtype.kind not in "iub" or array.ndim > 1:
        raise TypeError(f"samples are taken by numbers, a slice or a mask of True and False, got {abbreviated(index)}")
    if array.dtype.kind == "b" and array.shape != (n,):
        raise ValueError(f"a mask has True or False for each of the {n} samples, got shape {array.shape}")
    return positions(array, n)


def columns_of(columns: Columns | None, X: Any) -> Array:
    """Columns of samples as integer positions; None stands for all columns."""
    if columns is None:
        return np.arange(X.shape[1])
    return np.asarray(columns, dtype=int)


def unit_roundoff(dtype: np.dtype[Any]) -> float:
    """2^-53 for double precision, 2^-24 for single."""
    return float(np.finfo(dtype).eps) / 2.0


def same_samples(square: bool, rows: Array, columns: Array) -> bool:
    """Whether a block of these rows and columns is square again."""
    return square and (rows is columns or np.array_equal(rows, columns))


def samples_of_block(X: Any, Z: Any, rows: Index, columns: Index) -> tuple[Any, Any]:
    """Some row samples of X and column samples of Z, as one object where X is Z and the same samples are chosen."""
    r = positions(rows, X.shape[0])
    c = positions(columns, Z.shape[0])
    column_samples = taken(Z, columns if isinstance(columns, slice) else c)  # a slice makes no copy
    if same_samples(X is Z, r, c):
        return column_samples, column_samples
    return taken(X, rows if isinstance(rows, slice) else r), column_samples
