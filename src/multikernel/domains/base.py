"""Where kernel weights live.

The outer problem is

    min_{d in D}  J(d) + r(d),        dJ/dd = -q,  q_k = tr A'K_kA >= 0,

with a closed convex set D of non-negative weights and a convex penalty r. For any weights d of D

    h(q) - (d'q - r(d)) >= 0,        h(q) = max_{d in D} d'q - r(d)

bounds, for convex J, how far d is from the optimum (the duality gap), and is zero exactly where d is stationary.

Every domain is separable: with weights d = offset + delta it is

    { delta >= 0, sum_k c(delta_k) <= 1 },        r = sum_k R(delta_k),

as far as the optimum is concerned. For J decreases in every weight: a weight below the offset can only gain by rising
to it, and the constraint is active.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from multikernel._typing import Array

Jet = tuple[Array, Array, Array]  # a function of one variable with its first two derivatives, elementwise


class Domain(ABC):
    """A closed convex set of weights d >= 0 with a convex penalty r; a frozen dataclass of its parameters.

    Weights and scores are arrays of shape (m,).
    """

    constrained: ClassVar[bool] = True  # whether a constraint bounds the weights; otherwise the penalty alone does

    # -- must define ---------------------------------------------------------------------------------------------

    @abstractmethod
    def start(self, m: int) -> Array:
        """A central point of the domain: no kernel is preferred."""

    @abstractmethod
    def project(self, z: Array) -> Array:
        """The point of the domain nearest to z in the Euclidean norm."""

    @abstractmethod
    def feasible(self, d: Array) -> Array:
        """Cheap repair of nearly feasible weights: negative ones are put to 0, the rest is scaled back if need be.

        Weights that are feasible stay what they are, up to rounding.
        """

    @abstractmethod
    def contains(self, d: Array, tol: float = 1e-9) -> bool:
        """Whether d is feasible up to ``tol``, relative to the size of the domain."""

    @abstractmethod
    def support(self, q: Array) -> float:
        """h(q) = max_{d in D} d'q - r(d)."""

    @abstractmethod
    def maximiser(self, q: Array) -> Array:
        """Weights that attain h(q); the first kernel wins a tie where one has to."""

    @abstractmethod
    def constraint(self, delta: Array) -> Jet:
        """c, c' and c'' at each delta_k, where sum_k c(delta_k) = 1 is active at the optimum; 0 if not constrained.

        Finite for delta > 0. At 0 the second derivative may be infinite.
        """

    # -- may override --------------------------------------------------------------------------------------------

    def check(self, m: int) -> None:  # noqa: B027 - most domains fit any number of kernels
        """ValueError where the domain does not fit m kernels."""

    def offset(self, m: int) -> Array:
        """The smallest weights that an optimum can have, shape (m,): d = offset + delta."""
        return np.zeros(m)

    def penalty(self, d: Array) -> float:
        """r(d)."""
        return 0.0

    def penalty_gradient(self, d: Array) -> Array:
        """r'(d)."""
        return np.zeros(len(d))

    def reach(self, q: Array) -> float:
        """The largest factor <= 1 at which the support of factor q is finite."""
        return 1.0

    def separable_penalty(self, delta: Array) -> Jet:
        """R, R' and R'' at each delta_k, with r = sum_k R(delta_k); finite for delta > 0."""
        return np.zeros_like(delta), np.zeros_like(delta), np.zeros_like(delta)


@runtime_checkable
class HasBlockUpdate(Protocol):
    """A domain over which sum_k c_k^2 / d_k has a minimum in closed form."""

    def block_update(self, norms: Array) -> Array:
        """argmin over the domain of sum_k c_k^2 / d_k, c the norms of the kernels' parts of the predictor."""


__all__ = ["Domain", "HasBlockUpdate", "Jet"]
