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
        """The same kernels, which must be resolved, with what they learn from a training sample."""
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
        addend = _addend(other)
        if addend is None:
            return NotImplemented
        return Concatenation((self, addend))

    def __radd__(self, other: object) -> KernelFamily:
        if isinstance(other, int) and other == 0:  # where sum() begins
            return self
        addend = _addend(other)
        if addend is None:
            return NotImplemented
        return Concatenation((addend, self))

    def __getitem__(self, index: Any) -> Any:
        """A kernel by position or name; a family of several by a slice, a mask or a list of positions or names."""
        if isinstance(index, str):
            return self[self._position(index)]
        if isinstance(index, int | np.integer):
            return next(islice(self, range(len(self))[index], None))
        if not isinstance(index, slice):
            index = [self._position(i) if isinstance(i, str) else i for i in index]
        chosen = np.atleast_1d(np.arange(len(self))[index]).tolist()
        chosen_set = set(chosen)
        kernels = {k: kernel for k, kernel in enumerate(self) if k in chosen_set}
        return Kernels(tuple(kernels[k] for k in chosen), tuple(self.name(k) for k in chosen))

    def _position(self, name: str) -> int:
        names = list(self.names)
        if name not in names:
            raise ValueError(f"no kernel is named {name!r}; the names are {shortened(names, 10)}")
        return names.index(name)

    # -- the same change of every kernel ---------------------------------------------------------------------------

    def map(self, change: Callable[[Kernel], Kernel]) -> KernelFamily:
        """Every kernel changed and named anew; names that the user gave stay."""
        return Kernels(tuple(change(kernel) for kernel in self))

    def on(self, columns: int | str | slice | Columns) -> KernelFamily:
        """Every kernel restricted to columns, as ``Kernel.on`` does."""
        return self.map(lambda kernel: kernel.on(columns))

    def normalized(self) -> KernelFamily:
        """Every kernel normalised to self-values 1."""
        return self.map(lambda kernel: kernel.normalized())

    def centered(self) -> KernelFamily:
        """Every kernel centred by the training sample."""
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
    """The names of very many kernels, each of which is made when it is read."""

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
    labels : their names; None takes their representations. Names stay when columns become positions.

    Raises
    ------
    ValueError : where there is no kernel, or the number of labels differs from that of kernels
    TypeError : where a kernel is not a Kernel
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
        """The resolved families; neighbours that both list their kernels become one list."""
        families: list[KernelFamily] = []
        for family in self.families:
            resolved = family.resolve(features)
            for member in resolved.families if isinstance(resolved, Concatenation) else (resolved,):
                last = families[-1] if families else None
                if isinstance(last, Kernels) and isinstance(member, Kernels):
                    families[-1] = Kernels(last.kernels + member.kernels, last.names + member.names)
                else:
                    families.append(member)
        if len(families) == 1:
            return families[0]
        return Concatenation(tuple(families))

    @property
    def takes_objects(self) -> bool:
        return all(family.takes_objects for family in self.families)

    def map(self, change: Callable[[Kernel], Kernel]) -> Concatenation:
        return Concatenation(tuple(family.map(change) for family in self.families))

    def learned(self, X: Any) -> Concatenation:
        return Concatenation(tuple(family.learned(X) for family in self.families))

    @property
    def names(self) -> Sequence[str]:
        names_of_families = [family.names for family in self.families]
        if all(isinstance(names, tuple) for names in names_of_families):
            return tuple(chain.from_iterable(names_of_families))
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
    """The family to be added to another one; None where it is no kernel, list of kernels or family."""
    if isinstance(other, KernelFamily):
        return other
    if isinstance(other, Kernel | list | tuple):
        return as_family(other)
    return None


def as_family(kernels: Any) -> KernelFamily:
    """Kernels, in any form in which a user may give them, as a family.

    Parameters
    ----------
    kernels : Kernel, KernelFamily, or a list of these, which may be nested; or a dict of them by name. Instead of a
        kernel its name may be given ("rbf", "linear", "poly", "words", "subtrees" ..., with widths from the data; the
        error for an unknown name lists all names), or a kernel of scikit-learn's Gaussian processes.

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
        return Concatenation(tuple(_renamed(str(name), as_family(entry)) for name, entry in kernels.items()))
    if isinstance(kernels, list | tuple) and kernels:
        families = [_family_of_entry(entry, f"kernels[{i}]") for i, entry in enumerate(kernels)]
        if all(isinstance(family, Kernels) and family.labels is None for family in families):
            return Kernels(tuple(chain.from_iterable(families)))
        return Concatenation(tuple(families))
    sentence = (
        "kernels must be a kernel such as RBF(gamma=0.1), a list of one or more kernels, a KernelFamily or "
        f"'precomputed', got {abbreviated(kernels)}"
    )
    if isinstance(kernels, list | tuple):
        raise ValueError(sentence)
    raise TypeError(sentence)


def _renamed(name: str, family: KernelFamily) -> KernelFamily:
    """A family under a name that the user gave."""
    if len(family) == 1:
        return Kernels(tuple(family), (name,))
    return Kernels(tuple(family), tuple(f"{name}: {kernel_name}" for kernel_name in family.names))


def _family_of_entry(entry: Any, position: str) -> KernelFamily:
    """The family of one entry of a list of kernels."""
    if isinstance(entry, KernelFamily | list | tuple):
        return as_family(entry)
    kernel = as_kernel(entry)
    if kernel is None:
        raise TypeError(f"{position} is {no_kernel(entry)}; a family is made of kernels such as RBF(0.1)")
    return Kernels((kernel,))


# -- kernels that use only some columns of the samples -----------------------------------------------------------------


def resolved_on(family: KernelFamily, features: Features, positions: tuple[int, ...]) -> KernelFamily:
    """A family resolved for data with these features, whose kernels use only some of the columns.

    A kernel that names columns itself, by ``on``, uses those, wherever they are.

    Parameters
    ----------
    family : KernelFamily
    features : all columns
    positions : the columns for kernels that name none

    Raises
    ------
    ValueError : where a column is unknown, or a kernel does not accept its contents
    """
    if isinstance(family, Concatenation):
        members = tuple(resolved_on(member, features, positions) for member in family.families)
        return Concatenation(members).resolve(features)
    if not isinstance(family, Kernels):
        resolved = family.resolve(features.take(positions))
        names = tuple(resolved.names)
        return Kernels(tuple(_moved(kernel, positions) for kernel in resolved), names)
    kernels = []
    for kernel in family.kernels:
        if _names_columns(kernel):
            kernels.append(kernel.resolve(features))
        else:
            kernels.append(Restricted(kernel.resolve(features.take(positions)), positions))
    return Kernels(tuple(kernels), family.names)


def _moved(kernel: Kernel, positions: tuple[int, ...]) -> Kernel:
    """A kernel on columns by their position among ``positions``, as a kernel of samples with all columns."""
    if isinstance(kernel, Restricted) and not isinstance(kernel.columns, slice):
        return Restricted(kernel.kernel, tuple(positions[int(j)] for j in kernel.columns))
    return Restricted(kernel, positions)


def _names_columns(kernel: Kernel) -> bool:
    has_restriction = isinstance(kernel, Restricted)

    def note(inner: Kernel) -> Kernel:
        nonlocal has_restriction
        has_restriction = has_restriction or _names_columns(inner)
        return inner

    kernel.map_parts(note)
    return has_restriction
