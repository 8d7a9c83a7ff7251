"""Samples with columns of categories, and with missing cells, as columns of numbers.

A column of K categories becomes K + 1 columns, of which one holds 2^(-1/q) and the others 0: the sum of |x - z|^q over
these is 0 for the same category and 1 for two different ones. The last column is for categories that the training
sample does not have, which differ from all of its own. A missing category is a category.

A missing number is the median of the training sample, and beside it stands a column that is 1 for missing cells and 0
for others, of which the distance is a group of its own: whether a number is missing may carry information. Where the
training sample has no missing number there is none.
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
    """How samples become columns of numbers.

    Parameters
    ----------
    p : int, features of the samples
    strings : int array (s,), the features that are categories
    levels : the categories of each of these, as tuples of strings, sorted; None, the missing one, last
    degree : 2 or 1, q
    holes : int array (h,), the features of numbers that miss some
    fill : array (p,), what a missing number is taken to be
    """

    p: int
    strings: Array
    levels: tuple[tuple[str | None, ...], ...]
    degree: int
    holes: Array
    fill: Array

    @classmethod
    def of(cls, X: Any, degree: int) -> NumericColumns:
        """For a training sample: a table, an array or a CSR matrix."""
        table = as_table(with_missing(X))
        if table is None:
            if X.shape[0]:
                fill = np.median(dense(X), axis=0)
            else:
                fill = np.zeros(X.shape[1])
            return cls(int(X.shape[1]), np.arange(0), (), degree, np.arange(0), fill)
        absent = np.isnan(table.numbers)
        known = [column[~gone] for column, gone in zip(table.numbers.T, absent.T, strict=True)]
        fill = np.array([np.median(column) if len(column) else 0.0 for column in known])
        holes = np.setdiff1d(np.flatnonzero(absent.any(axis=0)), table.strings)
        return cls(table.shape[1], table.strings, tuple(_levels(c) for c in table.texts.T), degree, holes, fill)

    @property
    def features(self) -> Array:
        """The feature that each column of numbers comes from: the numbers, the categories, the missing numbers."""
        numbers = np.setdiff1d(np.arange(self.p), self.strings)
        categories = np.repeat(self.strings, [len(levels) + 1 for levels in self.levels])
        return np.concatenate([numbers, categories, self.holes]).astype(int)

    @property
    def plain(self) -> bool:
        """Whether samples are their own columns."""
        return not (len(self.strings) or len(self.holes))

    def numbers(self, X: Any) -> Array:
        """Samples as an array of double precision."""
        table = as_table(with_missing(X))
        if table is None and not len(self.strings):
            own = np.array(dense(X), dtype=np.float64)
            if self.plain:
                return own
            return np.hstack([own, np.zeros((len(own), len(self.holes)))])
        if table is None or not np.array_equal(table.strings, self.strings):
            raise ValueError(f"samples need strings in columns {', '.join(map(str, self.strings))}, as in training")
        absent = np.isnan(table.numbers)
        filled = np.delete(np.where(absent, self.fill, table.numbers), self.strings, axis=1)
        indicators = [self._indicators(table, k) for k in range(len(self.strings))]
        return np.hstack([filled, *indicators, absent[:, self.holes]]).astype(np.float64)

    def _indicators(self, table: Table, k: int) -> Array:
        number = {level: i for i, level in enumerate(self.levels[k])}
        place = [number.get(text, len(number)) for text in table.texts[:, k]]
        return 0.5 ** (1.0 / self.degree) * np.eye(len(number) + 1)[place]


def _levels(column: Array) -> tuple[str | None, ...]:
    found = set(column)
    return (*sorted(found - {None}), *([None] if None in found else []))


def centre(Z: Array) -> Array:
    """The medians of the columns, from which samples are measured: differences do not depend on it, their digits do.

    A mean would follow a single value that is far from all others, and take digits from the differences of these.
    """
    if not len(Z):
        return np.zeros(Z.shape[1])
    return np.asarray(np.median(Z, axis=0))


def weighted_squares(s: Array, X: Array, Z: Array) -> Array:
    """sum_j s_j (x_j - z_j)^2 of all pairs of samples around zero, shape (len(X), len(Z)); factors may be negative."""
    used = s != 0.0
    s = s[used]
    X = X[:, used]
    Z = Z[:, used]
    with np.errstate(over="ignore"):  # new samples may be infinitely far away
        left = _sums(X * X, s)
        right = _sums(Z * Z, s)
        clip = bool((s >= 0.0).all())
    D = np.empty((len(X), len(Z)))
    factors = X * (-2.0 * s)

    def part(rows: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            tile = np.matmul(factors[rows], Z.T, out=D[rows])
            tile += left[rows, None]
            tile += right
            if clip:
                np.maximum(tile, 0.0, out=tile)

    with one_blas_thread(0):  # the rows are shared out among threads
        over_tiles(part, D.shape)
    return D


def _sums(squares: Array, s: Array) -> Array:
    """sum_j s_j x_j^2 of each sample, without the threads of NumPy's BLAS."""
    return np.einsum("ij,j->i", squares, s)
