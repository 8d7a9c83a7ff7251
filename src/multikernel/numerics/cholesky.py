"""The Cholesky factorisation A = L L' of a positive definite matrix of any size: the one way in for the whole package.

LAPACK factorises what it is given, but not every build of it survives a large matrix. On several threads OpenBLAS packs
the rows of a panel of q columns that one thread updates, about n sqrt(1 / threads) of them, into a buffer of fixed size
and does not check that they fit. With two threads, q = 384 and a buffer of 32 MiB that is so from about n = 15,500 on;
15,000 rows were seen to pass, and 16,000 to end the process with a segmentation fault. So a matrix of more than
``tuning.CHOLESKY_ROWS`` rows is halved here until LAPACK gets blocks of at most that size:

    [A11   . ]      L11 L11' = A11,     L21 = A21 L11'^-1,     L22 L22' = A22 - L21 L21',
    [A21  A22]

of which the second is a triangular system and the third an update of rank n / 2, both by BLAS and in the place of A.
This costs the operations that LAPACK's own blocks cost, n^3 / 3.

What is returned is checked: a factor with an entry on its diagonal that is not finite is no factor.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from multikernel._linalg import mirror
from multikernel._typing import Array
from multikernel.numerics.lapack import divide, factored, inverted, reduce
from multikernel.tuning import CHOLESKY_ROWS

_JITTERS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)  # parts of the largest diagonal entry


def factorise(A: Array, lower: bool = True) -> bool:
    """Replace one triangle of A by its Cholesky factor; whether A is positive definite in floating point.

    Parameters
    ----------
    A : array (n, n) of float64 or float32 in Fortran order, or a view of some rows and columns of such an array; only
        one triangle is read and written
    lower : bool, whether the lower triangle becomes L with A = L L', or the upper one U with A = U'U

    Returns
    -------
    bool : False where A is not positive definite or not finite; the triangle then holds no factor
    """
    if A.shape[0] != A.shape[1] or (len(A) > 1 and A.strides[0] != A.itemsize):
        raise ValueError("factorise takes a square array in Fortran order")
    return _halved(A, lower) and bool(np.isfinite(A.diagonal()).all())


def factorise_halves(first: Array, beside: Array, last: Array, lower: bool = True) -> bool:
    """The same for a lower triangle whose halves are stored in different places.

    Parameters
    ----------
    first : array (k, k), of which the lower triangle is A11
    beside : array (n - k, k), A21
    last : array (n - k, n - k), of which one triangle is A22
    lower : bool, whether it is the lower one; else the factor of A22 is upper triangular
    """
    if not factorise(first):
        return False
    divide(beside, first)
    reduce(last, beside, lower)
    return factorise(last, lower)


def cholesky(H: Array, shift: float = 0.0, work: Array | None = None) -> Array:
    """The lower factor of H + shift I; a matrix that is indefinite by rounding gets what it lacks on its diagonal.

    Parameters
    ----------
    H : array (n, n), symmetric
    shift : float >= 0
    work : array (n, n) in Fortran order, which becomes the factor; fresh memory if not given

    Returns
    -------
    L : array (n, n) in Fortran order, of which only the lower triangle has a meaning

    Raises
    ------
    LinAlgError : where no jitter up to 1e-8 of the largest diagonal entry makes the matrix positive definite
    """
    n = len(H)
    size = float(H.diagonal().max(initial=0.0))
    factor = np.empty((n, n), order="F") if work is None else work
    for jitter in _JITTERS:
        factor.T[:] = H  # the transpose of an array in Fortran order is written row by row
        factor.T.flat[:: n + 1] += shift + jitter * size
        if factorise(factor):
            return factor
    raise linalg.LinAlgError("the matrix is not positive definite: it has negative eigenvalues beyond rounding")


def factor_of(A: Array, lower: bool = True) -> Array:
    """A itself, after ``factorise``; LinAlgError where A is not positive definite in floating point."""
    if not factorise(A, lower):
        raise linalg.LinAlgError("the matrix is not positive definite in floating point")
    return A


def solved(factor: Array, B: Array, lower: bool = True) -> Array:
    """A^{-1} B for the factor of A in one triangle and B of shape (n,) or (n, t), in the precision of the factor."""
    if not B.size:
        return np.zeros(B.shape, dtype=factor.dtype)
    solve = lapack.spotrs if factor.dtype == np.float32 else lapack.dpotrs
    return np.asarray(solve(factor, B, lower=lower)[0])


def invert(factor: Array) -> bool:
    """Replace the lower factor of A, in Fortran order and double precision, by the whole of A^{-1}; whether it is one.

    A^{-1} is symmetric, so the transpose of the array is the same matrix in C order.
    """
    if not inverted(factor):
        return False
    mirror(factor)
    return True


def _halved(A: Array, lower: bool) -> bool:
    if len(A) <= CHOLESKY_ROWS:
        return factored(A, lower)
    k = len(A) // 2
    first = A[:k, :k]
    beside = A[k:, :k] if lower else A[:k, k:].T
    last = A[k:, k:]
    if not _halved(first, lower):
        return False
    divide(beside, first if lower else first.T)
    reduce(last, beside, lower)
    return _halved(last, lower)
