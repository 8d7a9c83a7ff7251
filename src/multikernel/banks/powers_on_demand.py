"""Powers of one matrix that is never stored: K_k = B^{o d_k}, B made again for each pass.

    sum_k w_k K_k       a Gram that makes its rows on demand
    u'K_k u, all k      the part of B on the support of u, with a running power

For samples whose matrix does not fit: memory follows one tile. What needs many passes over few samples takes their
``principal`` bank, which is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import MEMORY, KernelBank, positions, same_samples, unit_roundoff
from multikernel.banks.base_matrix import BaseMatrix
from multikernel.banks.gram import Gram
from multikernel.banks.powers import PowersBank, coefficients, running_powers
from multikernel.banks.powers_gram import PowersGram, tile_rows
from multikernel.banks.threads import one_blas_thread, over_rows, slices
from multikernel.kernels.samples import as_floats


@dataclass(frozen=True, eq=False)
class PowersOnDemandBank(KernelBank):
    """K_k = B^{o d_k}.

    Parameters
    ----------
    B : BaseMatrix
    degrees : integer array (m,)
    """

    B: BaseMatrix
    degrees: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.B.shape

    def __len__(self) -> int:
        return len(self.degrees)

    @property
    def square(self) -> bool:
        return self.B.square

    @property
    def rounding(self) -> float:
        return unit_roundoff(self.B.dtype)

    def tiles(self, rows: Index) -> Iterator[Array]:
        return running_powers(self.B.part(rows, slice(None)).values(), self.degrees)

    def combine_all(self, W: Array) -> list[Gram]:
        return [PowersGram(self.B, coefficients(self.degrees, w, self.B.dtype)) for w in W]

    def quad(self, A: Array) -> Array:
        from multikernel.banks import _powers

        A = np.ascontiguousarray(as_columns(A), dtype=np.float64)
        support = np.flatnonzero(A.any(axis=1))
        own, L, top = self.B.principal(support), np.ascontiguousarray(A[support]), int(self.degrees.max(initial=0))

        def rows(r: slice) -> Array:
            values, R = own.part(r, slice(r.start, None)).values(), L[r.start :]
            forms: Array = _powers.outer_forms(values, R, R, True, top, 0, len(values))
            return forms

        with one_blas_thread(0):
            parts = over_rows(rows, len(support), tile_rows(len(support)))
        sums: Array = np.sum(parts, axis=0) if parts else np.zeros(top + 1)
        return sums[self.degrees]

    def inner(self, M: Array) -> Array:
        return sum((some.inner(M[r]) for r, some in self._stored_rows()), np.zeros(len(self)))

    def pairs(self, N: Array | None = None) -> Array:
        parts = (some.pairs(None if N is None else N[r]) for r, some in self._stored_rows())
        return sum(parts, np.zeros((len(self), len(self))))

    def _stored_rows(self) -> Iterator[tuple[slice, PowersBank]]:
        """The bank in parts of a few rows each, stored."""
        for r in slices(self.shape[0], tile_rows(self.shape[1])):
            yield r, self._stored(self.B.part(r, slice(None)), square=False)

    def _stored(self, matrix: BaseMatrix, square: bool) -> PowersBank:
        return PowersBank(matrix.values(), self.degrees, matrix.base, matrix.columns.values, square)

    def diagonal(self) -> Array:
        powers: Array = self.B.diagonal()[None, :] ** self.degrees[:, None]
        return powers

    def block(self, rows: Index, columns: Index) -> PowersOnDemandBank:
        r, c = positions(rows, self.shape[0]), positions(columns, self.shape[1])
        same = same_samples(self, r, c)
        return replace(self, B=self.B.principal(c) if same else self.B.part(r, columns))

    def principal(self, rows: Array) -> KernelBank:
        return self.block(rows, rows).compact()

    def compact(self) -> KernelBank:
        """Stored, where the matrix fits the memory that banks take by default."""
        r, c = self.shape
        return self._stored(self.B, self.square) if r * c * self.B.dtype.itemsize <= MEMORY else self

    def select(self, index: Index) -> PowersOnDemandBank:
        return replace(self, degrees=self.degrees[index])

    def exact(self, index: Index = slice(None)) -> KernelBank:
        chosen = self.select(index)
        if self.B.dtype == np.float64 or not self.square:
            return chosen.compact() if self.square else chosen
        in_double = BaseMatrix.of(self.B.base, self.B.columns.values.astype(np.float64))
        return replace(chosen, B=in_double).compact()

    def cross(self, X: Any) -> PowersOnDemandBank:
        return replace(self, B=self.B.against(as_floats(X)))

    def self_values(self, X: Any) -> Array:
        powers: Array = self.B.base.diagonal(X)[None, :] ** self.degrees[:, None]
        return powers
