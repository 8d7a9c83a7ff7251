"""What banks of stored matrices share: new samples are met by the same kernels with nothing stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.indexed import IndexedBank


@dataclass(frozen=True, eq=False, repr=False)
class StoredBank(KernelBank):
    """A stored stack: its blocks are views of it.

    Parameters
    ----------
    origin : the same kernels with no matrix stored, which meets new samples: the training bank that evaluates them
        from the samples, or the columns of precomputed matrices, a bank without rows
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
