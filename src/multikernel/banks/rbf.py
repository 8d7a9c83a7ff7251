"""Gaussian kernels over one distance matrix: K_k = exp(-gamma_k D).

Where gamma_{k+1} is a whole multiple of gamma_k, K_{k+1} is a power of K_k and needs no exp.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array, Columns, Index
from multikernel.banks.base import MEMORY, KernelBank, positions, same_samples, unit_roundoff
from multikernel.banks.packing import pack
from multikernel.banks.powers import raised
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

    def tiles(self, rows: Index) -> Iterator[Array]:
        return gaussians(self.D[rows], self.gammas)

    def diagonal(self) -> Array:
        return np.ones((len(self), self.shape[0]), dtype=self.D.dtype)

    def block(self, rows: Index, columns: Index) -> RBFGridBank:
        r, c = positions(rows, self.shape[0]), positions(columns, self.shape[1])
        return replace(self, D=self.D[np.ix_(r, c)], Z=self.Z[columns], same=same_samples(self, r, c))

    def select(self, index: Index) -> RBFGridBank:
        return replace(self, gammas=self.gammas[index])

    def exact(self, index: Index = slice(None)) -> KernelBank:
        """Stored where that fits: a pass over stored entries is ten times faster than exponentials."""
        from multikernel.banks.dense import PackedBank
        from multikernel.banks.origin import OnDemand

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
            K = raised(K, power)
        else:
            chain = 1
            np.multiply(D, D.dtype.type(-gamma), out=K)
            np.exp(K, out=K)
        yield K
