"""A kernel matrix of few features, F diag(w) H', which is not formed where operations on its features suffice."""

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
    """Whether q features of n samples are so few that a machine works on them instead of on rows of the matrix."""
    return n >= max(ROWS_SMALL, FEATURES_FEW * q) or n > max(ROWS_LARGE, 2 * q)


@dataclass(frozen=True, eq=False)
class FactorGram(Gram):
    """F diag(weights) H'.

    Parameters
    ----------
    F, H : arrays or CSR matrices (r, q) and (c, q); H is F itself on the training set. Arrays of another library stay
        on their device
    weights : array (q,)
    squares : Squares of F, shared with sums of other weights; None where they are not shared
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
            support = np.flatnonzero(self.weights)
            F = self.F if len(support) == self.F.shape[1] else self.F[:, support]
            G = F * np.sqrt(self.weights[support])
            K: Array = G @ G.T  # a product with its own transpose is exactly symmetric, and takes half the work
            return K
        return host(dense(scaled_columns(self.F, self.weights) @ self.H.T))

    def solve_shifted(self, shift: float, B: Array, on: Array | None = None, work: Array | None = None) -> Array:
        """By Woodbury's identity if q < n: (G G' + s I)^{-1} B = (B - G (s I + G'G)^{-1} G'B) / s, G = F W^{1/2}."""
        F = self.F if on is None else taken(self.F, on)
        n, q = F.shape
        if self._low_rank(n) and on is None and self._known_squares is not None:
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
        """``solve_shifted`` without a copy of the features: their squares are summed over the samples."""
        support = np.flatnonzero(self.weights)
        roots = np.sqrt(self.weights[support])
        if self._known_squares is None:
            small = np.asfortranarray(squared(self.F, support))
        else:
            small = np.asfortranarray(self._known_squares[np.ix_(support, support)].T)
        small *= roots
        small *= roots[:, None]
        small.flat[:: len(support) + 1] += shift
        factor = factor_of(small)
        roots = roots.reshape(-1, *(1,) * (B.ndim - 1))

        def by_features(R: Array) -> Array:
            coefficients = np.zeros((self.F.shape[1], *R.shape[1:]))
            coefficients[support] = roots * solved(factor, roots * product(self.F.T, R)[support])
            return (R - product(self.F, coefficients)) / shift

        X = by_features(B)
        # one step of refinement, since with a small shift the first solution has lost half of the digits
        return X + by_features(B - self.multiply(X) - shift * X)

    @property
    def _known_squares(self) -> Array | None:
        """F'F if it is known already, else None."""
        if self.squares is None:
            return None
        return self.squares.known

    @property
    def large(self) -> bool:
        """Whether the features are dense, and too many values to be copied."""
        return isinstance(self.F, np.ndarray) and self.F.size > LARGE_VALUES

    @property
    def by_rows(self) -> bool:
        """Whether it is square, with dense features stored sample by sample, and without negative weights."""
        stored = isinstance(self.F, np.ndarray) and self.F.flags.c_contiguous and self.F is self.H
        return bool(stored and (self.weights >= 0).all())

    def congruent(self, scale: Array) -> Gram:
        F = scaled_rows(self.F, scale)
        return FactorGram(F, self.weights, F)

    def spectrum(self) -> tuple[Array, Array]:
        """The spectrum from the singular values of F W^{1/2} where q <= n."""
        if not self._factored:
            return DenseGram(self.dense()).spectrum()
        G = host(dense(scaled_columns(self.F, np.sqrt(self.weights)))).astype(np.float64, copy=False)
        vectors, roots, _ = linalg.svd(G, full_matrices=False)
        return roots * roots, vectors

    @property
    def resolution(self) -> float:
        """With features, singular values are accurate to rounding, so eigenvalues are to the square of it."""
        resolution = super().resolution
        if self._factored:
            return resolution**2
        return resolution

    def hidden(self, V: Array) -> float:
        """With features little is hidden: F'V has a rounding error, which enters V'K V squared."""
        share = self.shape[0] * self._roundoff if self._factored else 1.0
        return share * super().hidden(V)

    @property
    def root(self) -> Array | None:
        support = np.flatnonzero(self.weights)
        is_thin = self.F is self.H and few_features(len(support), self.shape[0])
        if not is_thin or (self.weights < 0).any():
            return None
        G = scaled_columns(taken(self.F, support, axis=1), np.sqrt(self.weights[support]))
        return host(dense(G)).astype(np.float64, copy=False)

    def thin(self) -> ThinRoot | None:
        support = np.flatnonzero(self.weights)
        sparse = is_sparse(self.F)
        square = self.F is self.H
        if sparse or not square or len(support) >= self.shape[0] or (self.weights < 0).any():
            return None
        return ThinRoot(self.squares or Squares(host(self.F)), support, np.sqrt(self.weights[support]))

    @property
    def _factored(self) -> bool:
        """Whether K has a root F W^{1/2} with no more columns than rows, whose singular values give its spectrum."""
        return self._low_rank(self.F.shape[0] + 1)

    def _low_rank(self, n: int) -> bool:
        """Whether K has a root F W^{1/2} with fewer columns than its n rows."""
        return bool(self.F.shape[1] < n and (self.weights >= 0).all())


def _lower_square(G: Any) -> Array:
    """G'G in the lower triangle; the entries above it are undefined."""
    if is_sparse(G):
        return dense(G.T @ G).astype(np.float64, order="F")
    if not G.size:
        return np.zeros((G.shape[1], G.shape[1]), order="F")
    by_rows = G.flags.c_contiguous
    return blas.dsyrk(1.0, G.T if by_rows else G, trans=not by_rows, lower=1)
