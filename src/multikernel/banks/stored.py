"""The base class of banks of stored matrices, which evaluate new samples by a bank that stores nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.indexed import IndexedBank


@dataclass(frozen=True, eq=False, repr=False)
class StoredBank(KernelBank):
    """A stored stack of matrices, whose blocks are views.

    Parameters
    ----------
    origin : a bank of the same kernels that stores no matrix and takes new samples: the training bank that evaluates
        kernels from the samples, or for precomputed matrices a bank of their columns without rows
    """

    origin: KernelBank

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.origin.names

    def block(self, rows: Index, columns: Index) -> KernelBank:
        return IndexedBank.of(self, rows, columns)

    def cross(self, X: Any) -> KernelBank:
        return self.origin.cross(X)

    def reference(self, columns: Index = slice(None)) -> KernelBank:
        return self.origin.reference(columns)

    def self_values(self, X: Any) -> Array:
        return self.origin.self_values(X)
