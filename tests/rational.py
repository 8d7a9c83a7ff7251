"""Ridge regression in exact arithmetic: every float is a fraction, and sums and quotients of fractions are exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

Array = Any


def fractions(values: Array) -> Array:
    """The same numbers as fractions."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(values, dtype=float))


def solve(M: Array, b: Array) -> Array:
    """M^-1 b for a positive definite M, by elimination."""
    M, b = M.copy(), b.copy()
    for i in range(len(b)):
        for j in range(i + 1, len(b)):
            part = M[j, i] / M[i, i]
            M[j], b[j] = M[j] - part * M[i], b[j] - part * b[i]
    for i in reversed(range(len(b))):
        b[i] = (b[i] - M[i, i + 1 :] @ b[i + 1 :]) / M[i, i]
    return b


def ridge(X: Array, weights: Array, y: Array, alpha: float) -> tuple[Fraction, Array]:
    """y'(K + alpha I)^-1 y and (K + alpha I)^-1 y of K = X diag(weights) X', by the features with a weight."""
    used = np.flatnonzero(weights)
    F, w, r, a = fractions(X)[:, used], fractions(weights)[used], fractions(y), Fraction(alpha)
    v = solve(F.T @ F + a * np.diag(1 / w), F.T @ r) if len(used) else fractions([])
    A = (r - F @ v) / a
    return A @ r, A


def scores(X: Array, A: Array) -> Array:
    """A'x_k x_k'A of every feature."""
    return (fractions(X).T @ A) ** 2
