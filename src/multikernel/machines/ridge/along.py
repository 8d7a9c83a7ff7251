"""Kernel ridge regression for many alphas, from one decomposition of the matrix.

A stored matrix is made tridiagonal. Where an alpha is so small beside it that this loses digits, eigenvectors, which
know the null space, and a factorisation of its own take their turn, and the solution that proves most is kept. Other
Grams have few eigenvectors that cost little.

Reflections make of a symmetric matrix K = Q T Q' a tridiagonal T in a third of the time that eigenvectors take. With
Z = Q'Y

    (K + alpha I)^{-1} Y = Q (T + alpha I)^{-1} Z,

where a system of T takes O(n) operations and Q, kept as its reflections, O(n^2).

G. H. Golub and C. F. Van Loan (2013), Matrix computations, sections 4.3.6 and 8.3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import lapack

from multikernel._floats import ROUNDING, TINY
from multikernel._typing import Array
from multikernel.banks import DenseGram, Gram
from multikernel.machines.ridge.solved import Solved, best, direct, spectral
from multikernel.machines.ridge.spectrum import RidgeSpectrum, spectrum
from multikernel.numerics.definite import rounding


def along(gram: Gram, Y: Array, alphas: Sequence[float]) -> list[Solved]:
    """The solution for every alpha > 0, for targets Y of shape (n, t).

    Raises
    ------
    ValueError : where the matrix is found not to be positive semi-definite
    """
    form = None
    if isinstance(gram, DenseGram) and len(Y) > 1:
        form = RidgeTridiagonal.of(gram, Y)

    @cache
    def eigenvectors() -> RidgeSpectrum:
        return RidgeSpectrum.of(gram, Y)

    def solved(alpha: float) -> Solved:
        if form is not None:
            found = Solved.at(gram, Y, alpha, form.solve(alpha))
            if found.gap <= ROUNDING:
                return found
        found = spectral(eigenvectors(), gram, Y, alpha)
        if found.gap <= ROUNDING:
            return found
        return best(found, direct(gram, Y, alpha))

    return [solved(alpha) for alpha in alphas]


@dataclass(frozen=True, eq=False)
class RidgeTridiagonal:
    """A kernel matrix and targets in the coordinates in which the matrix is tridiagonal.

    Parameters
    ----------
    reflections : array (n - 1, n - 1) in Fortran order, the reflections of Q below its diagonal, all but the first row
    factors : array (n - 1,), theirs
    diagonal, beside : arrays (n,) and (n - 1,), the entries of T
    inside : array (n, t), Z
    """

    reflections: Array
    factors: Array
    diagonal: Array
    beside: Array
    inside: Array

    @classmethod
    def of(cls, gram: Gram, Y: Array) -> RidgeTridiagonal:
        """The form of a square Gram, n > 1, for targets (n, t); ValueError where it is not positive semi-definite."""
        K = gram.fresh().T  # symmetric, in Fortran order
        work, _ = lapack.dsytrd_lwork(len(K), lower=1)
        H, diagonal, beside, factors, _ = lapack.dsytrd(K, lower=1, lwork=int(work), overwrite_a=1)
        found = cls(np.asfortranarray(H[1:, :-1]), factors, diagonal, beside, Y)
        trace = max(float(diagonal.sum()), 0.0)
        if found._system(rounding(gram.diagonal()) * trace + TINY)[-1]:
            spectrum(gram)  # refuses the matrix with its smallest eigenvalue, unless rounding alone made it so
        return cls(found.reflections, factors, diagonal, beside, found._reflected(Y, "T"))

    def solve(self, alpha: float) -> Array:
        """(K + alpha I)^{-1} Y, shape (n, t); NaN where T + alpha I is not positive definite in floating point."""
        d, e, failed = self._system(alpha)
        if failed:
            return np.full_like(self.inside, np.nan)
        return self._reflected(lapack.dpttrs(d, e, self.inside)[0], "N")

    def _system(self, alpha: float) -> tuple[Array, Array, int]:
        """T + alpha I = L D L': the entries of D, those of L beside its diagonal, and 0 where all of D is positive."""
        d, e, failed = lapack.dpttrf(self.diagonal + alpha, self.beside)
        return d, e, int(failed)

    def _reflected(self, V: Array, way: str) -> Array:
        """Q V, or with the way "T" Q'V; the first coordinate is no part of a reflection."""
        out = np.array(V, dtype=np.float64, order="F")
        work = max(1, V.shape[1]) * 64  # LAPACK applies some reflections at once
        out[1:] = lapack.dormqr("L", way, self.reflections, self.factors, out[1:], work)[0]
        return out
