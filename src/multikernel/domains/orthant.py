"""Weights that only a penalty bounds: d >= 0 with strength sum_k d_k^norm, norm 1 or 2.

h(q) = sum_k q_k^2 / (4 strength)                       for norm 2 and q >= 0
h(q) = 0 where max_k q_k <= strength, else infinite     for norm 1
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from multikernel._floats import EPS, positive_product
from multikernel._parameters import Positive
from multikernel._typing import Array
from multikernel.domains.separable import Jet, Separable


@dataclass(frozen=True)
class Orthant(Separable):
    """d >= 0 with the penalty strength sum_k d_k^norm.

    With norm 1 the support is infinite as soon as one score exceeds the strength: a gap is known only at points where
    no score does. The maximiser is d = 0 at such points, and elsewhere there is none.

    Parameters
    ----------
    strength : float > 0
    norm : 1 or 2

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.domains import Orthant
    >>> Orthant(strength=0.5).maximiser(np.array([3.0, 1.0]))
    array([3., 1.])
    """

    strength: Positive = 1.0
    norm: Literal[1, 2] = 2

    constrained: ClassVar[bool] = False

    def in_units(self, weight: float, value: float) -> Orthant:
        weights = [weight] * int(self.norm)
        return replace(self, strength=positive_product(self.strength, *weights, 1.0 / value))

    def project(self, z: Array) -> Array:
        return np.maximum(z, 0.0)

    def minimal(self, d: Array, idle: Array) -> Array:
        return np.where(idle, 0.0, d)

    def penalty(self, d: Array) -> float:
        return self.strength * float((d**self.norm).sum())

    def penalty_gradient(self, d: Array) -> Array:
        return self.strength * (2.0 * d if self.norm == 2 else np.ones(len(d)))

    def support(self, q: Array) -> float:
        if self.norm == 1:
            if q.max() <= self.strength:
                return 0.0
            return np.inf
        half = np.maximum(q, 0.0) / (2.0 * self.strength)
        return self.strength * float(half @ half)

    def finite_part(self, q: Array) -> float:
        if self.norm == 2 or q.max() <= self.strength:
            return 1.0
        return (1.0 - 4.0 * EPS) * self.strength / float(q.max())  # no score exceeds the strength by rounding

    def maximiser(self, q: Array) -> Array:
        if self.norm == 1:
            if q.max() > self.strength:
                raise ValueError("no weights attain the support of a 1-norm penalty: a score exceeds its strength")
            return np.zeros(len(q))
        return np.maximum(q, 0.0) / (2.0 * self.strength)

    def constraint(self, delta: Array) -> Jet:
        return np.zeros(len(delta)), np.zeros(len(delta)), np.zeros(len(delta))

    def separable_penalty(self, delta: Array) -> Jet:
        curvature = 2.0 * self.strength * (self.norm == 2)
        return self.strength * delta**self.norm, self.penalty_gradient(delta), np.full(len(delta), curvature)
