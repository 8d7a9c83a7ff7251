"""Where the columns of a stored bank come from: what it needs to meet new samples.

Samples       kernels and the training samples
Precomputed   matrices the user computed: new samples come as matrices too
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from multikernel.kernels.base import Array, Kernel, as_floats

if TYPE_CHECKING:
    from multikernel.banks.base import Index, KernelBank


class Origin(ABC):
    """The columns of a bank without their matrices."""

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
    def self_values(self, X: Any) -> Array:
        """k_k(x, x) of new samples, shape (m, len(X))."""


@dataclass(frozen=True, eq=False)
class Samples(Origin):
    """Training samples Z and the kernels to be evaluated against them."""

    kernels: tuple[Kernel, ...]
    Z: Any

    def cross(self, X: Any) -> KernelBank:
        from multikernel.banks.lazy import LazyBank

        return LazyBank(self.kernels, as_floats(X), self.Z)

    def reference(self, columns: Index) -> KernelBank:
        from multikernel.banks.lazy import LazyBank

        return LazyBank(self.kernels, self.Z[:0], self.Z[columns])

    def select(self, index: Index) -> Samples:
        return Samples(tuple(self.kernels[k] for k in np.arange(len(self.kernels))[index]), self.Z)

    def self_values(self, X: Any) -> Array:
        return np.stack([k.diagonal(X) for k in self.kernels])


@dataclass(frozen=True, eq=False)
class Precomputed(Origin):
    """m matrices over ``n`` training samples that the user computed."""

    m: int
    n: int

    def cross(self, X: Any) -> KernelBank:
        from multikernel.banks.precomputed import rectangular

        return rectangular(X, self.m, self.n)

    def reference(self, columns: Index) -> KernelBank:
        from multikernel.banks.dense import DenseBank
        from multikernel.banks.indexed import IndexedBank

        return IndexedBank.of(DenseBank(self, np.empty((self.m, 0, self.n))), slice(0), columns)

    def select(self, index: Index) -> Precomputed:
        return Precomputed(len(np.arange(self.m)[index]), self.n)

    def self_values(self, X: Any) -> Array:
        raise ValueError(
            "precomputed kernels cannot be normalised for new samples: their self-values are not known; "
            "normalise the matrices before you pass them"
        )
