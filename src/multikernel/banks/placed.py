"""Kernels of some samples among more: zero from and to all others."""

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
    """K_k between some rows and some columns of more, and zero elsewhere; new samples are among those that it knows.

    Parameters
    ----------
    bank : the kernels of some samples
    rows, columns : int arrays, without repetition, the places of its rows and columns
    size : how many rows and columns there are
    same : whether these rows are these columns
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
        here, inside = _found(self.rows, chosen, self.size[0])
        for K in self.bank.tiles(inside):
            tile = np.zeros((len(chosen), self.size[1]))
            tile[np.ix_(here, self.columns)] = K
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
        at_rows, own_rows = _found(self.rows, r, self.size[0])
        at_columns, own_columns = _found(self.columns, c, self.size[1])
        same = same_samples(self.same, r, c)
        return PlacedBank(self.bank.block(own_rows, own_columns), at_rows, at_columns, (len(r), len(c)), same)

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


def _found(places: Array, wanted: Array, size: int) -> tuple[Array, Array]:
    """Where in ``wanted`` places occur, and which places these are."""
    number = np.full(size, -1)
    number[places] = np.arange(len(places))
    here = np.flatnonzero(number[wanted] >= 0)
    return here, number[wanted[here]]
