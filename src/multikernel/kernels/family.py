"""A family: the specification of m kernels, free of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, overload

from multikernel._parameters import shown
from multikernel.kernels.base import Kernel
from multikernel.kernels.features import Features
from multikernel.kernels.specification import Specification


class KernelFamily(Specification, ABC):
    """m kernels. ``family + family`` puts them one after the other.

    The size of some families follows the data (one kernel per feature): ``len(family)``, its names and a loop over it
    raise a TypeError until ``resolve`` has seen the features.
    """

    @abstractmethod
    def resolve(self, features: Features) -> KernelFamily:
        """The same kernels for data with these features: columns by position, and a known number of kernels.

        Returns
        -------
        Kernels that are listed one by one, a family that describes its kernels, or a concatenation of such families

        Raises
        ------
        ValueError : where a column is unknown, or a kernel does not take what it holds
        """

    def learned(self, X: Any) -> KernelFamily:
        """The same kernels with what they take from a training sample, once they are resolved."""
        return self

    @property
    def names(self) -> Sequence[str]:
        """The kernels' names; a TypeError where they depend on the data."""
        raise self._unresolved()

    def name(self, k: int) -> str:
        """The name of kernel k."""
        return self.names[k]

    def __len__(self) -> int:
        raise self._unresolved()

    def __iter__(self) -> Iterator[Kernel]:
        raise self._unresolved()

    def __add__(self, other: object) -> KernelFamily:
        return Concatenation((self, other)) if isinstance(other, KernelFamily) else NotImplemented

    def _unresolved(self) -> TypeError:
        return TypeError(
            f"how many kernels {self!r} holds depends on the number of features: "
            "use resolve(Features.of(X)) or bind(family, X) first"
        )


@dataclass(frozen=True)
class Names(Sequence[str]):
    """The names of very many kernels, each made when it is asked for."""

    family: KernelFamily

    def __len__(self) -> int:
        return len(self.family)

    @overload
    def __getitem__(self, k: int) -> str: ...

    @overload
    def __getitem__(self, k: slice) -> tuple[str, ...]: ...

    def __getitem__(self, k: int | slice) -> str | tuple[str, ...]:
        chosen = range(len(self))[k]
        return tuple(map(self.family.name, chosen)) if isinstance(chosen, range) else self.family.name(chosen)


@dataclass(repr=False)
class Kernels(KernelFamily):
    """Kernels listed one by one.

    Parameters
    ----------
    kernels : tuple of Kernel, at least one
    labels : their names; None is the kernels as they are written. Names stay when columns become positions.

    Raises
    ------
    ValueError : where there is no kernel
    TypeError : where one of them is no Kernel
    """

    kernels: tuple[Kernel, ...]
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kernels, tuple) or not self.kernels:
            raise ValueError(f"Kernels: kernels must be a tuple of one or more kernels, got {shown(self.kernels)}")
        for i, k in enumerate(self.kernels):
            if not isinstance(k, Kernel):
                raise TypeError(f"kernels[{i}] is a {type(k).__name__}; a family is made of kernels such as RBF(0.1)")

    def __len__(self) -> int:
        return len(self.kernels)

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels)

    @property
    def names(self) -> tuple[str, ...]:
        return self.labels if self.labels is not None else tuple(map(repr, self.kernels))

    def resolve(self, features: Features) -> Kernels:
        return Kernels(tuple(k.resolve(features) for k in self.kernels), self.names)

    def learned(self, X: Any) -> Kernels:
        learned = tuple(k.learned(X) for k in self.kernels)
        same = all(new is old for new, old in zip(learned, self.kernels, strict=True))
        return self if same else Kernels(learned, self.names)

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

    def resolve(self, features: Features) -> KernelFamily:
        """Neighbours that both list their kernels become one list."""
        parts: list[KernelFamily] = []
        for family in self.families:
            part = family.resolve(features)
            for one in part.families if isinstance(part, Concatenation) else (part,):
                last = parts[-1] if parts else None
                if isinstance(last, Kernels) and isinstance(one, Kernels):
                    parts[-1] = Kernels(last.kernels + one.kernels, last.names + one.names)
                else:
                    parts.append(one)
        return parts[0] if len(parts) == 1 else Concatenation(tuple(parts))

    def learned(self, X: Any) -> Concatenation:
        return Concatenation(tuple(family.learned(X) for family in self.families))

    @property
    def names(self) -> Sequence[str]:
        parts = [family.names for family in self.families]
        if all(isinstance(part, tuple) for part in parts):
            return tuple(chain.from_iterable(parts))
        return Names(self)

    def name(self, k: int) -> str:
        for family in self.families:
            if k < len(family):
                return family.name(k)
            k -= len(family)
        raise IndexError(f"{self!r} has no kernel {k}")

    def __len__(self) -> int:
        return sum(len(family) for family in self.families)

    def __iter__(self) -> Iterator[Kernel]:
        return chain.from_iterable(self.families)


def as_family(kernels: Any) -> KernelFamily:
    """A kernel, a list of kernels or a family, as a family.

    Parameters
    ----------
    kernels : Kernel, list or tuple of Kernel, or KernelFamily

    Raises
    ------
    TypeError : where it is none of these; the message says what was given
    ValueError : where it is an empty list
    """
    if isinstance(kernels, KernelFamily):
        return kernels
    if isinstance(kernels, Kernel):
        return Kernels((kernels,))
    if isinstance(kernels, list | tuple) and kernels:
        return Kernels(tuple(kernels))
    sentence = (
        "kernels must be a kernel such as RBF(gamma=0.1), a list of one or more kernels, a KernelFamily or "
        f"'precomputed', got {shown(kernels)}"
    )
    if isinstance(kernels, list | tuple):
        raise ValueError(sentence)
    raise TypeError(sentence)
