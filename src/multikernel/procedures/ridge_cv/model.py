"""The Gauss-Newton model of the held-out error, and its damped minimum over weights that are not negative.

    L(v + s) = L(v) + 2 slope's + s'C s,    C = J'J / n        min over v + s >= 0, with + s'D s, D diagonal

a non-negative least squares problem. Of m weights and N residuals it is solved in the smaller number of unknowns: by an
active set on a Cholesky factor of C + D, or, where there are more weights than residuals, through its dual

    max_u  -|u|^2 + sum_k min_{s_k >= -v_k} 2 (slope + G'u)_k s_k + D_k s_k^2,        G = J / sqrt(n),

which is concave with one derivative, quadratic while the set of weights at zero stays. Newton steps with the matrix
I + G_P D_P^-1 G_P', P the weights above zero, end after a few; the minimum has u = G s.

The decrease of the model by the best step with little damping measures how far v is from a stationary point. The
exception are weights that grow without end: along a kernel that predicts best without any ridge the error falls like
1 / v_k, and the model, which has no curvature of the residuals, promises the same decrease however large v_k is. Where
only such weights promise a decrease, the error itself is evaluated at the end of their step and nearer
(``larger_weights``). If it is level there, up to the tolerance of a stationary point, v counts as stationary. (Where it
is higher, a shorter step may lower it.)
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
    """Which weights would more than double by a step."""
    return (v > 0.0) & (step > v)


def larger_weights(v: Array, step: Array) -> Iterator[Array]:
    """Weights v + step, v + step / 16, .., until no weight would double; then the same for each weight's step alone."""
    moving = np.flatnonzero(step)
    for index in [moving, *moving[:, None]] if len(moving) > 1 else [moving]:
        change = np.zeros(len(step))
        change[index] = step[index]
        while growing(v, change).any():
            yield v + change
            change /= 16.0  # with 4 and 256 the same of 900 hard targets ended


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
    def _damped(self, moving: Array, slope: Array, damping: Array) -> Array:
        """The step of the ``moving`` weights, for another slope, without the bound on sizes'(v + s)."""

    def step(self, damping: Array, sizes: Array, largest: float) -> Array:
        """s with v + s >= 0 and sizes'(v + s) <= largest that minimises the model with D.

        Weights of damping 0 do not change. The second condition, which is seldom active, gets a Lagrange multiplier.
        """
        moving = np.flatnonzero(damping)
        if len(moving) == 0:
            return np.zeros(len(damping))

        def damped_step(log: float) -> Array:
            s = np.zeros(len(damping))
            s[moving] = self._damped(moving, self.slope[moving] + math.exp(log) * sizes[moving], damping[moving])
            return s

        def excess(log: float) -> float:
            return float(sizes @ (self.v + damped_step(log))) / largest - 1.0

        if excess(-math.inf) <= 0.0:
            return damped_step(-math.inf)
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
        return self._on_bound(damped_step, excess, log)

    @staticmethod
    def _on_bound(damped_step: Callable[[float], Array], excess: Callable[[float], float], log: float) -> Array:
        """The step on the bound, interpolated between the steps of two neighbouring multipliers, one on each side.

        Where the model is almost flat these steps lie far apart, and each alone may end far from the bound, or uphill.
        """
        s = damped_step(log)
        over = excess(log)
        side = math.copysign(FINEST_GAP, over)
        while over != 0.0:
            excess_beyond = excess(log + side)
            if excess_beyond * over <= 0.0:
                return s + over / (over - excess_beyond) * (damped_step(log + side) - s)
            side *= 10.0
        return s

    def decrease(self, s: Array) -> float:
        """The decrease of the model without damping by a step."""
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

    def _damped(self, moving: Array, slope: Array, damping: Array) -> Array:
        M = self.curvature[np.ix_(moving, moving)] + np.diag(damping)
        scale = 1.0 / np.sqrt(np.diagonal(M))
        factor = np.triu(factor_of(np.asfortranarray(M * scale[:, None] * scale), lower=False))
        target = lapack.dtrtrs(factor, scale * (M @ self.v[moving] - slope), lower=0, trans=1)[0]
        size = float(np.linalg.norm(target)) or 1.0
        return nnls(factor, target / size, maxiter=30 * len(M))[0] * size * scale - self.v[moving]


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

    def _damped(self, moving: Array, slope: Array, damping: Array) -> Array:
        G = np.ascontiguousarray(self.G[:, moving])
        low = -self.v[moving]
        u = np.zeros(len(G))
        s, value = _dual(G, slope, low, damping, u)
        for _ in range(MOST_NEWTON_STEPS):
            free = s > low
            B = G[:, free] / np.sqrt(damping[free])
            factor = factor_of(np.asfortranarray(np.eye(len(u)) + product(B, B.T)))
            ascent = solved(factor, G @ s - u)
            length = 1.0
            while length > SHORTEST:
                trial = u + length * ascent
                t, reached = _dual(G, slope, low, damping, trial)
                if reached >= value - FINEST_GAP * abs(value):
                    break
                length *= 0.5
            else:
                break
            settled = length == 1.0 and np.array_equal(t > low, free)
            u = trial
            s = t
            value = reached
            if settled:
                break
        return s


def _dual(G: Array, slope: Array, low: Array, damping: Array, u: Array) -> tuple[Array, float]:
    """The step s of a dual point u, and the dual value of u."""
    p = slope + u @ G
    s = np.maximum(low, -p / damping)
    return s, float(s @ (2.0 * p + damping * s) - u @ u)
