"""A bank that knows features of its samples beside their kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.wrappers import SameKernelsBank
from multikernel.kernels.samples import dense


@dataclass(frozen=True, eq=False, repr=False)
class FeaturedBank(SameKernelsBank):
    """The kernels of another bank; the features of samples go with these.

    Parameters
    ----------
    bank : the kernels
    rows, columns : arrays (r, p) and (c, p), features less the center, divided by the scale
    center, scale : arrays (p,)
    """

    rows: Array
    columns: Array
    center: Array
    scale: Array

    @classmethod
    def of(cls, bank: KernelBank, X: Array) -> FeaturedBank:
        """With the standardised features of the samples of a square bank."""
        center, scale = X.mean(axis=0), X.std(axis=0)
        scale = np.where(scale > 1e-12 * np.abs(X).max(axis=0, initial=0.0), scale, 1.0)
        features = (X - center) / scale
        return cls(bank, features, features, center, scale)

    def block(self, rows: Index, columns: Index) -> FeaturedBank:
        part = self.bank.block(rows, columns)
        return replace(self, bank=part, rows=self.rows[rows], columns=self.columns[columns])

    def principal(self, rows: Array) -> FeaturedBank:
        return replace(self, bank=self.bank.principal(rows), rows=self.rows[rows], columns=self.columns[rows])

    def select(self, index: Index) -> FeaturedBank:
        return replace(self, bank=self.bank.select(index))

    def exact(self, index: Index = slice(None)) -> FeaturedBank:
        return replace(self, bank=self.bank.exact(index))

    def cross(self, X: Any) -> FeaturedBank:
        features = (np.asarray(dense(X), dtype=float) - self.center) / self.scale
        return replace(self, bank=self.bank.cross(X), rows=features)

    def reference(self, columns: Index = slice(None)) -> FeaturedBank:
        return replace(self, bank=self.bank.reference(columns), rows=self.rows[:0], columns=self.columns[columns])

    def self_values(self, X: Any) -> Array:
        return self.bank.self_values(X)
