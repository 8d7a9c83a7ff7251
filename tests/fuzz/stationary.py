"""How far weights are from being stationary where the problem is not convex, in wide arithmetic.

    h(q) - d'q >= 0 over a ball,       q_k = b' (dK / dd_k) b,       b the machine's solution at d

is what other weights of the ball could gain to first order; it is told relative to the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.machines import Machine, Ridge
from fuzz.polish import polished
from fuzz.saddle import Domain
from fuzz.wide import Array, Number, combine


@dataclass(frozen=True)
class Power:
    """(sum_k d_k K_k)^degree."""

    K: Array
    degree: int

    def kernel(self, d: Array) -> Array:
        return combine(self.K, d) ** self.degree

    def scores(self, d: Array, b: Array) -> Array:
        A = np.multiply.outer(b, b) * combine(self.K, d) ** (self.degree - 1)
        return self.degree * np.array([(A * K).sum() for K in self.K], dtype=Number)


@dataclass(frozen=True)
class GaussianProduct:
    """exp(-sum_k d_k D_k), D_k the squared distances that kernel k tells."""

    K: Array

    @property
    def distances(self) -> Array:
        own = np.einsum("kii->ki", self.K)
        return own[:, :, None] + own[:, None, :] - 2 * self.K

    def kernel(self, d: Array) -> Array:
        return np.exp(-combine(self.distances, d))

    def scores(self, d: Array, b: Array) -> Array:
        A = np.multiply.outer(b, b) * self.kernel(d)
        return -np.array([(A * D).sum() for D in self.distances], dtype=Number)


@dataclass(frozen=True)
class Landscape:
    """A machine on a combination of kernels, weights in a ball."""

    combination: Power | GaussianProduct
    machine: Machine | Ridge
    domain: Domain

    def stationarity(self, d: Array, b: Array) -> Any:
        """Relative, at the best coefficients near those given; NaN where these cannot be computed."""
        K, machine = self.combination.kernel(d), self.machine
        if isinstance(machine, Ridge):
            b = machine.coef(K)[:, 0]
            value = (b * machine.Y[:, 0]).sum()
        else:
            b = polished(machine, K, b)
            value = machine.gain(b) - machine.part * (b @ K @ b)
        q = self.combination.scores(d, b)
        return (self.domain.support(q) - (d * q).sum()) / max(abs(value), Number(1e-300))
