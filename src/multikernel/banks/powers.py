"""Powers of one matrix: K_k = B^{o d_k} (elementwise), B the Gram matrix of one base kernel.

    sum_k w_k K_k       one pass by Horner's rule
    u'K_k u, all k      one pass with a running power
    <K_j, K_k>          depends on d_j + d_k only: 2 D + 1 sums

No matrix per degree is ever stored. The homogeneous polynomials of Donini and Aiolli (2017) are of this form, with B
the matrix of cosines (their equation 12).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank, positions, same_samples, unit_roundoff
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.threads import over_rows
from multikernel.kernels.base import Kernel
from multikernel.kernels.samples import as_floats

_ROWS = 64  # rows handed to a thread at a time


@dataclass(frozen=True, eq=False)
class PowersBank(KernelBank):
    """K_k = B^{o d_k}.

    Parameters
    ----------
    B : array (r, c), the base kernel's matrix
    degrees : integer array (m,)
    base : Kernel, to meet new samples
    Z : the column samples
    same : whether the rows are the columns
    """

    _tile_values = 1 << 16  # B and its running power stay in the second-level cache

    B: Array
    degrees: Array
    base: Kernel
    Z: Any
    same: bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.B.shape

    def __len__(self) -> int:
        return len(self.degrees)

    @property
    def square(self) -> bool:
        return self.same

    @property
    def rounding(self) -> float:
        return unit_roundoff(self.B.dtype)

    @property
    def _top(self) -> int:
        return int(self.degrees.max(initial=0))

    def tiles(self, rows: Index) -> Iterator[Array]:
        return running_powers(self.B[rows], self.degrees)

    def combine_all(self, W: Array) -> list[Gram]:
        return [DenseGram(self._polynomial(coefficients(self.degrees, w, self.B.dtype))) for w in W]

    def _polynomial(self, coef: Array) -> Array:
        from multikernel.banks import _powers

        out = np.empty_like(self.B)
        over_rows(lambda r: _powers.horner(self.B, coef, out, r.start, r.stop), len(out), _ROWS)
        return out

    def quad(self, A: Array) -> Array:
        from multikernel.banks import _powers

        A = np.ascontiguousarray(as_columns(A), dtype=np.float64)
        support = np.flatnonzero(A.any(axis=1))
        if len(support) > 0.7 * len(A):

            def rows(r: slice) -> Array:
                forms: Array = _powers.outer_forms(self.B, A, A, True, self._top, r.start, r.stop)
                return forms

            parts = over_rows(rows, len(A), _ROWS)
        else:  # only the samples that take part are read, a few rows at a time: no second n x n matrix
            L = np.ascontiguousarray(A[support])

            def some(r: slice) -> Array:
                B = self.B[np.ix_(support[r], support[r.start :])]
                forms: Array = _powers.outer_forms(B, L[r.start :], L[r.start :], True, self._top, 0, len(B))
                return forms

            parts = over_rows(some, len(support), _ROWS)
        return self._of_degrees(parts)

    def quads(self, A: Array) -> Array:
        forms = [self.quad(a) for a in A.T]
        return np.stack(forms, axis=1) if forms else np.zeros((len(self), 0))

    def inner(self, M: Array) -> Array:
        from multikernel.banks import _powers

        return self._of_degrees(
            over_rows(lambda r: _powers.matrix_forms(self.B, M, self._top, r.start, r.stop), len(self.B), _ROWS)
        )

    def _of_degrees(self, parts: list[Array]) -> Array:
        forms: Array = np.sum(parts, axis=0) if parts else np.zeros(self._top + 1)
        return forms[self.degrees]

    def diagonal(self) -> Array:
        powers: Array = np.diagonal(self.B)[None, :] ** self.degrees[:, None]
        return powers

    def pairs(self, N: Array | None = None) -> Array:
        sums = replace(self, degrees=np.arange(2 * self._top + 1)).inner(np.ones_like(self.B) if N is None else N)
        products: Array = sums[self.degrees[:, None] + self.degrees[None, :]]
        return products

    def block(self, rows: Index, columns: Index) -> PowersBank:
        r, c = positions(rows, self.shape[0]), positions(columns, self.shape[1])
        return replace(self, B=self.B[np.ix_(r, c)], Z=self.Z[columns], same=same_samples(self, r, c))

    def select(self, index: Index) -> PowersBank:
        return replace(self, degrees=self.degrees[index])

    def exact(self, index: Index = slice(None)) -> PowersBank:
        chosen = self.select(index)
        if self.B.dtype == np.float64 or not self.same:
            return chosen
        return replace(chosen, B=np.ascontiguousarray(self.base(self.Z.astype(np.float64))))

    def cross(self, X: Any) -> PowersBank:
        B = self.base(as_floats(X), self.Z).astype(self.B.dtype, copy=False)
        return replace(self, B=np.ascontiguousarray(B), same=False)

    def self_values(self, X: Any) -> Array:
        powers: Array = self.base.diagonal(X)[None, :] ** self.degrees[:, None]
        return powers


def running_powers(B: Array, degrees: Sequence[int] | Array) -> Iterator[Array]:
    """B^d elementwise for every d in turn, each from the one before where that is smaller, and written over it."""
    power, reached = np.ones_like(B), 0
    for degree in degrees:
        if degree < reached:
            power[:], reached = 1.0, 0
        if degree > reached:
            power *= raised(B, int(degree - reached))
        reached = degree
        yield power


def raised(B: Array, power: int) -> Array:
    """B^power elementwise for a whole number >= 1, by repeated squaring: much faster than numpy's power."""
    if power == 1:
        return B
    root = raised(B, power // 2)
    square: Array = root * root
    return np.multiply(square, B, out=square) if power % 2 else square


def coefficients(degrees: Array, weights: Array, dtype: np.dtype[Any]) -> Array:
    """c with sum_k w_k b^d_k = sum_d c_d b^d, as short as it can be."""
    coef = np.bincount(degrees, weights=weights, minlength=1)
    coef = np.trim_zeros(coef, "b") if coef.any() else coef[:1]
    return coef.astype(dtype)
