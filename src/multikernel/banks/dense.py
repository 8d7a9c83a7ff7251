"""A stored stack of rectangular matrices: (m, r, c)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from multikernel._floats import in_precision
from multikernel._typing import Array, Index
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import unit_roundoff
from multikernel.banks.stored import StoredBank


@dataclass(frozen=True, eq=False, repr=False)
class DenseBank(StoredBank):
    """A stack of rectangular matrices, usually of new samples against the training set.

    Parameters
    ----------
    origin : the same kernels with no matrix stored
    stack : array (m, r, c), float64 or float32
    """

    stack: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.stack.shape[1], self.stack.shape[2]

    def __len__(self) -> int:
        return len(self.stack)

    @property
    def square(self) -> bool:
        return False

    @property
    def rounding(self) -> float:
        return unit_roundoff(self.stack.dtype)

    def tiles(self, rows: Index) -> Iterator[Array]:
        return iter(self.stack[:, rows])

    def combine_all(self, W: Array) -> list[Gram]:
        """The sums by one product, which reads every matrix with a weight once."""
        active = np.flatnonzero(W.any(axis=0))
        stack = self.stack if len(active) == len(self) else self.stack[active]
        return [DenseGram(total) for total in np.tensordot(in_precision(W[:, active], stack.dtype), stack, 1)]

    def select(self, index: Index) -> DenseBank:
        return replace(self, stack=self.stack[index], origin=self.origin.select(index))

    def exact(self, index: Index = slice(None)) -> DenseBank:
        chosen = self.select(index)
        return replace(chosen, stack=chosen.stack.astype(np.float64, copy=False))
