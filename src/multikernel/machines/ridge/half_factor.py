"""A Cholesky factor in single precision of which only one half is stored: a quarter of the memory of the matrix.

LAPACK's rectangular full packed format keeps the lower triangle of order n in a rectangle of n (n + 1) / 2 values, on
which factorisation and solutions are as fast as on the whole matrix. With k = ceil(n / 2) columns the rectangle holds

    the first k columns of the triangle       and, where these leave room above,       the rest, transposed,

one row further down if n is even, one column further to the right if n is odd.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from multikernel._typing import Array
from multikernel.numerics.cholesky import factorise_halves


def space(n: int) -> Array:
    """Where a factor of order n is kept."""
    return np.empty(n * (n + 1) // 2, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class HalfFactor:
    """L with K + shift I = L L' up to single precision.

    Parameters
    ----------
    n : int
    values : array (n (n + 1) / 2,) of float32, L
    """

    n: int
    values: Array

    @classmethod
    def of(cls, K: Array, shift: float, work: Array) -> HalfFactor | None:
        """The factor, in ``work``; None where the matrix is not positive definite in single precision."""
        rectangle = _rectangle(len(K), work)
        with np.errstate(over="ignore"):  # then there is no factor
            _pack(K, np.float32(shift), rectangle)
        return cls._factorised(len(K), work)

    @classmethod
    def of_tiles(cls, n: int, tiles: Iterable[tuple[slice, Array]], shift: float, work: Array) -> HalfFactor | None:
        """The same of a matrix that comes some rows at a time: the slice, and these rows as far as the diagonal."""
        rectangle = _rectangle(n, work)
        for rows, tile in tiles:
            _pack_rows(rows, tile, np.float32(shift), n, rectangle)
        return cls._factorised(n, work)

    @classmethod
    def _factorised(cls, n: int, work: Array) -> HalfFactor | None:
        rectangle = _rectangle(n, work)
        k = rectangle.shape[1]
        down, right = _offsets(n)
        first = rectangle[down : k + down]
        beside = rectangle[k + down :]
        last = rectangle[: n - k, right:]
        if not factorise_halves(first, beside, last, lower=False):
            return None
        return cls(n, work)

    def solve(self, b: Array) -> Array:
        """(L L')^{-1} b in double precision, for b of shape (n,) or (n, t)."""
        right = np.asarray(b, dtype=np.float32).reshape(self.n, -1)
        found = lapack.spftrs(self.n, self.values, right, uplo="L")[0]
        return np.asarray(found, dtype=np.float64).reshape(b.shape)

    def half(self, M: Array) -> Array:
        """L^{-1} M in double precision, for M of shape (n, t)."""
        own = np.asarray(M, dtype=np.float32, order="F")
        return np.asarray(lapack.stfsm(1.0, self.values, own, uplo="L"), dtype=np.float64)


def _rectangle(n: int, work: Array) -> Array:
    return work.reshape((n + 1 - n % 2, -1), order="F")


def _offsets(n: int) -> tuple[int, int]:
    """How many rows further down the first columns start, and how many columns further to the right the rest."""
    if n % 2 == 0:
        return (1, 0)
    return (0, 1)


def _pack(K: Array, shift: np.float32, rectangle: Array) -> None:
    """The lower triangle of K + shift I in the rectangle, some of its columns at a time."""
    n = len(K)
    k = rectangle.shape[1]
    down, right = _offsets(n)
    for j in range(k):  # K is symmetric: its rows, which stand together in memory, are its columns
        rectangle[j + down :, j] = K[j, j:]
        rectangle[j + down, j] += shift
    for j in range(n - k):
        rectangle[: j + 1, j + right] = K[k + j, k : k + j + 1]
        rectangle[j, j + right] += shift


def _pack_rows(rows: slice, tile: Array, shift: np.float32, n: int, rectangle: Array) -> None:
    """Some rows of the lower triangle of K + shift I in the rectangle."""
    k = rectangle.shape[1]
    down, right = _offsets(n)
    before = min(rows.start, k)
    rectangle[rows.start + down : rows.stop + down, :before] = tile[:, :before]
    for i in range(rows.start, rows.stop):
        row = tile[i - rows.start]
        last = min(i + 1, k)
        rectangle[i + down, before:last] = row[before:last]
        if i < k:
            rectangle[i + down, i] += shift
        else:
            rectangle[: i - k + 1, i - k + right] = row[k : i + 1]
            rectangle[i - k, i - k + right] += shift
