"""Samples with columns of strings beside columns of numbers, in a form that kernels and banks take.

A bank asks samples for their shape, their precision, some of their rows and some of their columns, and a table answers
as an array does. Where the chosen columns hold numbers only the answer is an array: kernels of numbers never see a
table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array


@dataclass(frozen=True, eq=False)
class StringTable:
    """Samples with at least one column of strings.

    Parameters
    ----------
    numbers : float array (n, p), NaN in the columns of strings
    texts : object array (n, s) of str
    strings : integer array (s,), the columns of strings
    """

    numbers: Array
    texts: Array
    strings: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.numbers.shape[0], self.numbers.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision in which kernels of the samples are evaluated."""
        return self.numbers.dtype

    def __len__(self) -> int:
        return len(self.numbers)

    def astype(self, dtype: Any) -> StringTable:
        return StringTable(self.numbers.astype(dtype), self.texts, self.strings)

    def __getitem__(self, index: Any) -> Any:
        """Rows, or a pair of rows and columns: a table again, or an array where no string is left."""
        rows, columns = index if isinstance(index, tuple) else (index, slice(None))
        chosen = np.arange(self.shape[1])[columns]
        numbers = self.numbers[rows][:, chosen]
        strings = np.flatnonzero(np.isin(chosen, self.strings))
        if not len(strings):
            return numbers
        where = {column: s for s, column in enumerate(self.strings.tolist())}
        texts = self.texts[rows][:, [where[c] for c in chosen[strings].tolist()]]
        return StringTable(numbers, texts, strings)


def as_table(X: Any) -> StringTable | None:
    """Samples that hold strings, as a table; None where X holds no string.

    Parameters
    ----------
    X : list, array or Series of n strings (one column), array (n, p) of objects, or data frame

    Raises
    ------
    ValueError : where a column holds strings in some rows only, or another column is not of finite numbers.
    """
    if isinstance(X, StringTable):
        return X
    values = _objects(X)
    is_string = np.array([[isinstance(value, str) for value in column] for column in values.T], dtype=bool)
    strings = np.flatnonzero(is_string.any(axis=1)) if values.size else np.arange(0)
    if not len(strings):
        return None
    names = [repr(name) for name in X.columns] if hasattr(X, "columns") else [str(j) for j in range(values.shape[1])]
    for j in strings:
        if not is_string[j].all():
            row = int(np.argmin(is_string[j]))
            raise ValueError(
                f"column {names[j]} of X holds strings, but {values[row, j]!r} in row {row}: fill in what is missing "
                "(an empty string is a string), or leave the row out"
            )
    numbers = np.full(values.shape, np.nan)
    for j in np.setdiff1d(np.arange(values.shape[1]), strings):
        numbers[:, j] = _floats(values[:, j], names[j])
    return StringTable(numbers, values[:, strings], strings)


def _objects(X: Any) -> Array:
    """Samples that may hold strings, as an object array (n, p); an empty one where their form says that they do not."""
    none = np.empty((0, 0), dtype=object)
    if hasattr(X, "tocsr"):
        return none
    try:
        values = np.asarray(X)
    except ValueError:  # rows of different lengths: the checks of numbers refuse them
        return none
    if values.dtype.kind not in "OUT" or values.ndim not in (1, 2):
        return none
    objects: Array = np.asarray(X, dtype=object)  # numbers beside strings would have become strings
    return objects.reshape(len(objects), -1) if objects.size else none


def _floats(values: Array, name: str) -> Array:
    """A column of finite numbers."""
    try:
        numbers: Array = values.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"column {name} of X holds neither strings nor numbers") from None
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise ValueError(f"column {name} of X holds {numbers[row]} in row {row}, where a finite number is needed")
    return numbers
