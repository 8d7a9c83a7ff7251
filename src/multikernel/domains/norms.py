"""Norms of any exponent."""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array


def norm_of(v: Array, p: float) -> float:
    """|v|_p for any p >= 1 and entries of any size, without overflow."""
    sizes = np.abs(v)
    peak = float(sizes.max())
    if peak > 0 and p < np.inf:
        return peak * float(((sizes / peak) ** p).sum() ** (1.0 / p))
    return peak


def dual_exponent(p: float) -> float:
    """p* with 1/p + 1/p* = 1."""
    if p > 1:
        return p / (p - 1.0)
    return np.inf
