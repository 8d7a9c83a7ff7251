"""A bank whose samples have weights: w_i w_j K_ij in every kernel, as if the features of sample i were w_i as large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.forms import register_form
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.wrappers import WrapperBank


@dataclass(frozen=True, eq=False, repr=False)
class WeighedBank(WrapperBank):
    """diag(left) K_k diag(right); new samples have weight one.

    Parameters
    ----------
    bank : the kernels
    left, right : arrays (r,) and (c,), the weights of the rows and of the columns
    """

    left: Array
    right: Array

    @classmethod
    def of(cls, bank: KernelBank, weight: Array) -> Self:
        """The form of a square bank."""
        return cls(bank, weight, weight)

    def tiles(self, rows: Index) -> Iterator[Array]:
        left = self.left[rows][:, None]
        return (left * K * self.right for K in self.bank.tiles(rows))

    def combine_all(self, W: Array) -> list[Gram]:
        grams = self.bank.combine_all(W)
        if self.square:
            return [gram.congruent(self.left) for gram in grams]
        return [DenseGram(self.left[:, None] * gram.dense() * self.right) for gram in grams]

    def apply(self, C: Array) -> Array:
        return self.left[:, None] * self.bank.apply(self.right[:, None] * C)

    def quads(self, A: Array) -> Array:
        return self.bank.quads(self.left[:, None] * A)

    def diagonal(self) -> Array:
        return self.left**2 * self.bank.diagonal()

    def block(self, rows: Index, columns: Index) -> Self:
        return replace(self, bank=self.bank.block(rows, columns), left=self.left[rows], right=self.right[columns])

    def select(self, index: Index) -> Self:
        return replace(self, bank=self.bank.select(index))

    def exact(self, index: Index = slice(None)) -> Self:
        return replace(self, bank=self.bank.exact(index))

    def cross(self, X: Any) -> Self:
        bank = self.bank.cross(X)
        return replace(self, bank=bank, left=np.ones(bank.shape[0]))

    def reference(self, columns: Index = slice(None)) -> Self:
        return replace(self, bank=self.bank.reference(columns), left=self.left[:0], right=self.right[columns])

    def self_values(self, X: Any) -> Array:
        return self.bank.self_values(X)

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        return self.left[rows] ** 2 * self.bank.held_out_self_values(rows, columns)


register_form("weighed", WeighedBank.of)
