"""Conjugate gradients: X with |A X - B| <= residual for a positive definite A, by products with A only.

The columns of B are solved as one system, in the inner product of matrices (Hestenes and Stiefel 1952).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from multikernel._typing import Array


def conjugate_gradients(times: Callable[[Array], Array], B: Array, start: Array, residual: float, most: int) -> Array:
    """X near ``start``, after ``most`` products at most, or where rounding ends the descent.

    Parameters
    ----------
    times : X -> A X, positive definite
    B, start : arrays of the same shape, (n,) or (n, t)
    residual : float >= 0, the norm of A X - B that is small enough
    most : int, how many products at most
    """
    X = start
    R = B - times(start)
    P = R
    square = float(np.vdot(R, R))
    for _ in range(most):
        if not square > residual**2:
            break
        image = times(P)
        curved = float(np.vdot(P, image))
        if not curved > 0.0:
            break
        step = square / curved
        X = X + step * P
        R = R - step * image
        before = square
        square = float(np.vdot(R, R))
        P = R + (square / before) * P
    return X
