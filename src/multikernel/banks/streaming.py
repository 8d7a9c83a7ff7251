"""Passes over matrices that are computed tile by tile, so that no full matrix of a kernel is formed.

``tiles(rows)`` yields the chosen rows of K_0, K_1, ..., K_{m-1} in order; the next tile may overwrite a tile. Rows are
distributed among threads. Sums are in double precision for any precision of the tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel.banks.threads import one_blas_thread, over_rows
from multikernel.tuning import PIECE_VALUES, TILE_ROWS

Tiles = Callable[[slice], Iterator[Array]]
_FEATURES = "kernels of few features (linear ones, or random features of others), whose sums need no matrix"


@dataclass(frozen=True, eq=False)
class Stream:
    """Passes over m matrices of shape (r, c).

    Parameters
    ----------
    tiles : function of a slice of rows, which yields these rows of every matrix
    m : int, the number of matrices
    shape : (r, c)
    values : int, the largest number of values of a tile
    """

    tiles: Tiles
    m: int
    shape: tuple[int, int]
    values: int

    def sums(self, W: Array) -> Array:
        """sum_k W_sk K_k for every row s of W: shape (s, r, c)."""
        r, c = self.shape
        check_sums(len(W), self.m, self.shape)
        totals = np.zeros((len(W), r, c))

        def rows(r: slice) -> None:
            term = np.empty_like(totals[0, r])
            for weights, K in zip(W.T, self.tiles(r), strict=True):
                for total, weight in zip(totals, weights, strict=True):
                    if weight != 0:
                        total[r] += np.multiply(K, weight, out=term)

        self._over_rows(rows)
        return totals

    def products(self, C: Array, P: Array | None = None) -> Array:
        """K_k C for every k, or (P o K_k) C: shape (m, r, t) for C of shape (c, t)."""
        products = np.empty((self.m, self.shape[0], C.shape[1]))

        def rows(r: slice) -> None:
            for k, K in enumerate(self.tiles(r)):
                products[k, r] = (K if P is None else P[r] * K) @ C

        self._over_rows(rows)
        return products

    def forms(self, A: Array) -> Array:
        """a_t'K_k a_t for every k and every column of A: shape (m, t)."""

        def rows(r: slice) -> Array:
            return np.array([np.einsum("it,it->t", K @ A, A[r]) for K in self.tiles(r)])

        return sum(self._over_rows(rows), np.zeros((self.m, A.shape[1])))

    def inner(self, M: Array) -> Array:
        """<K_k, M> for every k: shape (m,)."""

        def rows(r: slice) -> Array:
            return np.array([np.vdot(K, M[r]) for K in self.tiles(r)])

        return sum(self._over_rows(rows), np.zeros(self.m))

    def pairs(self, N: Array | None = None) -> Array:
        """<K_j, K_k> or <N, K_j o K_k> for every pair, shape (m, m), from some rows of all matrices at a time."""

        def rows(r: slice) -> Array:
            height = len(range(*r.indices(self.shape[0])))
            flat = np.empty((self.m, height * self.shape[1]))
            for row, K in zip(flat, self.tiles(r), strict=True):
                row[:] = K.ravel()
            weighted = flat if N is None else flat * N[r].ravel()
            return weighted @ flat.T

        height = max(1, PIECE_VALUES // max(1, self.m * self.shape[1]))
        return sum(over_rows(rows, self.shape[0], height), np.zeros((self.m, self.m)))

    def diagonal(self) -> Array:
        """The diagonals of square matrices: shape (m, r)."""
        values = np.empty((self.m, self.shape[0]))

        def rows(r: slice) -> None:
            for k, K in enumerate(self.tiles(r)):
                values[k, r] = np.diagonal(K[:, r])

        self._over_rows(rows)
        return values

    def _over_rows(self, work: Callable[[slice], Any]) -> list[Any]:
        """The results of ``work`` for each tile of rows; with several tiles, each on a thread, BLAS has one thread."""
        height = max(TILE_ROWS, self.values // max(1, self.shape[1]))
        with one_blas_thread(0) if height < self.shape[0] else nullcontext():
            return over_rows(work, self.shape[0], height)


def check_sums(count: int, m: int, shape: tuple[int, int]) -> None:
    """MemoryError where ``count`` weighted sums of m kernels, dense matrices of this shape, do not fit into memory."""
    r, c = shape
    description = f"the weighted sum of {m} kernels of {r} and {c} samples"
    advice = f"take a part of them, or {_FEATURES}"
    check_memory(float(count) * r * c, description, advice)
