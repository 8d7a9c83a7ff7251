"""Samples that are more than finite numbers: columns of strings and of dates, and missing cells.

A table has the interface that banks need of an array: shape, precision, selection of rows and columns. A selection of
columns without strings is an array, so that kernels of numbers never receive a table. Dates and durations are numbers
of days. A missing cell is NaN among numbers and None among strings; kernels that do not accept missing cells are
refused beforehand, by the properties of columns in ``kernels.Features``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._arrays import is_sparse
from multikernel._typing import Array
from multikernel.tables.cells import Cells, check_names, columns_of, frame_columns, is_frame, is_plain
from multikernel.tables.objects import Objects


@dataclass(frozen=True, eq=False)
class Table:
    """Samples with columns of strings or dates, or with missing cells.

    Parameters
    ----------
    numbers : float array (n, p), NaN in the columns of strings and in missing cells
    texts : object array (n, s) of str, and None in missing cells
    strings : integer array (s,), the columns of strings
    times : integer array, the columns of dates and of durations
    """

    numbers: Array
    texts: Array
    strings: Array
    times: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.numbers.shape[0], self.numbers.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision in which kernels of the samples are evaluated."""
        return self.numbers.dtype

    @property
    def missing(self) -> Array:
        """The columns with missing cells."""
        absent = np.asarray(np.isnan(self.numbers).any(axis=0))
        absent[self.strings] = [any(text is None for text in column) for column in self.texts.T]
        return np.flatnonzero(absent)

    @property
    def absent(self) -> Array:
        """Whether all cells of a sample are missing, shape (n,)."""
        cells = np.isnan(self.numbers)
        cells[:, self.strings] = [[text is None for text in row] for row in self.texts]
        return np.asarray(cells.all(axis=1))

    @classmethod
    def of_numbers(cls, numbers: Array) -> Table:
        """A table of numbers with missing cells."""
        none = np.arange(0)
        return cls(numbers, np.empty((len(numbers), 0), dtype=object), none, none)

    @classmethod
    def of_columns(cls, columns: Sequence[Cells], n: int) -> Table:
        """A table of these columns, of n samples."""
        strings = [j for j, column in enumerate(columns) if column.kind == "strings"]
        numbers = np.full((n, len(columns)), np.nan)
        for j, column in enumerate(columns):
            if column.kind != "strings":
                numbers[:, j] = column.values
        texts = np.empty((n, len(strings)), dtype=object)
        for s, j in enumerate(strings):
            texts[:, s] = columns[j].values
        times = [j for j, column in enumerate(columns) if column.kind in ("dates", "durations")]
        return cls(numbers, texts, np.array(strings, dtype=int), np.array(times, dtype=int))

    def __len__(self) -> int:
        return len(self.numbers)

    def astype(self, dtype: Any) -> Table:
        return replace(self, numbers=self.numbers.astype(dtype))

    def among(self, rows: Array) -> Table:
        """Some of the samples; always a table."""
        return replace(self, numbers=self.numbers[rows], texts=self.texts[rows])

    def __getitem__(self, index: Any) -> Any:
        """Some rows, or some rows and columns: a table, or an array where no column of strings is selected."""
        if isinstance(index, tuple):
            rows, columns = index
        else:
            rows, columns = (index, slice(None))
        chosen = np.arange(self.shape[1])[columns]
        numbers = self.numbers[rows][:, chosen]
        strings = np.flatnonzero(np.isin(chosen, self.strings))
        times = np.flatnonzero(np.isin(chosen, self.times))
        if not len(strings):
            return numbers
        where = {column: s for s, column in enumerate(self.strings.tolist())}
        texts = self.texts[rows][:, [where[c] for c in chosen[strings].tolist()]]
        return Table(numbers, texts, strings, times)

    def with_types(self, strings: tuple[int, ...], times: tuple[int, ...]) -> Table:
        """The same samples, where columns without any value have the type of strings or of dates if listed there."""
        empty = set(np.flatnonzero(np.isnan(self.numbers).all(axis=0)).tolist()) - set(self.strings.tolist())
        dates = (set(self.times.tolist()) - empty) | empty.intersection(times)
        added_strings = sorted(empty.intersection(strings))
        all_strings = np.append(self.strings, added_strings).astype(int)
        order = np.argsort(all_strings)
        nothing = np.full((len(self), len(added_strings)), None, dtype=object)
        texts = np.hstack([self.texts, nothing])[:, order]
        return Table(self.numbers, texts, all_strings[order], np.array(sorted(dates), dtype=int))


def as_table(X: Any) -> Table | None:
    """Samples that are more than finite numbers, as a table; None where they are not.

    Parameters
    ----------
    X : list, array or Series of n strings (one column), array (n, p) of objects, or data frame

    Raises
    ------
    ValueError : where a column mixes strings and other values, or holds values that are no numbers, strings or dates
    """
    if isinstance(X, Table):
        return X
    if isinstance(X, Objects):
        return None
    if is_frame(X):
        return _of_frame(X)
    values = _objects(X)
    is_string = np.array([[isinstance(value, str) for value in column] for column in values.T], dtype=bool)
    if not is_string.any():
        return None
    return Table.of_columns(list(columns_of(values)), len(values))


def with_missing(X: Any) -> Any:
    """A table for an array with missing numbers (NaN); otherwise X itself."""
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f" and np.isnan(X).any()):
        return X
    return Table.of_numbers(X)


def as_samples(X: Any) -> Any:
    """Samples for kernels: a table or an array for a data frame, strings and nested lists; otherwise X itself."""
    table = as_table(X)
    if table is not None:
        return table
    if hasattr(X, "dtype"):
        return X
    return np.asarray(X)


def _of_frame(X: Any) -> Table | None:
    if X.shape[0] == 0:
        return None
    check_names(X)
    if is_plain(X):
        values = np.asarray(X)
        if values.dtype.kind != "O":
            absent = values.dtype.kind == "f" and np.isnan(values).any()
            if absent:
                return Table.of_numbers(values)
            return None
    table = Table.of_columns(list(frame_columns(X)), X.shape[0])
    if len(table.strings) or len(table.times) or len(table.missing):
        return table
    return None


def _objects(X: Any) -> Array:
    """Samples that may contain strings, as an object array (n, p); an empty one where their type excludes strings."""
    none = np.empty((0, 0), dtype=object)
    if is_sparse(X):
        return none
    try:
        values = np.asarray(X)
    except ValueError:  # rows of different lengths: the checks of numbers refuse them
        return none
    if values.dtype.kind not in "OUT" or values.ndim not in (1, 2):
        return none
    objects: Array = np.asarray(X, dtype=object)  # in ``values`` numbers of mixed rows have become strings
    if objects.size:
        return objects.reshape(len(objects), -1)
    return none
