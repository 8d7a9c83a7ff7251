"""A family: the specification of m kernels, free of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, overload

import numpy as np

from multikernel._rules import abbreviated, shortened
from multikernel._typing import Columns
from multikernel.kernels.base import Kernel
from multikernel.kernels.features import Features
from multikernel.kernels.specification import Specification
from multikernel.kernels.translated import as_kernel, no_kernel
from multikernel.kernels.views import Restricted


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
    def takes_objects(self) -> bool:
        """Whether all kernels take samples that are objects."""
        return False

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
        """The kernels of both, one after the other; the other may be a kernel or a list of kernels."""
        part = _addend(other)
        if part is None:
            return NotImplemented
        return Concatenation((self, part))

    def __radd__(self, other: object) -> KernelFamily:
        if isinstance(other, int) and other == 0:  # where sum() begins
            return self
        part = _addend(other)
        if part is None:
            return NotImplemented
        return Concatenation((part, self))

    def __getitem__(self, index: Any) -> Any:
        """A kernel by position or by name; a family of several by a slice, a list of these or a mask."""
        if isinstance(index, str):
            return self[self._position(index)]
        if isinstance(index, int | np.integer):
            return next(islice(self, range(len(self))[index], None))
        if not isinstance(index, slice):
            index = [self._position(i) if isinstance(i, str) else i for i in index]
        chosen = np.atleast_1d(np.arange(len(self))[index]).tolist()
        wanted = set(chosen)
        kernels = {k: kernel for k, kernel in enumerate(self) if k in wanted}
        return Kernels(tuple(kernels[k] for k in chosen), tuple(self.name(k) for k in chosen))

    def _position(self, name: str) -> int:
        names = list(self.names)
        if name not in names:
            raise ValueError(f"no kernel is named {name!r}; the names are {shortened(names, 10)}")
        return names.index(name)

    # -- the same of every kernel --------------------------------------------------------------------------------

    def map(self, change: Callable[[Kernel], Kernel]) -> KernelFamily:
        """Every kernel changed, under the names that the changed kernels have; names of the user's own stay."""
        return Kernels(tuple(change(kernel) for kernel in self))

    def on(self, columns: int | str | slice | Columns) -> KernelFamily:
        """Every kernel restricted to columns, as ``Kernel.on`` does."""
        return self.map(lambda kernel: kernel.on(columns))

    def normalized(self) -> KernelFamily:
        """Every kernel with all self-values 1."""
        return self.map(lambda kernel: kernel.normalized())

    def centered(self) -> KernelFamily:
        """Every kernel in its features minus their training mean."""
        return self.map(lambda kernel: kernel.centered())

    def standardized(self) -> KernelFamily:
        """Every kernel on standardised columns."""
        return self.map(lambda kernel: kernel.standardized())

    def _unresolved(self) -> TypeError:
        return TypeError(
            f"how many kernels {self!r} holds depends on the number of features: "
            "use resolve(Features.of(X)) or bind(family, X) first"
        )


@dataclass(frozen=True)
class Names(Sequence[str]):
    """The names of very many kernels, each made when it is read."""

    family: KernelFamily

    def __len__(self) -> int:
        return len(self.family)

    @overload
    def __getitem__(self, k: int) -> str: ...

    @overload
    def __getitem__(self, k: slice) -> tuple[str, ...]: ...

    def __getitem__(self, k: int | slice) -> str | tuple[str, ...]:
        chosen = range(len(self))[k]
        if isinstance(chosen, range):
            return tuple(map(self.family.name, chosen))
        return self.family.name(chosen)


@dataclass(repr=False)
class Kernels(KernelFamily):
    """Kernels listed one by one.

    Parameters
    ----------
    kernels : tuple of Kernel, at least one
    labels : their names; None is the kernels as they are written. Names stay when columns become positions.

    Raises
    ------
    ValueError : where there is no kernel, or not a label for each
    TypeError : where one of them is no Kernel
    """

    kernels: tuple[Kernel, ...]
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kernels, tuple) or not self.kernels:
            raise ValueError(
                f"Kernels: kernels must be a tuple of one or more kernels, got {abbreviated(self.kernels)}"
            )
        for i, k in enumerate(self.kernels):
            if not isinstance(k, Kernel):
                raise TypeError(f"kernels[{i}] is a {type(k).__name__}; a family is made of kernels such as RBF(0.1)")
        if self.labels is None:
            return
        if not isinstance(self.labels, list | tuple) or len(self.labels) != len(self.kernels):
            raise ValueError(
                f"Kernels: labels must be a list of {len(self.kernels)}, one for each kernel, got "
                f"{abbreviated(self.labels)}"
            )

    def __len__(self) -> int:
        return len(self.kernels)

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels)

    @property
    def names(self) -> tuple[str, ...]:
        if self.labels is not None:
            return self.labels
        return tuple(map(repr, self.kernels))

    @property
    def takes_objects(self) -> bool:
        return all(k.takes_objects for k in self.kernels)

    def resolve(self, features: Features) -> Kernels:
        return Kernels(tuple(k.resolve(features) for k in self.kernels), self.names)

    def map(self, change: Callable[[Kernel], Kernel]) -> Kernels:
        return Kernels(tuple(map(change, self.kernels)), self.labels)

    def learned(self, X: Any) -> Kernels:
        if not any(k.learns for k in self.kernels):
            return self
        return Kernels(tuple(k.learned(X) for k in self.kernels), self.names)

    def __repr__(self) -> str:
        names = ", ".join(self.names[:3])
        if len(self.kernels) > 3:
            names += f", ... {len(self.kernels)} kernels"
        return f"Kernels({names})"


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
        if len(parts) == 1:
            return parts[0]
        return Concatenation(tuple(parts))

    @property
    def takes_objects(self) -> bool:
        return all(family.takes_objects for family in self.families)

    def map(self, change: Callable[[Kernel], Kernel]) -> Concatenation:
        return Concatenation(tuple(family.map(change) for family in self.families))

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


def _addend(other: object) -> KernelFamily | None:
    """What can be added to a family; None where it is no kernel, list of kernels or family."""
    if isinstance(other, KernelFamily):
        return other
    if isinstance(other, Kernel | list | tuple):
        return as_family(other)
    return None


def as_family(kernels: Any) -> KernelFamily:
    """What a user gives for kernels, as a family.

    Parameters
    ----------
    kernels : Kernel, KernelFamily, or a list of these, which may be nested; or a dict of them by name. In place of a
        kernel stands its name ("rbf", "linear", "poly", "words", "subtrees" ..., with widths from the data; an unknown
        one is answered by a list of all), or a kernel of scikit-learn's Gaussian processes.

    Raises
    ------
    TypeError : where it is none of these; the message says what was given
    ValueError : where it is an empty list, an unknown name, or a kernel of scikit-learn without a counterpart

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.as_family(["rbf", kernels.Linear(), kernels.polynomials([2, 3])]).names[:2]
    ("RBF(gamma='scale')", 'Linear()')
    """
    if isinstance(kernels, KernelFamily):
        return kernels
    kernel = as_kernel(kernels)
    if kernel is not None:
        return Kernels((kernel,))
    if isinstance(kernels, Mapping) and kernels:
        return Concatenation(tuple(_renamed(str(name), as_family(given)) for name, given in kernels.items()))
    if isinstance(kernels, list | tuple) and kernels:
        parts = [_part(each, f"kernels[{i}]") for i, each in enumerate(kernels)]
        if all(isinstance(part, Kernels) and part.labels is None for part in parts):
            return Kernels(tuple(chain.from_iterable(parts)))
        return Concatenation(tuple(parts))
    sentence = (
        "kernels must be a kernel such as RBF(gamma=0.1), a list of one or more kernels, a KernelFamily or "
        f"'precomputed', got {abbreviated(kernels)}"
    )
    if isinstance(kernels, list | tuple):
        raise ValueError(sentence)
    raise TypeError(sentence)


def _renamed(name: str, family: KernelFamily) -> KernelFamily:
    """A family under a name of the user's own."""
    if len(family) == 1:
        return Kernels(tuple(family), (name,))
    return Kernels(tuple(family), tuple(f"{name}: {own}" for own in family.names))


def _part(given: Any, where: str) -> KernelFamily:
    """One entry of a list."""
    if isinstance(given, KernelFamily | list | tuple):
        return as_family(given)
    kernel = as_kernel(given)
    if kernel is None:
        raise TypeError(f"{where} is {no_kernel(given)}; a family is made of kernels such as RBF(0.1)")
    return Kernels((kernel,))


# -- samples some of whose columns are not for the kernels -------------------------------------------------------------


def resolved_on(family: KernelFamily, features: Features, seen: tuple[int, ...]) -> KernelFamily:
    """A family resolved for data with these features, whose kernels see some of the columns.

    A kernel that names columns itself, by ``on``, sees those, wherever they are.

    Parameters
    ----------
    family : KernelFamily
    features : of all columns
    seen : positions of the columns for kernels that name none

    Raises
    ------
    ValueError : where a column is unknown, or a kernel does not take what it holds
    """
    if isinstance(family, Concatenation):
        return Concatenation(tuple(resolved_on(part, features, seen) for part in family.families)).resolve(features)
    if not isinstance(family, Kernels):
        found = family.resolve(features.take(seen))
        names = tuple(found.names)
        return Kernels(tuple(_moved(kernel, seen) for kernel in found), names)
    kernels = []
    for kernel in family.kernels:
        if _names_columns(kernel):
            kernels.append(kernel.resolve(features))
        else:
            kernels.append(Restricted(kernel.resolve(features.take(seen)), seen))
    return Kernels(tuple(kernels), family.names)


def _moved(kernel: Kernel, seen: tuple[int, ...]) -> Kernel:
    """A kernel of some columns by their positions among those that are seen, on the samples with all columns."""
    if isinstance(kernel, Restricted) and not isinstance(kernel.columns, slice):
        return Restricted(kernel.kernel, tuple(seen[int(j)] for j in kernel.columns))
    return Restricted(kernel, seen)


def _names_columns(kernel: Kernel) -> bool:
    found = isinstance(kernel, Restricted)

    def look(part: Kernel) -> Kernel:
        nonlocal found
        found = found or _names_columns(part)
        return part

    kernel.map_parts(look)
    return found
