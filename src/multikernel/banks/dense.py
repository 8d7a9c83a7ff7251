"""Stored stacks: the symmetric half of each matrix on the training set, or whole rectangular matrices.

PackedBank   (m, n (n + 1) / 2): one BLAS gemv for a sum and one for all quadratic forms
DenseBank    (m, r, c)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel.banks.base import Index, KernelBank, as_columns
from multikernel.banks.gram import DenseGram
from multikernel.banks.indexed import IndexedBank
from multikernel.banks.origin import Origin
from multikernel.banks.packing import pack, unpack, weights_of_pairs
from multikernel.kernels.base import Array


@dataclass(frozen=True, eq=False)
class StoredBank(KernelBank):
    """A stored stack: its blocks are views of it, and new samples meet the columns where these came from."""

    origin: Origin

    def block(self, rows: Index, columns: Index) -> KernelBank:
        return IndexedBank.of(self, rows, columns)

    def cross(self, X: Any) -> KernelBank:
        return self.origin.cross(X)

    def reference(self, columns: Index = slice(None)) -> KernelBank:
        return self.origin.reference(columns)

    def self_values(self, X: Any) -> Array:
        return self.origin.self_values(X)


@dataclass(frozen=True, eq=False)
class PackedBank(StoredBank):
    """m symmetric n x n matrices, the half of each stored once.

    Parameters
    ----------
    origin : where the columns come from, for new samples
    packed : array (m, n (n + 1) / 2), float64 or float32, rows in LAPACK's packed order
    n : int
    """

    packed: Array
    n: int

    @classmethod
    def of(cls, matrices: Iterable[Array], m: int, n: int, dtype: Any, origin: Origin) -> PackedBank:
        """Pack matrices one by one: never two of them in memory, and never a second stack."""
        packed = np.empty((m, n * (n + 1) // 2), dtype=dtype)
        for row, K in zip(packed, matrices, strict=True):
            row[:] = pack(K)
        return cls(origin, packed, n)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def square(self) -> bool:
        return True

    def combine(self, weights: Array) -> DenseGram:
        return DenseGram(unpack(_weighted_sum(self.packed, weights), self.n))

    def apply(self, C: Array) -> Array:
        return np.stack([unpack(row, self.n) @ C for row in self.packed])

    def quad(self, A: Array) -> Array:
        A = as_columns(A)
        return self.inner(A @ A.T)

    def inner(self, M: Array) -> Array:
        forms: Array = self.packed @ weights_of_pairs(M).astype(self.packed.dtype, copy=False)
        return forms.astype(np.float64, copy=False)

    def diagonal(self) -> Array:
        return self.packed[:, np.cumsum(np.arange(self.n) + 1) - 1]

    def pairs(self) -> Array:
        """One GEMM: off-diagonal entries count twice, so <K_j, K_k> = 2 p_j'p_k - diag_j'diag_k."""
        d = self.diagonal()
        product: Array = 2.0 * (self.packed @ self.packed.T) - d @ d.T
        return product

    def matrix(self, k: int) -> Array:
        return unpack(self.packed[k], self.n)

    def select(self, index: Index) -> PackedBank:
        return replace(self, packed=self.packed[index], origin=self.origin.select(index))


@dataclass(frozen=True, eq=False)
class DenseBank(StoredBank):
    """A stack of m matrices of shape (r, c), usually new samples against the training set."""

    stack: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.stack.shape[1], self.stack.shape[2]

    def __len__(self) -> int:
        return len(self.stack)

    @property
    def square(self) -> bool:
        return False

    def combine(self, weights: Array) -> DenseGram:
        flat = self.stack.reshape(len(self.stack), -1)
        return DenseGram(_weighted_sum(flat, weights).reshape(self.shape))

    def apply(self, C: Array) -> Array:
        product: Array = self.stack @ C
        return product

    def quad(self, A: Array) -> Array:
        raise ValueError("quadratic forms need a square bank; this one holds new samples against the training set")

    def inner(self, M: Array) -> Array:
        forms: Array = self.stack.reshape(len(self.stack), -1) @ M.ravel().astype(self.stack.dtype, copy=False)
        return forms.astype(np.float64, copy=False)

    def diagonal(self) -> Array:
        raise ValueError("a rectangular bank has no diagonal; self-values come from self_values(X)")

    def select(self, index: Index) -> DenseBank:
        return replace(self, stack=self.stack[index], origin=self.origin.select(index))


def _weighted_sum(rows: Array, weights: Array) -> Array:
    """sum_k w_k rows_k; where most weights are zero only the others are read."""
    weights = np.asarray(weights, dtype=rows.dtype)
    active = np.flatnonzero(weights)
    if len(active) > len(weights) // 3:
        total: Array = weights @ rows
        return total
    total = np.zeros(rows.shape[1], dtype=rows.dtype)
    for k in active:  # an axpy moves three times the memory of a row of the gemv
        total += weights[k] * rows[k]
    return total
