"""Kernels of the inner product x'z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from multikernel._typing import Array
from multikernel.kernels.base import Fact, Kernel
from multikernel.kernels.facts import ExplicitFeatures, PowerOf
from multikernel.kernels.samples import as_floats


def check_degree(degree: int, name: str) -> None:
    """Refuse what is no whole number >= 0, in the name of a kernel."""
    if degree != int(degree) or degree < 0:
        raise ValueError(f"{name}: degree must be a whole number >= 0, got {degree}")


@dataclass
class Linear(Kernel):
    """k(x, z) = x'z."""

    def __call__(self, X: Any, Z: Any = None) -> Array:
        X = as_floats(X)
        K: Array = safe_sparse_dot(X, (X if Z is None else as_floats(Z)).T, dense_output=True)
        return K

    def diagonal(self, X: Any) -> Array:
        d: Array = row_norms(as_floats(X), squared=True)
        return d

    def facts(self) -> tuple[Fact, ...]:
        return (ExplicitFeatures(), PowerOf(self, 1))


@dataclass(repr=False)
class HomogeneousPolynomial(Kernel):
    """k(x, z) = (x'z)^degree.

    Parameters
    ----------
    degree : int >= 0. Degree 0 is the constant kernel 1.
    """

    degree: int = 2

    def __post_init__(self) -> None:
        check_degree(self.degree, "HomogeneousPolynomial")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        K: Array = Linear()(X, Z) ** int(self.degree)
        return K

    def diagonal(self, X: Any) -> Array:
        d: Array = Linear().diagonal(X) ** int(self.degree)
        return d

    def facts(self) -> tuple[Fact, ...]:
        return (PowerOf(Linear(), int(self.degree)),)


@dataclass(repr=False)
class Polynomial(Kernel):
    """k(x, z) = (gamma x'z + coef0)^degree.

    Parameters
    ----------
    degree : int >= 0
    coef0 : float >= 0 (a negative constant does not give a kernel)
    gamma : float > 0
    """

    degree: int = 3
    coef0: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_degree(self.degree, "Polynomial")
        if not (self.coef0 >= 0 and np.isfinite(self.coef0)):
            raise ValueError(f"Polynomial: coef0 must be a finite number >= 0, got {self.coef0}")
        if not (self.gamma > 0 and np.isfinite(self.gamma)):
            raise ValueError(f"Polynomial: gamma must be a finite number > 0, got {self.gamma}")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return self._of_dot(Linear()(X, Z))

    def diagonal(self, X: Any) -> Array:
        return self._of_dot(Linear().diagonal(X))

    def _of_dot(self, dot: Array) -> Array:
        value: Array = dot * dot.dtype.type(self.gamma)
        value += dot.dtype.type(self.coef0)
        if self.degree != 1:
            value **= int(self.degree)
        return value

    def facts(self) -> tuple[Fact, ...]:
        return (PowerOf(Polynomial(1, self.coef0, self.gamma), int(self.degree)),)
