"""Samples with columns of categories, and with missing cells, as columns of numbers.

A column of K categories becomes K + 1 columns, one of which is 2^(-1/q) and the others 0: the sum of |x - z|^q over
these columns is 0 for equal categories and 1 for different ones. The last column is for categories that the training
sample does not have, which thus differ from all categories of training. Missing cells count as one more category.

A missing number is replaced by the median of the training sample, and the column gets an indicator beside it that is 1
for missing cells and 0 for others. Distances in the indicator are a separate group, since it may be informative that a
number is missing. Columns without missing numbers in training have no indicator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks.threads import one_blas_thread, over_tiles
from multikernel.kernels.samples import dense
from multikernel.tables.table import Table, as_table, with_missing


@dataclass(frozen=True, eq=False)
class NumericColumns:
    """The conversion of samples to columns of numbers.

    Parameters
    ----------
    p : int, the number of features
    strings : int array (s,), the features that are categories
    levels : the categories of each of these, as sorted tuples of strings; None, for missing cells, comes last
    degree : 2 or 1, q
    holes : int array (h,), the features of numbers with missing cells in training
    fill : array (p,), the replacement of missing numbers
    """

    p: int
    strings: Array
    levels: tuple[tuple[str | None, ...], ...]
    degree: int
    holes: Array
    fill: Array

    @classmethod
    def of(cls, X: Any, degree: int) -> NumericColumns:
        """The conversion for a training sample, which is a table, an array or a CSR matrix."""
        table = as_table(with_missing(X))
        if table is None:
            if X.shape[0]:
                fill = np.median(dense(X), axis=0)
            else:
                fill = np.zeros(X.shape[1])
            return cls(int(X.shape[1]), np.arange(0), (), degree, np.arange(0), fill)
        absent = np.isnan(table.numbers)
        present_values = [column[~is_absent] for column, is_absent in zip(table.numbers.T, absent.T, strict=True)]
        fill = np.array([np.median(column) if len(column) else 0.0 for column in present_values])
        holes = np.setdiff1d(np.flatnonzero(absent.any(axis=0)), table.strings)
        return cls(table.shape[1], table.strings, tuple(_levels(c) for c in table.texts.T), degree, holes, fill)

    @property
    def features(self) -> Array:
        """The feature of each column: first those of numbers, then of categories, then of indicators."""
        numbers = np.setdiff1d(np.arange(self.p), self.strings)
        categories = np.repeat(self.strings, [len(levels) + 1 for levels in self.levels])
        return np.concatenate([numbers, categories, self.holes]).astype(int)

    @property
    def plain(self) -> bool:
        """Whether the columns are the features themselves, without categories and indicators."""
        return not (len(self.strings) or len(self.holes))

    def numbers(self, X: Any) -> Array:
        """Samples as an array of double precision."""
        table = as_table(with_missing(X))
        if table is None and not len(self.strings):
            values = np.array(dense(X), dtype=np.float64)
            if self.plain:
                return values
            return np.hstack([values, np.zeros((len(values), len(self.holes)))])
        if table is None or not np.array_equal(table.strings, self.strings):
            raise ValueError(f"samples need strings in columns {', '.join(map(str, self.strings))}, as in training")
        absent = np.isnan(table.numbers)
        filled = np.delete(np.where(absent, self.fill, table.numbers), self.strings, axis=1)
        indicators = [self._indicators(table, k) for k in range(len(self.strings))]
        return np.hstack([filled, *indicators, absent[:, self.holes]]).astype(np.float64)

    def _indicators(self, table: Table, k: int) -> Array:
        number = {level: i for i, level in enumerate(self.levels[k])}
        level_numbers = [number.get(text, len(number)) for text in table.texts[:, k]]
        return 0.5 ** (1.0 / self.degree) * np.eye(len(number) + 1)[level_numbers]


def _levels(column: Array) -> tuple[str | None, ...]:
    levels = set(column)
    return (*sorted(levels - {None}), *([None] if None in levels else []))


def centre(Z: Array) -> Array:
    """The medians of the columns; differences of samples lose fewer digits when these are subtracted first.

    A mean would be moved by a single value that is far from all others, whose differences would then lose digits.
    """
    if not len(Z):
        return np.zeros(Z.shape[1])
    return np.asarray(np.median(Z, axis=0))


def weighted_squares(s: Array, X: Array, Z: Array) -> Array:
    """sum_j s_j (x_j - z_j)^2 for all pairs of centred samples, shape (len(X), len(Z)); factors may be negative."""
    nonzero = s != 0.0
    s = s[nonzero]
    X = X[:, nonzero]
    Z = Z[:, nonzero]
    with np.errstate(over="ignore"):  # new samples may be infinitely far away
        squares_of_X = _sums(X * X, s)
        squares_of_Z = _sums(Z * Z, s)
        clip = bool((s >= 0.0).all())
    D = np.empty((len(X), len(Z)))
    factors = X * (-2.0 * s)

    def fill_rows(rows: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            tile = np.matmul(factors[rows], Z.T, out=D[rows])
            tile += squares_of_X[rows, None]
            tile += squares_of_Z
            if clip:
                np.maximum(tile, 0.0, out=tile)

    with one_blas_thread(0):  # the rows are distributed among threads
        over_tiles(fill_rows, D.shape)
    return D


def _sums(squares: Array, s: Array) -> Array:
    """sum_j s_j x_j^2 of each sample, without the threads of NumPy's BLAS."""
    return np.einsum("ij,j->i", squares, s)
