"""Centring in feature space, with the means of the training sample.

With m_k the column means of K_k on the training set and J = I - 11'/c, both the training bank (r = c) and a bank of new
samples are

    (K_k - 1 m_k') J,

which on the training set is J K_k J.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indexed import IndexedBank
from multikernel.banks.rotation import Rotation
from multikernel.banks.wrappers import WrapperBank


@dataclass(frozen=True, eq=False, repr=False)
class CenteredBank(WrapperBank):
    """(K_k - 1 m_k') J for every kernel.

    Parameters
    ----------
    bank : the kernels before centring
    means : array (m, c), the column means of each kernel over the training sample
    """

    means: Array

    @classmethod
    def of(cls, bank: KernelBank) -> CenteredBank:
        """Centre a square bank."""
        return cls(bank, _row_means(bank))

    @property
    def local(self) -> bool:
        return False

    @cached_property
    def _features(self) -> KernelBank | None:
        """The same kernels by centred features, where these are few."""
        return self.bank.about_mean()

    @property
    def n_features(self) -> int | None:
        if self._features is None:
            return None
        return self._features.n_features

    def tiles(self, rows: Index) -> Iterator[Array]:
        for means, K in zip(self.means, self.bank.tiles(rows), strict=True):
            centred = K - means
            centred -= centred.mean(axis=1, keepdims=True)
            yield centred

    def combine_all(self, W: Array) -> list[Gram]:
        if self._features is not None:
            return self._features.combine_all(W)
        grams: list[Gram] = []
        for weights, gram in zip(W, self.bank.combine_all(W), strict=True):
            K = gram.dense() - weights @ self.means
            K -= K.mean(axis=1, keepdims=True)
            grams.append(DenseGram(K))
        return grams

    def apply(self, C: Array) -> Array:
        JC = C - C.mean(axis=0)
        return self.bank.apply(JC) - (self.means @ JC)[:, None, :]

    def pairs(self, N: Array | None = None) -> Array:
        if self._features is None:
            return super().pairs(N)
        return self._features.pairs(N)

    def rotation(self, Y: Array, groups: Sequence[Array] | None = None) -> Rotation | None:
        if self._features is None:
            return None
        return self._features.rotation(Y, groups)

    def rotated(self, rotation: Rotation) -> KernelBank:
        if self._features is None:
            return super().rotated(rotation)
        return self._features.rotated(rotation)

    def quad(self, A: Array) -> Array:
        A = as_columns(A)
        return self.bank.quad(A - A.mean(axis=0))

    def quads(self, A: Array) -> Array:
        return self.bank.quads(A - A.mean(axis=0))

    def inner(self, M: Array) -> Array:
        MJ = M - M.mean(axis=1, keepdims=True)
        return self.bank.inner(MJ) - self.means @ MJ.sum(axis=0)

    def diagonal(self) -> Array:
        return self.bank.diagonal() - 2.0 * self.means + self.means.mean(axis=1, keepdims=True)

    def block(self, rows: Index, columns: Index) -> KernelBank:
        if not self.bank.square:  # new samples are centred by the means of the training sample
            return IndexedBank.of(self, rows, columns)
        block = self.bank.block(rows, columns)
        if block.square:
            return CenteredBank.of(block)
        return CenteredBank(block, _row_means(self.bank.block(columns, columns)))

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        row_means = _row_means(self.bank.block(rows, columns))
        mean = _row_means(self.bank.block(columns, columns)).mean(axis=1, keepdims=True)
        return self.bank.held_out_self_values(rows, columns) - 2.0 * row_means + mean

    def select(self, index: Index) -> CenteredBank:
        return CenteredBank(self.bank.select(index), self.means[index])

    def _of_unrounded(self, bank: KernelBank) -> CenteredBank:
        return CenteredBank.of(bank)

    def exact(self, index: Index = slice(None)) -> CenteredBank:
        """The exact kernels; their means are computed again, as the present ones come from rounded entries."""
        bank = self.bank.exact(index)
        if bank.square:
            return CenteredBank.of(bank)
        return CenteredBank(bank, self.means[index])

    def cross(self, X: Any) -> CenteredBank:
        return replace(self, bank=self.bank.cross(X))

    def reference(self, columns: Index = slice(None)) -> KernelBank:
        """All columns are kept for the row means of new samples; a view selects the given columns."""
        reference = replace(self, bank=self.bank.reference())
        all_columns = isinstance(columns, slice) and columns == slice(None)
        if all_columns:
            return reference
        return IndexedBank.of(reference, slice(0), columns)

    def self_values(self, X: Any) -> Array:
        row_means = _row_means(self.bank.cross(X))
        return self.bank.self_values(X) - 2.0 * row_means + self.means.mean(axis=1, keepdims=True)


def _row_means(bank: KernelBank) -> Array:
    """The mean of every row of every kernel; in a square bank these are the column means, too."""
    c = bank.shape[1]
    return bank.apply(np.full((c, 1), 1.0 / c))[:, :, 0]
