"""Kernels of the inner product x'z."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from multikernel._parameters import Degree, NonNegative
from multikernel._typing import Array
from multikernel.kernels.base import Fact, Kernel
from multikernel.kernels.facts import ExplicitFeatures, PowerOf
from multikernel.kernels.samples import as_floats, products, squared_lengths
from multikernel.kernels.widths import GammaOfProduct, Width


@dataclass
class Linear(Kernel):
    """k(x, z) = x'z."""

    def __call__(self, X: Any, Z: Any = None) -> Array:
        X = as_floats(X)
        return products(X, X if Z is None else as_floats(Z))

    def diagonal(self, X: Any) -> Array:
        return squared_lengths(as_floats(X))

    def facts(self) -> tuple[Fact, ...]:
        return (ExplicitFeatures(), PowerOf(self, 1))


@dataclass(repr=False)
class HomogeneousPolynomial(Kernel):
    """k(x, z) = (x'z)^degree.

    Parameters
    ----------
    degree : int >= 0; degree 0 is the constant kernel 1

    Raises
    ------
    ValueError : where the degree is not a whole number >= 0
    """

    degree: Degree = 2

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return Linear()(X, Z) ** int(self.degree)

    def diagonal(self, X: Any) -> Array:
        return Linear().diagonal(X) ** int(self.degree)

    def facts(self) -> tuple[Fact, ...]:
        return (PowerOf(Linear(), int(self.degree)),)


@dataclass(repr=False)
class Polynomial(Kernel):
    """k(x, z) = (gamma x'z + coef0)^degree.

    Parameters
    ----------
    degree : int >= 0
    coef0 : float >= 0 (a negative constant does not give a kernel)
    gamma : float > 0; or "scale", 1 / (p v) with v the variance of the entries of the training sample's p features

    Raises
    ------
    ValueError : where a parameter is not such a number
    """

    degree: Degree = 3
    coef0: NonNegative = 1.0
    gamma: GammaOfProduct = 1.0

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return self.learned(X if Z is None else Z)._of_dot(Linear()(X, Z))

    def diagonal(self, X: Any) -> Array:
        return self.learned(X)._of_dot(Linear().diagonal(X))

    @property
    def learns(self) -> bool:
        return Width.of(self.gamma) is not None

    def learned(self, X: Any) -> Polynomial:
        width = Width.of(self.gamma)
        if width is None:
            return self
        return replace(self, gamma=width.gamma(X))

    def _of_dot(self, dot: Array) -> Array:
        value: Array = dot * float(self.gamma)
        value += float(self.coef0)
        if self.degree != 1:
            value **= int(self.degree)
        return value

    def facts(self) -> tuple[Fact, ...]:
        return (PowerOf(Polynomial(1, self.coef0, self.gamma), int(self.degree)),)
