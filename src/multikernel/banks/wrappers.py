"""Banks seen through a factor for each kernel, or through the cosine of each kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from multikernel._linalg import as_columns, inverse_root
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank, positions
from multikernel.banks.gram import DenseGram, Gram


@dataclass(frozen=True, eq=False)
class WrapperBank(KernelBank):
    """Another bank seen in some way: on the same samples, with as many kernels."""

    bank: KernelBank

    @property
    def shape(self) -> tuple[int, int]:
        return self.bank.shape

    def __len__(self) -> int:
        return len(self.bank)

    @property
    def square(self) -> bool:
        return self.bank.square

    @property
    def rounding(self) -> float:
        return self.bank.rounding

    @property
    def local(self) -> bool:
        return self.bank.local

    def compact(self) -> Self:
        return replace(self, bank=self.bank.compact())


@dataclass(frozen=True, eq=False)
class ScaledBank(WrapperBank):
    """s_k K_k with fixed factors s of shape (m,)."""

    factors: Array

    def combine(self, weights: Array) -> Gram:
        return self.bank.combine(self.factors * weights)

    def apply(self, C: Array) -> Array:
        return self.factors[:, None, None] * self.bank.apply(C)

    def quad(self, A: Array) -> Array:
        return self.factors * self.bank.quad(A)

    def quads(self, A: Array) -> Array:
        return self.factors[:, None] * self.bank.quads(A)

    def combine_all(self, W: Array) -> list[Gram]:
        return self.bank.combine_all(self.factors * W)

    def inner(self, M: Array) -> Array:
        return self.factors * self.bank.inner(M)

    def diagonal(self) -> Array:
        return self.factors[:, None] * self.bank.diagonal()

    def traces(self) -> Array:
        return self.factors * self.bank.traces()

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        return self.factors[:, None] * self.bank.held_out_self_values(rows, columns)

    def pairs(self) -> Array:
        return self.factors[:, None] * self.bank.pairs() * self.factors

    def block(self, rows: Index, columns: Index) -> ScaledBank:
        return replace(self, bank=self.bank.block(rows, columns))

    def select(self, index: Index) -> ScaledBank:
        return ScaledBank(self.bank.select(index), self.factors[index])

    def exact(self, index: Index = slice(None)) -> ScaledBank:
        return ScaledBank(self.bank.exact(index), self.factors[index])

    def cross(self, X: Any) -> ScaledBank:
        return replace(self, bank=self.bank.cross(X))

    def reference(self, columns: Index = slice(None)) -> ScaledBank:
        return replace(self, bank=self.bank.reference(columns))

    def self_values(self, X: Any) -> Array:
        return self.factors[:, None] * self.bank.self_values(X)


@dataclass(frozen=True, eq=False)
class NormalizedBank(WrapperBank):
    """diag(l_k) K_k diag(r_k), l and r the inverse roots of the self-values of the rows and of the columns.

    A sample with self-value 0 has a row of zeros. Each kernel has factors of its own, so passes go kernel by kernel.
    """

    left: Array
    right: Array

    @classmethod
    def of(cls, bank: KernelBank) -> NormalizedBank:
        """Normalise a square bank."""
        roots = inverse_root(bank.diagonal())
        return cls(bank, roots, roots)

    def matrix(self, k: int) -> Array:
        K: Array = self.bank.matrix(k) * self.left[k][:, None]
        K *= self.right[k]
        np.clip(K, -1.0, 1.0, out=K)
        return K

    def combine(self, weights: Array) -> DenseGram:
        total = np.zeros(self.shape)
        for k in np.flatnonzero(weights):
            total += weights[k] * self.matrix(int(k))
        return DenseGram(total)

    def apply(self, C: Array) -> Array:
        products = [self.bank.select([k]).apply(self.right[k][:, None] * C)[0] for k in range(len(self))]
        scaled: Array = self.left[:, :, None] * np.stack(products)
        return scaled

    def quad(self, A: Array) -> Array:
        A = as_columns(A)
        return np.array([self.bank.select([k]).quad(self.left[k][:, None] * A)[0] for k in range(len(self))])

    def inner(self, M: Array) -> Array:
        return np.array([np.vdot(self.matrix(k), M) for k in range(len(self))])

    def diagonal(self) -> Array:
        ones: Array = (self.left > 0).astype(float)
        return ones

    def block(self, rows: Index, columns: Index) -> NormalizedBank:
        block = self.bank.block(rows, columns)
        if block.square:  # a centred bank has new self-values on a fold
            return NormalizedBank.of(block)
        if self.bank.square:
            rows_anew = inverse_root(self.bank.held_out_self_values(rows, columns))
            return NormalizedBank(block, rows_anew, NormalizedBank.of(self.bank.block(columns, columns)).right)
        left, right = self.left[:, positions(rows, self.shape[0])], self.right[:, positions(columns, self.shape[1])]
        return NormalizedBank(block, left, right)

    def select(self, index: Index) -> NormalizedBank:
        return NormalizedBank(self.bank.select(index), self.left[index], self.right[index])

    def exact(self, index: Index = slice(None)) -> NormalizedBank:
        """The factors anew: those at hand are as exact as the entries they were taken from."""
        bank = self.bank.exact(index)
        return NormalizedBank.of(bank) if self.square else NormalizedBank(bank, self.left[index], self.right[index])

    def cross(self, X: Any) -> NormalizedBank:
        return replace(self, bank=self.bank.cross(X), left=inverse_root(self.bank.self_values(X)))

    def reference(self, columns: Index = slice(None)) -> NormalizedBank:
        return NormalizedBank(self.bank.reference(columns), self.left[:, :0], self.right[:, columns])

    def self_values(self, X: Any) -> Array:
        ones: Array = (self.bank.self_values(X) > 0).astype(float)
        return ones
