"""Kernels made on demand from the samples: memory follows one tile, time is a fresh evaluation for each pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank, positions, same_samples, unit_roundoff
from multikernel.kernels.base import Kernel, as_floats


@dataclass(frozen=True, eq=False)
class LazyBank(KernelBank):
    """Kernels of the row samples X against the column samples Z, evaluated tile by tile.

    ``X is Z`` makes the bank square.
    """

    _tile_values = 1 << 19  # evaluating a kernel has a cost of its own for each tile

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

    def tiles(self, rows: Index) -> Iterator[Array]:
        X = self.X[rows]
        return (kernel(X, self.Z) for kernel in self.kernels)

    def diagonal(self) -> Array:
        return self.self_values(self.X)

    def block(self, rows: Index, columns: Index) -> LazyBank:
        r, c = positions(rows, self.shape[0]), positions(columns, self.shape[1])
        Z = self.Z[columns]
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

    def self_values(self, X: Any) -> Array:
        return np.stack([kernel.diagonal(X) for kernel in self.kernels])
