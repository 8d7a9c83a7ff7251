"""Weights with sum 1 and a penalty for unequal weights: strength sum_k d_k log d_k, with 0 log 0 = 0.

    h(q) = strength log sum_k exp(q_k / strength),        attained by the softmax of q / strength

Xu, Jin, Zhu, Lyu and King (2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._floats import TINY, positive_product
from multikernel._parameters import Positive
from multikernel._typing import Array
from multikernel.domains.separable import Jet, Separable
from multikernel.domains.simplex import project_simplex, share


@dataclass(frozen=True)
class EntropySimplex(Separable):
    """d >= 0, sum d = 1, with the penalty strength sum_k d_k log d_k.

    Parameters
    ----------
    strength : float > 0; towards 0 the penalty vanishes, towards infinity the weights become equal

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.domains import EntropySimplex
    >>> EntropySimplex(strength=2.0).maximiser(2.0 * np.log([1.0, 2.0, 5.0]))
    array([0.125, 0.25 , 0.625])
    """

    strength: Positive = 1.0

    def in_units(self, weight: float, value: float) -> EntropySimplex | None:
        if weight == 1.0:
            return EntropySimplex(positive_product(self.strength, 1.0 / value))
        return None

    def project(self, z: Array) -> Array:
        return project_simplex(z, 1.0)

    def feasible(self, d: Array) -> Array:
        return share(d, 1.0)

    def penalty(self, d: Array) -> float:
        return self.strength * float(d @ _log(d))

    def penalty_gradient(self, d: Array) -> Array:
        return self.strength * (_log(d) + 1.0)

    def support(self, q: Array) -> float:
        peak = float(q.max())
        return peak + self.strength * float(np.log(self._relative(q).sum()))

    def maximiser(self, q: Array) -> Array:
        shares = self._relative(q)
        return shares / shares.sum()

    def _relative(self, q: Array) -> Array:
        """exp((q - max q) / strength)."""
        with np.errstate(over="ignore"):  # -inf is the right quotient: its exponential is 0
            powers: Array = np.exp((q - q.max()) / self.strength)
        return powers

    def constraint(self, delta: Array) -> Jet:
        return delta, np.ones(len(delta)), np.zeros(len(delta))

    def separable_penalty(self, delta: Array) -> Jet:
        log = _log(delta)
        floor = np.maximum(delta, max(self.strength, 1.0) * TINY)
        return self.strength * delta * log, self.strength * (log + 1.0), self.strength / floor


def _log(d: Array) -> Array:
    """log d, or at 0 that of the smallest normal number, so that 0 log 0 = 0 and the slope at 0 is finite."""
    return np.log(np.maximum(d, TINY))
