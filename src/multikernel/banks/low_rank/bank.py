"""A bank of approximate kernels: their features, and the map that computes features of new samples.

The features of a centred kernel have their mean over the training sample subtracted. ``block`` of a training bank
computes the mean again; from features of new samples the mean of the training sample is subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._arrays import foreign, like, taken
from multikernel._linalg import product
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.factor import FactorBank
from multikernel.banks.indices import positions
from multikernel.banks.low_rank.feature_map import FeatureMap
from multikernel.banks.wrappers import SameKernelsBank, delegate, rewrap


@dataclass(frozen=True, eq=False, repr=False)
class LowRankBank(SameKernelsBank):
    """K_k = F_k H_k', the features of new samples by a map.

    The stored features define the kernels, also if they are stored in single precision.

    Parameters
    ----------
    bank : FactorBank of the features, which are centred for centred kernels
    map : FeatureMap of all kernels
    mean : array (q,), subtracted from the features of the map; 0 for kernels that are not centred
    follows : bool array (m,), which kernels are centred
    """

    bank: FactorBank
    map: FeatureMap
    mean: Array
    follows: Array

    @classmethod
    def of(cls, map: FeatureMap, F: Array) -> LowRankBank:
        """The square bank of a sample with these features, where no kernel is centred."""
        sizes = np.array(map.sizes, dtype=int)
        bank = FactorBank(F, F, sizes, np.arange(F.shape[1]))
        return cls(bank, map, np.zeros(F.shape[1]), np.zeros(len(sizes), dtype=bool))

    @property
    def local(self) -> bool:
        return not bool(self.follows.any())

    @property
    def rounding(self) -> float:
        return 2.0**-53

    @property
    def n_features(self) -> int:
        return self.bank.n_features

    principal = delegate("principal", rewrap)

    def centred(self, which: Array) -> LowRankBank:
        """The bank in which the kernels of this mask are centred, too."""
        return replace(self, follows=self.follows | which)._about(slice(None))

    def _about(self, columns: Index) -> LowRankBank:
        """The square bank in which features of centred kernels have their mean over these columns subtracted."""
        of_centred = np.repeat(self.follows, self.bank.sizes)
        F_rows = taken(self.bank.F, columns)
        ones = np.full(F_rows.shape[0], 1.0 / F_rows.shape[0])
        if foreign(F_rows):
            mean = product(F_rows.T, ones)
        else:
            mean = F_rows.mean(axis=0, dtype=np.float64)
        shift = np.where(of_centred, mean, 0.0)
        F = self.bank.F - _beside(self.bank.F, shift)
        return replace(self, bank=replace(self.bank, F=F, H=F), mean=self.mean + shift)

    def block(self, rows: Index, columns: Index) -> LowRankBank:
        about = self if self.local or not self.square else self._about(columns)
        return replace(about, bank=about.bank.block(rows, columns))

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        about = self if self.local else self._about(columns)
        return about.diagonal()[:, rows]

    def reference(self, columns: Index = slice(None)) -> LowRankBank:
        return replace(self, bank=self.bank.block(np.arange(0), columns))

    def select(self, index: Index) -> LowRankBank:
        chosen = positions(index, len(self))
        columns = self.bank.columns_of(chosen)
        return LowRankBank(
            self.bank.select(chosen), self.map.select(chosen.tolist()), self.mean[columns], self.follows[chosen]
        )

    def exact(self, index: Index = slice(None)) -> LowRankBank:
        return self.select(index)

    def unrounded(self) -> LowRankBank:
        return self

    def cross(self, X: Any) -> LowRankBank:
        return replace(self, bank=replace(self.bank, F=self._features(X)))

    def on(self, X: Any) -> LowRankBank:
        """The square bank of other samples, centred by the mean of the training sample."""
        F = self._features(X)
        return replace(self, bank=replace(self.bank, F=F, H=F))

    def on_features(self, F: Array) -> LowRankBank:
        """The square bank of samples that are given by their features, which are not centred again."""
        return replace(self, bank=replace(self.bank, F=F, H=F), follows=np.zeros_like(self.follows))

    def self_values(self, X: Any) -> Array:
        return self.on(X).diagonal()

    def _features(self, X: Any) -> Array:
        F = self.map(like(self.bank.H, X), self.bank.H.dtype)
        if self.mean.any():
            return F - _beside(F, self.mean)
        return F

    def weighted(self, weight: Array) -> KernelBank:
        """The bank of weighted features; not with centred kernels, since weighted features would be centred again."""
        if not self.local:
            return super().weighted(weight)
        return replace(self, bank=self.bank.weighted(weight))


def _beside(F: Array, row: Array) -> Array:
    """A row to be added to every row of F, in the library and precision of F."""
    if foreign(F):
        return like(F, row)
    return row.astype(F.dtype)
