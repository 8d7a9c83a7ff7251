"""What a kernel states about itself, so that a bank can be chosen without asking for its class.

A kernel may state several facts; ``banks.bind`` uses the one that leads to the cheapest bank for the whole family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multikernel._typing import Columns
    from multikernel.kernels.base import Kernel
    from multikernel.kernels.distance import DistanceKernel


@dataclass(frozen=True)
class PowerOf:
    """K(X, Z) is the elementwise power ``base(X, Z) ** degree``."""

    base: Kernel
    degree: int


@dataclass(frozen=True)
class OfDistance:
    """K(X, Z) = kernel.profile(D), D the kernel's distances on the columns (None: all of them)."""

    kernel: DistanceKernel
    columns: Columns | None = None


@dataclass(frozen=True)
class ExplicitFeatures:
    """K(X, Z) = X_c Z_c' with the columns c (None: all of them): of rank at most the number of columns."""

    columns: Columns | None = None


@dataclass(frozen=True)
class Wrapped:
    """The kernel is a scaled, normalised or centred form of ``kernel``.

    ``by`` is the factor of a scaled kernel, or the word "normalized" or "centered".
    """

    kernel: Kernel
    by: float | str


@dataclass(frozen=True)
class Elementary:
    """K(X, Z) is the ANOVA kernel of a degree with ``kernel`` (None: the product) on single features.

    All degrees follow from one recursion over the features. ``normalized`` is whether self-values are made 1.
    """

    kernel: Kernel | None
    degree: int
    normalized: bool


@dataclass(frozen=True)
class Costly:
    """A value takes so long to evaluate that a stack in single precision is better than none."""


Fact = PowerOf | OfDistance | ExplicitFeatures | Wrapped | Elementary | Costly
