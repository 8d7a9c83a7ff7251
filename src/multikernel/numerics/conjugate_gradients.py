"""Conjugate gradients: A X = B for a positive definite A, by products with A only (Hestenes and Stiefel 1952).

With a matrix M that is near A and easily solved, the residual R = B - A X and Z = M^{-1} R, a step leads along

    P <- Z + (R'Z / R_before'Z_before) P,        X <- X + (R'Z / P'A P) P,        R <- R - (R'Z / P'A P) A P.

The columns of B are systems of their own, each with these numbers of its own (``preconditioned_steps``); or they are
one system, in the inner product of matrices, without M (``conjugate_gradients``).
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
    length : array (t,), by how much of it X changes; 0 where nothing is left to solve
    left : array (n, t), the residual at the end of the step
    size : array (t,), R'Z there
    """

    direction: Array
    length: Array
    left: Array
    size: Array

    @property
    def change(self) -> Array:
        """What is added to X."""
        return np.asarray(self.length * self.direction)


def preconditioned_steps(times: Map, near: Map, left: Array) -> Iterator[GradientStep]:
    """Steps without end, which the caller adds up and stops.

    Parameters
    ----------
    times : V -> A V, positive semi-definite
    near : V -> M^{-1} V
    left : array (n, t), the residual B - A X where the steps begin
    """
    direction = near(left)
    size = (left * direction).sum(axis=0)
    while True:
        image = times(direction)
        curvature = (direction * image).sum(axis=0)
        length = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0.0)
        left = left - length * image
        scaled = near(left)
        before = size
        size = (left * scaled).sum(axis=0)
        yield GradientStep(direction, length, left, size)
        direction = scaled + np.divide(size, before, out=np.zeros_like(size), where=before > 0.0) * direction


def conjugate_gradients(times: Map, B: Array, start: Array, residual: float, most: int) -> Array:
    """X near ``start`` with |A X - B| <= residual, after ``most`` products at most, or where rounding ends the descent.

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
