"""The inverse of a kernel matrix with a ridge, H = (K + alpha S^{-1})^{-1}, and the quantities of it for statistics.

S is the diagonal matrix of the samples' weights s > 0. K is a dense matrix, with H from its Cholesky factor; or it has
few features, K = G G', and by Woodbury's formula

    H = (S - S G M^{-1} G'S) / alpha,        M = alpha I + G'S G,        det(K + alpha S^{-1}) det S = alpha^(n-q) det M

so that no matrix larger than G is formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack, solve_triangular

from multikernel._floats import SINGULAR
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.numerics.cholesky import cholesky, solved


def resolved(alpha: float, scaled: Array) -> float:
    """A ridge, or the smallest one that is larger than the rounding of a matrix, where this is larger.

    Parameters
    ----------
    alpha : float > 0
    scaled : array, the diagonal of S^{1/2} K S^{1/2}, or of G'S G
    """
    return max(alpha, SINGULAR * float(scaled.max(initial=0.0)))


@dataclass(frozen=True, eq=False)
class Precision(ABC):
    """H for one kernel matrix.

    Parameters
    ----------
    alpha : float > 0
    weight : array (n,) > 0, s
    """

    alpha: float
    weight: Array

    @abstractmethod
    def times(self, B: Array) -> Array:
        """K B, for B of shape (n,) or (n, t)."""

    @abstractmethod
    def solve(self, B: Array) -> Array:
        """H B, for B of shape (n,) or (n, t)."""

    @property
    @abstractmethod
    def prior(self) -> Array:
        """K_ii, shape (n,)."""

    @property
    @abstractmethod
    def diagonal(self) -> Array:
        """H_ii, shape (n,)."""

    @property
    @abstractmethod
    def log_determinant(self) -> float:
        """log det(S^{1/2} K S^{1/2} + alpha I)."""

    @property
    @abstractmethod
    def degrees_of_freedom(self) -> float:
        """tr K H."""

    @abstractmethod
    def values_at(self, cross: Array, v: Array) -> Array:
        """k_x'v for coefficients v (n,), at samples of kernel values ``cross`` (r, n) or of features (r, q)."""

    @property
    @abstractmethod
    def own_squared_weights(self) -> Array:
        """sum_j H_ij^2 / s_j of the weights H_ij that targets j have in coefficient i, shape (n,)."""

    @abstractmethod
    def squared_weights(self, cross: Array) -> Array:
        """sum_j (H k_x)_j^2 / s_j of the weights that targets have in predictions, for samples as in ``values_at``."""

    @abstractmethod
    def conditional_variance(self, cross: Array, prior: Array) -> Array:
        """k(x, x) - k_x'H k_x for samples as in ``values_at``, where ``prior`` are the self-values k(x, x)."""


@dataclass(frozen=True, eq=False)
class DensePrecision(Precision):
    """H for a dense matrix K (n, n)."""

    K: Array

    @cached_property
    def _factor(self) -> Array:
        return cholesky(self.K + np.diag(self.alpha / self.weight))

    def times(self, B: Array) -> Array:
        return product(self.K, B)

    def solve(self, B: Array) -> Array:
        return solved(self._factor, B)

    @property
    def prior(self) -> Array:
        return np.diagonal(self.K)

    @cached_property
    def diagonal(self) -> Array:
        return np.diagonal(lapack.dpotri(self._factor, lower=1)[0]).copy()

    @property
    def own_squared_weights(self) -> Array:
        below = np.tril(lapack.dpotri(self._factor, lower=1)[0])
        np.square(below, out=below)
        one = 1.0 / self.weight
        return np.asarray(below @ one + below.T @ one - np.diagonal(below) * one)

    def squared_weights(self, cross: Array) -> Array:
        return np.asarray((1.0 / self.weight) @ solved(self._factor, cross.T) ** 2)

    @cached_property
    def log_determinant(self) -> float:
        return float(2.0 * np.log(np.diagonal(self._factor)).sum() + np.log(self.weight).sum())

    @property
    def degrees_of_freedom(self) -> float:
        return max(float((1.0 - self.alpha * self.diagonal / self.weight).sum()), 0.0)

    def values_at(self, cross: Array, v: Array) -> Array:
        return product(cross, v)

    def conditional_variance(self, cross: Array, prior: Array) -> Array:
        half = solve_triangular(self._factor, cross.T, lower=True, check_finite=False)
        return np.maximum(prior - (half**2).sum(axis=0), 0.0)


@dataclass(frozen=True, eq=False)
class FactoredPrecision(Precision):
    """H for features G (n, q), K = G G'."""

    G: Array

    @cached_property
    def _factor(self) -> Array:
        return cholesky(product((self.weight[:, None] * self.G).T, self.G), self.alpha)

    def _inner(self, V: Array) -> Array:
        """M^{-1} V."""
        return solved(self._factor, V)

    def times(self, B: Array) -> Array:
        return product(self.G, product(self.G.T, B))

    def solve(self, B: Array) -> Array:
        s = self.weight if B.ndim == 1 else self.weight[:, None]
        SB = s * B
        return np.asarray((SB - s * product(self.G, self._inner(product(self.G.T, SB)))) / self.alpha)

    @property
    def prior(self) -> Array:
        return np.asarray((self.G**2).sum(axis=1))

    @cached_property
    def _leverage(self) -> Array:
        """g_i'M^{-1} g_i."""
        return np.asarray((solve_triangular(self._factor, self.G.T, lower=True, check_finite=False) ** 2).sum(axis=0))

    @property
    def diagonal(self) -> Array:
        return self.weight * np.maximum(1.0 - self.weight * self._leverage, 0.0) / self.alpha

    @property
    def own_squared_weights(self) -> Array:
        beyond = self.alpha * (self._inner(self.G.T) ** 2).sum(axis=0)  # alpha |M^{-1} g_i|^2
        return self.weight * np.maximum(1.0 - self.weight * (self._leverage + beyond), 0.0) / self.alpha**2

    def squared_weights(self, cross: Array) -> Array:
        inner = self._inner(cross.T)  # H G g = S G M^{-1} g
        return np.asarray((cross.T * inner).sum(axis=0) - self.alpha * (inner**2).sum(axis=0))

    @property
    def log_determinant(self) -> float:
        n, q = self.G.shape
        return float(2.0 * np.log(np.diagonal(self._factor)).sum() + (n - q) * np.log(self.alpha))

    @property
    def degrees_of_freedom(self) -> float:
        return float(self.weight @ self._leverage)

    def values_at(self, cross: Array, v: Array) -> Array:
        return product(cross, product(self.G.T, v))

    def conditional_variance(self, cross: Array, prior: Array) -> Array:
        half = solve_triangular(self._factor, cross.T, lower=True, check_finite=False)
        return np.asarray(self.alpha * (half**2).sum(axis=0))
