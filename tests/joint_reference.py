"""The optima of multiple kernel learning of several classes at once, by Clarabel, and with bounds of their own.

    min over d >= 0, |d|_p <= 1 and f, b of  1/2 sum_c |f_c|^2 + sum_i C_i max_c (1[c != y_i] + g_c(x_i) - g_y(x_i)),

g = f + b. A conic solver offers coefficients, weights and intercepts, and is not believed: both bounds are sums over
samples and classes, written as the formulas say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

import reference as ref

Array = Any


@dataclass(frozen=True)
class Optimum:
    """Weights, and the bounds of the optimum."""

    weights: Array
    lower: float
    upper: float


def primal(K: Array, y: Array, C: Array, B: Array, b: Array) -> float:
    """The value of f = K B and b for one kernel matrix."""
    g = K @ B + b
    value = 0.5 * sum(float(B[:, c] @ K @ B[:, c]) for c in range(B.shape[1]))
    for i, own in enumerate(y):
        value += C[i] * max(float(c != own) + g[i, c] - g[i, own] for c in range(B.shape[1]))
    return value


def best_intercept(f: Array, y: Array, C: Array) -> Array:
    """The intercepts of least losses beside function values f, by linear programming; of the first class 0."""
    n, c = f.shape
    rows = np.repeat(np.arange(n), c)
    others = np.tile(np.arange(c), n)
    A = np.zeros((n * c, c + n))  # b_c - b_y - s_i <= -(1[c != y_i] + f_ic - f_iy)
    np.add.at(A, (np.arange(n * c), others), 1.0)
    np.add.at(A, (np.arange(n * c), y[rows]), -1.0)
    A[np.arange(n * c), c + rows] = -1.0
    below = -((others != y[rows]) + f[rows, others] - f[rows, y[rows]])
    bounds = [(0.0, 0.0)] + [(None, None)] * (c - 1) + [(0.0, None)] * n
    found = linprog(np.append(np.zeros(c), C), A, below, bounds=bounds)
    return np.asarray(found.x[:c])


def dual(K: Array, y: Array, B: Array, p: float = 1.0) -> float:
    """sum_i B_iy - 1/2 |v|_q, v_k = tr B'K_k B, 1/p + 1/q = 1, for a stack of matrices."""
    v = [float(np.trace(B.T @ matrix @ B)) for matrix in K]
    q = np.inf if p == 1.0 else p / (p - 1.0)
    return float(sum(B[i, own] for i, own in enumerate(y))) - 0.5 * float(np.linalg.norm(v, q))


def violation(y: Array, C: Array, B: Array, intercept: bool) -> float:
    """How far coefficients are from what they have to be."""
    own = np.arange(B.shape[1]) == y[:, None]
    most = np.where(own, C[:, None], 0.0)
    found = [float((B - most).max()), float(np.abs(B.sum(axis=1)).max())]
    if intercept:
        found.append(float(np.abs(B.sum(axis=0)).max()))
    return max(0.0, *found)


def joint(K: Array, y: Array, C: Array, intercept: bool = True, p: float = 1.0) -> Optimum:
    """The problem for a stack of matrices; of one matrix it is the machine's."""
    n, c = len(y), int(y.max()) + 1
    own = np.arange(c) == y[:, None]
    moved = cp.Variable((n, c), nonneg=True)
    E = own.astype(float)
    B = cp.multiply(E, cp.reshape(cp.sum(moved, axis=1), (n, 1), order="C") @ np.ones((1, c))) - moved
    t = cp.Variable(len(K), nonneg=True)
    below = [cp.sum_squares(ref.root(matrix) @ B) <= t[k] for k, matrix in enumerate(K) if matrix.any()]
    conditions = [*below, cp.multiply(E, moved) == 0, cp.sum(moved, axis=1) <= C]
    if intercept:
        conditions.append(cp.sum(B, axis=0) == 0)
    worst = cp.max(t) if p == 1.0 else cp.pnorm(t, p / (p - 1.0))
    problem = cp.Problem(cp.Maximize(cp.sum(moved) - 0.5 * worst), conditions)

    def enclosed() -> Optimum:
        """The bounds of what it got to."""
        found = np.asarray(B.value)
        b = -np.asarray(conditions[-1].dual_value) if intercept else np.zeros(c)
        d = np.zeros(len(K))
        d[[matrix.any() for matrix in K]] = np.maximum([float(np.ravel(each.dual_value)[0]) for each in below], 0.0)
        d = d / np.linalg.norm(d, p) if d.any() else np.full(len(K), len(K) ** (-1.0 / p))
        combined = np.einsum("k,kij->ij", d, K)
        tried = [b, -b]
        if intercept:  # with large C a solver's intercepts are not exact enough
            tried.append(best_intercept(combined @ found, y, C))
        upper = min(primal(combined, y, C, found, each) for each in tried)
        return Optimum(d, dual(K, y, found, p), upper)

    best: Optimum | None = None
    for asked in ((1e-13, 1e-10, 1e-8), (1e-11,), (1e-10,)):  # where it gets depends on the processor, by a percent
        ref.conic(problem, asked)
        if B.value is not None:
            one = enclosed()
            if best is not None:
                one = Optimum(one.weights, max(one.lower, best.lower), min(one.upper, best.upper))
            best = one
            if best.upper - best.lower <= 1e-4 * best.upper:
                break
    assert best is not None
    return best
