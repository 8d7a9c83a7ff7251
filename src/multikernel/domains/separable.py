"""Domains that are described by sums over the kernels, as the interior point method requires.

With weights d = offset + delta such a domain is

    { delta >= 0, sum_k c(delta_k) <= 1 },        r = sum_k R(delta_k),

which has the same optimum as the domain: J decreases in every weight, so that no optimal weight is below the offset,
and the constraint is active.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from multikernel._typing import Array
from multikernel.domains.base import Domain

Jet = tuple[Array, Array, Array]  # a function of one variable with its first two derivatives, elementwise


class Separable(Domain):
    """A domain with its constraint and its penalty as sums over the kernels."""

    @abstractmethod
    def constraint(self, delta: Array) -> Jet:
        """c, c' and c'' at each delta_k, where sum_k c(delta_k) = 1 is active at the optimum; 0 if not constrained.

        Finite for delta > 0. At 0 the second derivative may be infinite.
        """

    def separable_penalty(self, delta: Array) -> Jet:
        """R, R' and R'' at each delta_k; finite for delta > 0."""
        return np.zeros_like(delta), np.zeros_like(delta), np.zeros_like(delta)

    def offset(self, m: int) -> Array:
        """The smallest weights that an optimum can have, shape (m,)."""
        return np.zeros(m)

    @property
    def single_point(self) -> bool:
        """Whether the domain is one point: then it has no interior, and the description does not apply."""
        return False

    def lets_vanish(self, m: int) -> bool:
        """Whether optimal weights may be exactly 0: constraint and penalty must have a finite positive slope there."""
        zero = np.zeros(1)
        _, c1, c2 = self.constraint(zero)
        _, r1, r2 = self.separable_penalty(zero)
        curved = not (c2[0] + r2[0] < 1e100)  # beyond it a curvature is infinite
        return bool(c1[0] + r1[0] > 0 and not curved and not self.offset(m).any())


def as_separable(domain: Domain) -> Separable | None:
    """The domain with its description as a sum over the kernels; None where it has none."""
    if isinstance(domain, Separable) and not domain.single_point:
        return domain
    return None
