"""The inverse H = (K + I)^-1 of a kernel matrix with its ridge, in the blocks of test folds, in half of its memory.

For folds V_1, .., V_F the blocks H_fg with f > g are kept, and the Cholesky factors of the H_ff: of these residuals
take the inverse, and they give H_ff x as well. That is n^2 / 2 (1 + 1 / F) numbers, where H with the factors has
n^2 (1 + 1 / F). Symmetric sweeps find the blocks in the place of those of A = K + I: for each fold j, with D = A_jj^-1,

    A_ik <- A_ik - A_ij D A_jk,     A_ij <- A_ij D,     A_jj <- -D        (i and k other folds)

after which A is -H (J. H. Goodnight 1979, A tutorial on the sweep operator). What is factored on the way are Schur
complements, so a matrix that is not positive definite is noticed; the operations are those of a Cholesky factor and its
inverse, n^3.
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
    beside : dict from (f, g) with f > g to the array H_fg, in Fortran order
    """

    blocks: Blocks
    beside: dict[tuple[int, int], Array]

    @classmethod
    def of(cls, bank: KernelBank, v: Array, folds: Folds) -> InverseByFolds:
        """Of K = sum_k v_k K_k; LinAlgError where K + I is not positive definite in floating point."""
        diagonal, beside = _filled(bank, v, folds)
        found = cls(Blocks(folds, tuple(diagonal)), beside)
        for j in range(folds.count):
            found._sweep(j)
        for block in (*diagonal, *beside.values()):
            np.negative(block, out=block)
        for block in diagonal:
            _factorise(block)
        return found

    def _sweep(self, j: int) -> None:
        """One step, in place; only lower triangles of the H_ff are read and written."""
        diagonal = self.blocks.factors
        others = [i for i in range(len(diagonal)) if i != j]
        _factorise(diagonal[j])
        for i in others:
            divide(self._block(i, j), diagonal[j])
        for i in others:
            reduce(diagonal[i], self._block(i, j))
            for k in others[: others.index(i)]:
                gemm(self._block(k, j), self._block(i, j).T, self._block(k, i), -1.0)
        for i in others:
            divide(self._block(i, j), diagonal[j], transposed=False)
        if not inverted(diagonal[j]):
            raise np.linalg.LinAlgError("a block of the kernel matrix has no inverse")
        np.negative(diagonal[j], out=diagonal[j])

    def _block(self, f: int, g: int) -> Array:
        """H_fg of two folds; it may be written into, and is in C order for f < g."""
        if f > g:
            return self.beside[f, g]
        return self.beside[g, f].T

    @cached_property
    def tests(self) -> list[Array]:
        """The samples of each fold."""
        return self.blocks.folds.tests()

    def __len__(self) -> int:
        return len(self.blocks.folds.labels)

    def times(self, B: Array) -> Array:
        """H B, for B of shape (n, t)."""
        parts = [np.ascontiguousarray(B[V].T) for V in self.tests]
        found = np.empty(B.shape)
        for f, V in enumerate(self.tests):
            found[V] = self._sum(parts, f).T
        return found

    def times_in_fold(self, f: int, B: Array) -> Array:
        """(H B)_V of one fold V, for B of shape (n, t): shape (len(V), t)."""
        return self._sum([np.ascontiguousarray(B[V].T) for V in self.tests], f).T

    def beyond_folds(self, U: Array) -> Array:
        """H_:V U_V of every fold on the samples outside it, 0 on its own: shape (n, F, t) for U of shape (n, t)."""
        found = np.zeros((len(U), len(self.tests), U.shape[1]))
        for g, W in enumerate(self.tests):
            for f, V in enumerate(self.tests):
                if f != g:
                    found[W, f] = gemm(self._block(g, f), U[V])
        return found

    def trained(self, X: Array) -> Array:
        """(K_TT + I)^-1 x on the samples T that each fold f trains on, 0 on its own V, as are X[f]: shape (F, c, n).

        That is H_T: w, where w is x on T and -(H_VV)^-1 (H x)_V on V, so that (H w)_V = 0.
        """
        F, c, n = X.shape
        parts = [X[:, :, V].reshape(F * c, len(V)) for V in self.tests]
        for f, factor in enumerate(self.blocks.factors):
            own = slice(f * c, f * c + c)
            there = self._sum([part[own] for part in parts], f, but=f)
            parts[f][own] = -solved(factor, there.T).T
        found = np.empty((F * c, n))
        for f, V in enumerate(self.tests):
            found[:, V] = self._sum(parts, f)
            found[f * c : f * c + c, V] = 0.0
        return found.reshape(F, c, n)

    def _sum(self, parts: list[Array], f: int, but: int | None = None) -> Array:
        """The sum over folds g of x_g' H_gf, of x_g' = parts[g] (c, len(V_g)) without one: shape (c, len(V_f))."""
        if but == f:
            found = np.zeros((len(parts[f]), len(self.tests[f])))
        else:
            found = np.array(parts[f], dtype=np.float64, order="C")
            multiply(found, self.blocks.factors[f], transposed=False)
            multiply(found, self.blocks.factors[f])
        for g, part in enumerate(parts):
            if g != f:
                gemm(part, self._block(g, f), found)
        return found


def _filled(bank: KernelBank, v: Array, folds: Folds) -> tuple[list[Array], dict[tuple[int, int], Array]]:
    """The blocks of K + I, on the diagonal and below, a tile of rows of the kernels at a time."""
    tests = folds.tests()
    sizes = [len(V) for V in tests]
    diagonal = [np.empty((size, size), order="F") for size in sizes]
    beside = {(f, g): np.empty((sizes[f], sizes[g]), order="F") for f in range(len(tests)) for g in range(f)}
    used = np.flatnonzero(v)
    some = bank.select(used)
    for f, V in enumerate(tests):
        for part in slices(len(V), max(1, TILE_VALUES // len(folds.labels))):
            rows = np.zeros((part.stop - part.start, len(folds.labels)))
            with np.errstate(all="ignore"):  # what overflows is not positive definite
                for weight, tile in zip(v[used], some.tiles(V[part]), strict=True):
                    rows += np.multiply(weight, tile, dtype=np.float64)
            for g in range(f):
                beside[f, g][part] = rows[:, tests[g]]
            diagonal[f][part] = rows[:, V]
        diagonal[f][np.diag_indices(len(V))] += 1.0
    return diagonal, beside


def _factorise(block: Array) -> None:
    if not factorise(block):
        raise np.linalg.LinAlgError("the kernel matrix with its ridge is not positive definite")
