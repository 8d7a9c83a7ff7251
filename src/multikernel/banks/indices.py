"""Rows and columns of banks by position, and the precision of their entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._typing import Array, Index


def positions(index: Index, n: int) -> Array:
    """Any index of samples as integer positions."""
    return np.arange(n)[index]


def unit_roundoff(dtype: np.dtype[Any]) -> float:
    """2^-53 for double precision, 2^-24 for single."""
    return float(np.finfo(dtype).eps) / 2.0


def same_samples(square: bool, rows: Array, columns: Array) -> bool:
    """Whether a block of these rows and columns is square again."""
    return square and (rows is columns or np.array_equal(rows, columns))
