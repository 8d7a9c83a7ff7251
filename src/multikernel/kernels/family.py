"""A family: the specification of m kernels, free of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from multikernel.kernels.base import Features, Kernel, Specification


class KernelFamily(Specification, ABC):
    """m kernels. ``family + family`` puts them one after the other.

    A family whose size follows the data (one kernel per feature) has no ``len`` until it is resolved.
    """

    @abstractmethod
    def resolve(self, features: Features) -> Kernels:
        """The kernels one by one, for data with these features."""

    @property
    def names(self) -> tuple[str, ...]:
        """The kernels' names; TypeError where they depend on the data."""
        return self._explicit().names

    def __len__(self) -> int:
        return len(self._explicit().kernels)

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self._explicit().kernels)

    def __add__(self, other: object) -> KernelFamily:
        return Concatenation((self, other)) if isinstance(other, KernelFamily) else NotImplemented

    def _explicit(self) -> Kernels:
        raise TypeError(
            f"how many kernels {self!r} holds depends on the number of features: "
            "use resolve(Features.of(X)) or bind(family, X) first"
        )


@dataclass(repr=False)
class Kernels(KernelFamily):
    """Kernels listed one by one, with names that stay when columns become positions."""

    kernels: tuple[Kernel, ...]
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.kernels:
            raise ValueError("a family needs at least one kernel, got none")
        for i, k in enumerate(self.kernels):
            if not isinstance(k, Kernel):
                raise TypeError(f"kernels[{i}] is a {type(k).__name__}; a family is made of kernels such as RBF(0.1)")

    @property
    def names(self) -> tuple[str, ...]:
        return self.labels if self.labels is not None else tuple(map(repr, self.kernels))

    def resolve(self, features: Features) -> Kernels:
        return Kernels(tuple(k.resolve(features) for k in self.kernels), self.names)

    def _explicit(self) -> Kernels:
        return self

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:3]) + (f", ... {len(self.kernels)} kernels" if len(self.kernels) > 3 else "")
        return f"Kernels({shown})"


@dataclass
class PerFeature(KernelFamily):
    """Every kernel on every single feature: feature by feature, in the order of the columns."""

    kernels: tuple[Kernel, ...]

    def resolve(self, features: Features) -> Kernels:
        each = [k.on(j) for j in range(features.n) for k in self.kernels]
        labels = features.names or range(features.n)
        names = tuple(repr(k.on(label)) for label in labels for k in self.kernels)
        return Kernels(tuple(k.resolve(features) for k in each), names)


@dataclass
class Concatenation(KernelFamily):
    """Families one after the other."""

    families: tuple[KernelFamily, ...]

    def resolve(self, features: Features) -> Kernels:
        return _joined(f.resolve(features) for f in self.families)

    def _explicit(self) -> Kernels:
        return _joined(f._explicit() for f in self.families)


def _joined(parts: Iterable[Kernels]) -> Kernels:
    explicit = list(parts)
    return Kernels(
        tuple(k for part in explicit for k in part.kernels), tuple(n for part in explicit for n in part.names)
    )


def as_family(kernels: Any) -> KernelFamily:
    """A kernel, a list of kernels or a family, as a family; TypeError says what was given instead."""
    if isinstance(kernels, KernelFamily):
        return kernels
    if isinstance(kernels, Kernel):
        return Kernels((kernels,))
    if isinstance(kernels, list | tuple):
        return Kernels(tuple(kernels))
    raise TypeError(
        f"kernels must be a kernel, a list of kernels, a KernelFamily or 'precomputed', got {type(kernels).__name__}"
        + (f" {kernels!r}" if isinstance(kernels, str) else "")
    )
