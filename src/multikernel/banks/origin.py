"""Where the columns of a stored bank come from: what it needs to meet new samples.

OnDemand      samples: the kernels are evaluated against them
Precomputed   matrices that the user computed (banks/precomputed.py): new samples come as matrices too
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank


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
    def exact(self) -> KernelBank | None:
        """The training bank in double precision; None where nothing is known beyond the stored entries."""

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

    def exact(self) -> KernelBank:
        return self.bank.exact()

    def self_values(self, X: Any) -> Array:
        return self.bank.self_values(X)
