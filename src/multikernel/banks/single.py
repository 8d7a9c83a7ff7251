"""Distances of numeric columns in single precision, for kernels between many samples and few.

    D_il = sum_j s_j |x_ij - z_lj|^q,    q = 2 or 1

For q = 2 by one matrix product: an entry is wrong by about 1e-7 of |x|^2 + |z|^2, both measured with the scales. For
q = 1 by a compiled loop. Functions take a part of the rows and are called from several threads.
"""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array


def scaled_distances(X: Array, Z: Array, scales: Array, degree: int) -> Array:
    """D of shape (len(X), len(Z)), in single precision.

    Parameters
    ----------
    X, Z : arrays (r, p) and (c, p)
    scales : array (p,), s >= 0
    degree : q
    """
    used = np.flatnonzero(scales > 0.0)
    if not len(used):
        return np.zeros((len(X), len(Z)), np.float32)
    factors = (scales[used] ** (1.0 / degree)).astype(np.float32)
    X, Z = (np.asarray(samples[:, used], dtype=np.float32) * factors for samples in (X, Z))
    if degree == 2:
        D = X @ Z.T
        D *= np.float32(-2.0)
        D += np.einsum("ij,ij->i", X, X)[:, None]
        D += np.einsum("ij,ij->i", Z, Z)
        return np.asarray(np.maximum(D, np.float32(0.0), out=D))
    from multikernel.banks import _columns

    D = np.empty((len(X), len(Z)), np.float32)
    _columns.weighted_sum(np.ascontiguousarray(X.T), np.ascontiguousarray(Z.T), np.ones(len(used), np.float32), D)
    return D


def weighted_differences(X: Array, Z: Array, W: Array, degree: int) -> Array:
    """sum_il W_il |x_ij - z_lj|^q for each column j, shape (p,): arrays of single precision, sums in double."""
    if degree == 2:
        crossed = np.einsum("lj,lj->j", W.T @ X, Z, dtype=float)
        of_rows = W.sum(axis=1, dtype=float) @ (X.astype(float) ** 2)
        return np.asarray(of_rows + W.sum(axis=0, dtype=float) @ (Z.astype(float) ** 2) - 2.0 * crossed)
    from multikernel.banks import _columns

    out = np.zeros(X.shape[1])
    _columns.inner(np.ascontiguousarray(X.T), np.ascontiguousarray(Z.T), W, out)
    return out
