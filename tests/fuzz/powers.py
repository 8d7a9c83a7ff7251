"""Ridge regression on a power of a weighted sum of kernels, in wide arithmetic.

    min_{d in D}  r(d) + J((sum_k d_k K_k)^degree)        >=        max_s  2 s b'y - s^2 alpha |b|^2 - h(s b)

at every b, with h(b) = max_{d in D} b'K(d) b - r(d). For degree 2 that is the largest value of d'G d over the domain,
G_jk = b'(K_j o K_k) b: bounded over a ball of the 2-norm by any multiplier t above the eigenvalues of G; with a penalty
beta |d|^2 zero where none exceeds beta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from fuzz.machines import Ridge
from fuzz.saddle import Domain, Saddle, point
from fuzz.wide import Array, Number, combine, solve, wide


@dataclass(frozen=True)
class Powers:
    """Kernels (m, n, n), a machine of one target, a domain; the ball (center, radius) or the penalty of degree 2."""

    K: Array
    machine: Ridge
    domain: Domain
    degree: int
    ball: tuple[Array, Number] | None = None
    penalty: Number | None = None

    def kernel(self, d: Array) -> Array:
        return combine(self.K, d) ** self.degree

    def upper(self, d: Array, b: Array, c: Any = None) -> Number:
        f = self.kernel(d) @ b
        size = max((b * f).sum(), Number(0)) * max(self.domain.excess(d), Number(1)) ** self.degree
        return size + self.machine.losses(f) + self.domain.penalty(d)

    def lower(self, b: Array) -> Number:
        linear = (b * self.machine.Y).sum()
        square = self.machine.alpha * (b * b / self.machine.weight[:, None]).sum()
        if not linear > 0:
            return Number(0)
        if self.ball is not None and self.ball[1] == 0:
            return linear**2 / (square + (b * (self.kernel(self.ball[0]) @ b)).sum())
        if self.degree != 2 or (self.ball is None and self.penalty is None):
            return Number(0)
        b = b[:, 0]
        G = np.array([[b @ (j * k) @ b for k in self.K] for j in self.K], dtype=Number)
        if self.ball is not None:
            return linear**2 / (square + _largest(G, *self.ball))
        top = _largest(G, np.zeros(len(G), dtype=Number), Number(1))
        s = min(linear / square, np.sqrt(self.penalty / top)) if top > 0 else linear / square
        return 2 * s * linear - s * s * square

    def at(self, d: Array, b: Array) -> Number:
        return Number(-np.inf)

    def rounding(self, d: Array, b: Array, c: Array) -> Number:
        one = wide(np.ones(1))
        return Saddle(self.kernel(d)[None], self.machine, point(one)).rounding(one, b, c)

    def solved(self, d: Array, b: Array) -> Array:
        exact = self.machine.coef(self.kernel(d))
        return exact if np.isfinite(exact).all() else b


def _largest(G: Array, center: Array, radius: Number) -> Number:
    """Not below max d'G d over |d - center| <= radius."""
    top, linear = Number(np.linalg.eigvalsh(G.astype(float))[-1]), G @ center
    size = np.abs(G).max()
    if not size > 0:
        return Number(0)

    def value(t: Number) -> Number:
        """Of the multiplier t; infinite where t is not above the eigenvalues."""
        shifted = t * np.eye(len(G), dtype=Number) - G
        if not _positive(shifted):
            return Number(np.inf)
        return center @ linear + t * radius**2 + linear @ solve(shifted, linear)

    least = top + Number(1e-15) * size
    if not linear.any():
        return value(least)
    reach = np.sqrt(linear @ linear) / max(radius, Number(1e-300))
    found = minimize_scalar(
        lambda e: float(value(least + reach * Number(10) ** Number(e)) / size), bounds=(-16, 1), method="bounded"
    )
    return value(least + reach * Number(10) ** Number(found.x))


def _positive(A: Array) -> bool:
    """Whether elimination meets positive pivots only."""
    A = A.copy()
    for j in range(len(A)):
        if not A[j, j] > 0:
            return False
        A[j + 1 :, j + 1 :] -= np.multiply.outer(A[j + 1 :, j], A[j, j + 1 :]) / A[j, j]
    return True
