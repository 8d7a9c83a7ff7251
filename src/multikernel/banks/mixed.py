"""Samples whose features are weighted sums of those of other samples.

With phi_k(x_i) = sum_j L_ij phi_k(u_j) for the rows and R likewise for the columns, every kernel becomes

    L K_k R',

which on a training sample, where L = R, is positive semi-definite with K_k. A pass over these is one over the K_k:

    (L K_k R') C = L (K_k (R'C))        a'(L K_k L') a = (L'a)'K_k (L'a)        <L K_k R', M> = <K_k, L'M R>.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import positions, same_samples
from multikernel.banks.wrappers import WrapperBank


@dataclass(frozen=True, eq=False, repr=False)
class MixedBank(WrapperBank):
    """L K_k R' for every kernel.

    Parameters
    ----------
    bank : the kernels of the samples that are summed
    left, right : CSR matrices (r, rows of the bank) and (c, columns of the bank), L and R; the same one where the bank
        is square
    """

    left: Any
    right: Any

    @classmethod
    def of(cls, bank: KernelBank, left: Any, right: Any) -> MixedBank:
        """With the samples alone that the columns are sums of where kernels are centred: the centre is theirs."""
        if bank.local:
            return cls(bank, left, right)
        of_columns = np.unique(right.indices)
        own = right[:, of_columns]
        if left is right:
            return cls(bank.block(of_columns, of_columns), own, own)
        of_rows = np.unique(left.indices)
        return cls(bank.block(of_rows, of_columns), left[:, of_rows], own)

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.shape[0], self.right.shape[0]

    @property
    def square(self) -> bool:
        return self.left is self.right

    # -- passes --------------------------------------------------------------------------------------------------

    def tiles(self, rows: Index) -> Iterator[Array]:
        left = self.left[positions(rows, self.shape[0])]
        used = np.unique(left.indices)
        left = left[:, used]
        for K in self.bank.tiles(used):
            yield self._of(left, K)

    def _of(self, left: Any, K: Array) -> Array:
        """left K R' of one matrix."""
        mixed: Array = (self.right @ (left @ K).T).T
        return mixed

    def combine_all(self, W: Array) -> list[Gram]:
        return [DenseGram(self._of(self.left, gram.dense())) for gram in self.bank.combine_all(W)]

    def apply(self, C: Array) -> Array:
        inner = self.bank.apply(self.right.T @ C)
        return np.stack([self.left @ each for each in inner])

    def quad(self, A: Array) -> Array:
        self._check_square()
        return self.bank.quad(self.left.T @ as_columns(A))

    def quads(self, A: Array) -> Array:
        self._check_square()
        return self.bank.quads(self.left.T @ A)

    def inner(self, M: Array) -> Array:
        return self.bank.inner((self.right.T @ (self.left.T @ M).T).T)

    # -- parts ---------------------------------------------------------------------------------------------------

    def block(self, rows: Index, columns: Index) -> MixedBank:
        r = positions(rows, self.shape[0])
        c = positions(columns, self.shape[1])
        right = self.right[c]
        left = right if same_samples(self.square, r, c) else self.left[r]
        return MixedBank.of(self.bank, left, right)

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        """ValueError where kernels have another centre than here: of a sum the bank inside knows no values about it."""
        of_columns = np.unique(self.right[positions(columns, self.shape[1])].indices)
        if not self.local and len(of_columns) < self.bank.shape[1]:
            raise ValueError(
                "self-values of held-out samples that are weighted sums of others are not known where kernels are "
                "centred: normalise the kernels, or take their distances, before they are centred"
            )
        return super().held_out_self_values(rows, columns)

    def reference(self, columns: Index = slice(None)) -> MixedBank:
        right = self.right[positions(columns, self.shape[1])]
        used = np.unique(right.indices)
        return MixedBank(self.bank.reference(used), self.left[:0, :0], right[:, used])

    def select(self, index: Index) -> MixedBank:
        return replace(self, bank=self.bank.select(index))

    def exact(self, index: Index = slice(None)) -> MixedBank:
        return replace(self, bank=self.bank.exact(index))

    def cross(self, X: Any) -> MixedBank:
        """New samples that are themselves, and no weighted sums."""
        return self.crossed(X, None)

    def crossed(self, X: Any, left: Any) -> MixedBank:
        """New samples as weighted sums of samples X, by a CSR matrix (new, len(X)); None is of each alone."""
        bank = self.bank.cross(X)
        return MixedBank(bank, identity(bank.shape[0]) if left is None else left, self.right)

    def self_values(self, X: Any) -> Array:
        return self.bank.self_values(X)


def identity(n: int) -> Any:
    """The samples themselves."""
    return sparse.csr_array(sparse.eye(n, format="csr"))
