"""Facts that a kernel states about itself, by which a bank is chosen without looking at classes.

A kernel may state several facts; ``banks.bind`` uses the one that leads to the cheapest bank for the whole family.
One more fact, of kernels of a distance, is defined in kernels/distance.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from multikernel._typing import Columns
from multikernel.kernels.base import Fact, Kernel


@dataclass(frozen=True)
class PowerOf(Fact):
    """K(X, Z) is the elementwise power ``base(X, Z) ** degree``."""

    base: Kernel
    degree: int


@dataclass(frozen=True)
class ExplicitFeatures(Fact):
    """K(X, Z) = X_c Z_c' with the columns c (None: all of them): of rank at most the number of columns."""

    columns: Columns | None = None


@dataclass(frozen=True)
class Wrapped(Fact):
    """The kernel is a scaled, normalised or centred form of ``kernel``.

    ``by`` is the factor of a scaled kernel, or the word "normalized" or "centered".
    """

    kernel: Kernel
    by: float | str


@dataclass(frozen=True)
class Encodes(Fact):
    """K(X, Z) = kernel(e(X_c), e(Z_c)), e an encoding of the columns c (None: all of them)."""

    kernel: Kernel
    encoding: Any
    columns: Columns | None = None


@dataclass(frozen=True)
class Elementary(Fact):
    """K(X, Z) is the ANOVA kernel of a degree with ``kernel`` (None: the product) on single features.

    All degrees follow from one recursion over the features. ``normalized`` says whether self-values are scaled to 1.
    """

    kernel: Kernel | None
    degree: int
    normalized: bool


@dataclass(frozen=True)
class OnDemand(Fact):
    """K(X, Z) is ``kernel(X, Z)``, so fast to evaluate that a large matrix need not be stored even for many passes."""

    kernel: Kernel


@dataclass(frozen=True)
class Costly(Fact):
    """A value takes so long to evaluate that a stack in single precision is better than none."""
