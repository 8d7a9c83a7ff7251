"""A view of some rows and columns of a stored bank: a fold without a copy of the stack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import positions, same_samples


@dataclass(frozen=True, eq=False, repr=False)
class IndexedBank(KernelBank):
    """Some rows and columns of another bank; every pass goes over the entire stack of that bank.

    Parameters
    ----------
    parent : the stored bank
    rows, columns : int arrays, positions in the parent
    same : whether the rows and the columns are the same samples
    """

    parent: KernelBank
    rows: Array
    columns: Array
    same: bool

    @classmethod
    def of(cls, parent: KernelBank, rows: Index, columns: Index) -> IndexedBank:
        """A view of a bank; a view of a view refers directly to the stored bank."""
        r = positions(rows, parent.shape[0])
        c = positions(columns, parent.shape[1])
        square = same_samples(parent.square, r, c)
        if isinstance(parent, IndexedBank):
            return cls(parent.parent, parent.rows[r], parent.columns[c], square)
        return cls(parent, r, c, square)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def square(self) -> bool:
        return self.same

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        return self.parent.cost(memory, itemsize).block(self.shape[1])

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.parent.names

    @property
    def rounding(self) -> float:
        return self.parent.rounding

    def tiles(self, rows: Index) -> Iterator[Array]:
        return (K[:, self.columns] for K in self.parent.tiles(self.rows[rows]))

    def combine_all(self, W: Array) -> list[Gram]:
        return [DenseGram(gram.dense()[np.ix_(self.rows, self.columns)]) for gram in self.parent.combine_all(W)]

    def apply(self, C: Array) -> Array:
        return self.parent.apply(_scatter(C, self.columns, self.parent.shape[1]))[:, self.rows]

    def quad(self, A: Array) -> Array:
        self._check_square()
        return self.parent.quad(_scatter(as_columns(A), self.rows, self.parent.shape[0]))

    def quads(self, A: Array) -> Array:
        self._check_square()
        return self.parent.quads(_scatter(A, self.rows, self.parent.shape[0]))

    def inner(self, M: Array) -> Array:
        rows = _scatter(M, self.rows, self.parent.shape[0])
        return self.parent.inner(_scatter(rows.T, self.columns, self.parent.shape[1]).T)

    def diagonal(self) -> Array:
        self._check_square()
        return self.parent.diagonal()[:, self.rows]

    def block(self, rows: Index, columns: Index) -> IndexedBank:
        return IndexedBank.of(self, rows, columns)

    def select(self, index: Index) -> IndexedBank:
        return replace(self, parent=self.parent.select(index))

    def unrounded(self) -> KernelBank:
        parent = self.parent.unrounded()
        if parent is self.parent or not self.same:
            return self
        return parent.block(self.rows, self.rows)

    def principal(self, rows: Array) -> KernelBank:
        if self.same:
            return self.parent.principal(self.rows[rows])
        return self.block(rows, rows)

    def exact(self, index: Index = slice(None)) -> KernelBank:
        exact = self.parent.exact(index)
        if exact.local:
            block = exact.block
        else:
            block = partial(IndexedBank.of, exact)  # a view keeps the means of centred kernels
        return block(self.rows, self.columns)

    @property
    def local(self) -> bool:
        return self.parent.local

    def compact(self) -> KernelBank:
        if self.same:
            return self.parent.principal(self.rows)
        return self

    def cross(self, X: Any) -> KernelBank:
        crossed = self.parent.cross(X)
        all_columns = np.array_equal(self.columns, np.arange(crossed.shape[1]))
        if all_columns:
            return crossed
        return crossed.block(slice(None), self.columns)

    def reference(self, columns: Index = slice(None)) -> KernelBank:
        return self.parent.reference(self.columns[columns])

    def self_values(self, X: Any) -> Array:
        return self.parent.self_values(X)


def _scatter(A: Array, index: Array, n: int) -> Array:
    """n rows that hold the rows of A at the positions of the index, their sum where a position occurs twice, else 0."""
    scattered = np.zeros((n, *A.shape[1:]), dtype=A.dtype)
    if np.bincount(index, minlength=1).max() > 1:
        np.add.at(scattered, index, A)
    else:
        scattered[index] = A
    return scattered
