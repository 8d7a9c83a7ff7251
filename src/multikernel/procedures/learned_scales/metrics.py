"""Metrics over the columns of a bank, from the distance (x - z)'M (x - z) of two samples.

With D the diagonal matrix of the mean squared differences d of the columns,

    full        M = D^-1/2 exp(U) D^-1/2, U symmetric:  prior |U - (tr U / c) I|^2, the spread of its eigenvalues
    low rank    M = exp(a) D^-1/2 B'B D^-1/2 / |B|^2, B of shape (r, c): prior the spread of the logarithms of the
                eigenvalues of B B'

A diagonal U gives separate scales, with the same prior, and neither prior depends on the directions of the
eigenvectors. The derivative of the exponential is due to Daleckii and Krein: with U = V diag(l) V',
d exp(U) = V (F o (V'dU V)) V', F_jk = (exp(l_j) - exp(l_k)) / (l_j - l_k).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from multikernel._floats import TINY
from multikernel._typing import Array
from multikernel.banks.single import ScaledPoints, weighted_products
from multikernel.procedures.learned_scales.forms import LEAST_SHARE, Form


@dataclass(frozen=True, eq=False)
class Metric(Form):
    """A symmetric matrix over the columns that vary, in their units, as a row of scales of all pairs of columns."""

    def scales(self, v: Array) -> Array:
        roots = np.sqrt(self.units)
        matrix = np.zeros((len(self.means),) * 2)
        matrix[np.ix_(self.varied, self.varied)] = self._matrix(v) / roots[:, None] / roots
        return matrix.ravel()

    def pulled(self, v: Array, slope: Array) -> Array:
        return self._pulled(v, self._inside(slope, -0.5))

    def total(self, scales: Array) -> float:
        return float(np.trace(self._inside(scales, 0.5)))

    def proposed(self, outer: Array, total: float) -> Array:
        values, V = np.linalg.eigh(self._inside(outer, 0.5))
        roots = np.sqrt(np.maximum(values, 0.0))
        return self._of_spectrum(roots / (roots.mean() or 1.0), V, total)

    def parameters(self, scales: Array) -> Array:
        if not len(self.varied):
            return np.zeros(self.size)
        values, V = np.linalg.eigh(self._inside(scales, 0.5))
        values = np.maximum(values, 0.0)
        return self._of_spectrum(values / (values.mean() or 1.0), V, float(values.sum()))

    def points(self, v: Array, Z: Array, degree: int) -> ScaledPoints:
        values, V = np.linalg.eigh(self.scales(v).reshape(len(self.means), -1))
        return ScaledPoints.turned(Z, np.sqrt(np.maximum(values, 0.0)) * V)

    def weighted(self, X: Array, Z: Array, W: Array, degree: int) -> Array:
        return weighted_products(X, Z, W).ravel()

    def applied(self, scales: Array, B: Array) -> Array:
        return np.asarray(B @ scales.reshape(len(self.means), -1))

    def _inside(self, entries: Array, power: float) -> Array:
        """The block over the columns that vary of a matrix over all columns, multiplied by a power of the units."""
        factors = self.units**power
        matrix = entries.reshape(len(self.means), -1)
        return np.asarray(factors[:, None] * matrix[np.ix_(self.varied, self.varied)] * factors)

    @abstractmethod
    def _matrix(self, v: Array) -> Array:
        """D^1/2 M D^1/2."""

    @abstractmethod
    def _pulled(self, v: Array, slope: Array) -> Array:
        """The derivative in the parameters, given that in D^1/2 M D^1/2."""

    @abstractmethod
    def _of_spectrum(self, roots: Array, V: Array, total: float) -> Array:
        """The parameters of the matrix with these eigenvectors, its eigenvalues in proportion to ``roots``."""


@dataclass(frozen=True, eq=False)
class FullMetric(Metric):
    """The exponential of a symmetric matrix: its diagonal, and sqrt(2) times what is above, which keeps the norm."""

    @property
    def size(self) -> int:
        return len(self.varied) * (len(self.varied) + 1) // 2

    def prior(self, v: Array) -> tuple[float, Array]:
        c = len(self.varied)
        apart = v.copy()
        apart[:c] -= v[:c].mean() if c else 0.0
        return float((apart**2).sum()), 2.0 * apart

    def equal(self, total: float) -> Array:
        c = len(self.varied)
        return np.append(np.full(c, np.log(total / max(c, 1))), np.zeros(self.size - c))

    def _matrix(self, v: Array) -> Array:
        values, V = np.linalg.eigh(self._symmetric(v))
        return np.asarray((V * np.exp(values)) @ V.T)

    def _pulled(self, v: Array, slope: Array) -> Array:
        values, V = np.linalg.eigh(self._symmetric(v))
        apart = values[:, None] - values
        near = np.abs(apart) < 1e-8  # the difference quotient is the derivative
        middle = np.exp(0.5 * (values[:, None] + values))
        factors = np.where(near, middle, 2.0 * middle * np.sinh(0.5 * apart) / np.where(near, 1.0, apart))
        return self._vector(V @ (factors * (V.T @ slope @ V)) @ V.T)

    def _of_spectrum(self, roots: Array, V: Array, total: float) -> Array:
        shares = roots + LEAST_SHARE
        return self._vector((V * np.log(total * shares / shares.sum())) @ V.T)

    def _symmetric(self, v: Array) -> Array:
        c = len(self.varied)
        U = np.diag(v[:c])
        U[np.triu_indices(c, 1)] = v[c:] / np.sqrt(2.0)
        return U + np.triu(U, 1).T

    def _vector(self, U: Array) -> Array:
        return np.append(np.diag(U), np.sqrt(2.0) * U[np.triu_indices(len(U), 1)])


@dataclass(frozen=True, eq=False)
class LowRankMetric(Metric):
    """exp(a) B'B / |B|^2 with B of ``rank`` rows: parameters a, B."""

    rank: int

    @property
    def wide(self) -> Form:
        return FullMetric(self.means)

    @property
    def size(self) -> int:
        return 1 + self.rank * len(self.varied)

    def prior(self, v: Array) -> tuple[float, Array]:
        B = self._rows(v)
        values, V = np.linalg.eigh(B @ B.T)
        values = np.maximum(values, TINY)
        apart = np.log(values) - np.log(values).mean()
        return float((apart**2).sum()), np.append(0.0, 4.0 * (V * (apart / values)) @ (V.T @ B))

    def equal(self, total: float) -> Array:
        raise NotImplementedError("a metric of low rank has no equal scales")

    def _matrix(self, v: Array) -> Array:
        B = self._rows(v)
        return np.asarray(np.exp(v[0]) / (B**2).sum() * (B.T @ B))

    def _pulled(self, v: Array, slope: Array) -> Array:
        B = self._rows(v)
        norm = float((B**2).sum())
        pulled = np.exp(v[0]) / norm * (B @ (slope + slope.T))
        along = 0.5 * float((B * pulled).sum())
        return np.append(along, pulled - 2.0 * along / norm * B)

    def _of_spectrum(self, roots: Array, V: Array, total: float) -> Array:
        shares = roots[-self.rank :] + LEAST_SHARE  # eigenvalues ascend
        B = np.sqrt(shares / shares.mean())[:, None] * V[:, -self.rank :].T
        return np.append(np.log(total), B)

    def _rows(self, v: Array) -> Array:
        return v[1:].reshape(self.rank, -1)
