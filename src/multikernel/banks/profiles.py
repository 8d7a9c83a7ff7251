"""Kernels of one distance: K_k = f_k(D), entry by entry, one matrix D for all.

Where two kernels in a row are exp(-gamma D) and the second gamma is a small whole multiple of the first, the second
matrix is a power of the first and needs no exponential.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array, Columns, Index
from multikernel.banks.base import MEMORY, KernelBank, positions, same_samples, unit_roundoff
from multikernel.banks.dense import PackedBank
from multikernel.banks.packing import pack
from multikernel.banks.powers import raised
from multikernel.kernels.distance import DistanceKernel, ExponentialKernel
from multikernel.kernels.samples import as_floats

_LARGEST_POWER = 8  # a higher power takes as long as an exponential
_LONGEST_CHAIN = 32  # rounding grows with the product of the powers since the last exponential


@dataclass(frozen=True, eq=False)
class ProfilesBank(KernelBank):
    """K_k = f_k(D), D the distances on some columns of the samples.

    Parameters
    ----------
    D : array (r, c)
    kernels : m kernels of this distance, which know their profiles f_k
    Z : the column samples
    columns : the features that the distance is taken over (None: all)
    same : whether the rows are the columns
    """

    D: Array
    kernels: tuple[DistanceKernel, ...]
    Z: Any
    columns: Columns | None
    same: bool

    @classmethod
    def of(
        cls, kernels: Sequence[DistanceKernel], X: Any, columns: Columns | None = None, dtype: Any = None
    ) -> ProfilesBank:
        """The square bank on samples X, its distances stored in ``dtype`` (None: as they come)."""
        D = distances(kernels[0], X, None, columns)
        return cls(D.astype(D.dtype if dtype is None else dtype, copy=False), tuple(kernels), X, columns, True)

    @property
    def shape(self) -> tuple[int, int]:
        return self.D.shape

    def __len__(self) -> int:
        return len(self.kernels)

    @property
    def square(self) -> bool:
        return self.same

    @property
    def rounding(self) -> float:
        return unit_roundoff(self.D.dtype)

    def tiles(self, rows: Index) -> Iterator[Array]:
        return profiles(self.kernels, self.D[rows])

    def diagonal(self) -> Array:
        return self.self_values(self.Z)

    def block(self, rows: Index, columns: Index) -> ProfilesBank:
        r, c = positions(rows, self.shape[0]), positions(columns, self.shape[1])
        return replace(self, D=self.D[np.ix_(r, c)], Z=self.Z[columns], same=same_samples(self, r, c))

    def select(self, index: Index) -> ProfilesBank:
        return replace(self, kernels=tuple(self.kernels[k] for k in positions(index, len(self))))

    def exact(self, index: Index = slice(None)) -> KernelBank:
        """Stored where that fits: a pass over stored entries is ten times faster than exponentials."""
        chosen, n = self.select(index), self.shape[1]
        if not self.same:
            return chosen
        if self.D.dtype != np.float64:
            chosen = ProfilesBank.of(chosen.kernels, self.Z.astype(np.float64), self.columns)
        if len(chosen) * n * (n + 1) * 4 > MEMORY:
            return chosen
        packed = np.empty((len(chosen), n * (n + 1) // 2))
        for row, K in zip(packed, profiles(chosen.kernels, pack(chosen.D)), strict=True):
            row[:] = K
        return PackedBank(chosen, packed, n)

    def cross(self, X: Any) -> ProfilesBank:
        D = distances(self.kernels[0], as_floats(X), self.Z, self.columns)
        return replace(self, D=D.astype(self.D.dtype, copy=False), same=False)

    def self_values(self, X: Any) -> Array:
        return np.stack([kernel.diagonal(X) for kernel in self.kernels])


def distances(kernel: DistanceKernel, X: Any, Z: Any, columns: Columns | None) -> Array:
    """The kernel's distance on some of the features (None: all) of samples."""
    if columns is None:
        return kernel.distance(X, Z)
    index = list(columns)
    return kernel.distance(X[:, index], None if Z is None else Z[:, index])


def profiles(kernels: Sequence[DistanceKernel], D: Array) -> Iterator[Array]:
    """f_k(D) of every kernel in turn."""
    before, K, chain = 0.0, D, 0  # K = exp(-before D), by ``chain`` factors since the last exponential
    for kernel in kernels:
        gamma = kernel.gamma if isinstance(kernel, ExponentialKernel) else 0.0
        ratio = gamma / before if before else 0.0
        power = round(min(ratio, _LONGEST_CHAIN))
        whole = 1 <= power <= _LARGEST_POWER and abs(ratio - power) <= 1e-14 * power
        if whole and chain * power <= _LONGEST_CHAIN:
            K, chain = raised(K, power), chain * power
        else:
            K, chain = kernel.profile(D), 1
        before = gamma
        yield K
