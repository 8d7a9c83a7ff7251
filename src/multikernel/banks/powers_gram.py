"""A polynomial of one matrix, whose entries are computed on demand.

    K = sum_d c_d B^{o d}

A product K V uses only the columns of B where V is not zero, tile by tile: memory is that of one tile, and time is
proportional to these columns. Where B is not stored either, a tile is a product of samples, which reads all of its rows
and columns: it is as square as it can be, since a product of 64 rows with 50,000 columns takes 1.7 times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel.banks.base_matrix import BaseMatrix
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.threads import one_blas_thread, over_rows, slices
from multikernel.numerics.cholesky import factor_of, solved
from multikernel.tuning import PIECE_VALUES, PRODUCT_ROWS, TILE_ROWS


@dataclass(frozen=True, eq=False)
class PowersGram(Gram):
    """sum_d coef_d B^d.

    Parameters
    ----------
    matrix : BaseMatrix, B
    coef : array, c_0, c_1, ... in the precision of B
    """

    matrix: BaseMatrix
    coef: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    @property
    def stored(self) -> bool:
        return False

    def multiply(self, V: Array) -> Array:
        from multikernel.banks import _dense

        columns = as_columns(V)
        S = np.flatnonzero(columns.any(axis=1))
        factors = np.ascontiguousarray(columns[S].T, dtype=np.float64)
        sums = np.zeros((len(factors), self.shape[0]))

        def add(r: slice, c: slice, K: Array) -> None:
            # in double precision, since certificates are differences of sums
            for v, out in zip(factors, sums, strict=True):
                _dense.add_product(K, v[c], out[r])

        self._over_tiles(self.matrix.part(slice(None), S), add)
        if V.ndim == 1:
            return sums[0]
        return sums.T

    def rows(self, index: Any) -> Array:
        return self._dense_of(self.matrix.part(index, slice(None)))

    def diagonal(self) -> Array:
        return np.polynomial.polynomial.polyval(self.matrix.diagonal(), self.coef)

    def dense(self) -> Array:
        if self.matrix.square:
            return self._symmetric_of(self.matrix)
        return self._dense_of(self.matrix)

    def principal(self, index: Array) -> DenseGram:
        return DenseGram(self._symmetric_of(self.matrix.principal(index)))

    def solve_shifted(self, shift: float, B: Array, on: Array | None = None, work: Array | None = None) -> Array:
        if on is not None or self.matrix.dtype != np.float64:
            gram = DenseGram(self.dense()) if on is None else self.principal(on)
            return gram.solve_shifted(shift, B, work=work)
        shifted = self.dense()  # a new array, which is factorised in place without a copy
        shifted.flat[:: len(shifted) + 1] += shift
        return solved(factor_of(shifted.T, lower=False), B, lower=False)

    def congruent(self, scale: Array) -> Gram:
        return DenseGram(self.dense()).congruent(scale)

    def spectrum(self) -> tuple[Array, Array]:
        return DenseGram(self.dense()).spectrum()

    def _dense_of(self, matrix: BaseMatrix) -> Array:
        out = _empty(matrix)

        def keep(r: slice, c: slice, K: Array) -> None:
            out[r, c] = K

        self._over_tiles(matrix, keep)
        return out

    def _symmetric_of(self, matrix: BaseMatrix) -> Array:
        """A square matrix from its lower half and mirror image, since tiles of another shape may round differently."""
        out = _empty(matrix)

        def keep(r: slice, c: slice, K: Array) -> None:
            out[r, c] = K
            left = slice(c.start, min(c.stop, r.start))  # of the diagonal block
            out[left, r] = out[r, left].T
            if c.stop == r.stop:
                square = out[r, r]
                upper_entries = np.triu_indices(len(square), 1)
                square[upper_entries] = square.T[upper_entries]

        self._over_tiles(matrix, keep, lower=True)
        return out

    def _over_tiles(self, matrix: BaseMatrix, use: Callable[[slice, slice, Array], None], lower: bool = False) -> None:
        """Calls ``use`` with the rows, columns and values of tiles of the polynomial of ``matrix``.

        With ``lower`` they are those of every row up to its diagonal block. The columns of some rows come in order.
        """
        from multikernel.banks import _powers

        height = tile_rows(matrix.shape[1])
        width = max(1, matrix.shape[1])
        if matrix.stored is None and height < PRODUCT_ROWS:
            height = PRODUCT_ROWS
            width = PIECE_VALUES // PRODUCT_ROWS

        def rows(r: slice) -> None:
            for c in slices(r.stop if lower else matrix.shape[1], width):
                B = matrix.part(r, c).values()
                K = np.empty_like(B)
                _powers.horner(B, self.coef, K, 0, len(B))
                use(r, c, K)

        with one_blas_thread(0):  # tiles are distributed among threads, each of which computes products
            over_rows(rows, matrix.shape[0], height)


def _empty(matrix: BaseMatrix) -> Array:
    """An array for all entries, or a MemoryError where it does not fit."""
    r, c = matrix.shape
    check_memory(
        float(r) * c,
        f"a kernel matrix of {r} and {c} samples",
        "take fewer samples, or a method that works on some of them at a time (EasyMKL, L1- and Lp-MKL with a solver "
        "by name)",
        matrix.dtype.itemsize,
    )
    return np.empty((r, c), dtype=matrix.dtype)


def tile_rows(columns: int) -> int:
    """The number of rows with so many columns to compute at a time."""
    return max(TILE_ROWS, PIECE_VALUES // max(1, columns))
