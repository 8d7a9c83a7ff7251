"""Gaussian kernels of many widths on many subsets of the features, up to a million of them: nothing is stored.

    K_k = exp(-gamma_k D_s),   D_s = sum over the features j of subset s of (x_j - z_j)^2

A pass forms the squared differences of every feature for some pairs of samples, and from them every kernel, tile by
tile in the first-level cache (``_gaussians``): in double precision, or in single, which takes three to four fifths of
the time. A quadratic form needs only the pairs of samples that take part in it.
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
from multikernel.banks.packing import half_size, made, packed_pairs, products_of_pairs, weights_of_pairs
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
    features : int array (u,), the columns of a data set that X and Z are made of, for new samples
    subsets : int array (S, q), the columns of X and Z in each subset, filled up with -1
    owner : int array (m,), the subset of each kernel; passes are fastest where kernels of one subset are neighbours
    gammas : array (m,); passes are fastest where one is a small whole multiple of the one before
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
        """One kernel for each gamma, on columns of its own."""
        different = {own: k for k, own in enumerate(dict.fromkeys(tuple(own) for own in columns))}
        table = np.full((len(different), max(map(len, different))), -1)
        for row, own in zip(table, different, strict=True):
            row[: len(own)] = own
        bank = cls.of(X, table, np.ones(1), dtype)
        return replace(bank, owner=np.array([different[tuple(own)] for own in columns], dtype=np.int32), gammas=gammas)

    @classmethod
    def of(cls, X: Any, subsets: Array, gammas: Array, dtype: Any = np.float64) -> SubsetRBFBank:
        """Every gamma on every subset of X's columns, subset by subset."""
        features = np.unique(subsets[subsets >= 0])
        own = np.where(subsets >= 0, np.searchsorted(features, subsets), -1)
        owner = np.repeat(np.arange(len(subsets), dtype=np.int32), len(gammas))
        Z = _taken(X, features)
        kind = np.dtype(dtype).type  # model files know it by its class
        return cls(Z, Z, features, own, owner, np.tile(gammas, len(subsets)), kind)

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
        evaluated = replace(evaluated, sweep=0.5 * evaluated.sweep)  # of each pair once
        size = np.dtype(self.dtype).itemsize
        cost = packed(evaluated, evaluated.sweep, memory, size, matrices=0)
        if cost.held:
            return cost
        return replace(cost, exact=evaluated.sweep if size < np.dtype(float).itemsize else NONE)

    @cached_property
    def _kind(self) -> Array:
        """Nothing, in the precision of the kernels."""
        return np.empty(0, dtype=self.dtype)

    # -- pairs of samples ----------------------------------------------------------------------------------------

    def _from(self, pair: int) -> tuple[Array, Array, bool, int, int]:
        """Samples of rows and of columns, feature by feature, and where the numbered pair stands: row and column.

        Pairs are those of a packed half, or of a whole rectangle row by row.
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
        """``work(pairs)`` for some pairs at a time."""
        over_rows(work, self._n_pairs, max(ROW_TILE, PIECE_VALUES // max(1, len(self))))

    def _forms(self, W: Callable[[slice], Array], t: int = 1) -> Array:
        """sum_c W_t(c) K_k[c] over the pairs c, of which W gives some, shape (t, pairs): shape (m, t)."""
        from multikernel.banks import _gaussians

        out = np.zeros((len(self), t))
        adding = Lock()

        def some(part: slice) -> None:
            own = np.ascontiguousarray(W(part))
            totals = np.zeros(out.shape)
            described = self.subsets, self.owner, self.gammas, self._kind
            _gaussians.forms(*self._from(part.start), own, *described, totals)
            with adding:  # other threads have other pairs
                out[:] += totals

        self._over_pairs(some)
        return out

    def tiles(self, rows: Index) -> Iterator[Array]:
        """Some kernels are evaluated at a time, as many as memory is meant for."""
        some = replace(self, X=self.X[rows].copy())  # a copy: a bank of all rows is not taken for a square one
        height = max(1, BUFFER_VALUES // max(1, some._n_pairs))
        return (K for part in slices(len(self), height) for K in some.select(part).values().reshape(-1, *some.shape))

    # -- passes --------------------------------------------------------------------------------------------------

    def quad(self, A: Array) -> Array:
        self._check_square()
        A = as_columns(A)
        support = np.flatnonzero(A.any(axis=1))
        B = np.ascontiguousarray(A[support].T)
        return self.block(support, support)._forms(lambda part: products_of_pairs(B, part).sum(axis=0)[None])[:, 0]

    def quads(self, A: Array) -> Array:
        self._check_square()
        support = np.flatnonzero(A.any(axis=1))
        B = np.ascontiguousarray(A[support].T)
        return self.block(support, support)._forms(lambda part: products_of_pairs(B, part), len(B))

    def inner(self, M: Array) -> Array:
        if self.square:
            W = weights_of_pairs(M.astype(np.float64))
        else:
            W = M.astype(np.float64).ravel()
        return self._forms(lambda part: W[None, part])[:, 0]

    def combine_all(self, W: Array) -> list[Gram]:
        from multikernel.banks import _gaussians

        check_sums(len(W), len(self), self.shape)
        active = np.flatnonzero(W.any(axis=0))  # a kernel of weight 0 is not evaluated
        some = self.select(active)
        own = np.ascontiguousarray(W[:, active], dtype=np.float64)
        at_once = max(ROW_TILE, PIECE_VALUES // max(1, len(active)))

        def entries(part: slice, out: Array) -> None:
            described = some.subsets, some.owner, some.gammas, self._kind
            _gaussians.sums(*self._from(part.start), own, *described, out)

        if self.square:
            return [DenseGram(K) for K in made(entries, len(W), len(self.X), at_once)]
        sums = np.empty((len(W), self._n_pairs))
        over_rows(lambda part: entries(part, sums[:, part]), self._n_pairs, at_once)
        return [DenseGram(s.reshape(self.shape)) for s in sums]

    def apply(self, C: Array) -> Array:
        from multikernel.banks import _gaussians

        m = len(self)
        r, c = self.shape
        t = C.shape[1]
        support = np.flatnonzero(C.any(axis=1))
        if 2 * len(support) < c:  # a rectangle of so few columns has fewer pairs than the half of the whole
            return self.block(np.arange(r), support).apply(C[support])
        out = np.zeros((m, t, r))
        adding = Lock()
        Ct = np.ascontiguousarray(C.T, dtype=np.float64)

        def some(part: slice) -> None:
            *_, first, _ = self._from(part.start)
            *_, last, _ = self._from(part.stop - 1)
            if self.square:
                first = 0
            totals = np.zeros((m, t, last + 1 - first))
            described = self.subsets, self.owner, self.gammas, self._kind
            _gaussians.products(*self._from(part.start), part.stop - part.start, Ct, *described, totals)
            with adding:
                out[:, :, first : first + totals.shape[2]] += totals

        over_rows(some, self._n_pairs, max(ROW_TILE, PIECE_VALUES // m))
        return out.transpose(0, 2, 1)

    def diagonal(self) -> Array:
        """A single 1 seen as an array, not to be written into: a million rows take no memory."""
        self._check_square()
        return np.broadcast_to(1.0, (len(self), len(self.X)))

    def traces(self) -> Array:
        self._check_square()
        return np.full(len(self), float(len(self.X)))

    # -- stored --------------------------------------------------------------------------------------------------

    def values(self) -> Array:
        """All entries: of a square bank the packed halves, else the matrices row by row; shape (m, pairs)."""
        from multikernel.banks import _gaussians

        out = np.empty((len(self), self._n_pairs), dtype=self.dtype)

        def some(part: slice) -> None:
            _gaussians.values(*self._from(part.start), self.subsets, self.owner, self.gammas, out[:, part])

        self._over_pairs(some)
        return out

    def stored(self) -> StoredBank:
        """The same kernels with their matrices."""
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
        used, owner = np.unique(self.owner[index], return_inverse=True)
        return replace(self, subsets=self.subsets[used], owner=owner.astype(np.int32), gammas=self.gammas[index])

    def cross(self, X: Any) -> SubsetRBFBank:
        return replace(self, X=_taken(X, self.features), dtype=np.float64)

    def self_values(self, X: Any) -> Array:
        return np.broadcast_to(1.0, (len(self), X.shape[0]))


def _taken(X: Any, features: Array) -> Array:
    """Some of the columns, dense and in double precision."""
    return np.array(dense((X if hasattr(X, "shape") else np.asarray(X))[:, features]), dtype=np.float64)
