"""Kernels evaluated and stored: a packed stack within the memory budget, made on demand beyond it.

Kernels of a distance on the same features share its matrix, powers of one kernel that kernel's; only the half of each
that is stored is evaluated from these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.dense import PackedBank
from multikernel.banks.lazy import LazyBank
from multikernel.banks.origin import OnDemand
from multikernel.banks.packing import pack
from multikernel.banks.powers import running_powers
from multikernel.banks.profiles import distances, profiles
from multikernel.banks.threads import over_rows
from multikernel.kernels.base import Kernel
from multikernel.kernels.facts import OfDistance, PowerOf

_SMALL_MATRIX = 1 << 22  # values: larger ones are formed one at a time, not one for each thread


def stack(kernels: tuple[Kernel, ...], X: Any, memory: int = MEMORY, dtype: Any = None) -> KernelBank:
    """The bank of kernels on samples X: evaluated in X's precision, stored in ``dtype`` (None: X's own)."""
    n, stored = X.shape[0], np.dtype(X.dtype if dtype is None else dtype)
    length = n * (n + 1) // 2
    if len(kernels) * length * stored.itemsize > memory:
        return LazyBank(kernels, X, X)
    packed = np.empty((len(kernels), length), dtype=stored)
    shared = _shared(kernels)

    def fill(part: slice) -> None:
        for group in shared[part]:
            for k, K in zip(group.members, group.halves(X), strict=True):
                packed[k] = K

    over_rows(fill, len(shared), 1 if n * n <= _SMALL_MATRIX else max(1, len(shared)))
    for k in set(range(len(kernels))).difference(*(group.members for group in shared)):
        packed[k] = pack(kernels[k](X))
    return PackedBank(OnDemand(LazyBank(kernels, X, X)), packed, n)


def in_double(X: Any) -> Any:
    """Samples in double precision; themselves where they are."""
    return X if X.dtype == np.float64 else X.astype(np.float64)


@dataclass(frozen=True)
class _Shared:
    """Kernels, by position, that are made of one matrix; their facts."""

    members: list[int]
    facts: list[OfDistance | PowerOf]

    def halves(self, X: Any) -> Iterator[Array]:
        """The packed halves of the kernels in turn, one written over the other."""
        first = self.facts[0]
        if isinstance(first, OfDistance):
            D = pack(distances(first.kernel, X, None, first.columns))
            return profiles([fact.kernel for fact in self.facts if isinstance(fact, OfDistance)], D)
        degrees = [fact.degree for fact in self.facts if isinstance(fact, PowerOf)]
        return running_powers(pack(first.base(X)), degrees)


def _shared(kernels: tuple[Kernel, ...]) -> list[_Shared]:
    """Each kernel in one group at most; a kernel alone is better evaluated as it stands."""
    groups: dict[Any, _Shared] = {}
    for k, kernel in enumerate(kernels):
        fact = next((fact for fact in kernel.facts() if isinstance(fact, OfDistance | PowerOf)), None)
        if fact is not None:
            key = (fact.kernel.distance, fact.columns) if isinstance(fact, OfDistance) else repr(fact.base)
            group = groups.setdefault(key, _Shared([], []))
            group.members.append(k)
            group.facts.append(fact)
    return [group for group in groups.values() if len(group.members) > 1]
