"""What a matrix must be to be a kernel, and the sentence that says where it is not."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from multikernel._typing import Array
from multikernel.banks.threads import slices

_TILE = 64  # rows compared with columns at a time


def rounding(K: Array) -> float:
    """The share of the largest entry, or of the trace, that counts as rounding in a matrix of this precision."""
    return 1e-5 if K.dtype == np.float32 else 1e-10


def check_finite(K: Array, name: str) -> None:
    """ValueError with the position of a NaN or infinity."""
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"{name} has a NaN or infinity at row {i}, column {j}")


def check_symmetric(K: Array, name: str) -> None:
    """ValueError with the pair of entries that differ most."""
    tiles = slices(len(K), _TILE)  # K and its transpose do not fit into the cache, some rows and columns do
    worst = max((float(np.abs(K[tile] - K[:, tile].T).max(initial=0.0)) for tile in tiles), default=0.0)
    if worst > rounding(K) * max(float(K.max(initial=0.0)), -float(K.min(initial=0.0))):
        difference = np.abs(K - K.T)
        i, j = np.unravel_index(difference.argmax(), K.shape)
        raise ValueError(
            f"{name} is not symmetric: entry ({i}, {j}) is {K[i, j]:.6g} and entry ({j}, {i}) is {K[j, i]:.6g}"
        )


def check_positive(K: Array, name: str) -> None:
    """ValueError with the smallest eigenvalue, where it is negative beyond rounding.

    By a Cholesky factorisation of K shifted by what counts as rounding; eigenvalues only to say what is wrong.
    """
    tolerance = rounding(K) * max(float(np.trace(K)), np.finfo(float).tiny)
    shifted = K.astype(np.float64, order="C")
    shifted.flat[:: len(K) + 1] += tolerance
    # the transpose is Fortran-ordered: LAPACK factors it where it stands
    if lapack.dpotrf(shifted.T, lower=1, overwrite_a=1, clean=0)[1] != 0:
        smallest = float(linalg.eigvalsh(K.astype(np.float64), subset_by_index=(0, 0))[0])
        if smallest < -tolerance:
            raise ValueError(
                f"{name} is not positive semi-definite: its smallest eigenvalue is {smallest:.3g} "
                f"(its trace is {np.trace(K):.3g}); shift or clip its spectrum before you pass it"
            )
