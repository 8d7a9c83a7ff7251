"""The matrix B of one kernel or distance, stored, or computed on demand in blocks.

    B_ij = base(x_i, z_j)

Where the base is a cosine, k(x, z) / sqrt(k(x, x) k(z, z)), the inverse roots are stored with the samples: a block is
then one product and one pass over it, limited to [-1, 1] and exactly 1 for a sample with itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._arrays import part_of
from multikernel._linalg import inverse_root
from multikernel._typing import Array, Index
from multikernel.banks.indices import positions
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import OfDistance
from multikernel.kernels.views import Normalized


@dataclass(frozen=True, eq=False)
class MatrixSamples:
    """The samples that are the rows or the columns of a matrix.

    Parameters
    ----------
    values : array or CSR matrix (n, p)
    roots : array (n,), the inverse roots of their self-values, 0 where these are 0; None unless the base is a cosine
    ids : int array (n,), the same for a row and a column that are one sample; -1 for new samples
    """

    values: Any
    roots: Array | None
    ids: Array

    @classmethod
    def of(cls, base: Kernel | OfDistance, values: Any, in_training: bool) -> MatrixSamples:
        """Samples of a base kernel; ``in_training`` says whether they are the training sample."""
        n = values.shape[0]
        ids = np.arange(n) if in_training else np.full(n, -1)
        if not isinstance(base, Normalized):
            return cls(values, None, ids)
        return cls(values, inverse_root(base.kernel.diagonal(values)).astype(values.dtype), ids)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def take(self, index: Index) -> MatrixSamples:
        """Some of the samples."""
        return MatrixSamples(self.values[index], part_of(self.roots, index), self.ids[index])


@dataclass(frozen=True, eq=False)
class BaseMatrix:
    """The matrix B; its rows and columns are the same object where they are the same samples.

    Parameters
    ----------
    base : a kernel, or a distance on some columns
    rows, columns : MatrixSamples
    stored : array (r, c), B itself; None where blocks of it are computed on demand
    """

    base: Kernel | OfDistance
    rows: MatrixSamples
    columns: MatrixSamples
    stored: Array | None = None

    @classmethod
    def of(cls, base: Kernel | OfDistance, X: Any) -> BaseMatrix:
        """The square matrix on a training sample, not stored."""
        samples = MatrixSamples.of(base, X, in_training=True)
        return cls(base, samples, samples)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    @property
    def square(self) -> bool:
        return self.rows is self.columns

    @property
    def dtype(self) -> np.dtype[Any]:
        if self.stored is None:
            return self.columns.values.dtype
        return self.stored.dtype

    def part(self, rows: Index, columns: Index) -> BaseMatrix:
        """The block of some rows and columns, which counts as rectangular."""
        stored = None if self.stored is None else self.entries(rows, columns)
        return BaseMatrix(self.base, self.rows.take(rows), self.columns.take(columns), stored)

    def principal(self, index: Index) -> BaseMatrix:
        """The square matrix of some samples."""
        samples = self.columns.take(index)
        return BaseMatrix(self.base, samples, samples, None if self.stored is None else self.entries(index, index))

    def entries(self, rows: Index, columns: Index = slice(None)) -> Array:
        """The entries of B at some rows and columns, dense and C-ordered."""
        if self.stored is None:
            return self.part(rows, columns).values()
        all_columns = isinstance(columns, slice) and columns == slice(None)
        r, c = self.shape
        return self.stored[rows if all_columns else np.ix_(positions(rows, r), positions(columns, c))]

    def against(self, X: Any) -> BaseMatrix:
        """The matrix of new samples against the columns, stored if this matrix is."""
        matrix = BaseMatrix(self.base, MatrixSamples.of(self.base, X, in_training=False), self.columns)
        if self.stored is None:
            return matrix
        return replace(matrix, stored=matrix.values().astype(self.dtype, copy=False))

    def values(self) -> Array:
        """All entries of B, dense and C-ordered; exactly symmetric where B is square."""
        if self.stored is not None:
            return self.stored
        X = self.rows.values
        Z = None if self.square else self.columns.values
        if self.rows.roots is None or self.columns.roots is None or not isinstance(self.base, Normalized):
            return np.ascontiguousarray(self.base(X, Z), dtype=self.dtype)
        from multikernel.banks import _powers

        B = np.ascontiguousarray(self.base.kernel(X, Z), dtype=self.dtype)
        _powers.cosines(B, self.rows.roots, self.columns.roots)
        _, i, j = np.intersect1d(self.rows.ids, self.columns.ids, return_indices=True)
        B[i, j] = self.columns.roots[j] > 0
        return B

    def diagonal(self) -> Array:
        """B_ii of a square matrix."""
        if self.stored is None:
            return self.base.diagonal(self.columns.values)
        return np.diagonal(self.stored)
