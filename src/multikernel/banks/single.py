"""Distances of numeric columns in single precision, for kernels between many samples and a few.

    D_il = sum_j s_j |x_ij - z_lj|^q,    q = 2 or 1

For q = 2 they are computed by a matrix product, with errors of about 1e-7 of the scaled |x|^2 + |z|^2; for q = 1 by a
compiled loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from multikernel._typing import Array
from multikernel.banks.threads import one_blas_thread, over_rows
from multikernel.tuning import TILE_VALUES

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ScaledPoints:
    """The samples z, multiplied by the roots of the scales, for distances from other samples.

    Parameters
    ----------
    degree : q
    used : int array, the columns of positive scales
    factors : array, s^(1/q) of these columns
    by_column : array (len(used), c), z times the factors
    lengths : array (c,), the squared lengths of the scaled samples
    turn : array (p, r), a matrix by which samples are multiplied first; None for none
    """

    degree: int
    used: Array
    factors: Array
    by_column: Array
    lengths: Array
    turn: Array | None = None

    @classmethod
    def of(cls, Z: Array, scales: Array, degree: int) -> ScaledPoints:
        """The scaled points of samples (c, p) and scales (p,) >= 0."""
        used = np.flatnonzero(scales > 0.0)
        factors = (scales[used] ** (1.0 / degree)).astype(np.float32)
        by_column = np.ascontiguousarray((Z[:, used].astype(np.float32) * factors).T)
        return cls(degree, used, factors, by_column, np.einsum("ji,ji->i", by_column, by_column))

    @classmethod
    def turned(cls, Z: Array, turn: Array) -> ScaledPoints:
        """The points of samples (c, p) for the squared distances |(x - z)'A|^2 with A = ``turn`` of shape (p, r)."""
        turn = turn.astype(np.float32)
        return replace(cls.of(Z.astype(np.float32) @ turn, np.ones(turn.shape[1]), 2), turn=turn)

    def distances(self, X: Array) -> Array:
        """The distances D, shape (len(X), c), from samples X (r, p)."""
        if self.turn is not None:
            X = X.astype(np.float32) @ self.turn
        X = X[:, self.used].astype(np.float32) * self.factors
        if not len(self.used):
            return np.zeros((len(X), len(self.lengths)), np.float32)
        if self.degree == 2:
            D = X @ self.by_column
            D *= np.float32(-2.0)
            D += np.einsum("ij,ij->i", X, X)[:, None]
            D += self.lengths
            return np.asarray(np.maximum(D, np.float32(0.0), out=D))
        from multikernel.banks import _columns

        D = np.empty((len(X), len(self.lengths)), np.float32)
        ones = np.ones(len(self.used), np.float32)
        _columns.weighted_sum(np.ascontiguousarray(X.T), self.by_column, ones, D)
        return D


def weighted_differences(X: Array, Z: Array, W: Array, degree: int) -> Array:
    """sum_il W_il |x_ij - z_lj|^q for each column j, shape (p,): arrays of single precision, sums in double."""
    if degree == 2:
        crossed = np.einsum("lj,lj->j", W.T @ X, Z, dtype=float)
        squares_of_X = W.sum(axis=1, dtype=float) @ (X.astype(float) ** 2)
        return np.asarray(squares_of_X + W.sum(axis=0, dtype=float) @ (Z.astype(float) ** 2) - 2.0 * crossed)
    from multikernel.banks import _columns

    out = np.zeros(X.shape[1])
    _columns.inner(np.ascontiguousarray(X.T), np.ascontiguousarray(Z.T), W, out)
    return out


def weighted_products(X: Array, Z: Array, W: Array) -> Array:
    """sum_il W_il (x_i - z_l) (x_i - z_l)', shape (p, p): arrays of single precision, sums in double."""
    rows = W.sum(axis=1, dtype=float)
    columns = W.sum(axis=0, dtype=float)
    crossed = X.T.astype(float) @ (W @ Z).astype(float)
    squares = (X.T * rows) @ X.astype(float) + (Z.T * columns) @ Z.astype(float)
    return np.asarray(squares - crossed - crossed.T)


def over_few_rows(work: Callable[[slice], T], rows: int, columns: int) -> list[T]:
    """The results of ``work`` for slices of rows of a matrix in single precision, on several threads."""
    with one_blas_thread(0):
        return over_rows(work, rows, max(1, TILE_VALUES // max(1, columns)))
