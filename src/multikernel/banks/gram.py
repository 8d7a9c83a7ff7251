"""A combined kernel matrix, as an operator that makes use of its structure.

    DenseGram    an array
    ArrayGram    an array of another library, on its device (array_bank.py)
    FactorGram   F diag(w) H', with F of shape (r, q) and H of shape (c, q): its cost depends on q (factor_gram.py)
    PowersGram   a polynomial of one matrix that is never stored (banks/powers_gram.py)

A Gram on the training set is square and symmetric; one of new samples against the training set is rectangular.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from multikernel._floats import EPS
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks.thin_root import ThinRoot
from multikernel.banks.threads import over_rows, over_tiles
from multikernel.numerics.cholesky import factor_of, factorise, solved
from multikernel.tuning import ROW_TILE, TILE_VALUES

_HIDDEN = 4.0  # times unit roundoff and largest entry: a bound of what rounding of the entries adds to a form


@dataclass(frozen=True, eq=False)
class Factor:
    """The factorisation K + shift I = L L', for many solves.

    Parameters
    ----------
    solve : B -> (L L')^{-1} B for B of shape (n, t)
    half : M -> L^{-1} M; M in Fortran order may be overwritten
    """

    solve: Callable[[Array], Array]
    half: Callable[[Array], Array]


class Gram(ABC):
    """sum_k w_k K_k as an operator."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @abstractmethod
    def multiply(self, V: Array) -> Array:
        """K V for V of shape (c,) or (c, t)."""

    def multiply_sparse(self, v: Array) -> Array:
        """K v of a square Gram for v of shape (n,), where a stored matrix is read only in the rows of its nonzeros."""
        return self.multiply(v)

    @abstractmethod
    def rows(self, index: Any) -> Array:
        """The rows of the index, dense."""

    @abstractmethod
    def diagonal(self) -> Array:
        """K_ii of a square Gram, shape (n,)."""

    @abstractmethod
    def dense(self) -> Array:
        """The full matrix, which must not be written into, since it may be the array of the Gram."""

    @abstractmethod
    def solve_shifted(self, shift: float, B: Array, on: Array | None = None, work: Array | None = None) -> Array:
        """(K + shift I)^{-1} B for a square positive semi-definite K and shift > 0.

        Parameters
        ----------
        shift : float > 0
        B : array (n,) or (n, t)
        on : int array of samples S; the system is then (K_SS + shift I)^{-1} B, where B has len(on) rows
        work : flat array of at least n^2 values (or len(on)^2), used as workspace, so that repeated solves need no new
            memory; a float32 workspace makes the factorisation float32

        Raises
        ------
        LinAlgError : where the matrix is not positive definite in floating point
        """

    def fresh(self) -> Any:
        """The full matrix in double precision as a new array, of the library that stores it."""
        return np.array(self.dense(), dtype=np.float64, order="C")

    def factored(self, shift: float, work: Array) -> Factor | None:
        """The factor of K + shift I; None where that is not positive definite in floating point.

        Parameters
        ----------
        shift : float > 0
        work : array (n, n) in Fortran order, which is overwritten
        """
        work.T[:] = self.dense()
        work.T.flat[:: len(work) + 1] += shift
        if not factorise(work):
            return None
        return Factor(
            lambda B: solved(work, B),
            lambda M: np.asarray(blas.dtrsm(1.0, work, M, lower=1, overwrite_b=1)),
        )

    @abstractmethod
    def congruent(self, scale: Array) -> Gram:
        """diag(scale) K diag(scale) of a square Gram."""

    @abstractmethod
    def spectrum(self) -> tuple[Array, Array]:
        """l of shape (r,) and U of shape (n, r) with orthonormal columns and K = U diag(l) U', of a square Gram."""

    @property
    def resolution(self) -> float:
        """The share of the largest eigenvalue below which others are rounding errors of the decomposition."""
        return self.shape[0] * EPS

    def hidden(self, V: Array) -> float:
        """A bound of the rounding error of tr V'K V from rounded entries of K and V, for V of shape (n,) or (n, t)."""
        return _HIDDEN * self._roundoff * float(self.diagonal().max(initial=0.0)) * float(np.vdot(V, V))

    @property
    def _roundoff(self) -> float:
        return float(np.finfo(self.diagonal().dtype).eps)

    @property
    def stored(self) -> bool:
        """Whether the matrix or factors of it are in memory; otherwise its rows are computed on demand."""
        return True

    @property
    def root(self) -> Array | None:
        """G of shape (n, q) with K = G G', where it has so few columns that computing with it is faster; else None."""
        return None

    def thin(self) -> ThinRoot | None:
        """G with K = G G' and fewer columns than rows, where a Gram of dense features has such a root; else None."""
        return None

    def principal(self, index: Array) -> Gram:
        """The Gram of some samples of a square Gram, for many passes over them."""
        return DenseGram(np.ascontiguousarray(self.rows(index)[:, index]))


@dataclass(frozen=True, eq=False)
class DenseGram(Gram):
    """A stored matrix.

    Parameters
    ----------
    K : array (r, c), float64 or float32
    """

    K: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.K.shape

    def multiply(self, V: Array) -> Array:
        if V.ndim == 2 and V.shape[1] == 1:
            return self.multiply(V[:, 0])[:, None]
        # sums are in double precision, since certificates are differences of sums
        if V.ndim == 1 and self.K.dtype == np.float32:
            from multikernel.banks import _dense

            sums = np.zeros(len(self.K))
            v = V.astype(np.float64)
            over_rows(lambda r: _dense.add_product(self.K[r], v, sums[r]), len(sums), 64)
            return sums
        return product(self.K, V)

    def multiply_sparse(self, v: Array) -> Array:
        from multikernel.banks import _dense

        nonzero = np.flatnonzero(v)
        values = v[nonzero].astype(np.float64)
        n = len(self.K)
        columns = ROW_TILE if n * len(nonzero) > TILE_VALUES else n  # a smaller product is not worth several threads
        sums = np.empty(n)
        over_rows(lambda c: _dense.combine_rows(self.K, nonzero, values, sums, c.start, c.stop), n, columns)
        return sums

    def rows(self, index: Any) -> Array:
        return self.K[index]

    def diagonal(self) -> Array:
        return np.diagonal(self.K)

    def dense(self) -> Array:
        return self.K

    def solve_shifted(self, shift: float, B: Array, on: Array | None = None, work: Array | None = None) -> Array:
        n = len(self.K) if on is None else len(on)
        shifted = (np.empty(n * n) if work is None else work[: n * n]).reshape(n, n)
        self._lower_triangle(shifted, on)
        shifted.flat[:: n + 1] += shift
        # the transpose is Fortran-ordered, so it is factorised in place; only the lower triangle of ``shifted`` is read
        return solved(factor_of(shifted.T, lower=False), B, lower=False)

    def _lower_triangle(self, out: Array, on: Array | None) -> None:
        """Writes the lower triangle of K, or of K_SS for S = ``on`` by compiled code, which takes long to load."""

        def copy_rows(rows: slice) -> None:
            out[rows, : rows.stop] = self.K[rows, : rows.stop]

        def gather_rows(rows: slice) -> None:
            from multikernel.banks import _dense

            _dense.lower_triangle(self.K, on, out, rows.start, rows.stop)

        over_tiles(copy_rows if on is None else gather_rows, out.shape)

    def congruent(self, scale: Array) -> Gram:
        return DenseGram(scale[:, None] * self.K * scale)

    def spectrum(self) -> tuple[Array, Array]:
        values, vectors = linalg.eigh(self.K.astype(np.float64, copy=False), driver="evd")
        return values, vectors
