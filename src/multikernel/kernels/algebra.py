"""Sums, products, powers and multiples of kernels are kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.kernels.base import Kernel
from multikernel.kernels.facts import Fact, PowerOf, Wrapped


def parts(kernel: Kernel, kind: type[Sum] | type[Product]) -> tuple[Kernel, ...]:
    """The terms of a sum, the factors of a product, or the kernel itself: sums of sums are flat."""
    return kernel.kernels if isinstance(kernel, kind) else (kernel,)


def refuse_centred(kernels: Iterable[Kernel], what: str) -> None:
    """A fold of a training sample has a centre of its own, which only a kernel centred as a whole can follow."""
    for kernel in kernels:
        if kernel.follows_sample:
            raise ValueError(f"{kernel!r} cannot be part of a {what}: centre the {what} instead, (...).centered()")


def _within(kernel: Kernel) -> str:
    """Written inside a product or a power."""
    return f"({kernel!r})" if isinstance(kernel, Sum | Product | Power | Scaled) else repr(kernel)


@dataclass(repr=False)
class Sum(Kernel):
    """k(x, z) = k_1(x, z) + ... + k_q(x, z)."""

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        refuse_centred(self.kernels, "sum")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return reduce(np.add, (k(X, Z) for k in self.kernels))

    def diagonal(self, X: Any) -> Array:
        return reduce(np.add, (k.diagonal(X) for k in self.kernels))

    def map_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        return Sum(tuple(change(k) for k in self.kernels))

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.kernels))


@dataclass(repr=False)
class Product(Kernel):
    """k(x, z) = k_1(x, z) ... k_q(x, z)."""

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        refuse_centred(self.kernels, "product")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return reduce(np.multiply, (k(X, Z) for k in self.kernels))

    def diagonal(self, X: Any) -> Array:
        return reduce(np.multiply, (k.diagonal(X) for k in self.kernels))

    def map_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        return Product(tuple(change(k) for k in self.kernels))

    def __repr__(self) -> str:
        return " * ".join(map(_within, self.kernels))


@dataclass(repr=False)
class Power(Kernel):
    """k(x, z) = kernel(x, z) ** degree, with degree a whole number >= 0 (other powers are not kernels in general)."""

    kernel: Kernel
    degree: int

    def __post_init__(self) -> None:
        if self.degree < 0 or self.degree != int(self.degree):
            raise ValueError(f"the power of a kernel must be a whole number >= 0, got {self.degree}")
        refuse_centred((self.kernel,), "power")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        K: Array = self.kernel(X, Z) ** int(self.degree)
        return K

    def diagonal(self, X: Any) -> Array:
        d: Array = self.kernel.diagonal(X) ** int(self.degree)
        return d

    def facts(self) -> tuple[Fact, ...]:
        inner = next((f for f in self.kernel.facts() if isinstance(f, PowerOf)), PowerOf(self.kernel, 1))
        return (PowerOf(inner.base, inner.degree * self.degree),)

    def map_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        return Power(change(self.kernel), self.degree)

    def __repr__(self) -> str:
        return f"{_within(self.kernel)} ** {self.degree}"


@dataclass(repr=False)
class Scaled(Kernel):
    """k(x, z) = factor * kernel(x, z), factor >= 0."""

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not (self.factor >= 0 and np.isfinite(self.factor)):
            raise ValueError(f"a kernel can be multiplied by a finite number >= 0 only, got {self.factor}")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        K = self.kernel(X, Z)
        K *= K.dtype.type(self.factor)
        return K

    def diagonal(self, X: Any) -> Array:
        d: Array = self.factor * self.kernel.diagonal(X)
        return d

    def self_values(self, X: Any, Z: Any) -> Array:
        d: Array = self.factor * self.kernel.self_values(X, Z)
        return d

    def facts(self) -> tuple[Fact, ...]:
        return (Wrapped(self.kernel, float(self.factor)),)

    @property
    def follows_sample(self) -> bool:
        return self.kernel.follows_sample

    def map_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        return Scaled(change(self.kernel), self.factor)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_within(self.kernel)}"
