"""Kernels of one distance: K_k = f_k(D), entry by entry, one matrix D for all.

Where two kernels in a row are exp(-gamma D) and the second gamma is a small whole multiple of the first, the second
matrix is a power of the first and needs no exponential.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array, Index
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.indices import positions
from multikernel.banks.one_matrix import OneMatrixBank
from multikernel.banks.packed import PackedBank
from multikernel.banks.packing import pack
from multikernel.banks.powers import raised
from multikernel.kernels.distance import DistanceKernel, ExponentialKernel

_LARGEST_POWER = 8  # a higher power takes as long as an exponential
_LONGEST_CHAIN = 32  # rounding grows with the product of the powers since the last exponential


@dataclass(frozen=True, eq=False, repr=False)
class ProfilesBank(OneMatrixBank):
    """K_k = f_k(D).

    Parameters
    ----------
    B : BaseMatrix, the matrix D of distances, stored or made on demand
    kernels : m kernels of this distance, which know their profiles f_k
    """

    kernels: tuple[DistanceKernel, ...]

    def __len__(self) -> int:
        return len(self.kernels)

    def select(self, index: Index) -> ProfilesBank:
        return replace(self, kernels=tuple(self.kernels[k] for k in positions(index, len(self))))

    def exact(self, index: Index = slice(None)) -> KernelBank:
        """Stored where that fits: a pass over stored entries is ten times faster than exponentials."""
        chosen, n = self.select(index), self.shape[1]
        if not self.square:
            return chosen
        chosen = chosen._in_double()
        if len(chosen) * n * (n + 1) * 4 > MEMORY:
            return chosen
        packed = np.empty((len(chosen), n * (n + 1) // 2))
        for row, K in zip(packed, profiles(chosen.kernels, pack(chosen.B.values())), strict=True):
            row[:] = K
        return PackedBank(chosen, packed, n)

    def tiles(self, rows: Index) -> Iterator[Array]:
        return profiles(self.kernels, self.B.entries(rows))

    def diagonal(self) -> Array:
        return self.self_values(self.B.columns.values)

    def self_values(self, X: Any) -> Array:
        return np.stack([kernel.diagonal(X) for kernel in self.kernels])


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
