"""Kernel ridge regression for many alphas, from one decomposition of the matrix.

A stored matrix is made tridiagonal. Where an alpha is so small relative to the matrix that this loses digits,
eigenvectors, which include the null space, and then a separate factorisation are tried, and the solution with the
smallest gap is returned. Other Grams have few eigenvectors, which cost little.

Reflections transform a symmetric matrix K = Q T Q' to a tridiagonal T in a third of the time that eigenvectors take.
With Z = Q'Y

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
    tridiagonal = None
    if isinstance(gram, DenseGram) and len(Y) > 1:
        tridiagonal = RidgeTridiagonal.of(gram, Y)

    @cache
    def eigenvectors() -> RidgeSpectrum:
        return RidgeSpectrum.of(gram, Y)

    def solved(alpha: float) -> Solved:
        if tridiagonal is not None:
            solution = Solved.at(gram, Y, alpha, tridiagonal.solve(alpha))
            if solution.gap <= ROUNDING:
                return solution
        solution = spectral(eigenvectors(), gram, Y, alpha)
        if solution.gap <= ROUNDING:
            return solution
        return best(solution, direct(gram, Y, alpha))

    return [solved(alpha) for alpha in alphas]


@dataclass(frozen=True, eq=False)
class RidgeTridiagonal:
    """A kernel matrix and targets in the coordinates in which the matrix is tridiagonal.

    Parameters
    ----------
    reflections : array (n - 1, n - 1) in Fortran order, the reflections of Q below its diagonal, all but the first row
    factors : array (n - 1,), the scalar factors of the reflections
    diagonal, off_diagonal : arrays (n,) and (n - 1,), the entries of T
    inside : array (n, t), Z
    """

    reflections: Array
    factors: Array
    diagonal: Array
    off_diagonal: Array
    inside: Array

    @classmethod
    def of(cls, gram: Gram, Y: Array) -> RidgeTridiagonal:
        """The form of a square Gram, n > 1, for targets (n, t); ValueError where it is not positive semi-definite."""
        K = gram.fresh().T  # symmetric, in Fortran order
        work_size, _ = lapack.dsytrd_lwork(len(K), lower=1)
        H, diagonal, beside, factors, _ = lapack.dsytrd(K, lower=1, lwork=int(work_size), overwrite_a=1)
        reduced = cls(np.asfortranarray(H[1:, :-1]), factors, diagonal, beside, Y)
        trace = max(float(diagonal.sum()), 0.0)
        if reduced._system(rounding(gram.diagonal()) * trace + TINY)[-1]:
            spectrum(gram)  # refuses the matrix with its smallest eigenvalue, unless rounding alone made it so
        return cls(reduced.reflections, factors, diagonal, beside, reduced._reflected(Y, "T"))

    def solve(self, alpha: float) -> Array:
        """(K + alpha I)^{-1} Y, shape (n, t); NaN where T + alpha I is not positive definite in floating point."""
        d, e, failed = self._system(alpha)
        if failed:
            return np.full_like(self.inside, np.nan)
        return self._reflected(lapack.dpttrs(d, e, self.inside)[0], "N")

    def _system(self, alpha: float) -> tuple[Array, Array, int]:
        """T + alpha I = L D L': the entries of D, those of L below its diagonal, and 0 where all of D is positive."""
        d, e, failed = lapack.dpttrf(self.diagonal + alpha, self.off_diagonal)
        return d, e, int(failed)

    def _reflected(self, V: Array, transposed: str) -> Array:
        """Q V, or Q'V where ``transposed`` is "T" and not "N"; reflections leave the first coordinate unchanged."""
        out = np.array(V, dtype=np.float64, order="F")
        work_size = max(1, V.shape[1]) * 64  # LAPACK applies some reflections at once
        out[1:] = lapack.dormqr("L", transposed, self.reflections, self.factors, out[1:], work_size)[0]
        return out
