"""Gaussian kernels over one distance matrix: K_k = exp(-gamma_k D).

Where gamma_{k+1} is a whole multiple of gamma_k, K_{k+1} is a power of K_k and needs no exp.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Columns, Index
from multikernel.banks.base import KernelBank, positions, same_samples, unit_roundoff
from multikernel.banks.gram import DenseGram
from multikernel.banks.packing import pack
from multikernel.banks.streaming import Stream
from multikernel.kernels.base import as_floats
from multikernel.kernels.distance import squared_distances

_LARGEST_POWER = 8  # beyond it an exp is as cheap
_LONGEST_CHAIN = 32  # rounding grows with the product of the powers since the last exp


@dataclass(frozen=True, eq=False)
class RBFGridBank(KernelBank):
    """K_k = exp(-gamma_k D), D the squared distances of some columns of the samples.

    Parameters
    ----------
    D : array (r, c)
    gammas : array (m,)
    Z : the column samples
    columns : the features the distance is taken over (None: all)
    same : whether the rows are the columns
    """

    D: Array
    gammas: Array
    Z: Any
    columns: Columns | None
    same: bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.D.shape

    def __len__(self) -> int:
        return len(self.gammas)

    @property
    def square(self) -> bool:
        return self.same

    @property
    def rounding(self) -> float:
        return unit_roundoff(self.D.dtype)

    def _tiles(self, rows: slice) -> Iterator[Array]:
        return gaussians(self.D[rows], self.gammas)

    @property
    def _stream(self) -> Stream:
        return Stream(self._tiles, len(self), self.shape, self.D.dtype)

    def combine(self, weights: Array) -> DenseGram:
        return self._stream.combine(weights)

    def apply(self, C: Array) -> Array:
        return self._stream.apply(C)

    def quad(self, A: Array) -> Array:
        A = as_columns(A)
        support = np.flatnonzero(A.any(axis=1))
        if len(support) < 0.7 * len(A):
            return self.block(support, support)._stream.quad(A[support])
        return self._stream.quad(A)

    def quads(self, A: Array) -> Array:
        support = np.flatnonzero(A.any(axis=1))
        if len(support) < 0.7 * len(A):
            return self.block(support, support)._stream.quads(A[support])
        return self._stream.quads(A)

    def inner(self, M: Array) -> Array:
        return self._stream.inner(M)

    def diagonal(self) -> Array:
        return np.ones((len(self), self.shape[0]), dtype=self.D.dtype)

    def traces(self) -> Array:
        return np.full(len(self), float(self.shape[0]))

    def pairs(self) -> Array:
        """exp(-(g_j + g_k) D) summed over the entries."""
        m = len(self)
        both = (self.gammas[:, None] + self.gammas[None, :])[np.triu_indices(m)]
        sums = replace(self, gammas=both).inner(np.ones_like(self.D))
        products = np.zeros((m, m))
        products[np.triu_indices(m)] = sums
        return products + np.triu(products, 1).T

    def block(self, rows: Index, columns: Index) -> RBFGridBank:
        r, c = positions(rows, self.shape[0]), positions(columns, self.shape[1])
        return replace(self, D=self.D[np.ix_(r, c)], Z=self.Z[c], same=same_samples(self, r, c))

    def select(self, index: Index) -> RBFGridBank:
        return replace(self, gammas=self.gammas[index])

    def exact(self, index: Index = slice(None)) -> KernelBank:
        """Stored where that fits: a pass over stored entries is ten times faster than exponentials."""
        from multikernel.banks.dense import PackedBank
        from multikernel.banks.origin import OnDemand
        from multikernel.banks.stack import MEMORY

        chosen = self.select(index)
        if not self.same:
            return chosen
        if self.D.dtype != np.float64:
            chosen = replace(chosen, D=distances(self.Z.astype(np.float64), None, self.columns))
        n = self.shape[0]
        packed = np.empty((len(chosen), n * (n + 1) // 2)) if len(chosen) * n * (n + 1) * 4 <= MEMORY else None
        if packed is None:
            return chosen
        for row, K in zip(packed, gaussians(pack(chosen.D), chosen.gammas), strict=True):
            row[:] = K
        return PackedBank(OnDemand(chosen), packed, n)

    def cross(self, X: Any) -> RBFGridBank:
        return replace(
            self, D=distances(as_floats(X), self.Z, self.columns).astype(self.D.dtype, copy=False), same=False
        )

    def reference(self, columns: Index = slice(None)) -> RBFGridBank:
        Z = self.Z[columns]
        return replace(self, D=np.empty((0, Z.shape[0]), dtype=self.D.dtype), Z=Z, same=False)

    def self_values(self, X: Any) -> Array:
        return np.ones((len(self), X.shape[0]), dtype=self.D.dtype)


def distances(X: Any, Z: Any, columns: Columns | None) -> Array:
    """Squared distances over some of the features."""
    if columns is None:
        return squared_distances(X, Z)
    index = list(columns)
    return squared_distances(X[:, index], None if Z is None else Z[:, index])


def gaussians(D: Array, gammas: Array) -> Iterator[Array]:
    """exp(-gamma D) for every gamma in turn; each is written over the one before."""
    K = np.empty_like(D)
    chain = 1
    for k, gamma in enumerate(gammas):
        ratio = gamma / gammas[k - 1] if k else 0.0
        power = round(ratio)
        whole = 1 <= power <= _LARGEST_POWER and abs(ratio - power) <= 1e-14 * power
        if whole and chain * power <= _LONGEST_CHAIN:
            chain *= power
            _raise(K, power)
        else:
            chain = 1
            np.multiply(D, D.dtype.type(-gamma), out=K)
            np.exp(K, out=K)
        yield K


def _raise(K: Array, power: int) -> None:
    """K ** power in place, by repeated squaring."""
    result: Array | None = None
    square = K.copy() if power & (power - 1) else K
    while power > 1:
        if power & 1:
            result = square.copy() if result is None else np.multiply(result, square, out=result)
        np.multiply(square, square, out=square)
        power >>= 1
    K[...] = square if result is None else result * square
