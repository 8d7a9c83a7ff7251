"""Sums of squared differences with a factor for each column, in tiles that are shared out among threads."""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel.banks.threads import one_blas_thread, over_tiles


def weighted_squares(s: Array, X: Array, Z: Array) -> Array:
    """sum_j s_j (x_j - z_j)^2 of all pairs, shape (len(X), len(Z)); factors may be negative."""
    used = s != 0.0
    s, X, Z = s[used], X[:, used], Z[:, used]
    centre = Z.mean(axis=0) if len(Z) else 0.0  # differences do not depend on it, their digits do
    X, Z = X - centre, Z - centre
    with np.errstate(over="ignore"):  # new samples may be infinitely far away
        left, right, clip = _sums(X * X, s), _sums(Z * Z, s), bool((s >= 0.0).all())
    D, factors = np.empty((len(X), len(Z))), X * (-2.0 * s)

    def part(rows: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            tile = np.matmul(factors[rows], Z.T, out=D[rows])
            tile += left[rows, None]
            tile += right
            if clip:
                np.maximum(tile, 0.0, out=tile)

    with one_blas_thread(0):  # the rows are shared out among threads
        over_tiles(part, D.shape)
    return D


def _sums(squares: Array, s: Array) -> Array:
    """sum_j s_j x_j^2 of each sample, without the threads of NumPy's BLAS."""
    return np.einsum("ij,j->i", squares, s)
