"""Squared distances in the feature space of each kernel, as a bank.

    D_k = s_k 1' + 1 t_k' - 2 K_k

with s_k and t_k the self-values of the rows and of the columns. All passes are made of those of the kernels themselves,

    <D_k, M> = s_k'(M 1) + t_k'(M'1) - 2 <K_k, M>,

so what a bank of rank-one kernels never stores is not stored here either. The matrices are not positive semi-definite:
sum_ij a_i a_j D_ij <= 0 where the a_i have sum 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank, positions
from multikernel.banks.gram import DenseGram
from multikernel.banks.wrappers import WrapperBank


@dataclass(frozen=True, eq=False)
class DistanceBank(WrapperBank):
    """s_k 1' + 1 t_k' - 2 K_k for every kernel.

    Parameters
    ----------
    bank : the kernels
    left, right : arrays (m, r) and (m, c), the self-values of the rows and of the columns
    """

    left: Array
    right: Array

    @classmethod
    def of(cls, bank: KernelBank) -> DistanceBank:
        """The distances within a square bank."""
        values = bank.diagonal()
        return cls(bank, values, values)

    @property
    def local(self) -> bool:
        """Whatever the centre: distances do not know it."""
        return True

    def combine(self, weights: Array) -> DenseGram:
        weights = np.asarray(weights, dtype=float)
        D = -2.0 * self.bank.combine(weights).dense()
        D += (weights @ self.left)[:, None]
        D += weights @ self.right
        if self.square:
            np.fill_diagonal(D, 0.0)
        return DenseGram(D)

    def apply(self, C: Array) -> Array:
        value: Array = -2.0 * self.bank.apply(C)
        value += self.left[:, :, None] * C.sum(axis=0)
        value += (self.right @ C)[:, None, :]
        return value

    def quad(self, A: Array) -> Array:
        A = as_columns(A)
        forms: Array = 2.0 * (self.left @ (A @ A.sum(axis=0))) - 2.0 * self.bank.quad(A)
        return forms

    def quads(self, A: Array) -> Array:
        forms: Array = 2.0 * (self.left @ A) * A.sum(axis=0) - 2.0 * self.bank.quads(A)
        return forms

    def inner(self, M: Array) -> Array:
        value: Array = self.left @ M.sum(axis=1) + self.right @ M.sum(axis=0) - 2.0 * self.bank.inner(M)
        return value

    def diagonal(self) -> Array:
        return np.zeros((len(self), self.shape[0]))

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        return np.zeros((len(self), len(positions(rows, self.shape[0]))))

    def block(self, rows: Index, columns: Index) -> DistanceBank:
        block = self.bank.block(rows, columns)
        if block.square:  # a centred bank has new self-values on a fold
            return DistanceBank.of(block)
        if self.bank.square:
            left = self.bank.held_out_self_values(rows, columns)
            return DistanceBank(block, left, self.bank.block(columns, columns).diagonal())
        left, right = self.left[:, positions(rows, self.shape[0])], self.right[:, positions(columns, self.shape[1])]
        return DistanceBank(block, left, right)

    def select(self, index: Index) -> DistanceBank:
        return DistanceBank(self.bank.select(index), self.left[index], self.right[index])

    def exact(self, index: Index = slice(None)) -> DistanceBank:
        """The self-values anew: those at hand are as exact as the entries they were taken from."""
        bank = self.bank.exact(index)
        return DistanceBank.of(bank) if self.square else DistanceBank(bank, self.left[index], self.right[index])

    def cross(self, X: Any) -> DistanceBank:
        return replace(self, bank=self.bank.cross(X), left=self.bank.self_values(X))

    def reference(self, columns: Index = slice(None)) -> DistanceBank:
        return DistanceBank(self.bank.reference(columns), self.left[:, :0], self.right[:, columns])

    def self_values(self, X: Any) -> Array:
        return np.zeros_like(self.bank.self_values(X))
