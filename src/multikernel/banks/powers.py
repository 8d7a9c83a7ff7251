"""Powers of one matrix: K_k = B^{o d_k} (elementwise), B the matrix of one base kernel.

    sum_k w_k K_k       one pass by Horner's rule; a Gram that computes its rows on demand where B is not stored
    u'K_k u, all k      one pass with a running power over the part of B on the support of u
    <K_j, K_k>          depends on d_j + d_k only: 2 D + 1 sums

No matrix for a degree is ever stored. The homogeneous polynomials of Donini and Aiolli (2017) are of this form, with B
the matrix of cosines (their equation 12). Where B itself does not fit into memory, it is computed again in
each pass, tile by tile; methods with many passes over few samples then use their ``principal`` bank, which is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._floats import in_precision
from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.cost import BankCost
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.one_matrix import OneMatrixBank
from multikernel.banks.powers_gram import PowersGram, tile_rows
from multikernel.banks.threads import one_blas_thread, over_rows
from multikernel.tuning import SUPPORT_SHARE, TILE_ROWS


@dataclass(frozen=True, eq=False, repr=False)
class PowersBank(OneMatrixBank):
    """K_k = B^{o d_k}.

    Parameters
    ----------
    B : BaseMatrix, the base kernel's matrix, stored or not
    degrees : integer array (m,)
    """

    _value = 1e-9  # a multiplication and an addition
    _tile_values = 1 << 16  # B and its running power stay in the second-level cache

    degrees: Array

    def __len__(self) -> int:
        return len(self.degrees)

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        cost = super().cost(memory, itemsize)
        return replace(cost, on_demand=not cost.held)

    def select(self, index: Index) -> PowersBank:
        return replace(self, degrees=self.degrees[index])

    def exact(self, index: Index = slice(None)) -> PowersBank:
        chosen = self.select(index)
        if self.square:
            return chosen._in_double()
        return chosen

    def tiles(self, rows: Index) -> Iterator[Array]:
        return running_powers(self.B.entries(rows), self.degrees)

    def combine_all(self, W: Array) -> list[Gram]:
        return [self._polynomial(coefficients(self.degrees, w, self.B.dtype)) for w in W]

    def _polynomial(self, coef: Array) -> Gram:
        from multikernel.banks import _powers

        B = self.B.stored
        if B is None:
            return PowersGram(self.B, coef)
        out = np.empty_like(B)
        over_rows(lambda r: _powers.horner(B, coef, out, r.start, r.stop), len(out), TILE_ROWS)
        return DenseGram(out)

    def quad(self, A: Array) -> Array:
        from multikernel.banks import _powers

        self._check_square()
        A = np.ascontiguousarray(as_columns(A), dtype=np.float64)
        B = self.B.stored
        top = self._top
        support = np.flatnonzero(A.any(axis=1))
        if B is not None and len(support) > SUPPORT_SHARE * len(A):
            forms = self._sum(lambda r: _powers.outer_forms(B, A, A, True, top, r.start, r.stop), len(A), top)
            return forms[self.degrees]
        L = np.ascontiguousarray(A[support])

        def rows(r: slice) -> Array:
            """The sums over some rows of the samples with coefficients, so that no second n x n matrix is formed."""
            B_rows = self.B.entries(support[r], support[r.start :])
            R = L[r.start :]
            return _powers.outer_forms(B_rows, R, R, True, top, 0, len(B_rows))

        return self._sum(rows, len(support), top)[self.degrees]

    def quads(self, A: Array) -> Array:
        self._check_square()
        if self.B.stored is None:
            return super().quads(A)
        forms = [self.quad(a) for a in A.T]  # faster than tiles for a stored matrix
        if forms:
            return np.stack(forms, axis=1)
        return np.zeros((len(self), 0))

    def inner(self, M: Array) -> Array:
        return self._weighted_sums(M, self._top)[self.degrees]

    def pairs(self, N: Array | None = None) -> Array:
        return self._weighted_sums(N, 2 * self._top)[self.degrees[:, None] + self.degrees]

    def _weighted_sums(self, M: Array | None, top: int) -> Array:
        """sum_ij M_ij B_ij^d for the degrees d = 0..top; M = None is all ones."""
        from multikernel.banks import _powers

        def rows(r: slice) -> Array:
            B = self.B.entries(r)
            return _powers.matrix_forms(B, np.ones_like(B) if M is None else M[r], top, 0, len(B))

        return self._sum(rows, self.shape[0], top)

    def _sum(self, rows: Callable[[slice], Array], n: int, top: int) -> Array:
        """The sums for the degrees 0..top over some rows at a time."""
        stored = self.B.stored is not None
        with nullcontext() if stored else one_blas_thread(0):  # else each thread computes products of samples
            return sum(over_rows(rows, n, TILE_ROWS if stored else tile_rows(n)), np.zeros(top + 1))

    @property
    def _top(self) -> int:
        return int(self.degrees.max(initial=0))

    def diagonal(self) -> Array:
        self._check_square()
        return self.B.diagonal()[None, :] ** self.degrees[:, None]

    def self_values(self, X: Any) -> Array:
        return self.B.base.diagonal(X)[None, :] ** self.degrees[:, None]


def running_powers(B: Array, degrees: Sequence[int] | Array) -> Iterator[Array]:
    """B^d elementwise for every d in turn, from the previous power if that is lower, which is overwritten."""
    power = np.ones_like(B)
    reached = 0
    for degree in degrees:
        if degree < reached:
            power[:] = 1.0
            reached = 0
        if degree > reached:
            power *= raised(B, int(degree - reached))
        reached = degree
        yield power


def raised(B: Array, power: int) -> Array:
    """B^power elementwise for a whole number >= 1, by repeated squaring, much faster than NumPy's power."""
    if power == 1:
        return B
    root = raised(B, power // 2)
    square: Array = root * root
    if power % 2:
        return np.multiply(square, B, out=square)
    return square


def coefficients(degrees: Array, weights: Array, dtype: np.dtype[Any]) -> Array:
    """c with sum_k w_k b^d_k = sum_d c_d b^d, without trailing zeros."""
    coef = np.bincount(degrees, weights=weights, minlength=1)
    coef = np.trim_zeros(coef, "b") if coef.any() else coef[:1]
    return in_precision(coef, dtype)
