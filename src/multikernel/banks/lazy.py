"""Kernels made on demand from the samples: memory follows one tile, time is a fresh evaluation for each pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank, positions, same_samples, unit_roundoff
from multikernel.banks.gram import DenseGram
from multikernel.banks.streaming import Stream
from multikernel.kernels.base import Kernel, as_floats


@dataclass(frozen=True, eq=False)
class LazyBank(KernelBank):
    """Kernels of the row samples X against the column samples Z, evaluated tile by tile.

    ``X is Z`` makes the bank square.
    """

    kernels: tuple[Kernel, ...]
    X: Any
    Z: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.Z.shape[0]

    def __len__(self) -> int:
        return len(self.kernels)

    @property
    def square(self) -> bool:
        return self.X is self.Z

    @property
    def rounding(self) -> float:
        return unit_roundoff(self.X.dtype)

    def _tiles(self, rows: slice) -> Iterator[Array]:
        X = self.X[rows]
        return (kernel(X, self.Z) for kernel in self.kernels)

    @property
    def _stream(self) -> Stream:
        return Stream(self._tiles, len(self), self.shape, self.X.dtype)

    def combine(self, weights: Array) -> DenseGram:
        active = np.flatnonzero(weights)  # a kernel of weight 0 is not evaluated
        return self.select(active)._stream.combine(np.asarray(weights)[active])

    def apply(self, C: Array) -> Array:
        return self._stream.apply(C)

    def quad(self, A: Array) -> Array:
        return self._stream.quad(as_columns(A))

    def quads(self, A: Array) -> Array:
        return self._stream.quads(A)

    def inner(self, M: Array) -> Array:
        return self._stream.inner(M)

    def diagonal(self) -> Array:
        return self.self_values(self.X)

    def block(self, rows: Index, columns: Index) -> LazyBank:
        r, c = positions(rows, self.shape[0]), positions(columns, self.shape[1])
        Z = self.Z[c]
        return replace(self, X=Z if same_samples(self, r, c) else self.X[r], Z=Z)

    def select(self, index: Index) -> LazyBank:
        return replace(self, kernels=tuple(self.kernels[k] for k in positions(index, len(self))))

    def exact(self, index: Index = slice(None)) -> KernelBank:
        from multikernel.banks.stack import in_double, stack

        chosen = self.select(index)
        if self.square:
            return stack(chosen.kernels, in_double(self.X))
        return replace(chosen, X=in_double(self.X), Z=in_double(self.Z))

    def cross(self, X: Any) -> LazyBank:
        return replace(self, X=as_floats(X))

    def reference(self, columns: Index = slice(None)) -> LazyBank:
        return replace(self, X=self.X[:0], Z=self.Z[columns])

    def self_values(self, X: Any) -> Array:
        return np.stack([kernel.diagonal(X) for kernel in self.kernels])
