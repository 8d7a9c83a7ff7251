"""A root of a kernel matrix of few features: G with K = G G', without a copy of the features.

G is some columns of F multiplied by the roots of weights, so G'G is a block of F'F multiplied by these roots. Sums of
the same kernels with other weights thus need no new product of features.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from multikernel._linalg import product, squared
from multikernel._typing import Array


@dataclass(frozen=True, eq=False)
class Squares:
    """F'F of dense features, computed once for sums of all weights.

    Parameters
    ----------
    F : array (n, q)
    known : array (q, q), F'F if it is known already; None computes it on demand
    """

    F: Array
    known: Array | None = None

    @cached_property
    def all(self) -> Array:
        """F'F of all features."""
        if self.known is None:
            return squared(self.F)
        return self.known

    def of(self, columns: Array) -> Array:
        """F'F of some features, as a new array in Fortran order."""
        n, q = self.F.shape
        if q <= 2 * n or self.known is not None:
            return self.all[np.ix_(columns, columns)].T
        return squared(self.F, columns)


@dataclass(frozen=True, eq=False)
class ThinRoot:
    """G with K = G G' and fewer columns than rows, as an operator: some features times roots of weights.

    Parameters
    ----------
    squares : Squares of the features
    kept : int array, the features with a nonzero weight
    roots : array, the roots of these weights
    """

    squares: Squares
    kept: Array
    roots: Array

    def square(self) -> Array:
        """G'G, in Fortran order."""
        B = self.squares.of(self.kept)
        B *= self.roots
        B *= self.roots[:, None]
        return B

    def inner(self, M: Array) -> Array:
        """G'M for M of shape (n, t)."""
        return self.roots[:, None] * product(self.squares.F.T, M)[self.kept]

    def outer(self, b: Array) -> Array:
        """G b for b of shape (columns, t)."""
        inner = np.zeros((self.squares.F.shape[1], b.shape[1]))
        inner[self.kept] = self.roots[:, None] * b
        return product(self.squares.F, inner)
