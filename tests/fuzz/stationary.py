"""How far weights are from being stationary where the problem is not convex, in wide arithmetic.

    h(q) - d'q >= 0 over a ball,       q_k = b' (dK / dd_k) b,       b the machine's solution at d

is what other weights of the ball could gain to first order; it is told relative to the value. What rounding of the
kernel values hides of it is seen by rounding them anew.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fuzz.machines import Machine, Ridge
from fuzz.polish import polished
from fuzz.saddle import Domain, Saddle, point
from fuzz.wide import Array, Number, combine

_TIMES, _MORE = 4, 64  # roundings tried; of the largest difference that is seen, what is allowed for


@dataclass(frozen=True)
class Surface(ABC):
    """A problem that is not convex, of kernels K (m, n, n)."""

    @abstractmethod
    def stationarity(self, d: Array, b: Array) -> Any:
        """Of weights d, relative; b are coefficients near the best ones for them."""

    def hidden(self, d: Array, b: Array) -> Any:
        """How much of the stationarity rounding of the kernel values hides."""
        rng, known = np.random.default_rng(0), self.stationarity(d, b)
        with np.errstate(all="ignore"):
            others = [self.with_kernels(_rounded(self.kernels(), rng)) for _ in range(_TIMES)]
            return _MORE * max(abs(each.stationarity(d, b) - known) for each in others)

    def kernels(self) -> Array:
        found: Any = self
        return found.K

    def with_kernels(self, K: Array) -> Surface:
        found: Any = self
        return replace(found, K=K)


def _rounded(K: Array, rng: np.random.Generator) -> Array:
    """Kernel values that err by the last digit, of those on the diagonal at most."""
    sizes = np.sqrt(np.maximum(np.einsum("kii->ki", K), 0))
    errors = rng.uniform(-1.0, 1.0, size=K.shape) * np.finfo(float).eps * sizes[:, :, None] * sizes[:, None, :]
    return K + np.tril(errors) + np.tril(errors, -1).swapaxes(1, 2)


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
class Landscape(Surface):
    """A machine on a combination of kernels, weights in a ball."""

    combination: Power | GaussianProduct
    machine: Machine | Ridge
    domain: Domain

    def stationarity(self, d: Array, b: Array) -> Any:
        """Relative, at the coefficients given or at the best ones near them, whichever prove less.

        Coefficients prove what they would at fixed weights, their duality gap, and how far they leave the weights.
        """
        K, machine = self.combination.kernel(d), self.machine
        best = machine.coef(K)[:, 0] if isinstance(machine, Ridge) else polished(machine, K, b)
        fixed, one = Saddle(K[None], machine, point(np.ones(1))), np.ones(1, dtype=Number)
        found, part = [], Number(1) if isinstance(machine, Ridge) else machine.part
        for each in (b, best):
            upper = fixed.upper(one, each.reshape(-1, 1) if isinstance(machine, Ridge) else each)
            gap = max(upper - fixed.lower(each.reshape(-1, 1) if isinstance(machine, Ridge) else each), Number(0))
            q = part * self.combination.scores(d, each)
            found.append((self.domain.support(q) - (d * q).sum() + gap) / max(abs(upper), Number(1e-300)))
        return np.fmin(*found)

    def hidden(self, d: Array, b: Array) -> Any:
        """And of the target, and the intercept, in the value at fixed weights."""
        one, machine = np.ones(1, dtype=Number), self.machine
        fixed, shaped = Saddle(self.combination.kernel(d)[None], machine, point(np.ones(1))), b
        if isinstance(machine, Ridge):
            shaped = b.reshape(-1, 1)
        value = max(abs(fixed.upper(one, shaped)), Number(1e-300))
        return super().hidden(d, b) + fixed.rounding(one, shaped, np.zeros(1, dtype=Number)) / value

    def kernels(self) -> Array:
        return self.combination.K

    def with_kernels(self, K: Array) -> Landscape:
        return replace(self, combination=replace(self.combination, K=K))
