"""Weights that share a fixed total: d >= 0, sum d = total.

h(q) = total max_k q_k
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._floats import TINY, positive_product
from multikernel._parameters import Positive
from multikernel._typing import Array
from multikernel.domains.separable import Jet, Separable


@dataclass(frozen=True)
class Simplex(Separable):
    """d >= 0, sum d = total.

    Parameters
    ----------
    total : float > 0

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.domains import Simplex
    >>> Simplex().project(np.array([0.5, 0.9, -1.0]))
    array([0.3, 0.7, 0. ])
    >>> Simplex().support(np.array([1.0, 4.0, 2.0]))
    4.0
    """

    total: Positive = 1.0

    def in_units(self, weight: float, value: float) -> Simplex:
        if weight == 1.0:
            return self
        return Simplex(positive_product(self.total, 1.0 / weight))

    def project(self, z: Array) -> Array:
        return project_simplex(z, self.total)

    def feasible(self, d: Array) -> Array:
        return share(d, self.total)

    def maximiser(self, q: Array) -> Array:
        d = np.zeros(len(q))
        d[np.argmax(q)] = self.total
        return d

    def constraint(self, delta: Array) -> Jet:
        return delta / self.total, np.full(len(delta), 1.0 / self.total), np.zeros(len(delta))

    def block_update(self, norms: Array) -> Array:
        """argmin of sum_k c_k^2 / d_k: d proportional to c."""
        return share(norms / max(float(norms.max()), TINY), self.total)


def project_simplex(z: Array, total: float) -> Array:
    """max(z - t, 0) with the t for which the sum is the total: the largest prefix of the sorted z that stays > 0."""
    z = z - z.max()  # a shift changes only t, and avoids that rounding of large entries exceeds the total
    falling = np.sort(z)[::-1]
    thresholds = (np.cumsum(falling) - total) / np.arange(1, len(z) + 1)
    last = np.flatnonzero(falling > thresholds)[-1]
    return np.maximum(z - thresholds[last], 0.0)


def share(d: Array, total: float) -> Array:
    """The positive part of d, scaled to the total; equal shares where there is none."""
    exponent = np.frexp(np.max(d))[1]
    d = np.ldexp(np.maximum(d, 0.0), -exponent)  # so that neither the sum nor its inverse overflows
    size = float(d.sum())
    if size > 0:
        return d * (total / size)
    return np.full(len(d), total / len(d))
