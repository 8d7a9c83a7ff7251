"""Products of differences in two columns, as a bank from which a metric inside a kernel is learned.

    D_k = (x_j - z_j) (x_l - z_l),    (j, l) the k-th pair of columns

With all pairs, sum_k M_k D_k = (x - z)'M (x - z). A single pair is not a distance, but this sum is a squared distance
if M is positive semi-definite. Neither pass forms the matrices:

    sum_k M_k D_k     with M = V diag(l) V', squared differences of the samples times V
    <D_k, N>          the entry (j, l) of  X'diag(N 1) X + Z'diag(N'1) Z - X'N Z - Z'N'X
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._floats import SINGULAR
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.categories import NumericColumns, centre, weighted_squares
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import positions, samples_of_block
from multikernel.banks.threads import one_blas_thread, over_tiles


@dataclass(frozen=True, eq=False, repr=False)
class ColumnProductsBank(KernelBank):
    """(x_j - z_j) (x_l - z_l) for pairs (j, l) of columns.

    Parameters
    ----------
    X, Z : arrays (r, c) and (s, c), the row and the column samples; ``X is Z`` makes the bank square
    first, second : int arrays (m,), the two columns of each pair
    columns : the conversion of samples to columns of numbers
    """

    X: Array
    Z: Array
    first: Array
    second: Array
    columns: NumericColumns

    @classmethod
    def of(cls, X: Any) -> ColumnProductsBank:
        """All c^2 pairs of the columns of a training sample, in the order of the rows of a metric.

        Parameters
        ----------
        X : array or CSR matrix (n, p), or a table whose features of strings are categories

        Raises
        ------
        ValueError : where the differences in a feature are beyond double precision
        """
        separate = ColumnDistancesBank.of(X)
        first, second = np.indices((separate.X.shape[1],) * 2).reshape(2, -1)
        return cls(separate.X, separate.X, first, second, separate.columns)

    @property
    def separate(self) -> ColumnDistancesBank:
        """The bank of the squared differences in each column."""
        c = self.Z.shape[1]
        return ColumnDistancesBank(self.X, self.Z, np.arange(c), c, self.columns)

    @cached_property
    def centre(self) -> Array:
        """The medians of the column samples."""
        return centre(self.Z)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.X), len(self.Z)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def square(self) -> bool:
        return self.X is self.Z

    @property
    def of_distances(self) -> bool:
        return True

    # -- passes --------------------------------------------------------------------------------------------------

    def tiles(self, rows: Index) -> Iterator[Array]:
        X = self.X[rows]
        for j, k in zip(self.first, self.second, strict=True):
            yield (X[:, j, None] - self.Z[:, j]) * (X[:, k, None] - self.Z[:, k])

    def combine_all(self, W: Array) -> list[Gram]:
        return [DenseGram(self._metric_distances(self._metric(w))) for w in np.asarray(W, dtype=float)]

    def inner(self, M: Array) -> Array:
        X = self.X - self.centre
        Z = self.Z - self.centre

        def sums_of_rows(rows: slice) -> tuple[Array, Array]:
            tile = M[rows]
            X_rows = X[rows]
            crossed = X_rows.T @ (tile @ Z)
            return (X_rows.T * tile.sum(axis=1)) @ X_rows - crossed - crossed.T, tile.sum(axis=0)

        with one_blas_thread(0):
            sums_of_tiles = over_tiles(sums_of_rows, M.shape)
        if not sums_of_tiles:
            return np.zeros(len(self))
        column_sums = np.sum([columns for _, columns in sums_of_tiles], axis=0)
        total = np.sum([sums for sums, _ in sums_of_tiles], axis=0) + (Z.T * column_sums) @ Z
        return np.asarray(total[self.first, self.second])

    def diagonal(self) -> Array:
        self._check_square()
        return np.zeros((len(self), len(self.X)))

    # -- blocks, new samples -------------------------------------------------------------------------------------

    def block(self, rows: Index, columns: Index) -> ColumnProductsBank:
        X, Z = samples_of_block(self.X, self.Z, rows, columns)
        return replace(self, X=X, Z=Z)

    def select(self, index: Index) -> ColumnProductsBank:
        chosen = positions(index, len(self))
        return replace(self, first=self.first[chosen], second=self.second[chosen])

    def cross(self, X: Any) -> ColumnProductsBank:
        return replace(self, X=self.columns.numbers(X))

    def self_values(self, X: Any) -> Array:
        return np.zeros((len(self), X.shape[0]))

    # -- steps of passes -----------------------------------------------------------------------------------------

    def _metric(self, w: Array) -> Array:
        """The symmetric matrix M with these entries: shape (c, c)."""
        M = np.zeros((self.Z.shape[1],) * 2)
        np.add.at(M, (self.first, self.second), 0.5 * w)
        return M + M.T

    def _metric_distances(self, M: Array) -> Array:
        """(x - z)'M (x - z), with columns scaled to the same spread, without which eigenvalues would lose digits."""
        width = np.ptp(self.Z, axis=0) if len(self.Z) else np.ones(len(M))
        width = np.where(width > 0.0, width, 1.0)
        values, V = np.linalg.eigh(width[:, None] * M * width)
        values[np.abs(values) <= SINGULAR * np.abs(values).max(initial=0.0)] = 0.0
        Z = ((self.Z - self.centre) / width) @ V
        D = weighted_squares(values, Z if self.square else ((self.X - self.centre) / width) @ V, Z)
        if self.square:
            np.fill_diagonal(D, 0.0)
        return D
