"""The inverse H = (K + I)^-1 of a kernel matrix with its ridge, in the blocks of test folds, in half of its memory.

For folds V_1, .., V_F the blocks H_fg with f > g are stored, and the Cholesky factors of the H_ff: residuals need
(H_ff)^-1, and products H_ff x follow from the factors as well. These are n^2 / 2 (1 + 1 / F) numbers, where H with the
factors has n^2 (1 + 1 / F). Symmetric sweeps replace the blocks of A = K + I: for each fold j, with D = A_jj^-1,

    A_ik <- A_ik - A_ij D A_jk,     A_ij <- A_ij D,     A_jj <- -D        (i and k other folds)

after which A is -H (J. H. Goodnight 1979, A tutorial on the sweep operator). The matrices that are factored on the way
are Schur complements, so a matrix that is not positive definite is noticed. The operations are as many as for a
Cholesky factor and its inverse, n^3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import slices
from multikernel.numerics.cholesky import factorise, solved
from multikernel.numerics.lapack import divide, gemm, inverted, multiply, reduce
from multikernel.procedures.ridge_cv.folds import Blocks, Folds
from multikernel.tuning import TILE_VALUES


@dataclass(frozen=True, eq=False)
class InverseByFolds:
    """H in blocks.

    Parameters
    ----------
    blocks : Blocks, the Cholesky factors of the H_ff
    off_diagonal : dict from (f, g) with f > g to the array H_fg, in Fortran order
    """

    blocks: Blocks
    off_diagonal: dict[tuple[int, int], Array]

    @classmethod
    def of(cls, bank: KernelBank, v: Array, folds: Folds) -> InverseByFolds:
        """The inverse for K = sum_k v_k K_k; LinAlgError where K + I is not positive definite in floating point."""
        diagonal, off_diagonal = _filled(bank, v, folds)
        inverse = cls(Blocks(folds, tuple(diagonal)), off_diagonal)
        for j in range(folds.count):
            inverse._sweep(j)
        for block in (*diagonal, *off_diagonal.values()):
            np.negative(block, out=block)
        for block in diagonal:
            _factorise(block)
        return inverse

    def _sweep(self, j: int) -> None:
        """The sweep of fold j, in place; only lower triangles of the H_ff are read and written."""
        diagonal = self.blocks.factors
        other_folds = [i for i in range(len(diagonal)) if i != j]
        _factorise(diagonal[j])
        for i in other_folds:
            divide(self._block(i, j), diagonal[j])
        for i in other_folds:
            reduce(diagonal[i], self._block(i, j))
            for k in other_folds[: other_folds.index(i)]:
                gemm(self._block(k, j), self._block(i, j).T, self._block(k, i), -1.0)
        for i in other_folds:
            divide(self._block(i, j), diagonal[j], transposed=False)
        if not inverted(diagonal[j]):
            raise np.linalg.LinAlgError("a block of the kernel matrix has no inverse")
        np.negative(diagonal[j], out=diagonal[j])

    def _block(self, f: int, g: int) -> Array:
        """H_fg of two folds, as a writable view; it is in C order for f < g."""
        if f > g:
            return self.off_diagonal[f, g]
        return self.off_diagonal[g, f].T

    @cached_property
    def tests(self) -> list[Array]:
        """The samples of each fold."""
        return self.blocks.folds.tests()

    def __len__(self) -> int:
        return len(self.blocks.folds.labels)

    def times(self, B: Array) -> Array:
        """H B, for B of shape (n, t)."""
        by_fold = [np.ascontiguousarray(B[V].T) for V in self.tests]
        product = np.empty(B.shape)
        for f, V in enumerate(self.tests):
            product[V] = self._sum(by_fold, f).T
        return product

    def times_in_fold(self, f: int, B: Array) -> Array:
        """(H B)_V of one fold V, for B of shape (n, t): shape (len(V), t)."""
        return self._sum([np.ascontiguousarray(B[V].T) for V in self.tests], f).T

    def beyond_folds(self, U: Array) -> Array:
        """H_:V U_V of every fold V on the samples outside V, 0 inside: shape (n, F, t) for U of shape (n, t)."""
        columns = np.zeros((len(U), len(self.tests), U.shape[1]))
        for g, W in enumerate(self.tests):
            for f, V in enumerate(self.tests):
                if f != g:
                    columns[W, f] = gemm(self._block(g, f), U[V])
        return columns

    def trained(self, X: Array) -> Array:
        """(K_TT + I)^-1 x on the training samples T of each fold V, 0 on V: shape (F, c, n); X[f] is 0 on V too.

        The solution is H_T: w, where w is x on T and -(H_VV)^-1 (H x)_V on V, so that (H w)_V = 0.
        """
        F, c, n = X.shape
        by_fold = [X[:, :, V].reshape(F * c, len(V)) for V in self.tests]
        for f, factor in enumerate(self.blocks.factors):
            rows = slice(f * c, f * c + c)
            images = self._sum([values[rows] for values in by_fold], f, left_out=f)
            by_fold[f][rows] = -solved(factor, images.T).T
        solution = np.empty((F * c, n))
        for f, V in enumerate(self.tests):
            solution[:, V] = self._sum(by_fold, f)
            solution[f * c : f * c + c, V] = 0.0
        return solution.reshape(F, c, n)

    def _sum(self, by_fold: list[Array], f: int, left_out: int | None = None) -> Array:
        """sum_g x_g' H_gf over the folds g, but for g = ``left_out``: shape (c, len(V_f)), x_g' = by_fold[g]."""
        if left_out == f:
            total = np.zeros((len(by_fold[f]), len(self.tests[f])))
        else:
            total = np.array(by_fold[f], dtype=np.float64, order="C")
            multiply(total, self.blocks.factors[f], transposed=False)
            multiply(total, self.blocks.factors[f])
        for g, values in enumerate(by_fold):
            if g != f:
                gemm(values, self._block(g, f), total)
        return total


def _filled(bank: KernelBank, v: Array, folds: Folds) -> tuple[list[Array], dict[tuple[int, int], Array]]:
    """The blocks of K + I, on the diagonal and below, a tile of rows of the kernels at a time."""
    tests = folds.tests()
    sizes = [len(V) for V in tests]
    diagonal = [np.empty((size, size), order="F") for size in sizes]
    off_diagonal = {(f, g): np.empty((sizes[f], sizes[g]), order="F") for f in range(len(tests)) for g in range(f)}
    nonzero = np.flatnonzero(v)
    weighted = bank.select(nonzero)
    for f, V in enumerate(tests):
        for span in slices(len(V), max(1, TILE_VALUES // len(folds.labels))):
            rows = np.zeros((span.stop - span.start, len(folds.labels)))
            with np.errstate(all="ignore"):  # what overflows is not positive definite
                for weight, tile in zip(v[nonzero], weighted.tiles(V[span]), strict=True):
                    rows += np.multiply(weight, tile, dtype=np.float64)
            for g in range(f):
                off_diagonal[f, g][span] = rows[:, tests[g]]
            diagonal[f][span] = rows[:, V]
        diagonal[f][np.diag_indices(len(V))] += 1.0
    return diagonal, off_diagonal


def _factorise(block: Array) -> None:
    if not factorise(block):
        raise np.linalg.LinAlgError("the kernel matrix with its ridge is not positive definite")
