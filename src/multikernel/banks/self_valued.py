"""Transformations of kernels that use their self-values: cosines, and distances in feature space.

With s_k and t_k the self-values k_k(x, x) of the rows and of the columns, they are for every kernel

    cosines      diag(s_k)^(-1/2) K_k diag(t_k)^(-1/2)
    distances    D_k = s_k 1' + 1 t_k' - 2 K_k

The factors of cosines differ from kernel to kernel, so products and forms are computed kernel by kernel. Distances are
linear in the kernels, so all passes follow from passes over the kernels,

    <D_k, M> = s_k'(M 1) + t_k'(M'1) - 2 <K_k, M>,

and no matrix is stored for a bank of rank-one kernels. Matrices of distances are not positive semi-definite:
sum_ij a_i a_j D_ij <= 0 where the a_i have sum 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from multikernel._linalg import as_columns, inverse_root
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import positions
from multikernel.banks.wrappers import WrapperBank


@dataclass(frozen=True, eq=False, repr=False)
class SelfValuedBank(WrapperBank):
    """A transformation of each kernel by the self-values of the rows and of the columns.

    Parameters
    ----------
    bank : the kernels
    left, right : arrays (m, r) and (m, c), functions of the self-values of the rows and of the columns
    """

    left: Array
    right: Array

    @staticmethod
    @abstractmethod
    def from_self_values(values: Array) -> Array:
        """The function of the self-values by which kernels are transformed."""

    @classmethod
    def of(cls, bank: KernelBank) -> Self:
        """The transformation of a square bank."""
        values = cls.from_self_values(bank.diagonal())
        return cls(bank, values, values)

    def block(self, rows: Index, columns: Index) -> Self:
        block = self.bank.block(rows, columns)
        if block.square:  # the self-values of a centred bank change with its samples
            return self.of(block)
        if self.bank.square:
            row_factors = self.from_self_values(self.bank.held_out_self_values(rows, columns))
            column_factors = self.of(self.bank.block(columns, columns)).right
            return replace(self, bank=block, left=row_factors, right=column_factors)
        return replace(self, bank=block, left=self.left[:, rows], right=self.right[:, columns])

    def select(self, index: Index) -> Self:
        return replace(self, bank=self.bank.select(index), left=self.left[index], right=self.right[index])

    def exact(self, index: Index = slice(None)) -> Self:
        """The exact kernels; self-values are computed again, as the present ones come from rounded entries."""
        bank = self.bank.exact(index)
        if self.square:
            return self.of(bank)
        return replace(self, bank=bank, left=self.left[index], right=self.right[index])

    def _of_unrounded(self, bank: KernelBank) -> Self:
        return self.of(bank)

    def principal(self, rows: Array) -> Self:
        return self.of(self.bank.principal(rows))

    def cross(self, X: Any) -> Self:
        return replace(self, bank=self.bank.cross(X), left=self.from_self_values(self.bank.self_values(X)))

    def reference(self, columns: Index = slice(None)) -> Self:
        return replace(self, bank=self.bank.reference(columns), left=self.left[:, :0], right=self.right[:, columns])


@dataclass(frozen=True, eq=False, repr=False)
class NormalizedBank(SelfValuedBank):
    """diag(l_k) K_k diag(r_k), l and r the inverse roots of the self-values of the rows and of the columns.

    A sample with self-value 0 has a row of zeros.
    """

    @staticmethod
    def from_self_values(values: Array) -> Array:
        return inverse_root(np.asarray(values, dtype=np.float64))

    def tiles(self, rows: Index) -> Iterator[Array]:
        for row_factors, column_factors, K in zip(self.left[:, rows], self.right, self.bank.tiles(rows), strict=True):
            cosines = K * row_factors[:, None]
            cosines *= column_factors
            yield np.clip(cosines, -1.0, 1.0, out=cosines)

    def apply(self, C: Array) -> Array:
        products = [bank.apply(r[:, None] * C)[0] for bank, r in zip(self._single_kernels, self.right, strict=True)]
        return self.left[:, :, None] * np.stack(products)

    def quads(self, A: Array) -> Array:
        self._check_square()
        return np.stack(
            [bank.quads(l[:, None] * A)[0] for bank, l in zip(self._single_kernels, self.left, strict=True)]
        )

    @property
    def _single_kernels(self) -> Iterator[KernelBank]:
        """A bank for each kernel."""
        return (self.bank.select(slice(k, k + 1)) for k in range(len(self)))

    def diagonal(self) -> Array:
        self._check_square()
        return (self.left > 0).astype(float)

    def self_values(self, X: Any) -> Array:
        return (self.bank.self_values(X) > 0).astype(float)


@dataclass(frozen=True, eq=False, repr=False)
class DistanceBank(SelfValuedBank):
    """s_k 1' + 1 t_k' - 2 K_k for every kernel, s and t the self-values of the rows and of the columns."""

    @staticmethod
    def from_self_values(values: Array) -> Array:
        return values

    @property
    def local(self) -> bool:
        """True also for centred kernels, since distances do not depend on the centre."""
        return True

    @property
    def of_distances(self) -> bool:
        return True

    def tiles(self, rows: Index) -> Iterator[Array]:
        row_positions = positions(rows, self.shape[0])
        for row_values, column_values, K in zip(self.left[:, rows], self.right, self.bank.tiles(rows), strict=True):
            yield self._distances(np.multiply(K, -2.0, dtype=np.float64), row_values, column_values, row_positions)

    def combine_all(self, W: Array) -> list[Gram]:
        all_rows = np.arange(self.shape[0])
        sums = zip(self.bank.combine_all(W), W @ self.left, W @ self.right, strict=True)
        return [DenseGram(self._distances(-2.0 * gram.dense(), s, t, all_rows)) for gram, s, t in sums]

    def _distances(self, D: Array, row_values: Array, column_values: Array, rows: Array) -> Array:
        """s 1' + 1 t' + D, written into D, and exactly 0 from a sample to itself."""
        D += row_values[:, None]
        D += column_values
        if self.square:
            D[np.arange(len(rows)), rows] = 0.0
        return D

    def apply(self, C: Array) -> Array:
        value: Array = -2.0 * self.bank.apply(C)
        value += self.left[:, :, None] * C.sum(axis=0)
        value += (self.right @ C)[:, None, :]
        return value

    def quad(self, A: Array) -> Array:
        self._check_square()
        A = as_columns(A)
        return 2.0 * (self.left @ (A @ A.sum(axis=0))) - 2.0 * self.bank.quad(A)

    def quads(self, A: Array) -> Array:
        self._check_square()
        return 2.0 * (self.left @ A) * A.sum(axis=0) - 2.0 * self.bank.quads(A)

    def inner(self, M: Array) -> Array:
        return self.left @ M.sum(axis=1) + self.right @ M.sum(axis=0) - 2.0 * self.bank.inner(M)

    def diagonal(self) -> Array:
        self._check_square()
        return np.zeros((len(self), self.shape[0]))

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        return np.zeros((len(self), len(positions(rows, self.shape[0]))))

    def self_values(self, X: Any) -> Array:
        return np.zeros_like(self.bank.self_values(X))
