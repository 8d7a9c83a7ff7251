"""Domains of kernel weights: the sets of allowed weights, with penalties.

The outer problem is

    min_{d in D}  J(d) + r(d),        dJ/dd = -q,  q_k = tr A'K_kA >= 0,

with a closed convex set D of non-negative weights and a convex penalty r. For any weights d of D

    h(q) - (d'q - r(d)) >= 0,        h(q) = max_{d in D} d'q - r(d)

bounds, for convex J, how far d is from the optimum (the duality gap), and is zero exactly where d is stationary.

A domain has to define its nearest point and weights that attain h. All other methods follow from these, and are
overridden where a formula is cheaper or more accurate. Methods that only some algorithms need are separate interfaces:
an update in closed form (``HasBlockUpdate``), a description that is a sum over the kernels (``separable.Separable``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from multikernel._parameters import check_parameters
from multikernel._typing import Array
from multikernel._warnings import warn_user


class Domain(ABC):
    """A closed convex set of weights d >= 0 with a convex penalty r.

    Subclasses are frozen dataclasses: their fields are the parameters, and the annotations of the fields say which
    values are allowed. Weights and scores are arrays of shape (m,).
    """

    constrained: ClassVar[bool] = True  # whether a constraint bounds the weights; otherwise the penalty alone does

    def __post_init__(self) -> None:
        check_parameters(self)

    # -- must define ---------------------------------------------------------------------------------------------

    @abstractmethod
    def project(self, z: Array) -> Array:
        """The point of the domain nearest to z in the Euclidean norm."""

    @abstractmethod
    def maximiser(self, q: Array) -> Array:
        """Weights that attain h(q); of kernels with equal scores the first one, if only one may have a weight."""

    # -- may override --------------------------------------------------------------------------------------------

    def in_units(self, weight: float, value: float) -> Domain | None:
        """The domain of d / weight, with the penalty divided by ``value``.

        None where there is no such domain of this kind: then a problem over it is solved in the given units.
        """
        if weight == 1.0 and type(self).penalty is Domain.penalty:
            return self
        return None

    def check(self, m: int) -> None:  # noqa: B027 - most domains fit any number of kernels
        """ValueError where the domain does not fit m kernels."""

    def start(self, m: int) -> Array:
        """A central point of the domain: no kernel is preferred."""
        return self.project(np.full(m, 1.0 / m))

    def support(self, q: Array) -> float:
        """h(q) = max_{d in D} d'q - r(d)."""
        d = self.maximiser(q)
        return float(d @ q) - self.penalty(d)

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if "at_rest" in vars(cls) and "minimal" not in vars(cls):
            warn_user(f"{cls.__name__}: Domain.at_rest is now called minimal", FutureWarning)
            cls.minimal = vars(cls)["at_rest"]  # type: ignore[method-assign]

    def minimal(self, d: Array, idle: Array) -> Array:
        """Weights whose ``idle`` entries, a mask (m,), are as small as the domain allows with the others unchanged.

        d itself where the idle entries cannot be changed alone.
        """
        return d

    def finite_part(self, q: Array) -> float:
        """The largest factor <= 1 of the scores q for which the support is finite."""
        return 1.0

    def feasible(self, d: Array) -> Array:
        """A cheap correction of nearly feasible weights; feasible ones are unchanged, up to rounding."""
        return self.project(d)

    def contains(self, d: Array, tol: float = 1e-9) -> bool:
        """Whether d is feasible up to ``tol``, relative to the largest weight of the nearest point."""
        if not np.isfinite(d).all():
            return False
        nearest = self.project(d)
        return bool(np.abs(d - nearest).max() <= tol * nearest.max())

    def penalty(self, d: Array) -> float:
        """r(d)."""
        return 0.0

    def penalty_gradient(self, d: Array) -> Array:
        """r'(d)."""
        return np.zeros(len(d))


@runtime_checkable
class HasBlockUpdate(Protocol):
    """A domain over which sum_k c_k^2 / d_k has a minimum in closed form."""

    def block_update(self, norms: Array) -> Array:
        """argmin over the domain of sum_k c_k^2 / d_k, c the norms of the kernels' parts of the predictor.

        ValueError where there is no closed form for the domain's parameters.
        """
