"""Fingerprints as words of 64 bits, and the share of bits that two of them have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._arrays import foreign, host, like
from multikernel._typing import Array

_BYTES = 8  # in a word


def words(X: Any) -> Array:
    """Packed bits as words of 64: zeros fill up the last one.

    Parameters
    ----------
    X : array (n, bytes) of whole numbers from 0 to 255, of any type

    Raises
    ------
    ValueError : where X is sparse, or holds another number
    """
    if hasattr(X, "tocsr"):
        raise ValueError(
            "Tanimoto(packed=True) takes bits that are packed, which are dense: np.packbits(X.toarray(), axis=1)"
        )
    values = host(X) if foreign(X) else np.asarray(X)
    n, count = values.shape
    packed = np.zeros((n, -(-count // _BYTES) * _BYTES), dtype=np.uint8)
    with np.errstate(invalid="ignore"):
        packed[:, :count] = values
    if values.dtype != np.uint8 and not np.array_equal(packed[:, :count], values):
        i, j = np.argwhere(packed[:, :count] != values)[0]
        raise ValueError(
            f"Tanimoto(packed=True) takes bytes, whole numbers from 0 to 255, and X has {values[i, j]} at row {i}, "
            f"column {j}: give np.packbits(bits, axis=1), or leave packed=True out"
        )
    return packed.view(np.uint64)


def shares(X: Any, Z: Any = None) -> Array:
    """The share of common bits of every pair, shape (len(X), len(Z)); in single precision where X is."""
    from multikernel.kernels import _bits

    same = Z is None or Z is X
    A = words(X)
    B = A if same else words(Z)
    of_a = _bits.counts(A)
    K = np.empty((len(A), len(B)), dtype=np.float32 if X.dtype == np.float32 else np.float64)
    _bits.shares(A, B, of_a, of_a if same else _bits.counts(B), K, same)
    return like(X, K)
