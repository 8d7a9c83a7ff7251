"""The primitives of a bank whose matrices are made tile by tile: never a whole matrix, let alone a stack.

``tiles(rows)`` yields the rows of K_0, K_1, ..., K_{m-1} in order; a tile may be written over by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.banks.gram import DenseGram
from multikernel.banks.threads import over_rows

Tiles = Callable[[slice], Iterator[Array]]
_TILE_VALUES = 1 << 19  # values in a tile: 4 MB


@dataclass(frozen=True, eq=False)
class Stream:
    """Passes over m matrices of shape (r, c) that ``tiles`` makes."""

    tiles: Tiles
    m: int
    shape: tuple[int, int]
    dtype: np.dtype[np.floating]

    @property
    def _height(self) -> int:
        return max(1, _TILE_VALUES // max(1, self.shape[1]))

    def combine(self, weights: Array) -> DenseGram:
        total = np.zeros(self.shape, dtype=self.dtype)

        def rows(r: slice) -> None:
            for w, K in zip(weights, self.tiles(r), strict=True):
                if w != 0:
                    total[r] += np.multiply(K, total.dtype.type(w))

        over_rows(rows, self.shape[0], self._height)
        return DenseGram(total)

    def apply(self, C: Array) -> Array:
        products = np.empty((self.m, self.shape[0], C.shape[1]))

        def rows(r: slice) -> None:
            for k, K in enumerate(self.tiles(r)):
                products[k, r] = K @ C

        over_rows(rows, self.shape[0], self._height)
        return products

    def quad(self, A: Array) -> Array:
        def rows(r: slice) -> Array:
            return np.array([np.vdot(A[r], K @ A) for K in self.tiles(r)])

        return self._sum(over_rows(rows, self.shape[0], self._height))

    def quads(self, A: Array) -> Array:
        def rows(r: slice) -> Array:
            return np.array([((K @ A) * A[r]).sum(axis=0) for K in self.tiles(r)])

        parts = over_rows(rows, self.shape[0], self._height)
        total: Array = np.sum(parts, axis=0) if parts else np.zeros((self.m, A.shape[1]))
        return total

    def inner(self, M: Array) -> Array:
        def rows(r: slice) -> Array:
            return np.array([np.vdot(K, M[r]) for K in self.tiles(r)])

        return self._sum(over_rows(rows, self.shape[0], self._height))

    def _sum(self, parts: list[Array]) -> Array:
        total: Array = np.sum(parts, axis=0) if parts else np.zeros(self.m)
        return total
