"""Few samples with the same sums as many samples, so that squared losses of linear functions are the same on both.

Let M = F'F = G'G, where G has few rows, so F = Q G for some Q with Q'Q = I. Targets y have the coordinates
z = G^{-T} F'y = Q'y in the span of the features, and a residual of length r = (y'y - z'z)^{1/2} outside it. The samples
(G; 0) with the targets (z; r), where each target has a separate row for its residual, have the same

    |y - F b|^2    and    y'(F D F' + a I)^{-1} y    for all b, D and a > 0.

Directions of less than 1e-6 of a feature's length are left out, since rounding of M hides them.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from multikernel._floats import SINGULAR
from multikernel._typing import Array
from multikernel.statistics.moments import Moments


def pivoted(M: Array, n_zero_rows: int = 0) -> tuple[Array, Array]:
    """Which columns are independent, and G with M = G'G; M is overwritten.

    Parameters
    ----------
    M : array (q, q) in Fortran order, symmetric and positive semi-definite
    n_zero_rows : int, the number of rows of zeros that G has below its other rows

    Returns
    -------
    chosen : int array (r,); G[:r, chosen] is upper triangular
    G : array (r + n_zero_rows, q) in Fortran order
    """
    q = len(M)
    length = np.sqrt(np.maximum(np.diagonal(M), 0.0))
    inverse = np.divide(1.0, length, out=np.zeros(q), where=length > 0.0)
    M *= inverse
    M *= inverse[:, None]
    R, order, rank, _ = lapack.dpstrf(M, tol=SINGULAR, lower=0, overwrite_a=1)
    order = order - 1
    rank = int(rank) if length.any() else 0
    G = np.zeros((rank + n_zero_rows, q), order="F")
    for j, column in enumerate(order):
        filled = min(j + 1, rank)
        G[:filled, column] = R[:filled, j] * length[column]
    return order[:rank], G


def coordinates(sums: Moments) -> tuple[Array, Array]:
    """Features (r + t, q) and targets (r + t, t) of few samples with these sums."""
    t = sums.products.shape[1]
    chosen, G = pivoted(np.array(sums.squares, order="F"), n_zero_rows=t)
    R = np.triu(G[: len(chosen), chosen])
    Z = linalg.solve_triangular(R, sums.products[chosen], trans=1, check_finite=False)
    residual_lengths = np.sqrt(np.maximum(sums.target_squares - (Z * Z).sum(axis=0), 0.0))
    return G, np.vstack([Z, np.diag(residual_lengths)])
