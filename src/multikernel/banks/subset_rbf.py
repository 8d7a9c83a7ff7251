"""Gaussian kernels of many widths on many subsets of the features, up to a million of them: nothing is stored.

    K_k = exp(-gamma_k D_s),   D_s = sum over the features j of subset s of (x_j - z_j)^2

A pass forms the squared differences of every feature for some pairs of samples, and from them every kernel, tile by
tile in the first-level cache (``_gaussians``). A quadratic form needs only the pairs of samples that take part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Columns, Index
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.dense import DenseBank, PackedBank, StoredBank
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import positions, same_samples
from multikernel.banks.packing import packed_pairs, unpack, weights_of_pairs
from multikernel.banks.threads import over_rows, slices
from multikernel.kernels.samples import dense

_DIFFERENCES = 1 << 18  # squared differences of features that a thread has in memory at a time: 2 MB
_FEW_COLUMNS = 0.5  # share of the columns
_PIECE = 1 << 22  # kernel values that a thread evaluates at a time
_SHORTEST = 1 << 9  # the least number of pairs that a thread works on, however many kernels there are
_STORED = 1 << 23  # kernel values in memory at a time, where tiles are asked for: 64 MB


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
    """

    X: Array
    Z: Array
    features: Array
    subsets: Array
    owner: Array
    gammas: Array

    @classmethod
    def each(cls, X: Any, columns: Sequence[Columns], gammas: Array) -> SubsetRBFBank:
        """One kernel for each gamma, on columns of its own."""
        different = {own: k for k, own in enumerate(dict.fromkeys(tuple(own) for own in columns))}
        table = np.full((len(different), max(map(len, different))), -1)
        for row, own in zip(table, different, strict=True):
            row[: len(own)] = own
        bank = cls.of(X, table, np.ones(1))
        return replace(bank, owner=np.array([different[tuple(own)] for own in columns], dtype=np.int32), gammas=gammas)

    @classmethod
    def of(cls, X: Any, subsets: Array, gammas: Array) -> SubsetRBFBank:
        """Every gamma on every subset of X's columns, subset by subset."""
        features = np.unique(subsets[subsets >= 0])
        own = np.where(subsets >= 0, np.searchsorted(features, subsets), -1)
        owner = np.repeat(np.arange(len(subsets), dtype=np.int32), len(gammas))
        Z = _taken(X, features)
        return cls(Z, Z, features, own, owner, np.tile(gammas, len(subsets)))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.X), len(self.Z)

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def square(self) -> bool:
        return self.X is self.Z

    # -- pairs of samples ----------------------------------------------------------------------------------------

    def _pairs(self, numbers: Array) -> tuple[Array, Array]:
        """The rows and columns of numbered pairs: of a packed half, or of a whole rectangle row by row."""
        if self.square:
            return packed_pairs(numbers)
        rows, columns = np.divmod(numbers, max(1, len(self.Z)))
        return rows, columns

    @property
    def _n_pairs(self) -> int:
        r, c = self.shape
        return r * (r + 1) // 2 if self.square else r * c

    def _differences(self, rows: Array, columns: Array) -> Array:
        """Squared differences of every feature, shape (u, pairs)."""
        from multikernel.banks import _gaussians

        Q = np.empty((len(self.features), len(rows)))
        _gaussians.differences(self._transposed[0], self._transposed[1], rows, columns, Q)
        return Q

    @cached_property
    def _transposed(self) -> tuple[Array, Array]:
        """The samples of the rows and of the columns, feature by feature."""
        Z = np.ascontiguousarray(self.Z.T)
        return (Z if self.square else np.ascontiguousarray(self.X.T)), Z

    @property
    def _chunk(self) -> int:
        return max(1, _DIFFERENCES // max(1, len(self.features)))

    def _over_pairs(self, work: Callable[[Array, slice, slice], None]) -> None:
        """``work(Q, pairs, kernels)`` with the squared differences Q of some pairs, for some kernels at a time.

        Threads share out the kernels where these are many, else the pairs.
        """
        height = max(1, _PIECE // self._chunk)

        def some(part: slice, threads: bool) -> None:
            Q = self._differences(*self._pairs(np.arange(part.start, part.stop)))
            over_rows(partial(work, Q, part), len(self), height if threads else len(self))

        if len(self) > height:
            for part in slices(self._n_pairs, self._chunk):
                some(part, True)
        else:
            over_rows(partial(some, threads=False), self._n_pairs, self._chunk)

    def _forms(self, W: Array) -> Array:
        """sum_c W[t, c] K_k[c] over the pairs c: shape (m, t)."""
        from multikernel.banks import _gaussians

        out, adding = np.zeros((len(self), len(W))), Lock()

        def kernels(Q: Array, part: slice, r: slice) -> None:
            own, sums = np.ascontiguousarray(W[:, part]), np.zeros((r.stop - r.start, len(W)))
            _gaussians.forms(Q, own, self.subsets, self.owner[r], self.gammas[r], sums, 0, len(sums))
            with adding:  # other threads may have other pairs of the same kernels
                out[r] += sums

        self._over_pairs(kernels)
        return out

    def tiles(self, rows: Index) -> Iterator[Array]:
        """Some kernels are evaluated at a time, as many as memory is meant for."""
        some = replace(self, X=self.X[rows].copy())  # a copy: a bank of all rows is not taken for a square one
        height = max(1, _STORED // max(1, some._n_pairs))
        return (K for part in slices(len(self), height) for K in some.select(part).values().reshape(-1, *some.shape))

    # -- passes --------------------------------------------------------------------------------------------------

    def quad(self, A: Array) -> Array:
        A = as_columns(A)
        support = np.flatnonzero(A.any(axis=1))
        B = A[support]
        return self.block(support, support)._forms(weights_of_pairs(B @ B.T)[None, :])[:, 0]

    def quads(self, A: Array) -> Array:
        support = np.flatnonzero(A.any(axis=1))
        W = np.empty((A.shape[1], len(support) * (len(support) + 1) // 2))
        for w, b in zip(W, A[support].T, strict=True):
            w[:] = weights_of_pairs(np.outer(b, b))
        return self.block(support, support)._forms(W)

    def inner(self, M: Array) -> Array:
        W = weights_of_pairs(M.astype(np.float64)) if self.square else M.astype(np.float64).ravel()
        return self._forms(W[None, :])[:, 0]

    def combine_all(self, W: Array) -> list[Gram]:
        from multikernel.banks import _gaussians

        active = np.flatnonzero(W.any(axis=0))  # a kernel of weight 0 is not evaluated
        some, own = self.select(active), np.ascontiguousarray(W[:, active], dtype=np.float64)
        sums = np.empty((len(W), self._n_pairs))

        def entries(part: slice) -> None:
            Q = some._differences(*self._pairs(np.arange(part.start, part.stop)))
            _gaussians.sums(Q, own, some.subsets, some.owner, some.gammas, sums, part.start)

        over_rows(entries, self._n_pairs, min(self._chunk, max(_SHORTEST, _PIECE // max(1, len(active)))))
        return [DenseGram(unpack(s, len(self.X)) if self.square else s.reshape(self.shape)) for s in sums]

    def apply(self, C: Array) -> Array:
        from multikernel.banks import _gaussians

        m, (r, c), t = len(self), self.shape, C.shape[1]
        support = np.flatnonzero(C.any(axis=1))
        if len(support) < _FEW_COLUMNS * c:  # a rectangle of so few columns has fewer pairs than the half of the whole
            return self.block(np.arange(r), support).apply(C[support])
        out, adding = np.zeros((m, t, r)), Lock()
        Ct = np.ascontiguousarray(C.T, dtype=np.float64)

        def some(part: slice) -> None:
            rows, columns = self._pairs(np.arange(part.start, part.stop))
            first = 0 if self.square else int(rows[0])
            sums = np.zeros((m, t, int(rows[-1]) + 1 - first))
            Q = self._differences(rows, columns)
            _gaussians.products(Q, rows - first, columns, Ct, self.subsets, self.owner, self.gammas, self.square, sums)
            with adding:
                out[:, :, first : first + sums.shape[2]] += sums

        over_rows(some, self._n_pairs, self._chunk)
        return out.transpose(0, 2, 1)

    def diagonal(self) -> Array:
        """A single 1 seen as an array, not to be written into: a million rows take no memory."""
        return np.broadcast_to(1.0, (len(self), len(self.X)))

    def traces(self) -> Array:
        return np.full(len(self), float(len(self.X)))

    # -- stored --------------------------------------------------------------------------------------------------

    def values(self, dtype: Any = np.float64) -> Array:
        """All entries: of a square bank the packed halves, else the matrices row by row; shape (m, pairs)."""
        from multikernel.banks import _gaussians

        out = np.empty((len(self), self._n_pairs), dtype=dtype)

        def kernels(Q: Array, part: slice, r: slice) -> None:
            _gaussians.values(Q, self.subsets, self.owner, self.gammas, out, part.start, r.start, r.stop)

        self._over_pairs(kernels)
        return out

    def stored(self, dtype: Any = np.float64) -> StoredBank:
        """The same kernels with their matrices."""
        if self.square:
            return PackedBank(self, self.values(dtype), len(self.X))
        return DenseBank(self, self.values(dtype).reshape(len(self), *self.shape))

    def exact(self, index: Index = slice(None)) -> KernelBank:
        chosen = self.select(index)
        return chosen.stored() if 8 * len(chosen) * self._n_pairs <= MEMORY else chosen

    # -- other samples, other kernels ----------------------------------------------------------------------------

    def block(self, rows: Index, columns: Index) -> SubsetRBFBank:
        r, c = positions(rows, self.shape[0]), positions(columns, self.shape[1])
        Z = self.Z[columns]
        return replace(self, X=Z if same_samples(self.square, r, c) else self.X[r], Z=Z)

    def select(self, index: Index) -> SubsetRBFBank:
        used, owner = np.unique(self.owner[index], return_inverse=True)
        return replace(self, subsets=self.subsets[used], owner=owner.astype(np.int32), gammas=self.gammas[index])

    def cross(self, X: Any) -> SubsetRBFBank:
        return replace(self, X=_taken(X, self.features))

    def self_values(self, X: Any) -> Array:
        return np.broadcast_to(1.0, (len(self), X.shape[0]))


def _taken(X: Any, features: Array) -> Array:
    """Some of the columns, dense and in double precision."""
    return np.array(dense((X if hasattr(X, "shape") else np.asarray(X))[:, features]), dtype=np.float64)
