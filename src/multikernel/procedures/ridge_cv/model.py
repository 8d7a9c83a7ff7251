"""The Gauss-Newton model of the held-out error, and its damped minimum over weights that are not negative.

    L(v + s) = L(v) + 2 slope's + s'C s,    C = J'J / n        min over v + s >= 0, with + s'D s, D diagonal

a non-negative least squares problem. Of m weights and N residuals it is solved in the smaller number of unknowns: by an
active set on a Cholesky factor of C + D, or, where there are more weights than residuals, through its dual

    max_u  -|u|^2 + sum_k min_{s_k >= -v_k} 2 (slope + G'u)_k s_k + D_k s_k^2,        G = J / sqrt(n),

which is concave with one derivative, quadratic while the set of weights at zero stays. Newton steps with the matrix
I + G_P D_P^-1 G_P', P the weights above zero, end after a few; the minimum has u = G s.

What the model loses by the best step with little damping says how far v is from a stationary point, unless that step
has no end: along a kernel that predicts best without any ridge the error falls like 1 / v_k, and the model, which knows
nothing of the curvature of the residuals, promises the same decrease however large v_k is. Where only such weights
promise anything, the error itself is evaluated, at the end of their step and nearer (``further``): if it is level
there, up to what a stationary point may miss, the promise is empty. (Where it is higher, a shorter step may lower it.)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import brentq, nnls

from multikernel._floats import TINY
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.certificate import FINEST_GAP
from multikernel.numerics.cholesky import factor_of, solved
from multikernel.numerics.line_search import MOST_NEWTON_STEPS, SHORTEST

_DECADE = math.log(10.0)
MEASURED = 1e-3  # the damping of the step that measures, in multiples of C_kk


def growing(v: Array, step: Array) -> Array:
    """Which weights would more than double."""
    return (v > 0.0) & (step > v)


def further(v: Array, step: Array) -> Iterator[Array]:
    """The end of a step, and a sixteenth of the way again and again until no weight would double; then each alone."""
    moved = np.flatnonzero(step)
    for part in [moved, *moved[:, None]] if len(moved) > 1 else [moved]:
        way = np.zeros(len(step))
        way[part] = step[part]
        while growing(v, way).any():
            yield v + way
            way /= 16.0  # with 4 and 256 the same of 900 hard targets ended


def level(gained: float, enough: float) -> bool:
    """Whether an error is neither lower by more than this, nor higher by more than rounding."""
    return -0.01 * enough <= gained <= enough  # with 0.1 the same of 900 hard targets ended


@dataclass(frozen=True, eq=False)
class QuadraticModel(ABC):
    """L(v + s) near v.

    Parameters
    ----------
    v : array (m,) >= 0
    slope : array (m,), half of the gradient
    """

    v: Array
    slope: Array

    @property
    @abstractmethod
    def diagonal(self) -> Array:
        """C_kk: shape (m,)."""

    @abstractmethod
    def curved(self, s: Array) -> float:
        """s'C s."""

    @abstractmethod
    def _damped(self, kept: Array, slope: Array, damping: Array) -> Array:
        """The step of the kept weights, for another slope, without the second condition."""

    def step(self, damping: Array, sizes: Array, largest: float) -> Array:
        """s with v + s >= 0 and sizes'(v + s) <= largest that minimises the model with D.

        Kernels of damping 0 change nothing and stay where they are. The second condition, seldom met, has a multiplier.
        """
        kept = np.flatnonzero(damping)
        if len(kept) == 0:
            return np.zeros(len(damping))

        def found(log: float) -> Array:
            s = np.zeros(len(damping))
            s[kept] = self._damped(kept, self.slope[kept] + math.exp(log) * sizes[kept], damping[kept])
            return s

        def excess(log: float) -> float:
            return float(sizes @ (self.v + found(log))) / largest - 1.0

        if excess(-math.inf) <= 0.0:
            return found(-math.inf)
        low = high = math.log(max(abs(float(self.slope @ self.v)) / largest, TINY))
        while excess(high) > 0.0:
            low = high
            high = high + _DECADE
        while excess(low) < 0.0:
            low -= _DECADE
        if low < high:
            log = float(brentq(excess, low, high, xtol=FINEST_GAP))
        else:
            log = low
        return self._on_bound(found, excess, log)

    @staticmethod
    def _on_bound(found: Callable[[float], Array], excess: Callable[[float], float], log: float) -> Array:
        """The step on the bound between two of neighbouring multipliers, one of each side.

        Where the model is almost flat they lie far apart, and each alone may lead far from the bound, or upward.
        """
        s = found(log)
        over = excess(log)
        side = math.copysign(FINEST_GAP, over)
        while over != 0.0:
            other = excess(log + side)
            if other * over <= 0.0:
                return s + over / (over - other) * (found(log + side) - s)
            side *= 10.0
        return s

    def decrease(self, s: Array) -> float:
        """What the model without damping loses by a step."""
        return -(2.0 * float(self.slope @ s) + self.curved(s))


@dataclass(frozen=True, eq=False)
class Tall(QuadraticModel):
    """At least as many residuals as weights; ``curvature`` is C."""

    curvature: Array

    @property
    def diagonal(self) -> Array:
        return np.diagonal(self.curvature)

    def curved(self, s: Array) -> float:
        return float(s @ self.curvature @ s)

    def _damped(self, kept: Array, slope: Array, damping: Array) -> Array:
        M = self.curvature[np.ix_(kept, kept)] + np.diag(damping)
        scale = 1.0 / np.sqrt(np.diagonal(M))
        factor = np.triu(factor_of(np.asfortranarray(M * scale[:, None] * scale), lower=False))
        target = lapack.dtrtrs(factor, scale * (M @ self.v[kept] - slope), lower=0, trans=1)[0]
        size = float(np.linalg.norm(target)) or 1.0
        return nnls(factor, target / size, maxiter=30 * len(M))[0] * size * scale - self.v[kept]


@dataclass(frozen=True, eq=False)
class Wide(QuadraticModel):
    """More weights than residuals; ``G`` has shape (N, m)."""

    G: Array

    @property
    def diagonal(self) -> Array:
        return np.einsum("ik,ik->k", self.G, self.G)

    def curved(self, s: Array) -> float:
        u = self.G @ s
        return float(u @ u)

    def _damped(self, kept: Array, slope: Array, damping: Array) -> Array:
        G = np.ascontiguousarray(self.G[:, kept])
        low = -self.v[kept]
        u = np.zeros(len(G))
        s, value = _dual(G, slope, low, damping, u)
        for _ in range(MOST_NEWTON_STEPS):
            free = s > low
            B = G[:, free] / np.sqrt(damping[free])
            factor = factor_of(np.asfortranarray(np.eye(len(u)) + product(B, B.T)))
            ascent = solved(factor, G @ s - u)
            length = 1.0
            while length > SHORTEST:
                further = u + length * ascent
                t, reached = _dual(G, slope, low, damping, further)
                if reached >= value - FINEST_GAP * abs(value):
                    break
                length *= 0.5
            else:
                break
            settled = length == 1.0 and np.array_equal(t > low, free)
            u = further
            s = t
            value = reached
            if settled:
                break
        return s


def _dual(G: Array, slope: Array, low: Array, damping: Array, u: Array) -> tuple[Array, float]:
    """The s of a dual point, and its value."""
    p = slope + u @ G
    s = np.maximum(low, -p / damping)
    return s, float(s @ (2.0 * p + damping * s) - u @ u)
