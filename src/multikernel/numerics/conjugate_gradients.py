"""Conjugate gradients: A X = B for a positive definite A, by products with A only (Hestenes and Stiefel 1952).

With a matrix M that is near A and easily solved, the residual R = B - A X and Z = M^{-1} R, a step leads along

    P <- Z + (R'Z / R_before'Z_before) P,        X <- X + (R'Z / P'A P) P,        R <- R - (R'Z / P'A P) A P.

The columns of B are either separate systems, each with separate step lengths (``preconditioned_steps``), or one system
in the inner product of matrices, without M (``conjugate_gradients``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array

MOST_STEPS = 50  # with a matrix that is near: ten or fifteen lead to the end, or the matrix is of no use
Map = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class GradientStep:
    """One step of every system.

    Parameters
    ----------
    direction : array (n, t), P
    length : array (t,), the multiple of the direction by which X changes; 0 for a column that is solved
    residual : array (n, t), the residual at the end of the step
    size : array (t,), R'Z there
    """

    direction: Array
    length: Array
    residual: Array
    size: Array

    @property
    def change(self) -> Array:
        """The change of X."""
        return np.asarray(self.length * self.direction)


def preconditioned_steps(times: Map, near: Map, residual: Array) -> Iterator[GradientStep]:
    """An infinite sequence of steps, which the caller adds up and stops.

    Parameters
    ----------
    times : V -> A V, positive semi-definite
    near : V -> M^{-1} V
    residual : array (n, t), the residual B - A X where the steps begin
    """
    direction = near(residual)
    size = (residual * direction).sum(axis=0)
    while True:
        image = times(direction)
        curvature = (direction * image).sum(axis=0)
        length = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0.0)
        residual = residual - length * image
        scaled = near(residual)
        before = size
        size = (residual * scaled).sum(axis=0)
        yield GradientStep(direction, length, residual, size)
        direction = scaled + np.divide(size, before, out=np.zeros_like(size), where=before > 0.0) * direction


def conjugate_gradients(times: Map, B: Array, start: Array, residual: float, max_steps: int) -> Array:
    """X near ``start`` with |A X - B| <= residual, after at most ``max_steps`` products, or where rounding ends it.

    Parameters
    ----------
    times : X -> A X, positive definite
    B, start : arrays of the same shape, (n,) or (n, t)
    residual : float >= 0, the norm of A X - B that is small enough
    max_steps : int, how many products at most
    """
    X = start
    R = B - times(start)
    P = R
    square = float(np.vdot(R, R))
    for _ in range(max_steps):
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
