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


def samples(index: Any, n: int) -> Array:
    """The positions that a user's index of n samples means, shape (samples,).

    Raises
    ------
    IndexError : for a sample that is not there
    TypeError : where the index is no number, slice, vector of numbers or mask
    ValueError : for a mask of another length
    """
    if isinstance(index, slice):
        return positions(index, n)
    given = np.atleast_1d(np.asarray(index))
    if not given.size:
        given = given.astype(int)
    if given.dtype.kind not in "iub" or given.ndim > 1:
        raise TypeError(f"samples are taken by numbers, a slice or a mask of True and False, got {abbreviated(index)}")
    if given.dtype.kind == "b" and given.shape != (n,):
        raise ValueError(f"a mask has True or False for each of the {n} samples, got shape {given.shape}")
    return positions(given, n)


def columns_of(columns: Columns | None, X: Any) -> Array:
    """Columns of samples as integer positions; all of them where None are given."""
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
    """Some of the row samples X and of the column samples Z; one object where they are the same, as X is Z is."""
    r = positions(rows, X.shape[0])
    c = positions(columns, Z.shape[0])
    some = taken(Z, columns if isinstance(columns, slice) else c)  # a slice makes no copy
    if same_samples(X is Z, r, c):
        return some, some
    return taken(X, rows if isinstance(rows, slice) else r), some
