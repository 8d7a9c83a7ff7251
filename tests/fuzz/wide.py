"""Arithmetic in the longest floating point numbers that the machine has: 64 binary digits on most, 53 on some."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
Number = np.longdouble
EPS = np.finfo(Number).eps


def wide(x: Any) -> Array:
    """The same numbers, exactly."""
    return np.asarray(x, dtype=Number)


def combine(K: Array, weights: Array) -> Array:
    """sum_k weights_k K_k for a stack (m, r, c)."""
    return np.einsum("k,krc->rc", weights, K)


def quad(K: Array, B: Array) -> Array:
    """tr B'K_k B of every kernel, for B of shape (n,) or (n, t)."""
    B = B.reshape(len(B), -1)
    return np.array([(B * (matrix @ B)).sum() for matrix in K], dtype=Number)


def solve(A: Array, B: Array) -> Array:
    """A^-1 B by elimination with the largest pivot; NaN where A is singular."""
    A, X = wide(A).copy(), wide(B).copy()
    n = len(A)
    with np.errstate(all="ignore"):
        for j in range(n):
            p = j + int(np.argmax(np.abs(A[j:, j])))
            if p != j:
                A[[j, p]], X[[j, p]] = A[[p, j]], X[[p, j]]
            factors = A[j + 1 :, j] / A[j, j]
            A[j + 1 :, j:] -= np.multiply.outer(factors, A[j, j:])
            X[j + 1 :] -= np.multiply.outer(factors, X[j])
        for j in range(n - 1, -1, -1):
            X[j] = (X[j] - A[j, j + 1 :] @ X[j + 1 :]) / A[j, j]
    return X


def norm(v: Array, p: float) -> Any:
    """|v|_p for v >= 0 and p from 1 to infinity, without overflow."""
    peak = v.max()
    if peak <= 0 or np.isinf(p):
        return max(peak, Number(0))
    return peak * ((v / peak) ** Number(p)).sum() ** (1 / Number(p))
