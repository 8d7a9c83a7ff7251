"""Gaussian kernels of many widths on many subsets of the features, up to a million of them: nothing is stored.

    K_k = exp(-gamma_k D_s),   D_s = sum over the features j of subset s of (x_j - z_j)^2

A pass computes the squared differences of every feature for some pairs of samples, and from them every kernel, tile by
tile in the first-level cache (``_gaussians``), in double precision, or in single, which takes three to four fifths of
the time. A quadratic form needs only pairs of samples with nonzero coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Columns, Index
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.cost import NONE, BankCost, packed
from multikernel.banks.dense import DenseBank
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import samples_of_block, unit_roundoff
from multikernel.banks.packed import PackedBank
from multikernel.banks.packing import full_matrices, half_size, packed_pairs, products_of_pairs, weights_of_pairs
from multikernel.banks.stored import StoredBank
from multikernel.banks.streaming import check_sums
from multikernel.banks.threads import over_rows, slices
from multikernel.kernels.samples import dense
from multikernel.tuning import (
    BUFFER_VALUES,
    NUMPY_VALUE,
    PIECE_VALUES,
    ROW_TILE,
)


@dataclass(frozen=True, eq=False, repr=False)
class SubsetRBFBank(KernelBank):
    """exp(-gamma_k D_s) with s = owner_k.

    Parameters
    ----------
    X, Z : arrays (r, u) and (c, u), the features of the row and of the column samples; ``X is Z`` makes the bank square
    features : int array (u,), the columns of a data set that make X and Z, for new samples
    subsets : int array (S, q), the columns of X and Z in each subset, filled up with -1
    owner : int array (m,), the subset of each kernel; passes are fastest where kernels of one subset are neighbours
    gammas : array (m,); passes are fastest where each is a small whole multiple of the previous one
    dtype : float64 or float32, the precision in which kernels are evaluated
    """

    X: Array
    Z: Array
    features: Array
    subsets: Array
    owner: Array
    gammas: Array
    dtype: Any = np.float64

    @classmethod
    def each(cls, X: Any, columns: Sequence[Columns], gammas: Array, dtype: Any = np.float64) -> SubsetRBFBank:
        """One kernel for each gamma, each with separate columns."""
        number_of_subset = {subset: k for k, subset in enumerate(dict.fromkeys(tuple(subset) for subset in columns))}
        table = np.full((len(number_of_subset), max(map(len, number_of_subset))), -1)
        for row, subset in zip(table, number_of_subset, strict=True):
            row[: len(subset)] = subset
        bank = cls.of(X, table, np.ones(1), dtype)
        return replace(
            bank, owner=np.array([number_of_subset[tuple(subset)] for subset in columns], dtype=np.int32), gammas=gammas
        )

    @classmethod
    def of(cls, X: Any, subsets: Array, gammas: Array, dtype: Any = np.float64) -> SubsetRBFBank:
        """Every gamma on every subset of X's columns, subset by subset."""
        features = np.unique(subsets[subsets >= 0])
        positions = np.where(subsets >= 0, np.searchsorted(features, subsets), -1)
        owner = np.repeat(np.arange(len(subsets), dtype=np.int32), len(gammas))
        Z = _columns(X, features)
        kind = np.dtype(dtype).type  # its class, as it is saved in model files
        return cls(Z, Z, features, positions, owner, np.tile(gammas, len(subsets)), kind)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.X), len(self.Z)

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def square(self) -> bool:
        return self.X is self.Z

    @property
    def rounding(self) -> float:
        if self.dtype == np.float32:
            return 2.0 * unit_roundoff(np.dtype(np.float32))
        return unit_roundoff(np.dtype(float))

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        evaluated = BankCost.evaluated(len(self), self.shape[1], NUMPY_VALUE)
        evaluated = replace(evaluated, sweep=0.5 * evaluated.sweep)  # each pair is evaluated once
        size = np.dtype(self.dtype).itemsize
        cost = packed(evaluated, evaluated.sweep, memory, size, matrices=0)
        if cost.held:
            return cost
        return replace(cost, exact=evaluated.sweep if size < np.dtype(float).itemsize else NONE)

    @cached_property
    def _kind(self) -> Array:
        """An empty array in the precision of the kernels, from which compiled passes take it."""
        return np.empty(0, dtype=self.dtype)

    # -- pairs of samples ----------------------------------------------------------------------------------------

    def _from(self, pair: int) -> tuple[Array, Array, bool, int, int]:
        """Arguments of a compiled pass from a pair on: X and Z by feature, whether square, the pair's row and column.

        Pairs are numbered as in a packed half, or row by row in a rectangle.
        """
        X, Z = self._transposed
        if self.square:
            rows, columns = packed_pairs(np.array([pair]))
            return X, Z, True, int(rows[0]), int(columns[0])
        return X, Z, False, *divmod(pair, max(1, len(self.Z)))

    @property
    def _n_pairs(self) -> int:
        r, c = self.shape
        if self.square:
            return half_size(r)
        return r * c

    @cached_property
    def _transposed(self) -> tuple[Array, Array]:
        """The samples of the rows and of the columns, feature by feature."""
        Z = np.ascontiguousarray(self.Z.T)
        return (Z if self.square else np.ascontiguousarray(self.X.T)), Z

    def _over_pairs(self, work: Callable[[slice], None]) -> None:
        """Calls ``work`` with slices of pairs, on several threads."""
        over_rows(work, self._n_pairs, max(ROW_TILE, PIECE_VALUES // max(1, len(self))))

    def _forms(self, W: Callable[[slice], Array], t: int = 1) -> Array:
        """sum_c W_t(c) K_k[c] over all pairs c, shape (m, t); W returns weights (t, pairs) for a slice of pairs."""
        from multikernel.banks import _gaussians

        out = np.zeros((len(self), t))
        lock = Lock()

        def add_pairs(pairs: slice) -> None:
            weights = np.ascontiguousarray(W(pairs))
            totals = np.zeros(out.shape)
            kernels = self.subsets, self.owner, self.gammas, self._kind
            _gaussians.forms(*self._from(pairs.start), weights, *kernels, totals)
            with lock:  # threads add the sums over different pairs
                out[:] += totals

        self._over_pairs(add_pairs)
        return out

    def tiles(self, rows: Index) -> Iterator[Array]:
        """The tiles, for which as many kernels are evaluated at a time as fit into a buffer."""
        bank = replace(self, X=self.X[rows].copy())  # a copy, so that a bank of all rows does not count as square
        height = max(1, BUFFER_VALUES // max(1, bank._n_pairs))
        return (
            K for kernels in slices(len(self), height) for K in bank.select(kernels).values().reshape(-1, *bank.shape)
        )

    # -- passes --------------------------------------------------------------------------------------------------

    def quad(self, A: Array) -> Array:
        self._check_square()
        A = as_columns(A)
        support = np.flatnonzero(A.any(axis=1))
        B = np.ascontiguousarray(A[support].T)
        return self.block(support, support)._forms(lambda pairs: products_of_pairs(B, pairs).sum(axis=0)[None])[:, 0]

    def quads(self, A: Array) -> Array:
        self._check_square()
        support = np.flatnonzero(A.any(axis=1))
        B = np.ascontiguousarray(A[support].T)
        return self.block(support, support)._forms(lambda pairs: products_of_pairs(B, pairs), len(B))

    def inner(self, M: Array) -> Array:
        if self.square:
            W = weights_of_pairs(M.astype(np.float64))
        else:
            W = M.astype(np.float64).ravel()
        return self._forms(lambda pairs: W[None, pairs])[:, 0]

    def combine_all(self, W: Array) -> list[Gram]:
        from multikernel.banks import _gaussians

        check_sums(len(W), len(self), self.shape)
        active = np.flatnonzero(W.any(axis=0))  # a kernel of weight 0 is not evaluated
        bank = self.select(active)
        weights = np.ascontiguousarray(W[:, active], dtype=np.float64)
        n_pairs = max(ROW_TILE, PIECE_VALUES // max(1, len(active)))

        def entries(pairs: slice, out: Array) -> None:
            kernels = bank.subsets, bank.owner, bank.gammas, self._kind
            _gaussians.sums(*self._from(pairs.start), weights, *kernels, out)

        if self.square:
            return [DenseGram(K) for K in full_matrices(entries, len(W), len(self.X), n_pairs)]
        sums = np.empty((len(W), self._n_pairs))
        over_rows(lambda pairs: entries(pairs, sums[:, pairs]), self._n_pairs, n_pairs)
        return [DenseGram(s.reshape(self.shape)) for s in sums]

    def apply(self, C: Array) -> Array:
        from multikernel.banks import _gaussians

        m = len(self)
        r, c = self.shape
        t = C.shape[1]
        support = np.flatnonzero(C.any(axis=1))
        if 2 * len(support) < c:  # a rectangle with so few columns has fewer pairs than half of the full matrix
            return self.block(np.arange(r), support).apply(C[support])
        out = np.zeros((m, t, r))
        lock = Lock()
        Ct = np.ascontiguousarray(C.T, dtype=np.float64)

        def add_pairs(pairs: slice) -> None:
            *_, first, _ = self._from(pairs.start)
            *_, last, _ = self._from(pairs.stop - 1)
            if self.square:
                first = 0
            totals = np.zeros((m, t, last + 1 - first))
            kernels = self.subsets, self.owner, self.gammas, self._kind
            _gaussians.products(*self._from(pairs.start), pairs.stop - pairs.start, Ct, *kernels, totals)
            with lock:
                out[:, :, first : first + totals.shape[2]] += totals

        over_rows(add_pairs, self._n_pairs, max(ROW_TILE, PIECE_VALUES // m))
        return out.transpose(0, 2, 1)

    def diagonal(self) -> Array:
        """The ones of all diagonals, as a read-only view of a single 1, which takes no memory."""
        self._check_square()
        return np.broadcast_to(1.0, (len(self), len(self.X)))

    def traces(self) -> Array:
        self._check_square()
        return np.full(len(self), float(len(self.X)))

    # -- stored --------------------------------------------------------------------------------------------------

    def values(self) -> Array:
        """All entries, shape (m, pairs): the packed halves of a square bank, else the matrices row by row."""
        from multikernel.banks import _gaussians

        out = np.empty((len(self), self._n_pairs), dtype=self.dtype)

        def fill_pairs(pairs: slice) -> None:
            count = pairs.stop - pairs.start
            _gaussians.values(*self._from(pairs.start), self.subsets, self.owner, self.gammas, pairs.start, count, out)

        self._over_pairs(fill_pairs)
        return out

    def stored(self) -> StoredBank:
        """The same kernels with stored matrices."""
        if self.square:
            return PackedBank(self, self.values(), len(self.X))
        return DenseBank(self, self.values().reshape(len(self), *self.shape))

    def unrounded(self) -> SubsetRBFBank:
        if self.dtype == np.float64 or not self.square:
            return self
        return replace(self, dtype=np.float64)

    def exact(self, index: Index = slice(None)) -> KernelBank:
        chosen = self.select(index).unrounded()
        if 8 * len(chosen) * self._n_pairs <= MEMORY:
            return chosen.stored()
        return chosen

    # -- other samples, other kernels ----------------------------------------------------------------------------

    def block(self, rows: Index, columns: Index) -> SubsetRBFBank:
        X, Z = samples_of_block(self.X, self.Z, rows, columns)
        return replace(self, X=X, Z=Z)

    def select(self, index: Index) -> SubsetRBFBank:
        subsets, owner = np.unique(self.owner[index], return_inverse=True)
        return replace(self, subsets=self.subsets[subsets], owner=owner.astype(np.int32), gammas=self.gammas[index])

    def cross(self, X: Any) -> SubsetRBFBank:
        return replace(self, X=_columns(X, self.features), dtype=np.float64)

    def self_values(self, X: Any) -> Array:
        return np.broadcast_to(1.0, (len(self), X.shape[0]))


def _columns(X: Any, features: Array) -> Array:
    """These columns of the samples, dense and in double precision."""
    return np.array(dense((X if hasattr(X, "shape") else np.asarray(X))[:, features]), dtype=np.float64)
