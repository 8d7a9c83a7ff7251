"""Orthonormal coordinates of the samples that features span: F = Q G, with Q'Q = I and G with few rows.

They are computed by an orthogonal factorisation, which loses no digits; or, where that would take long or F should not
be copied, by a pivoted Cholesky factorisation of F'F with columns of length one. Then Q = F T is not formed, and
directions of less than 1e-6 of a feature's length, which rounding of F'F hides, are left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from scipy import linalg

from multikernel._arrays import foreign, host
from multikernel._floats import EPS
from multikernel._linalg import product, squared
from multikernel._typing import Array
from multikernel.banks.factor import FactorBank
from multikernel.kernels.samples import dense
from multikernel.machines.ridge.spectrum import beyond, remainder
from multikernel.statistics import pivoted
from multikernel.tuning import BASIS_OPERATIONS, KEPT_BYTES

_CACHE: WeakKeyDictionary[FactorBank, tuple[Array, Array | None, FeatureBasis, FactorBank]] = WeakKeyDictionary()


class FeatureBasis(ABC):
    """Q by its products, because it is not always formed."""

    @abstractmethod
    def coordinates(self, Y: Array) -> Array:
        """Q'Y for Y of shape (n, t)."""

    @abstractmethod
    def samples(self, C: Array) -> Array:
        """Q C for C of shape (r, t)."""

    @abstractmethod
    def beyond(self, Y: Array) -> Array:
        """Y - Q Q'Y, zero where it is rounding."""


@dataclass(frozen=True, eq=False)
class Orthonormal(FeatureBasis):
    """Q as an array (n, r)."""

    Q: Array

    def coordinates(self, Y: Array) -> Array:
        return product(self.Q.T, Y)

    def samples(self, C: Array) -> Array:
        return product(self.Q, C)

    def beyond(self, Y: Array) -> Array:
        return beyond(self.Q, Y)


@dataclass(frozen=True, eq=False)
class OfFeatures(FeatureBasis):
    """Q = diag(root) F diag(scale) P R^{-1}.

    Parameters
    ----------
    F : array (n, q)
    scale : array (q,)
    root : array (n, 1); None for 1
    chosen : int array (r,), the columns that P takes
    R : array (r, r), upper triangular
    """

    F: Array
    scale: Array
    root: Array | None
    chosen: Array
    R: Array

    def coordinates(self, Y: Array) -> Array:
        inner = product(self.F.T, Y if self.root is None else self.root * Y)[self.chosen]
        return linalg.solve_triangular(self.R, self.scale[self.chosen, None] * inner, trans=1, check_finite=False)

    def samples(self, C: Array) -> Array:
        inner = np.zeros((self.F.shape[1], C.shape[1]))
        solved = linalg.solve_triangular(self.R, C, check_finite=False)
        inner[self.chosen] = self.scale[self.chosen, None] * solved
        values = product(self.F, inner)
        if self.root is None:
            return values
        return self.root * values

    def beyond(self, Y: Array) -> Array:
        return remainder(lambda P: self.samples(self.coordinates(P)), Y)


def in_coordinates(bank: FactorBank, scale: Array, root: Array | None) -> tuple[FeatureBasis, FactorBank]:
    """Q, and the bank of G: computed once for successive problems on a bank, such as those of classes or of a path.

    Parameters
    ----------
    bank : square FactorBank; the results are cached as long as it exists, unless Q is formed and large
    scale, root : as in ``basis_of``, for the features of the bank
    """
    entry = _CACHE.get(bank)
    if entry is None or not (np.array_equal(entry[0], scale) and _equal(entry[1], root)):
        basis, G = basis_of(dense(bank.F), scale, root)
        entry = scale, root, basis, replace(bank, F=G, H=G)
        if not (isinstance(basis, Orthonormal) and basis.Q.nbytes > KEPT_BYTES):
            _CACHE[bank] = entry
    return entry[2:]


def _equal(one: Array | None, other: Array | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def basis_of(F: Array, scale: Array, root: Array | None) -> tuple[FeatureBasis, Array]:
    """Q and G with diag(root) F diag(scale) = Q G; columns of G in the order of those of F.

    Parameters
    ----------
    F : dense array (n, q), in single or double precision; an array of another library is copied only for an orthogonal
        factorisation
    scale : array (q,) >= 0
    root : array (n, 1); None for 1
    """
    n, q = F.shape
    if (foreign(F) or F.dtype == np.float64) and float(n) * q * q <= BASIS_OPERATIONS:
        F = host(F)
        scaled = F if (scale == 1.0).all() else F * scale
        return _orthogonal(scaled if root is None else root * scaled)
    M = squared(F, weight=None if root is None else root[:, 0] ** 2)
    M *= scale
    M *= scale[:, None]
    chosen, G = pivoted(M)
    return OfFeatures(F, scale, root, chosen, np.triu(G[:, chosen])), G


def _orthogonal(F: Array) -> tuple[Orthonormal, Array]:
    """Q of orthonormal columns and G with F = Q G.

    G is triangular up to the order of its columns, which are processed in the order of their sizes, large ones first:
    products with large columns are then not affected by the rounding of small ones.
    """
    Q, R, order = linalg.qr(F, mode="economic", pivoting=True, check_finite=False)
    sizes = np.linalg.norm(F, axis=0)[order]
    independent = np.flatnonzero(np.abs(np.diagonal(R)) > len(F) * EPS * sizes)
    rank = int(independent[-1]) + 1 if len(independent) else 0
    G = np.empty((rank, F.shape[1]))
    G[:, order] = R[:rank]
    return Orthonormal(np.asfortranarray(Q[:, :rank])), G
