"""Samples that are objects: graphs, molecules, sets, series of different lengths, anything that a kernel compares.

Objects are never read as cells of a table. They have the interface that banks need of an array of one column: shape,
precision and selection of rows.
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

_CELLS = (str, bytes, Number, np.generic, date, timedelta, type(None))  # types of the cells of a table


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
        """The items of a sequence as samples, without copying them."""
        objects = list(items)
        values = np.empty(len(objects), dtype=object)
        for i, item in enumerate(objects):  # one by one, because NumPy would read lists of equal length as rows
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
        """Some of the samples; with rows and columns only the rows count, as there is one column."""
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
    """The objects, if none is missing; otherwise a ValueError names the first missing one."""
    absent = np.flatnonzero(objects.absent)
    if len(absent):
        raise ValueError(
            f"X contains NaN or None, first at row {absent[0]}: leave the sample out, or give the objects as a view, "
            "which a sample may lack"
        )
    return objects


def holds_cells(items: Any) -> bool:
    """Whether a list can be a table: its items are cells, or rows of cells."""
    cells = [cell for item in items for cell in (item if isinstance(item, list | tuple) else (item,))]
    return all(isinstance(cell, _CELLS) or hasattr(cell, "__array__") for cell in cells)
