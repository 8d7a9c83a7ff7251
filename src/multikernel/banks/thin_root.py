"""A root of a kernel matrix of few features: G with K = G G', of which no weights need a copy.

G is some columns of F times roots of weights, so that G'G is a part of F'F times these: sums of the same kernels with
other weights compute no product of features anew.
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
    known : array (q, q), F'F where it is known; None where it is computed on demand
    """

    F: Array
    known: Array | None = None

    @cached_property
    def whole(self) -> Array:
        """F'F of all features."""
        if self.known is None:
            return squared(self.F)
        return self.known

    def of(self, kept: Array) -> Array:
        """That of some features, an array of its own in Fortran order."""
        n, q = self.F.shape
        if q <= 2 * n or self.known is not None:
            return self.whole[np.ix_(kept, kept)].T
        return squared(self.F, kept)


@dataclass(frozen=True, eq=False)
class ThinRoot:
    """G with K = G G' and fewer columns than rows, of which nothing is stored: some features times roots of weights.

    Parameters
    ----------
    squares : Squares of the features
    kept : int array, those with a weight
    roots : array of the roots of these weights
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
