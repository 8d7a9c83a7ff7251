"""The optima of RLS2, by Clarabel, with bounds of their own.

    max_C  alpha <C, Y> - alpha^2/2 |C|^2 - alpha/2 max_k tr C'R_k C

is the dual of min over the simplex of J(d) = alpha/2 tr Y'(sum_k d_k R_k + alpha I)^-1 Y; both bounds are recomputed.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

import reference as ref

Array = Any


def value(K: Array, Y: Array, alpha: float, d: Array) -> float:
    """J(d), by its formula, for Y of shape (n,) or (n, t)."""
    n = K.shape[1]
    return 0.5 * alpha * float(np.sum(Y * np.linalg.solve(ref.combine(K, d) + alpha * np.eye(n), Y)))


def bound(K: Array, Y: Array, alpha: float, C: Array) -> float:
    """The dual value of the best multiple of C."""
    return 0.5 * alpha * np.sum(C * Y) ** 2 / (alpha * np.sum(C * C) + ref.quad(K, C).max())


def optimum(K: Array, Y: Array, alpha: float) -> tuple[float, float]:
    """A lower and an upper bound of the least J."""
    Y = Y.reshape(len(Y), -1)
    size = float(np.abs(Y).max())
    A, t = cp.Variable(Y.shape), cp.Variable()  # C = A / alpha
    below = [cp.sum_squares(ref.root(matrix / alpha) @ A) <= t for matrix in K if matrix.any()]
    ref.conic(cp.Problem(cp.Maximize(cp.sum(cp.multiply(A, Y / size)) - 0.5 * cp.sum_squares(A) - 0.5 * t), below))
    d = np.zeros(len(K))
    d[[bool(matrix.any()) for matrix in K]] = np.maximum([float(np.ravel(c.dual_value)[0]) for c in below], 0.0)
    d = d / d.sum()
    C = np.linalg.solve(ref.combine(K, d) + alpha * np.eye(len(Y)), Y)
    return max(bound(K, Y, alpha, C), bound(K, Y, alpha, np.asarray(A.value))), value(K, Y, alpha, d)
