"""Multiples of kernels and weights of samples: s_k l(x) k_k(x, z) r(z) for every kernel k.

With S = diag(s), L = diag(l) and R = diag(r) every pass is a pass over the kernels themselves,

    sum_k w_k s_k L K_k R = L (sum_k (S w)_k K_k) R          a'(s_k L K_k L) a = s_k (L a)'K_k (L a)
    <s_k L K_k R, M> = s_k <K_k, L M R>                      <N, K'_j o K'_k> = s_j s_k <L^2 N R^2, K_j o K_k>

so the structure of the kernels (features, powers, low rank) is still used. Weights of samples that differ from kernel
to kernel do not commute with sums; kernels divided by their self-values are a separate bank (banks/self_valued.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._arrays import part_of
from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.rotation import Rotation
from multikernel.banks.wrappers import WrapperBank


@dataclass(frozen=True, eq=False, repr=False)
class WeightedBank(WrapperBank):
    """s_k L K_k R, with fixed multiples of the kernels, and weights of the samples; new samples have weight one.

    Parameters
    ----------
    bank : the kernels
    factors : array (m,), s; None where all are 1
    left, right : arrays (r,) and (c,), the weights of the rows and of the columns; both None where all are 1
    """

    factors: Array | None = None
    left: Array | None = None
    right: Array | None = None

    def _times(self, values: Array) -> Array:
        """Values of each kernel k, along the first axis, times s_k."""
        if self.factors is None:
            return values
        return self.factors.reshape(-1, *(1,) * (values.ndim - 1)) * values

    def _times_both(self, values: Array) -> Array:
        """Values of each pair of kernels j and k times s_j s_k."""
        if self.factors is None:
            return values
        return self.factors[:, None] * values * self.factors

    def _rows(self, A: Array) -> Array:
        """L A, for an array of shape (..., r, t)."""
        if self.left is None:
            return A
        return self.left[:, None] * A

    def _columns(self, C: Array) -> Array:
        """R C, for an array of shape (c, t)."""
        if self.right is None:
            return C
        return self.right[:, None] * C

    def _entries(self, M: Array, power: int = 1) -> Array:
        """L^p M R^p."""
        if self.left is None or self.right is None:
            return M
        return self.left[:, None] ** power * M * self.right**power

    # -- passes --------------------------------------------------------------------------------------------------

    def tiles(self, rows: Index) -> Iterator[Array]:
        factors = self._times(np.ones(len(self))).tolist()
        for factor, K in zip(factors, self.bank.tiles(rows), strict=True):
            if self.left is None:
                yield factor * K
            else:
                yield factor * self.left[rows][:, None] * K * self.right

    def combine(self, weights: Array) -> Gram:
        return self._weighted(self.bank.combine(self._times(np.asarray(weights))))

    def total(self, weights: Array) -> Any:
        if self.left is None:
            return self.bank.total(self._times(np.asarray(weights)))
        return super().total(weights)

    def combine_all(self, W: Array) -> list[Gram]:
        weights = W if self.factors is None else self.factors * W
        return [self._weighted(gram) for gram in self.bank.combine_all(weights)]

    def _weighted(self, gram: Gram) -> Gram:
        """L K R for a sum of the kernels."""
        if self.left is None:
            return gram
        if self.square:
            return gram.congruent(self.left)
        return DenseGram(self._entries(gram.dense()))

    def apply(self, C: Array) -> Array:
        return self._times(self._rows(self.bank.apply(self._columns(C))))

    def quad(self, A: Array) -> Array:
        return self._times(self.bank.quad(self._rows(as_columns(A))))

    def quads(self, A: Array) -> Array:
        return self._times(self.bank.quads(self._rows(A)))

    def inner(self, M: Array) -> Array:
        return self._times(self.bank.inner(self._entries(M)))

    def pairs(self, N: Array | None = None) -> Array:
        if self.left is not None:
            N = self._entries(np.ones(self.shape) if N is None else N, 2)
        return self._times_both(self.bank.pairs(N))

    def pair_forms(self, A: Array) -> Array:
        return self._times_both(self.bank.pair_forms(self._rows(self._rows(as_columns(A)))))

    def hadamard_apply(self, P: Gram, C: Array) -> Array:
        return self._times(self._rows(self.bank.hadamard_apply(P, self._columns(C))))

    def diagonal(self) -> Array:
        diagonal = self.bank.diagonal()
        if self.left is not None:
            diagonal = self.left**2 * diagonal
        return self._times(diagonal)

    def traces(self) -> Array:
        if self.left is None:
            return self._times(self.bank.traces())
        return super().traces()

    # -- structure, which does not survive weights of samples ----------------------------------------------------

    @property
    def of_distances(self) -> bool:
        return self.left is None and self.bank.of_distances

    @property
    def n_features(self) -> int | None:
        if self.left is None:
            return self.bank.n_features
        return None

    def by_features(self) -> tuple[Any, Array] | None:
        if self.left is not None:
            return None
        inner = self.bank.by_features()
        if inner is None or self.factors is None:
            return inner
        features, scale = inner
        if (self.factors < 0).any():
            return None
        return features, scale * np.sqrt(np.repeat(self.factors, features.sizes))

    def rotation(self, Y: Array, groups: Sequence[Array] | None = None) -> Rotation | None:
        if self.left is None:
            return self.bank.rotation(Y, groups)
        return None

    def rotated(self, rotation: Rotation) -> WeightedBank:
        return replace(self, bank=self.bank.rotated(rotation))

    # -- blocks, and new samples ---------------------------------------------------------------------------------

    def block(self, rows: Index, columns: Index) -> WeightedBank:
        return self._of_block(self.bank.block(rows, columns), rows, columns)

    def principal(self, rows: Array) -> WeightedBank:
        return self._of_block(self.bank.principal(rows), rows, rows)

    def reference(self, columns: Index = slice(None)) -> WeightedBank:
        return self._of_block(self.bank.reference(columns), slice(0), columns)

    def _of_block(self, bank: KernelBank, rows: Index, columns: Index) -> WeightedBank:
        if self.left is None or self.right is None:
            return replace(self, bank=bank)
        return replace(self, bank=bank, left=self.left[rows], right=self.right[columns])

    def select(self, index: Index) -> WeightedBank:
        return replace(self, bank=self.bank.select(index), factors=self._chosen(index))

    def exact(self, index: Index = slice(None)) -> WeightedBank:
        return replace(self, bank=self.bank.exact(index), factors=self._chosen(index))

    def _chosen(self, index: Index) -> Array | None:
        return part_of(self.factors, index)

    def cross(self, X: Any) -> WeightedBank:
        bank = self.bank.cross(X)
        if self.left is None:
            return replace(self, bank=bank)
        return replace(self, bank=bank, left=np.ones(bank.shape[0]))

    def self_values(self, X: Any) -> Array:
        return self._times(self.bank.self_values(X))

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        values = self.bank.held_out_self_values(rows, columns)
        if self.left is not None:
            values = self.left[rows] ** 2 * values
        return self._times(values)
