"""A kernel matrix of few features, F diag(w) H', which is never formed where its features are enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from multikernel._arrays import foreign, host, is_sparse, namespace, taken
from multikernel._linalg import product, squared
from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.thin_root import Squares, ThinRoot
from multikernel.banks.weighted_features import WeightedFeatures
from multikernel.kernels.samples import dense, scaled_columns, scaled_rows
from multikernel.numerics.cholesky import factor_of, solved
from multikernel.tuning import FEATURES_FEW, LARGE_VALUES, ROWS_LARGE, ROWS_SMALL


def few_features(q: int, n: int) -> bool:
    """Whether q features of n samples are so few that a machine takes them in place of the rows of the matrix."""
    return n >= max(ROWS_SMALL, FEATURES_FEW * q) or n > max(ROWS_LARGE, 2 * q)


@dataclass(frozen=True, eq=False)
class FactorGram(Gram):
    """F diag(weights) H'.

    Parameters
    ----------
    F, H : arrays or CSR matrices (r, q) and (c, q); H is F itself on the training set. Arrays of another library stay
        where they are
    weights : array (q,)
    squares : Squares of F, which sums of other weights know as well; None where each has its own
    """

    F: Any
    weights: Array
    H: Any
    squares: Squares | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.F.shape[0], self.H.shape[0]

    def multiply(self, V: Array) -> Array:
        inner = product(self.H.T, V)
        return product(self.F, inner * (self.weights if V.ndim == 1 else self.weights[:, None]))

    def rows(self, index: Any) -> Array:
        return host(dense(scaled_columns(taken(self.F, index), self.weights) @ self.H.T))

    def diagonal(self) -> Array:
        if foreign(self.F):
            return host(namespace(self.F).sum(self.F * scaled_columns(self.F, self.weights), axis=1))
        if is_sparse(self.F):
            return np.asarray(self.F.multiply(self.F) @ self.weights)
        if self.large and self.F.flags.c_contiguous:
            return WeightedFeatures(self.F, self.weights).diagonal()
        return np.einsum("ij,ij,j->i", self.F, self.F, self.weights, dtype=np.float64)

    def dense(self) -> Array:
        r, c = self.shape
        check_memory(
            float(r) * c,
            f"a kernel matrix of {r} and {c} samples",
            "take fewer samples, or a method that works on the features of linear kernels (all but hierarchical kernel "
            "learning and products of many kernels do)",
        )
        if isinstance(self.F, np.ndarray) and self.F is self.H and (self.weights >= 0).all():
            kept = np.flatnonzero(self.weights)
            some = self.F if len(kept) == self.F.shape[1] else self.F[:, kept]
            G = some * np.sqrt(self.weights[kept])
            K: Array = G @ G.T  # a product with its own transpose is symmetric, and half the work
            return K
        return host(dense(scaled_columns(self.F, self.weights) @ self.H.T))

    def solve_shifted(self, shift: float, B: Array, on: Array | None = None, work: Array | None = None) -> Array:
        """By Woodbury where q < n: (G G' + s I)^{-1} B = (B - G (s I + G'G)^{-1} G'B) / s with G = F W^{1/2}."""
        F = self.F if on is None else taken(self.F, on)
        n, q = F.shape
        if self._low_rank(n) and on is None and self._known is not None:
            return self._solved_in_features(shift, B)
        if self._low_rank(n) and (foreign(F) or (on is None and self.large)):
            return FactorGram(F, self.weights, F)._solved_in_features(shift, B)
        F = host(F)
        if not self._low_rank(n):
            return DenseGram(dense(scaled_columns(F, self.weights) @ F.T)).solve_shifted(shift, B)
        G = scaled_columns(F, np.sqrt(self.weights))
        small = _lower_square(G)
        small.flat[:: q + 1] += shift
        factor = factor_of(small)
        return (B - product(G, solved(factor, product(G.T, B)))) / shift

    def _solved_in_features(self, shift: float, B: Array) -> Array:
        """The same where a copy of the features would be large: their squares are summed up over the samples."""
        kept = np.flatnonzero(self.weights)
        roots = np.sqrt(self.weights[kept])
        if self._known is None:
            small = np.asfortranarray(squared(self.F, kept))
        else:
            small = np.asfortranarray(self._known[np.ix_(kept, kept)].T)
        small *= roots
        small *= roots[:, None]
        small.flat[:: len(kept) + 1] += shift
        factor = factor_of(small)
        roots = roots.reshape(-1, *(1,) * (B.ndim - 1))

        def by_features(R: Array) -> Array:
            inside = np.zeros((self.F.shape[1], *R.shape[1:]))
            inside[kept] = roots * solved(factor, roots * product(self.F.T, R)[kept])
            return (R - product(self.F, inside)) / shift

        X = by_features(B)
        return X + by_features(
            B - self.multiply(X) - shift * X
        )  # with a small shift the first has lost half of the digits

    @property
    def _known(self) -> Array | None:
        """F'F where it has been summed up."""
        if self.squares is None:
            return None
        return self.squares.known

    @property
    def large(self) -> bool:
        """Whether the features, dense ones, are so many values that they are not copied."""
        return isinstance(self.F, np.ndarray) and self.F.size > LARGE_VALUES

    @property
    def by_rows(self) -> bool:
        """Whether it is square, of dense features stored sample by sample, and of no negative weights."""
        stored = isinstance(self.F, np.ndarray) and self.F.flags.c_contiguous and self.F is self.H
        return bool(stored and (self.weights >= 0).all())

    def congruent(self, scale: Array) -> Gram:
        F = scaled_rows(self.F, scale)
        return FactorGram(F, self.weights, F)

    def spectrum(self) -> tuple[Array, Array]:
        """From the singular values of F W^{1/2} where q <= n."""
        if not self._factored:
            return DenseGram(self.dense()).spectrum()
        G = host(dense(scaled_columns(self.F, np.sqrt(self.weights)))).astype(np.float64, copy=False)
        vectors, roots, _ = linalg.svd(G, full_matrices=False)
        return roots * roots, vectors

    @property
    def resolution(self) -> float:
        """Singular values of the features are resolved to rounding, so that their squares are to its square."""
        resolution = super().resolution
        if self._factored:
            return resolution**2
        return resolution

    def hidden(self, V: Array) -> float:
        """Little where K V is made of features: what is orthogonal to them is so up to rounding, and that squared."""
        part = self.shape[0] * self._roundoff if self._factored else 1.0
        return part * super().hidden(V)

    @property
    def root(self) -> Array | None:
        kept = np.flatnonzero(self.weights)
        few = self.F is self.H and few_features(len(kept), self.shape[0])
        if not few or (self.weights < 0).any():
            return None
        G = scaled_columns(taken(self.F, kept, axis=1), np.sqrt(self.weights[kept]))
        return host(dense(G)).astype(np.float64, copy=False)

    def thin(self) -> ThinRoot | None:
        kept = np.flatnonzero(self.weights)
        sparse = is_sparse(self.F)
        square = self.F is self.H
        if sparse or not square or len(kept) >= self.shape[0] or (self.weights < 0).any():
            return None
        return ThinRoot(self.squares or Squares(host(self.F)), kept, np.sqrt(self.weights[kept]))

    @property
    def _factored(self) -> bool:
        """Whether K has a root F W^{1/2} with no more columns than rows: its singular values give small eigenvalues."""
        return self._low_rank(self.F.shape[0] + 1)

    def _low_rank(self, n: int) -> bool:
        """Whether K has a root F W^{1/2} with fewer columns than its n rows."""
        return bool(self.F.shape[1] < n and (self.weights >= 0).all())


def _lower_square(G: Any) -> Array:
    """G'G in the lower triangle; what stands above it has no meaning."""
    if is_sparse(G):
        return dense(G.T @ G).astype(np.float64, order="F")
    if not G.size:
        return np.zeros((G.shape[1], G.shape[1]), order="F")
    by_rows = G.flags.c_contiguous
    return blas.dsyrk(1.0, G.T if by_rows else G, trans=not by_rows, lower=1)
