"""Samples whose features are weighted sums of the features of other samples.

With phi_k(x_i) = sum_j L_ij phi_k(u_j) for the rows, and with R for the columns, every kernel becomes

    L K_k R',

which on a training sample, where L = R, is positive semi-definite if K_k is. Every pass is a pass over the K_k:

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
    def of(cls, bank: KernelBank, L: Any, R: Any) -> MixedBank:
        """The mixed bank; centred kernels keep only the samples in sums of the columns, as these define the mean."""
        if bank.local:
            return cls(bank, L, R)
        used_columns = np.unique(R.indices)
        R_used = R[:, used_columns]
        if L is R:
            return cls(bank.block(used_columns, used_columns), R_used, R_used)
        used_rows = np.unique(L.indices)
        return cls(bank.block(used_rows, used_columns), L[:, used_rows], R_used)

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.shape[0], self.right.shape[0]

    @property
    def square(self) -> bool:
        return self.left is self.right

    # -- passes --------------------------------------------------------------------------------------------------

    def tiles(self, rows: Index) -> Iterator[Array]:
        L = self.left[positions(rows, self.shape[0])]
        used_rows = np.unique(L.indices)
        L = L[:, used_rows]
        for K in self.bank.tiles(used_rows):
            yield self._of(L, K)

    def _of(self, L: Any, K: Array) -> Array:
        """L K R' for one matrix K."""
        mixed: Array = (self.right @ (L @ K).T).T
        return mixed

    def combine_all(self, W: Array) -> list[Gram]:
        return [DenseGram(self._of(self.left, gram.dense())) for gram in self.bank.combine_all(W)]

    def apply(self, C: Array) -> Array:
        inner = self.bank.apply(self.right.T @ C)
        return np.stack([self.left @ product for product in inner])

    def quad(self, A: Array) -> Array:
        self._check_square()
        return self.bank.quad(self.left.T @ as_columns(A))

    def quads(self, A: Array) -> Array:
        self._check_square()
        return self.bank.quads(self.left.T @ A)

    def inner(self, M: Array) -> Array:
        return self.bank.inner((self.right.T @ (self.left.T @ M).T).T)

    # -- blocks and selections -----------------------------------------------------------------------------------

    def block(self, rows: Index, columns: Index) -> MixedBank:
        r = positions(rows, self.shape[0])
        c = positions(columns, self.shape[1])
        R = self.right[c]
        L = R if same_samples(self.square, r, c) else self.left[r]
        return MixedBank.of(self.bank, L, R)

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        """ValueError where kernels would be centred by fewer samples: self-values of sums are not available then."""
        used_columns = np.unique(self.right[positions(columns, self.shape[1])].indices)
        if not self.local and len(used_columns) < self.bank.shape[1]:
            raise ValueError(
                "self-values of held-out samples that are weighted sums of others are not known where kernels are "
                "centred: normalise the kernels, or take their distances, before they are centred"
            )
        return super().held_out_self_values(rows, columns)

    def reference(self, columns: Index = slice(None)) -> MixedBank:
        R = self.right[positions(columns, self.shape[1])]
        used_columns = np.unique(R.indices)
        return MixedBank(self.bank.reference(used_columns), self.left[:0, :0], R[:, used_columns])

    def select(self, index: Index) -> MixedBank:
        return replace(self, bank=self.bank.select(index))

    def exact(self, index: Index = slice(None)) -> MixedBank:
        return replace(self, bank=self.bank.exact(index))

    def cross(self, X: Any) -> MixedBank:
        """The bank of new samples, which are not weighted sums."""
        return self.crossed(X, None)

    def crossed(self, X: Any, L: Any) -> MixedBank:
        """The bank of new samples that are weighted sums of X, by a CSR matrix (new, len(X)); None takes X itself."""
        bank = self.bank.cross(X)
        return MixedBank(bank, identity(bank.shape[0]) if L is None else L, self.right)

    def self_values(self, X: Any) -> Array:
        return self.bank.self_values(X)


def identity(n: int) -> Any:
    """The CSR matrix of n samples that are not mixed."""
    return sparse.csr_array(sparse.eye(n, format="csr"))
