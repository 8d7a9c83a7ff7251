"""A Cholesky factor in single precision of which only one half is stored: a quarter of the memory of the matrix.

LAPACK's rectangular full packed format stores the lower triangle of order n in a rectangle of n (n + 1) / 2 values, on
which factorisation and solutions are as fast as on the full matrix. The rectangle has k = ceil(n / 2) columns. It
contains the first k columns of the triangle, and above them, in the entries that they do not use, the other columns,
transposed. The first columns start one row further down if n is even; the others one column further right if n is odd.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from multikernel._typing import Array
from multikernel.numerics.cholesky import factorise_halves


def space(n: int) -> Array:
    """A buffer for a factor of order n."""
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
    def of(cls, K: Array, shift: float, buffer: Array) -> HalfFactor | None:
        """The factor, in ``buffer``; None where the matrix is not positive definite in single precision."""
        rectangle = _rectangle(len(K), buffer)
        with np.errstate(over="ignore"):  # after an overflow there is no factor
            _pack(K, np.float32(shift), rectangle)
        return cls._factorised(len(K), buffer)

    @classmethod
    def of_tiles(cls, n: int, tiles: Iterable[tuple[slice, Array]], shift: float, buffer: Array) -> HalfFactor | None:
        """The factor of a matrix given by tiles: a slice of rows, and these rows up to the diagonal."""
        rectangle = _rectangle(n, buffer)
        for rows, tile in tiles:
            _pack_rows(rows, tile, np.float32(shift), n, rectangle)
        return cls._factorised(n, buffer)

    @classmethod
    def _factorised(cls, n: int, buffer: Array) -> HalfFactor | None:
        rectangle = _rectangle(n, buffer)
        k = rectangle.shape[1]
        down, right = _offsets(n)
        first = rectangle[down : k + down]
        middle = rectangle[k + down :]
        last = rectangle[: n - k, right:]
        if not factorise_halves(first, middle, last, lower=False):
            return None
        return cls(n, buffer)

    def solve(self, b: Array) -> Array:
        """(L L')^{-1} b in double precision, for b of shape (n,) or (n, t)."""
        right = np.asarray(b, dtype=np.float32).reshape(self.n, -1)
        solution = lapack.spftrs(self.n, self.values, right, uplo="L")[0]
        return np.asarray(solution, dtype=np.float64).reshape(b.shape)

    def half(self, M: Array) -> Array:
        """L^{-1} M in double precision, for M of shape (n, t)."""
        right = np.asarray(M, dtype=np.float32, order="F")
        return np.asarray(lapack.stfsm(1.0, self.values, right, uplo="L"), dtype=np.float64)


def _rectangle(n: int, buffer: Array) -> Array:
    return buffer.reshape((n + 1 - n % 2, -1), order="F")


def _offsets(n: int) -> tuple[int, int]:
    """How many rows further down the first columns start, and how many columns further right the others."""
    if n % 2 == 0:
        return (1, 0)
    return (0, 1)


def _pack(K: Array, shift: np.float32, rectangle: Array) -> None:
    """Write the lower triangle of K + shift I into the rectangle, column by column."""
    n = len(K)
    k = rectangle.shape[1]
    down, right = _offsets(n)
    for j in range(k):  # K is symmetric: its columns are its rows, which are contiguous in memory
        rectangle[j + down :, j] = K[j, j:]
        rectangle[j + down, j] += shift
    for j in range(n - k):
        rectangle[: j + 1, j + right] = K[k + j, k : k + j + 1]
        rectangle[j, j + right] += shift


def _pack_rows(rows: slice, tile: Array, shift: np.float32, n: int, rectangle: Array) -> None:
    """Write some rows of the lower triangle of K + shift I into the rectangle."""
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
