"""Kernels of a distance."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from multikernel._typing import Array
from multikernel.kernels.base import Kernel, as_floats
from multikernel.kernels.facts import Fact, OfDistance


def squared_distances(X: Any, Z: Any = None) -> Array:
    """|x - z|^2 of shape (len(X), len(Z)), never negative, and exactly 0 on the diagonal where Z is X.

    A single column is subtracted directly: there the expansion |x|^2 + |z|^2 - 2 x'z would lose digits for nothing.
    """
    if X.shape[1] == 1 and not hasattr(X, "tocsr"):
        X = as_floats(X)
        difference: Array = X - (X if Z is None else as_floats(Z)).T
        difference *= difference
        return difference
    D: Array = euclidean_distances(X, Z, squared=True)
    return D


def _check_gamma(gamma: float, name: str) -> None:
    if not (isinstance(gamma, Real) and gamma > 0 and np.isfinite(gamma)):
        raise ValueError(f"{name}: gamma must be a finite number > 0, got {gamma!r}")


def _ones(X: Any) -> Array:
    return np.ones(X.shape[0], dtype=X.dtype if X.dtype.kind == "f" else np.float64)


@dataclass(repr=False)
class RBF(Kernel):
    """k(x, z) = exp(-gamma |x - z|^2), |.| the Euclidean norm.

    Parameters
    ----------
    gamma : float > 0, in units of 1 / (distance squared).
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        _check_gamma(self.gamma, "RBF")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        K = squared_distances(X, Z)
        K *= -self.gamma
        np.exp(K, out=K)
        return K

    def diagonal(self, X: Any) -> Array:
        return _ones(X)

    def facts(self) -> tuple[Fact, ...]:
        return (OfDistance(float(self.gamma)),)


@dataclass(repr=False)
class Laplacian(Kernel):
    """k(x, z) = exp(-gamma |x - z|_1).

    Parameters
    ----------
    gamma : float > 0, in units of 1 / distance.
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        _check_gamma(self.gamma, "Laplacian")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        K: Array = manhattan_distances(X, Z).astype(_ones(X).dtype, copy=False)
        K *= -self.gamma
        np.exp(K, out=K)
        return K

    def diagonal(self, X: Any) -> Array:
        return _ones(X)
