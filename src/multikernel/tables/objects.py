"""Samples that are objects: graphs, molecules, sets, series of different lengths, whatever a kernel compares.

They are never read as cells of a table. A bank asks samples for their shape, their precision and some of their rows,
and objects answer as an array of one column does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from numbers import Number
from typing import Any, ClassVar

import numpy as np

from multikernel._arrays import is_null, is_sparse
from multikernel._typing import Array
from multikernel.tables.cells import is_frame

_CELLS = (str, bytes, Number, np.generic, date, timedelta, type(None))  # what a cell of a table may hold


@dataclass(frozen=True, eq=False)
class Objects:
    """n samples, each of them one object.

    Parameters
    ----------
    values : object array (n,)
    """

    values: Array
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)  # the precision of their kernels

    @classmethod
    def of(cls, items: Iterable[Any]) -> Objects:
        """Of any sequence; its items stay the same objects."""
        found = list(items)
        values = np.empty(len(found), dtype=object)
        for i, item in enumerate(found):  # at once NumPy would take lists of equal length for rows
            values[i] = item
        return cls(values)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.values), 1

    @property
    def absent(self) -> Array:
        """Which samples are missing: None, NaN, NaT or the NA of pandas; shape (n,)."""
        return np.array([value is None or is_null(value) for value in self.values], bool)

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return self.values

    def __getitem__(self, index: Any) -> Objects:
        """Some of the samples; of a pair of rows and columns the rows, as there is one column."""
        return Objects(self.values[index[0] if isinstance(index, tuple) else index])

    def astype(self, dtype: Any) -> Objects:
        return self


def as_objects(X: Any) -> Objects | None:
    """Samples as objects; None for a matrix of numbers, a data frame and other tables.

    Parameters
    ----------
    X : list, tuple, array of objects or strings with one axis or one column, Series of these, or an array with three
        axes or more, whose samples are arrays themselves
    """
    if isinstance(X, Objects):
        return X
    if isinstance(X, list | tuple):
        return Objects.of(X)
    if is_frame(X) or is_sparse(X) or not hasattr(X, "ndim"):
        return None
    if X.ndim > 2:
        return Objects.of(X)
    if getattr(X.dtype, "kind", "") not in "OUT" or (X.ndim == 2 and X.shape[1] != 1):
        return None
    return Objects.of(X if X.ndim == 1 else X[:, 0])


def complete(objects: Objects) -> Objects:
    """Objects of which none is missing; a ValueError names the first that is."""
    absent = np.flatnonzero(objects.absent)
    if len(absent):
        raise ValueError(
            f"X contains NaN or None, first at row {absent[0]}: leave the sample out, or give the objects as a view, "
            "which a sample may lack"
        )
    return objects


def holds_cells(items: Any) -> bool:
    """Whether a list can be a table: what it holds are cells, or rows of cells."""
    cells = [cell for item in items for cell in (item if isinstance(item, list | tuple) else (item,))]
    return all(isinstance(cell, _CELLS) or hasattr(cell, "__array__") for cell in cells)
