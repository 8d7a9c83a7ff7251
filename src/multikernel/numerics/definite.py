"""Whether a symmetric matrix is positive semi-definite, up to rounding of its entries."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from multikernel._floats import TINY
from multikernel._typing import Array
from multikernel.numerics.cholesky import factorise

# the share of the largest entry, or of the trace, that counts as rounding
_DOUBLE = 1e-10
_SINGLE = 1e-5


def rounding(K: Array) -> float:
    """The share of the largest entry, or of the trace, that counts as rounding in a matrix of this precision."""
    if K.dtype == np.float32:
        return _SINGLE
    return _DOUBLE


def precision(K: Array) -> float:
    """The same for the precision that the entries show: numbers of single precision may be stored in double."""
    with np.errstate(over="ignore"):
        if K.dtype == np.float32 or np.array_equal(K, K.astype(np.float32)):
            return _SINGLE
        return _DOUBLE


def is_positive(K: Array, share: float) -> bool:
    """Whether no eigenvalue is below this share of the trace, by a Cholesky factorisation of K shifted by it."""
    shifted = np.array(K.T, dtype=np.float64, order="F")
    shifted.flat[:: len(K) + 1] += share * max(float(np.trace(K)), TINY)
    return factorise(shifted)


def negative_eigenvalue(K: Array, share: float | None = None) -> float | None:
    """The smallest eigenvalue where it is negative beyond rounding; None where it is not.

    Parameters
    ----------
    K : array (n, n), symmetric
    share : of the trace, what counts as rounding; that of the precision of the matrix by default
    """
    if is_positive(K, rounding(K) if share is None else share):
        return None
    if share is None:
        share = precision(K)
    smallest = float(linalg.eigvalsh(K.astype(np.float64), subset_by_index=(0, 0))[0])
    if smallest >= -share * max(float(np.trace(K)), TINY):
        return None
    return smallest
