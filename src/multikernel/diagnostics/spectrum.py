"""The spectral ratio: how far a kernel matrix is from rank one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from multikernel.diagnostics import _input


def spectral_ratio(K: Any, standardized: bool = False) -> float:
    """C(K) = tr K / |K|_F, between 1 (rank one) and sqrt(rank K) (equal eigenvalues), whatever the scale of K.

    Large: a specific kernel, under which most samples are alike only to themselves. Small: a general one.

    Parameters
    ----------
    K : array-like (n, n), a kernel matrix
    standardized : bool, (C - 1) / (sqrt(n) - 1) instead, between 0 and 1; 0 for n = 1

    Returns
    -------
    float ; nan with a RuntimeWarning for K = 0, which has no spectral ratio

    References
    ----------
    Donini and Aiolli (2017), Learning deep kernels in the space of dot product polynomials, equations 3 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import spectral_ratio
    >>> spectral_ratio(np.eye(9)), spectral_ratio(np.ones((9, 9)))
    (3.0, 1.0)
    >>> spectral_ratio(np.eye(9), standardized=True)
    1.0
    """
    matrix = _input.symmetric(K)
    scale = float(np.abs(matrix).max())
    if scale == 0.0:
        warnings.warn("the spectral ratio of a zero matrix is undefined", RuntimeWarning, stacklevel=2)
        return float("nan")
    scaled = matrix / scale  # squares neither overflow nor vanish
    ratio = float(np.trace(scaled) / np.linalg.norm(scaled))
    if not standardized:
        return ratio
    n = len(matrix)
    return (ratio - 1.0) / float(np.sqrt(n) - 1.0) if n > 1 else 0.0
