"""The problem of EasyMKL in wide arithmetic: the two nearest points of the hulls of two classes.

    min_g  (1 - lam) g'Y K Y g + lam |g|^2,    g a probability vector on each class

Up to scale it is the support vector machine with squared hinge losses of weight 1 / lam on (1 - lam) K: the optima are
4 / D and D, and g = 2 a / sum a.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.machines import Machine
from fuzz.polish import polished
from fuzz.wide import Array, Number, combine, norm, quad


@dataclass(frozen=True)
class Hulls:
    """A kernel matrix, labels -1 and +1, and lam; coefficients are y o g."""

    K: Array
    y: Array
    lam: Number

    def upper(self, d: Any, b: Array, c: Any = None) -> Number:
        b = self.feasible(b)
        return (1 - self.lam) * (b @ self.K @ b) + self.lam * (b @ b)

    def lower(self, b: Array) -> Number:
        """The plane that touches the value at g lies below it."""
        b = self.feasible(b)
        gradient = 2 * self.y * ((1 - self.lam) * (self.K @ b) + self.lam * b)
        return gradient[self.y > 0].min() + gradient[self.y < 0].min() - self.upper(None, b)

    def at(self, d: Any, b: Array) -> Number:
        return self.lower(b)

    def rounding(self, d: Any, b: Array, c: Any) -> Number:
        sizes = np.sqrt(np.maximum(np.diagonal(self.K), 0))
        return np.finfo(float).eps * (sizes @ np.abs(self.feasible(b))) ** 2

    def solved(self, d: Any, b: Array) -> Array:
        """From the class means: what is published may be coefficients of another matrix."""
        one = np.ones(len(self.y), dtype=Number)
        machine = Machine(
            part=Number(1),
            up=2 * one,
            down=-2 * one,
            ridge=2 * self.lam * one,
            low=np.where(self.y > 0, 0, -np.inf).astype(Number),
            high=np.where(self.y > 0, np.inf, 0).astype(Number),
            losses=lambda f: Number(0),
            kinks=self.y[None],
        )
        start = self.feasible(self.y)
        return polished(machine, (1 - self.lam) * self.K, start)

    def feasible(self, b: Array) -> Array:
        """Probability vectors with the signs of the classes; the class means in place of nothing."""
        g = np.maximum(self.y * b, 0)
        sums = np.where(self.y > 0, g[self.y > 0].sum(), g[self.y < 0].sum())
        counts = np.where(self.y > 0, (self.y > 0).sum(), (self.y < 0).sum())
        return self.y * np.where(sums > 0, g / np.where(sums > 0, sums, 1), Number(1) / counts)


@dataclass(frozen=True)
class MaxMin:
    """The largest margin of a kernel whose weights have 2-norm 1, kernels (m, n, n); coefficients are y o g.

        min_g  max_{|d| = 1, d >= 0}  (1 - lam) g'Y K(d) Y g + lam |g|^2,

    the maximum being at d = v / |v|, v_k = g'Y K_k Y g.
    """

    K: Array
    y: Array
    lam: Number

    def _hulls(self, b: Array) -> Hulls:
        """The problem at the weights that are best for these coefficients: of the same value and gradient there."""
        v = quad(self.K, self.feasible(b))
        size = norm(v, 2.0)
        return Hulls(combine(self.K, v / size if size > 0 else v), self.y, self.lam)

    def feasible(self, b: Array) -> Array:
        return Hulls(self.K[0], self.y, self.lam).feasible(b)

    def upper(self, d: Any, b: Array, c: Any = None) -> Number:
        return self._hulls(b).upper(d, b)

    def lower(self, b: Array) -> Number:
        return self._hulls(b).lower(b)

    def at(self, d: Any, b: Array) -> Number:
        return self.lower(b)

    def rounding(self, d: Any, b: Array, c: Any) -> Number:
        return self._hulls(b).rounding(d, b, c)

    def solved(self, d: Any, b: Array) -> Array:
        """Coefficients are taken as they come: the second opinion has others."""
        return b
