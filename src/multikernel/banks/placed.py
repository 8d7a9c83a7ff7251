"""Kernels of some samples, extended by zeros to a larger set of samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import positions, same_samples
from multikernel.banks.wrappers import WrapperBank


@dataclass(frozen=True, eq=False, repr=False)
class PlacedBank(WrapperBank):
    """K_k between some of the rows and columns, and zero elsewhere; new samples have nonzero rows.

    Parameters
    ----------
    bank : the kernels of some samples
    rows, columns : int arrays, without repetition, the positions of its rows and columns
    size : the numbers of all rows and columns
    same : whether all rows and all columns are the same samples
    """

    rows: Array
    columns: Array
    size: tuple[int, int]
    same: bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.size

    @property
    def square(self) -> bool:
        return self.same

    def tiles(self, rows: Index) -> Iterator[Array]:
        chosen = positions(rows, self.size[0])
        rows_of_tile, rows_of_bank = _matched(self.rows, chosen, self.size[0])
        for K in self.bank.tiles(rows_of_bank):
            tile = np.zeros((len(chosen), self.size[1]))
            tile[np.ix_(rows_of_tile, self.columns)] = K
            yield tile

    def combine_all(self, W: Array) -> list[Gram]:
        totals = []
        for gram in self.bank.combine_all(W):
            total = np.zeros(self.size)
            total[np.ix_(self.rows, self.columns)] = gram.dense()
            totals.append(total)
        return [DenseGram(total) for total in totals]

    def apply(self, C: Array) -> Array:
        products = np.zeros((len(self), self.size[0], C.shape[1]))
        products[:, self.rows] = self.bank.apply(C[self.columns])
        return products

    def quads(self, A: Array) -> Array:
        self._check_square()
        return self.bank.quads(A[self.rows])

    def inner(self, M: Array) -> Array:
        return self.bank.inner(M[np.ix_(self.rows, self.columns)])

    def diagonal(self) -> Array:
        self._check_square()
        diagonals = np.zeros((len(self), self.size[0]))
        diagonals[:, self.rows] = self.bank.diagonal()
        return diagonals

    def block(self, rows: Index, columns: Index) -> KernelBank:
        r = positions(rows, self.size[0])
        c = positions(columns, self.size[1])
        rows_of_block, rows_of_bank = _matched(self.rows, r, self.size[0])
        columns_of_block, columns_of_bank = _matched(self.columns, c, self.size[1])
        same = same_samples(self.same, r, c)
        return PlacedBank(
            self.bank.block(rows_of_bank, columns_of_bank), rows_of_block, columns_of_block, (len(r), len(c)), same
        )

    def select(self, index: Index) -> PlacedBank:
        return replace(self, bank=self.bank.select(index))

    def exact(self, index: Index = slice(None)) -> PlacedBank:
        return replace(self, bank=self.bank.exact(index))

    def cross(self, X: Any) -> PlacedBank:
        bank = self.bank.cross(X)
        count = bank.shape[0]
        return replace(self, bank=bank, rows=np.arange(count), size=(count, self.size[1]), same=False)

    def self_values(self, X: Any) -> Array:
        return self.bank.self_values(X)


def _matched(positions_of_bank: Array, chosen: Array, size: int) -> tuple[Array, Array]:
    """The entries of ``chosen`` that the bank has, by their position in ``chosen``, and by their number in the bank."""
    number = np.full(size, -1)
    number[positions_of_bank] = np.arange(len(positions_of_bank))
    found_in_chosen = np.flatnonzero(number[chosen] >= 0)
    return found_in_chosen, number[chosen[found_in_chosen]]
