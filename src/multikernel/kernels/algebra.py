"""Sums, products, powers and multiples of kernels are kernels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, mul
from typing import Any, ClassVar

from multikernel._parameters import Degree, NonNegative, check_each
from multikernel._typing import Array
from multikernel.kernels.base import KERNEL, Fact, Inner, Kernel
from multikernel.kernels.facts import PowerOf, Wrapped


def refuse_centred(kernels: Iterable[Kernel], noun: str) -> None:
    """ValueError where one of the kernels is centred.

    Each fold of a training sample has a different centre, and only a kernel that is centred as a whole adapts to it.
    """
    for kernel in kernels:
        if kernel.follows_sample:
            raise ValueError(f"{kernel!r} cannot be part of a {noun}: centre the {noun} instead, (...).centered()")


def within(kernel: Kernel) -> str:
    """How a kernel is written inside another one: in parentheses where it has an operator."""
    if isinstance(kernel, Combined | Power | Scaled):
        return f"({kernel!r})"
    return repr(kernel)


@dataclass(repr=False)
class Combined(Kernel):
    """Several kernels combined into one, entry by entry.

    Parameters
    ----------
    kernels : tuple of Kernel

    Attributes
    ----------
    word : the noun for such a kernel, for messages
    operation : the function that combines the entries of two kernels

    Raises
    ------
    ValueError : where one of them is not a kernel, or is centred
    """

    kernels: tuple[Kernel, ...]
    word: ClassVar[str]
    operation: ClassVar[Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_each(KERNEL, self.kernels, f"the kernels of a {self.word}")
        refuse_centred(self.kernels, self.word)

    @classmethod
    def of(cls, *kernels: Kernel) -> Kernel:
        """The combination of these kernels; a sum of sums becomes one sum, a product of products one product."""
        return cls(tuple(member for k in kernels for member in (k.kernels if isinstance(k, cls) else (k,))))

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return reduce(self.operation, (k(X, Z) for k in self.kernels))

    def diagonal(self, X: Any) -> Array:
        return reduce(self.operation, (k.diagonal(X) for k in self.kernels))

    def map_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        changed = tuple(change(k) for k in self.kernels)
        if all(changed_kernel is kernel for changed_kernel, kernel in zip(changed, self.kernels, strict=True)):
            return self
        return type(self)(changed)

    @abstractmethod
    def __repr__(self) -> str: ...


@dataclass(repr=False)
class Sum(Combined):
    """k(x, z) = k_1(x, z) + ... + k_q(x, z)."""

    word = "sum"
    operation = add

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.kernels))


@dataclass(repr=False)
class Product(Combined):
    """k(x, z) = k_1(x, z) ... k_q(x, z)."""

    word = "product"
    operation = mul

    def __repr__(self) -> str:
        return " * ".join(map(within, self.kernels))


@dataclass(repr=False)
class View(Kernel):
    """A kernel that is derived from one other kernel."""

    kernel: Inner

    @property
    def follows_sample(self) -> bool:
        return self.kernel.follows_sample

    @property
    def learns(self) -> bool:
        return self.kernel.learns

    def map_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        kernel = change(self.kernel)
        if kernel is self.kernel:
            return self
        return replace(self, kernel=kernel)


@dataclass(repr=False)
class Power(View):
    """k(x, z) = kernel(x, z) ** degree.

    Parameters
    ----------
    kernel : Kernel
    degree : int >= 0; other powers of a kernel are not kernels in general

    Raises
    ------
    ValueError : where the degree is not a whole number >= 0, or the kernel is centred
    """

    degree: Degree

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_centred((self.kernel,), "power")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return self.kernel(X, Z) ** int(self.degree)

    def diagonal(self, X: Any) -> Array:
        return self.kernel.diagonal(X) ** int(self.degree)

    def facts(self) -> tuple[Fact, ...]:
        inner = next((f for f in self.kernel.facts() if isinstance(f, PowerOf)), PowerOf(self.kernel, 1))
        return (PowerOf(inner.base, inner.degree * self.degree),)

    def __repr__(self) -> str:
        return f"{within(self.kernel)} ** {self.degree}"


@dataclass(repr=False)
class Scaled(View):
    """k(x, z) = factor * kernel(x, z).

    Parameters
    ----------
    kernel : Kernel
    factor : float >= 0

    Raises
    ------
    ValueError : where the factor is not a finite number >= 0
    """

    factor: NonNegative

    def __call__(self, X: Any, Z: Any = None) -> Array:
        K = self.kernel(X, Z)
        K *= float(self.factor)
        return K

    def diagonal(self, X: Any) -> Array:
        return self.factor * self.kernel.diagonal(X)

    def self_values(self, X: Any, Z: Any) -> Array:
        return self.factor * self.kernel.self_values(X, Z)

    def facts(self) -> tuple[Fact, ...]:
        return (Wrapped(self.kernel, float(self.factor)),)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {within(self.kernel)}"
