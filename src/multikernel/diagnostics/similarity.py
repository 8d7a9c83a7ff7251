"""Alignment of a kernel matrix with a target, or with another kernel matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._floats import ROUNDING, SINGULAR
from multikernel._row_labels import check_rows
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.diagnostics import _input


def alignment(K: Any, y: Any, centered: bool = True) -> float:
    """The cosine <K, L>_F / (|K|_F |L|_F) of two kernel matrices, with L = yy' for a target y.

    Parameters
    ----------
    K : array-like (n, n), a kernel matrix
    y : array-like (n,), labels -1 and +1 or real numbers; or (n, n), another kernel matrix L
    centered : bool, whether K and L are replaced by JKJ and JLJ with J = I - 11'/n, so that unbalanced classes and
        constants added to a kernel do not count

    Returns
    -------
    float in [-1, 1], in [0, 1] for positive semi-definite matrices; nan with a RuntimeWarning where a matrix is zero,
    or becomes zero by centring

    Raises
    ------
    ValueError : where K or L is not square, not symmetric or not finite, y has the wrong length, or y is constant

    References
    ----------
    Cristianini, Shawe-Taylor, Elisseeff and Kandola (2002), On kernel-target alignment (not centred).
    Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import alignment
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> round(alignment(np.outer(y, y), y), 12)
    1.0
    >>> round(alignment(np.eye(4), y), 4)
    0.5774
    """
    check_rows(("K", K), ("y", y))
    matrix = _unit(_input.symmetric(K))
    other = np.asarray(y)
    if other.ndim != 2:
        other = _outer(_input.target(y, len(matrix)), centered)
    else:
        other = _unit(_input.symmetric(y, "the second kernel matrix"))
        if other.shape != matrix.shape:
            raise ValueError(f"the kernel matrices must have the same shape, got {matrix.shape} and {other.shape}")
    if centered:
        matrix = _without_mean(matrix)
        other = _without_mean(other)
    norms = np.linalg.norm(matrix) * np.linalg.norm(other)
    if norms == 0.0:
        reason = "constant: after centring nothing is left" if centered else "zero"
        warn_user(f"the alignment is undefined: a matrix is {reason}", RuntimeWarning)
        return float("nan")
    return float(np.clip(np.vdot(matrix, other) / norms, -1.0, 1.0))


def _unit(K: Array) -> Array:
    """K scaled to largest entry 1, so that squares neither overflow nor vanish."""
    scale = float(np.abs(K).max())
    if scale > 0:
        return K / scale
    return K


def _outer(y: Array, centered: bool) -> Array:
    """yy' of a target that is not constant (not zero, where nothing is centred)."""
    values = _input.near_one(y)
    deviations = values - values.mean() if centered else values
    if np.abs(deviations).max() <= ROUNDING * np.abs(values).max():
        if centered:
            raise ValueError(f"y is constant ({y[0]:.6g}): an alignment needs both classes or varying values")
        raise ValueError("y is zero everywhere: there is nothing to align with")
    unit = deviations / np.abs(deviations).max()
    return np.outer(unit, unit)


def _without_mean(K: Array) -> Array:
    """JKJ, exactly zero where K was constant up to rounding."""
    C = _input.centered(K)
    if np.linalg.norm(C) > SINGULAR * np.linalg.norm(K):
        return C
    return np.zeros_like(C)
