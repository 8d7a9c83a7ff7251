"""Squared distances in the feature space of each kernel, as a bank.

    D_k = s_k 1' + 1 t_k' - 2 K_k

with s_k and t_k the self-values of the rows and of the columns. All passes are made of those of the kernels themselves,

    <D_k, M> = s_k'(M 1) + t_k'(M'1) - 2 <K_k, M>,

so what a bank of rank-one kernels never stores is not stored here either. The matrices are not positive semi-definite:
sum_ij a_i a_j D_ij <= 0 where the a_i have sum 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.forms import register_form
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import positions
from multikernel.banks.wrappers import SelfValuedBank


@dataclass(frozen=True, eq=False, repr=False)
class DistanceBank(SelfValuedBank):
    """s_k 1' + 1 t_k' - 2 K_k for every kernel, s and t the self-values of the rows and of the columns."""

    @staticmethod
    def taken(values: Array) -> Array:
        return values

    @property
    def local(self) -> bool:
        """Distances do not depend on the centre."""
        return True

    @property
    def of_distances(self) -> bool:
        return True

    def tiles(self, rows: Index) -> Iterator[Array]:
        own = positions(rows, self.shape[0])
        for left, right, K in zip(self.left[:, rows], self.right, self.bank.tiles(rows), strict=True):
            yield self._distances(np.multiply(K, -2.0, dtype=np.float64), left, right, own)

    def combine_all(self, W: Array) -> list[Gram]:
        left, right, every = W @ self.left, W @ self.right, np.arange(self.shape[0])
        sums = zip(self.bank.combine_all(W), left, right, strict=True)
        return [DenseGram(self._distances(-2.0 * gram.dense(), s, t, every)) for gram, s, t in sums]

    def _distances(self, D: Array, left: Array, right: Array, rows: Array) -> Array:
        """s 1' + 1 t' + D in the place of D, and exactly 0 from a sample to itself."""
        D += left[:, None]
        D += right
        if self.square:
            D[np.arange(len(rows)), rows] = 0.0
        return D

    def apply(self, C: Array) -> Array:
        value: Array = -2.0 * self.bank.apply(C)
        value += self.left[:, :, None] * C.sum(axis=0)
        value += (self.right @ C)[:, None, :]
        return value

    def quad(self, A: Array) -> Array:
        A = as_columns(A)
        return 2.0 * (self.left @ (A @ A.sum(axis=0))) - 2.0 * self.bank.quad(A)

    def quads(self, A: Array) -> Array:
        return 2.0 * (self.left @ A) * A.sum(axis=0) - 2.0 * self.bank.quads(A)

    def inner(self, M: Array) -> Array:
        return self.left @ M.sum(axis=1) + self.right @ M.sum(axis=0) - 2.0 * self.bank.inner(M)

    def diagonal(self) -> Array:
        return np.zeros((len(self), self.shape[0]))

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        return np.zeros((len(self), len(positions(rows, self.shape[0]))))

    def self_values(self, X: Any) -> Array:
        return np.zeros_like(self.bank.self_values(X))


register_form("distances", DistanceBank.of)
