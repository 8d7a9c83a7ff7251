"""Weights in a ball of some norm around a centre: d >= 0, |d - center|_p <= radius.

    h(q) = center'q + radius |q|_{p*},        1/p + 1/p* = 1, q >= 0
    d_k - center_k = radius q_k^{1/(p-1)} / |q^{1/(p-1)}|_p      attains it for p > 1; for p = 1 the largest q_k has all

Cortes, Mohri and Rostamizadeh (2009); Kloft, Brefeld, Sonnenburg and Zien (2011) with centre 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from multikernel._parameters import NonNegative, NonNegativeVector
from multikernel._rules import Number
from multikernel._typing import Array
from multikernel.domains.norms import dual_exponent, norm_of
from multikernel.domains.projection import project_ball
from multikernel.domains.separable import Jet, Separable
from multikernel.domains.signed import best_in_ball

_NORM = Number(least=1, why="in the limit of large norms the best weights are all equal to center + radius")


@dataclass(frozen=True, eq=False)
class NormBall(Separable):
    """d >= 0, |d - center|_norm <= radius.

    Scores may be negative, those of kernels that are not linear in the weights (``signed``).

    Parameters
    ----------
    norm : finite float >= 1
    radius : float >= 0; with 0 the domain is the one point ``center``
    center : float >= 0 or array (m,) of such

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.domains import NormBall
    >>> ball, q = NormBall(norm=2.0, radius=0.5, center=1.0), np.array([3.0, 4.0])
    >>> ball.maximiser(q)
    array([1.3, 1.4])
    >>> ball.support(q)
    9.5
    """

    norm: Annotated[float, _NORM] = 1.0
    radius: NonNegative = 1.0
    center: NonNegative | NonNegativeVector = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.any(self.center):  # which fits any number of kernels, also some of them
            object.__setattr__(self, "center", 0.0)

    def in_units(self, weight: float, value: float) -> NormBall:
        if weight == 1.0:
            return self
        return NormBall(self.norm, self.radius / weight, np.asarray(self.center, dtype=float) / weight)

    def check(self, m: int) -> None:
        if np.ndim(self.center) == 1 and len(np.asarray(self.center)) != m:
            raise ValueError(f"the centre of the ball has {np.size(self.center)} entries for {m} kernels")

    def start(self, m: int) -> Array:
        return self.offset(m) + self.radius * m ** (-1.0 / self.norm)

    def project(self, z: Array) -> Array:
        return project_ball(z, self.norm, self.radius, self.offset(len(z)))

    def feasible(self, d: Array) -> Array:
        center = self.offset(len(d))
        delta = np.maximum(d, 0.0) - center
        size = norm_of(delta, self.norm)
        return center + delta * (self.radius / size) if size > self.radius else np.maximum(d, 0.0)

    def minimal(self, d: Array, idle: Array) -> Array:
        """The idle weights are those of the center, which leaves the others as much room as there is."""
        return np.where(idle, self.offset(len(d)), d)

    def contains(self, d: Array, tol: float = 1e-9) -> bool:
        center = self.offset(len(d))
        slack = tol * (self.radius + float(center.max()))
        return bool((d >= -slack).all() and norm_of(d - center, self.norm) <= self.radius + slack)

    def support(self, q: Array) -> float:
        if self.single_point:
            return float(self.offset(len(q)) @ q)
        if (q < 0.0).any():
            q = best_in_ball(q, self.norm, self.offset(len(q)) / self.radius)[1]
        return float(self.offset(len(q)) @ q) + self.radius * norm_of(np.abs(q), dual_exponent(self.norm))

    def maximiser(self, q: Array) -> Array:
        if not q.any():
            return self.start(len(q))
        center = self.offset(len(q))
        if (q < 0.0).any() and not self.single_point:
            return np.maximum(center + self.radius * best_in_ball(q, self.norm, center / self.radius)[0], 0.0)
        return center + self.radius * self._direction(np.maximum(q, 0.0))

    def _direction(self, q: Array) -> Array:
        """The maximiser of delta'q over |delta|_p <= 1, for q >= 0; 0 for q = 0."""
        peak = float(q.max())
        if peak == 0.0:
            return np.zeros(len(q))
        if self.norm == 1:
            return np.eye(1, len(q), int(np.argmax(q)))[0]
        delta = (q / peak) ** (1.0 / (self.norm - 1.0))
        return delta / norm_of(delta, self.norm)

    @property
    def single_point(self) -> bool:
        return self.radius == 0.0

    def offset(self, m: int) -> Array:
        self.check(m)
        return np.full(m, self.center, dtype=float)

    def constraint(self, delta: Array) -> Jet:
        p, t = self.norm, delta / self.radius
        if p == 1:
            return t, np.full(len(t), 1.0 / self.radius), np.zeros(len(t))
        with np.errstate(divide="ignore"):  # infinite curvature at 0 for p < 2
            curvature = p * (p - 1.0) * t ** (p - 2.0) / self.radius**2
        return t**p, p * t ** (p - 1.0) / self.radius, curvature

    def block_update(self, norms: Array) -> Array:
        """argmin over the ball around 0 of sum_k c_k^2 / d_k: d_k proportional to c_k^{2/(p+1)}.

        ValueError where the centre is not 0.
        """
        m, peak = len(norms), float(norms.max())
        if self.offset(m).any():
            raise ValueError("the update in closed form holds for a ball around 0 only: choose center=0")
        if peak == 0.0:
            return self.start(m)
        d = (norms / peak) ** (2.0 / (self.norm + 1.0))
        return self.radius * d / norm_of(d, self.norm)
