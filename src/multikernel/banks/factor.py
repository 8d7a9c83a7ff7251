"""Kernels given by explicit features: K_k = F_k H_k', where F_k are some columns of F.

With one column each they are rank-one kernels, one for each feature. Nothing larger than X is ever stored, and

    sum_k w_k K_k = F diag(w) H'      u'K_k u = |F_k'u|^2      <K_k, M> = colsum(F o (M H)) over the columns of k
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._arrays import foreign, host, in_double, is_sparse, like, namespace, taken
from multikernel._linalg import as_columns, product, squared
from multikernel._typing import Array, Index
from multikernel._work import Work
from multikernel.banks.base import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.factor_gram import FactorGram, few_features
from multikernel.banks.gram import Gram
from multikernel.banks.indices import positions, samples_of_block, unit_roundoff
from multikernel.banks.rotation import Rotation
from multikernel.banks.thin_root import Squares
from multikernel.banks.threads import over_rows
from multikernel.kernels.samples import as_floats, dense, scaled_rows
from multikernel.tuning import BLAS_OPERATION, PASS_ENTRY, PIECE_VALUES


@dataclass(frozen=True, eq=False, repr=False)
class FactorBank(KernelBank):
    """K_k = F_k H_k' with consecutive columns of F (r, q) and H (c, q), dense or sparse.

    Parameters
    ----------
    F, H : features of the row and of the column samples; ``F is H`` makes the bank square. Arrays of another library
        stay on their device: products are computed there, and returned as NumPy arrays
    sizes : integer array (m,), the number of columns of each kernel; their sum is q
    features : integer array (q,), the columns of a data set that make F, for new samples
    """

    F: Any
    H: Any
    sizes: Array
    features: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.F.shape[0], self.H.shape[0]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def square(self) -> bool:
        return self.F is self.H

    @property
    def rounding(self) -> float:
        if foreign(self.F):
            return 2.0**-53
        return unit_roundoff(self.F.dtype)

    @property
    def n_features(self) -> int:
        return int(self.F.shape[1])

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        n, q = self.F.shape
        values = float(getattr(self.F, "nnz", n * q))
        # passes go over the features if they are few, and otherwise over a matrix that is computed from them
        if few_features(q, n):
            sweep = Work(memory=2.0 * PASS_ENTRY * values)
        else:
            sweep = Work(algebra=2.0 * BLAS_OPERATION * values * n)
        return BankCost(len(self), n, q, sweep=sweep)

    def by_features(self) -> tuple[FactorBank, Array]:
        return self, np.ones(self.n_features)

    def tiles(self, rows: Index) -> Iterator[Array]:
        F = taken(self.F, rows)
        return (host(dense(F[:, columns] @ self.H[:, columns].T)) for columns in self._columns_of_kernels)

    @property
    def _columns_of_kernels(self) -> list[slice]:
        """The columns of each kernel."""
        ends = np.cumsum(self.sizes)
        return [slice(end - size, end) for size, end in zip(self.sizes, ends, strict=True)]

    def combine_all(self, W: Array) -> list[Gram]:
        squares = None
        if self.square and isinstance(self.F, np.ndarray):
            squares = self._squares
        return [FactorGram(self.F, np.repeat(np.asarray(w, dtype=float), self.sizes), self.H, squares) for w in W]

    @cached_property
    def _squares(self) -> Squares:
        """F'F, which all sums of these kernels share."""
        return Squares(self.F)

    def apply(self, C: Array) -> Array:
        inner = product(self.H.T, C)
        if (self.sizes == 1).all():  # all kernels at once, since a loop over thousands of sparse columns takes seconds
            return host(dense(self.F.T))[:, :, None] * np.asarray(inner)[:, None, :]
        products = np.empty((len(self), self.shape[0], C.shape[1]))

        def rows(r: slice) -> None:
            F = taken(self.F, r)
            for k, columns in enumerate(self._columns_of_kernels):
                if foreign(F):
                    products[k, r] = product(F[:, columns], inner[columns])
                else:
                    products[k, r] = F[:, columns] @ inner[columns]

        over_rows(rows, self.shape[0], self._height)
        return products

    @property
    def _height(self) -> int:
        """The number of samples whose features are copied at a time."""
        return max(1, PIECE_VALUES // max(1, self.n_features))

    def quads(self, A: Array) -> Array:
        self._check_square()
        return self._by_kernel(product(self.F.T, A) ** 2)

    def inner(self, M: Array) -> Array:
        if foreign(self.F):
            return self._by_kernel(host(namespace(self.F).sum(self.F * (like(self.F, M) @ self.H), axis=0)))
        MH = (self.H.T @ M.T).T
        if is_sparse(self.F):
            products = self.F.multiply(MH).sum(axis=0)
        else:
            products = (self.F * MH).sum(axis=0)
        return self._by_kernel(np.asarray(products).ravel())

    def _by_kernel(self, values: Array) -> Array:
        """Sums over the columns of each kernel, along the first axis."""
        if (self.sizes == 1).all():
            return values
        return np.add.reduceat(values, np.cumsum(self.sizes) - self.sizes, axis=0)

    def diagonal(self) -> Array:
        self._check_square()
        return self._self_values(self.F)

    def _self_values(self, F: Any) -> Array:
        if foreign(F):
            sums = [
                host(namespace(F).sum(in_double(F[:, columns]) ** 2, axis=1)) for columns in self._columns_of_kernels
            ]
            if sums:
                return np.stack(sums)
            return np.zeros((0, F.shape[0]))
        if is_sparse(F):
            return self._by_kernel(F.multiply(F).toarray().T)
        values = np.empty((len(self), len(F)))

        def rows(r: slice) -> None:
            F_rows = F[r].astype(np.float64)
            values[:, r] = self._by_kernel((F_rows * F_rows).T)

        over_rows(rows, len(F), self._height)
        return values

    def traces(self) -> Array:
        self._check_square()
        if foreign(self.F):
            return self._by_kernel(host(namespace(self.F).sum(in_double(self.F) ** 2, axis=0)))
        if is_sparse(self.F):
            return self._by_kernel(np.asarray(self.F.multiply(self.F).sum(axis=0)).ravel())
        return self._by_kernel(np.einsum("ij,ij->j", self.F, self.F, dtype=np.float64))

    def pairs(self, N: Array | None = None) -> Array:
        """<F_j H_j', F_k H_k'> = <F_j'F_k, H_j'H_k>."""
        if N is not None:
            return super().pairs(N)
        products_of_F = squared(self.F) if foreign(self.F) else dense(self.F.T @ self.F)
        if self.square:
            products_of_H = products_of_F
        else:
            if foreign(self.H):
                products_of_H = squared(self.H)
            else:
                products_of_H = dense(self.H.T @ self.H)
        return self._by_kernel(self._by_kernel(products_of_F * products_of_H).T)

    def pair_forms(self, A: Array) -> Array:
        """tr A'(K_j o K_k)A = sum_t |F_j' diag(a_t) F_k|^2."""
        self._check_square()
        forms = np.zeros((self.F.shape[1], self.F.shape[1]))
        for a in as_columns(A).T:
            forms += host(dense(self.F.T @ scaled_rows(self.F, a))) ** 2
        return self._by_kernel(self._by_kernel(forms).T)

    def hadamard_apply(self, P: Gram, C: Array) -> Array:
        """(P o f h') c = f o P(h o c): no array larger than the features and the result is formed."""
        return np.stack([self._by_kernel(self._images(P, c)) for c in C.T], axis=2)

    def _images(self, P: Gram, c: Array) -> Array:
        """(P o f h') c for every column: shape (q, r)."""
        scaled = host(scaled_rows(self.H, c))
        if is_sparse(scaled):
            return dense(self.F.multiply((scaled.T @ P.dense().T).T)).T
        return np.asarray((host(self.F) * P.multiply(scaled)).T)

    def rotation(self, Y: Array, groups: Sequence[Array] | None = None) -> Rotation | None:
        n, q = self.F.shape
        if groups is None:
            groups = [np.arange(n)]
        if not self.square or 2 * (q + Y.shape[1]) * len(groups) > n:  # before sparse features are made dense
            return None
        return Rotation.of(np.hstack([host(dense(self.F)), Y]), groups)

    def rotated(self, rotation: Rotation) -> FactorBank:
        F = rotation.coordinates(host(dense(self.F)))
        return replace(self, F=F, H=F)

    def about_mean(self, weight: Array | None = None) -> FactorBank | None:
        c, q = self.H.shape
        if 2 * q > c:
            return None
        if foreign(self.H):
            on_host = replace(self, F=host(self.F), H=host(self.H))
            if self.square:
                on_host = replace(on_host, F=on_host.H)
            return on_host.about_mean(weight)
        H = dense(self.H)
        root = np.ones(c) if weight is None else np.sqrt(weight)
        mean = np.average(H, axis=0, weights=weight)
        H = root[:, None] * (H - mean)
        F = H if self.square else dense(self.F) - mean
        return replace(self, F=F, H=H)

    def weighted(self, weight: Array) -> FactorBank:
        if not foreign(self.F):
            weight = weight.astype(self.F.dtype, copy=False)
        F = scaled_rows(self.F, weight)
        return replace(self, F=F, H=F)

    def block(self, rows: Index, columns: Index) -> FactorBank:
        F, H = samples_of_block(self.F, self.H, rows, columns)
        return replace(self, F=F, H=H)

    def select(self, index: Index) -> FactorBank:
        chosen = positions(index, len(self))
        if np.array_equal(chosen, np.arange(len(self))):
            return self
        columns = self.columns_of(chosen)
        F = taken(self.F, columns, axis=1)
        H = F if self.square else taken(self.H, columns, axis=1)
        return replace(self, F=F, H=H, sizes=self.sizes[chosen], features=self.features[columns])

    def columns_of(self, chosen: Array) -> Array:
        """The columns of F that belong to some kernels, by position."""
        starts = np.cumsum(self.sizes) - self.sizes
        return np.concatenate([np.arange(starts[k], starts[k] + self.sizes[k]) for k in chosen] or [np.arange(0)])

    def unrounded(self) -> FactorBank:
        """The bank with features in double precision; kernels are defined by them, so no matrix is needed."""
        if foreign(self.F) or self.F.dtype == np.float64 or not self.square:
            return self
        return self.exact()

    def exact(self, index: Index = slice(None)) -> FactorBank:
        chosen = self.select(index)
        if foreign(chosen.F) or chosen.F.dtype == chosen.H.dtype == np.float64:
            return chosen
        F = chosen.F.astype(np.float64)
        H = F if self.square else chosen.H.astype(np.float64)
        return replace(chosen, F=F, H=H)

    def cross(self, X: Any) -> FactorBank:
        X = like(self.H, X) if foreign(self.H) else as_floats(X)
        return replace(self, F=taken(X, self.features, axis=1))

    def self_values(self, X: Any) -> Array:
        if foreign(self.H):
            X = like(self.H, X)
        return self._self_values(taken(X, self.features, axis=1))
