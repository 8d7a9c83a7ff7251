"""Where kernel weights live.

The outer problem is

    min_{d in D}  J(d) + r(d),        dJ/dd = -q,  q_k = tr A'K_kA >= 0,

with a closed convex set D of non-negative weights and a convex penalty r. For any weights d of D

    h(q) - (d'q - r(d)) >= 0,        h(q) = max_{d in D} d'q - r(d)

bounds, for convex J, how far d is from the optimum (the duality gap), and is zero exactly where d is stationary.

A domain has to say where its nearest point is and which weights attain h; all else follows, and is overridden where a
formula is cheaper or more accurate. What only some algorithms need is a capability that they ask for: an update in
closed form (``HasBlockUpdate``), a description that is a sum over the kernels (``separable.Separable``).
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
        """Weights that attain h(q); the first kernel wins a tie where one has to."""

    # -- may override --------------------------------------------------------------------------------------------

    def in_units(self, weight: float, value: float) -> Domain | None:
        """The domain of d / weight, with the penalty divided by ``value``.

        None where there is none of this kind: then a problem over it is solved in the units in which it is given.
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
        """Weights with the idle ones, boolean of shape (m,), as small as the domain lets them be beside the others.

        d itself where that would change the others.
        """
        return d

    def finite_part(self, q: Array) -> float:
        """The largest part <= 1 of the scores q whose support is finite."""
        return 1.0

    def feasible(self, d: Array) -> Array:
        """Cheap repair of nearly feasible weights; those that are feasible stay what they are, up to rounding."""
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

        ValueError where the domain's parameters leave no closed form.
        """


__all__ = ["Domain", "HasBlockUpdate"]
