"""Where the columns of a stored bank come from: what it needs to meet new samples.

OnDemand      samples: the kernels are evaluated against them
Precomputed   matrices the user computed: new samples come as matrices too
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from multikernel._typing import Array

if TYPE_CHECKING:
    from multikernel._typing import Index
    from multikernel.banks.base import KernelBank
    from multikernel.banks.dense import PackedBank


class Origin(ABC):
    """The columns of a bank without their matrices."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The precision in which sums of the matrices are wanted, at the least."""

    @abstractmethod
    def cross(self, X: Any) -> KernelBank:
        """New samples against the columns."""

    @abstractmethod
    def reference(self, columns: Index) -> KernelBank:
        """A bank with these columns and no rows."""

    @abstractmethod
    def select(self, index: Index) -> Origin:
        """The same columns for some of the kernels."""

    @abstractmethod
    def part(self, columns: Array) -> Origin:
        """Some of the columns."""

    @abstractmethod
    def exact(self, stored: PackedBank) -> KernelBank:
        """The training bank in double precision, where its entries are ``stored`` in single."""

    @abstractmethod
    def self_values(self, X: Any) -> Array:
        """k_k(x, x) of new samples, shape (m, len(X))."""


@dataclass(frozen=True, eq=False)
class OnDemand(Origin):
    """The training bank that evaluates the same kernels from the samples and stores no matrix."""

    bank: KernelBank

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.bank.rounding <= 2.0**-53 else np.float32)

    def cross(self, X: Any) -> KernelBank:
        return self.bank.cross(X)

    def reference(self, columns: Index) -> KernelBank:
        return self.bank.reference(columns)

    def select(self, index: Index) -> OnDemand:
        return OnDemand(self.bank.select(index))

    def part(self, columns: Array) -> OnDemand:
        return OnDemand(self.bank.block(columns, columns))

    def exact(self, stored: PackedBank) -> KernelBank:
        return self.bank.exact()

    def self_values(self, X: Any) -> Array:
        return self.bank.self_values(X)


@dataclass(frozen=True, eq=False)
class Precomputed(Origin):
    """m matrices over ``n`` training samples that the user computed; ``columns`` are those of a part of them."""

    m: int
    n: int
    columns: Array | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32)

    def cross(self, X: Any) -> KernelBank:
        from multikernel.banks.precomputed import rectangular

        whole = rectangular(X, self.m, self.n)
        return whole if self.columns is None else whole.block(slice(None), self.columns)

    def reference(self, columns: Index) -> KernelBank:
        from multikernel.banks.dense import DenseBank
        from multikernel.banks.indexed import IndexedBank

        own = columns if self.columns is None else self.columns[columns]
        return IndexedBank.of(DenseBank(replace(self, columns=None), np.empty((self.m, 0, self.n))), slice(0), own)

    def select(self, index: Index) -> Precomputed:
        return replace(self, m=len(np.arange(self.m)[index]))

    def part(self, columns: Array) -> Precomputed:
        return replace(self, columns=columns if self.columns is None else self.columns[columns])

    def exact(self, stored: PackedBank) -> KernelBank:
        """The matrices are what they are: nothing is known beyond single precision."""
        return replace(stored, packed=stored.packed.astype(np.float64))

    def self_values(self, X: Any) -> Array:
        raise ValueError(
            "precomputed kernels cannot be normalised for new samples: their self-values are not known; "
            "normalise the matrices before you pass them"
        )
