"""Distances in groups of columns, as a bank from which scales inside a kernel are learned; no n x n array is stored.

    D_k = sum over the columns j of group k of |x_j - z_j|^q,    q = 2 or 1

Learning needs two passes, neither of which forms the matrices: the sum of distances with a scale s_k for each group,
and the inner products with a matrix,

    sum_k s_k D_k       q = 2: a product of the samples multiplied by sqrt(s);  q = 1: compiled
    <D_k, M>            q = 2: sum_ij M_ij (x_i^2 + z_j^2 - 2 x_i z_j), a product M Z;  q = 1: compiled
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._floats import ROUNDING
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.categories import NumericColumns, centre, weighted_squares
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import positions, samples_of_block
from multikernel.banks.threads import one_blas_thread, over_rows, over_tiles
from multikernel.tuning import PIECE_VALUES


@dataclass(frozen=True, eq=False, repr=False)
class ColumnDistancesBank(KernelBank):
    """sum over the columns j of group k of |x_j - z_j|^q for every group k.

    Parameters
    ----------
    X, Z : arrays (r, p) and (c, p), the row and the column samples; ``X is Z`` makes the bank square
    owner : int array (p,), the group of each column, from 0 to groups - 1; -1 for a column without a group
    groups : int, the number of groups
    columns : the conversion of samples to columns, with the degree q
    """

    X: Array
    Z: Array
    owner: Array
    groups: int
    columns: NumericColumns

    @classmethod
    def of(cls, X: Any, degree: int = 2, owner: Array | None = None) -> ColumnDistancesBank:
        """The bank of a training sample; by default every feature is a separate group.

        The indicator of missing numbers of a feature is a further group, after all others.

        Parameters
        ----------
        X : array or CSR matrix (n, p), or a table whose features of strings are categories, which are equal or not
        degree : 2 for squared differences, 1 for absolute ones
        owner : int array (p,), the group of each feature

        Raises
        ------
        ValueError : for another degree, where owner has not an entry for each feature, and where the distances in a
            feature are beyond double precision
        """
        if degree not in (1, 2):
            raise ValueError(f"distances of columns are of degree 1 or 2, got {degree!r}")
        columns = NumericColumns.of(X, degree)
        group_of_feature = np.arange(columns.p) if owner is None else np.asarray(owner)
        if group_of_feature.shape != (columns.p,):
            raise ValueError(
                f"owner must name the group of each of {columns.p} features, got shape {group_of_feature.shape}"
            )
        numbers = columns.numbers(X)
        groups = int(group_of_feature.max(initial=-1)) + 1
        holes = len(columns.holes)
        _check_range(numbers, columns)
        owner = group_of_feature[columns.features]
        owner[len(owner) - holes :] = groups + np.arange(holes)
        return cls(numbers, numbers, owner, groups + holes, columns)

    @property
    def degree(self) -> int:
        """The exponent q of the differences."""
        return self.columns.degree

    def by_feature(self, values: Array) -> Array:
        """Values of the groups, shape (..., groups), as values of the features of the samples: (..., p)."""
        features, first = np.unique(self.columns.features, return_index=True)
        owner = self.owner[first]
        spread = np.zeros((*values.shape[:-1], self.columns.p))
        spread[..., features[owner >= 0]] = values[..., owner[owner >= 0]]
        return spread

    @property
    def rounded(self) -> Array:
        """For each group the distance that rounding may cause where its columns are constant."""
        errors = ROUNDING * np.abs(self.Z).max(axis=0, initial=0.0)
        in_group = self.owner >= 0
        return np.bincount(self.owner[in_group], errors[in_group] ** self.degree, minlength=self.groups)

    @cached_property
    def centre(self) -> Array:
        """The medians of the column samples."""
        return centre(self.Z)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.X), len(self.Z)

    def __len__(self) -> int:
        return self.groups

    @property
    def square(self) -> bool:
        return self.X is self.Z

    @property
    def of_distances(self) -> bool:
        return True

    # -- passes --------------------------------------------------------------------------------------------------

    def tiles(self, rows: Index) -> Iterator[Array]:
        X = self.X[rows]
        for k in range(self.groups):
            D = np.zeros((len(X), len(self.Z)))
            for j in np.flatnonzero(self.owner == k):  # by differences: exactly 0 for samples that are the same
                differences = np.abs(X[:, j, None] - self.Z[:, j])
                D += differences if self.degree == 1 else differences * differences
            yield D

    def combine_all(self, W: Array) -> list[Gram]:
        return [DenseGram(self._scaled_sum(np.append(w, 0.0)[self.owner])) for w in np.asarray(W, dtype=float)]

    def inner(self, M: Array) -> Array:
        if self.degree == 2:
            by_column = self._inner_squares(M)
        else:
            by_column = self._inner_absolute(M)
        in_group = self.owner >= 0
        return np.bincount(self.owner[in_group], by_column[in_group], minlength=self.groups)

    def quads(self, A: Array) -> Array:
        self._check_square()
        form_of_columns = _form_squares if self.degree == 2 else _form_absolute
        in_group = self.owner >= 0
        by_column = [
            np.bincount(self.owner[in_group], form_of_columns(self.X, a)[in_group], minlength=self.groups) for a in A.T
        ]
        if by_column:
            return np.stack(by_column, axis=1)
        return np.zeros((self.groups, 0))

    def diagonal(self) -> Array:
        self._check_square()
        return np.zeros((self.groups, len(self.X)))

    # -- blocks, new samples -------------------------------------------------------------------------------------

    def block(self, rows: Index, columns: Index) -> ColumnDistancesBank:
        X, Z = samples_of_block(self.X, self.Z, rows, columns)
        return replace(self, X=X, Z=Z)

    def select(self, index: Index) -> KernelBank:
        chosen = positions(index, self.groups)
        # a column can have only one group, so columns of a group that is chosen twice are copied
        if len(np.unique(chosen)) < len(chosen):
            return self._repeated(chosen)
        number = np.full(self.groups + 1, -1)
        number[chosen] = np.arange(len(chosen))
        return replace(self, owner=number[self.owner], groups=len(chosen))

    def cross(self, X: Any) -> ColumnDistancesBank:
        return replace(self, X=self.columns.numbers(X))

    def self_values(self, X: Any) -> Array:
        return np.zeros((self.groups, X.shape[0]))

    # -- steps of passes -----------------------------------------------------------------------------------------

    def _repeated(self, chosen: Array) -> ColumnDistancesBank:
        columns_of_groups = [np.flatnonzero(self.owner == k) for k in chosen]
        owner = np.repeat(np.arange(len(chosen)), [len(members) for members in columns_of_groups])
        index = np.concatenate(columns_of_groups)
        Z = self.Z[:, index]
        return replace(self, X=Z if self.square else self.X[:, index], Z=Z, owner=owner, groups=len(chosen))

    def _scaled_sum(self, s: Array) -> Array:
        D = self._sum(s, self.X, self.Z)
        if self.square:
            np.fill_diagonal(D, 0.0)
        return D

    def _sum(self, s: Array, X: Array, Z: Array) -> Array:
        """sum_j s_j |x_j - z_j|^q; scales may be negative."""
        if self.degree == 2:
            return weighted_squares(s, X - self.centre, Z - self.centre)
        return _absolute(s[s != 0.0], X[:, s != 0.0], Z[:, s != 0.0])

    def _inner_squares(self, M: Array) -> Array:
        X = self.X - self.centre
        Z = self.Z - self.centre

        def sums_of_rows(rows: slice) -> tuple[Array, Array]:
            tile = M[rows]
            X_rows = X[rows]
            crossed = np.einsum("ij,ij->j", X_rows, tile @ Z)
            return np.einsum("i,ij,ij->j", tile.sum(axis=1), X_rows, X_rows) - 2.0 * crossed, tile.sum(axis=0)

        with one_blas_thread(0):
            sums_of_tiles = over_tiles(sums_of_rows, M.shape)
        if sums_of_tiles:
            column_sums = np.sum([columns for _, columns in sums_of_tiles], axis=0)
        else:
            column_sums = np.zeros(len(Z))
        return np.sum([sums for sums, _ in sums_of_tiles], axis=0) + np.einsum("i,ij,ij->j", column_sums, Z, Z)

    def _inner_absolute(self, M: Array) -> Array:
        from multikernel.banks import _columns

        Xt = np.ascontiguousarray(self.X.T)
        M = np.ascontiguousarray(M, dtype=np.float64)
        Zt = Xt if self.square else np.ascontiguousarray(self.Z.T)

        def sums_of_rows(rows: slice) -> Array:
            out = np.zeros(len(Xt))
            if self.square:
                _columns.inner_square(Xt, M, out, rows.start, rows.stop)
            else:
                _columns.inner(np.ascontiguousarray(Xt[:, rows]), Zt, M[rows], out)
            return out

        height = max(1, PIECE_VALUES // max(1, self.Z.size))
        if len(self.X):
            return np.sum(over_rows(sums_of_rows, len(self.X), height), axis=0)
        return np.zeros(len(Xt))


def _form_squares(X: Array, a: Array) -> Array:
    """sum_il a_i a_l (x_i - x_l)^2 of each column."""
    X = X - X[:1].sum(axis=0)  # a constant column is then exactly zero
    X = X - (X.mean(axis=0) if len(X) else 0.0)
    first = np.einsum("i,ij->j", a, X)
    second = np.einsum("i,ij,ij->j", a, X, X)
    return 2.0 * (a.sum() * second - first**2)


def _form_absolute(X: Array, a: Array) -> Array:
    """sum_il a_i a_l |x_i - x_l| of each column: for sorted x, 2 sum_i a_i (x_i sum_l<i a_l - sum_l<i a_l x_l)."""
    order = np.argsort(X, axis=0, kind="stable")
    x = np.take_along_axis(X, order, axis=0)
    b = a[order]
    # the shift does not change differences, but they lose fewer digits
    if len(x):
        x = x - x[len(x) // 2]
    preceding = np.cumsum(b, axis=0) - b
    preceding_weighted = np.cumsum(b * x, axis=0) - b * x
    return 2.0 * (b * (x * preceding - preceding_weighted)).sum(axis=0)


def _absolute(s: Array, X: Array, Z: Array) -> Array:
    """sum_j s_j |x_j - z_j|, with rows distributed among threads."""
    from multikernel.banks import _columns

    out = np.empty((len(X), len(Z)))
    Zt = np.ascontiguousarray(Z.T)

    def fill_rows(rows: slice) -> None:
        _columns.weighted_sum(np.ascontiguousarray(X[rows].T), Zt, s, out[rows])

    over_rows(fill_rows, len(X), max(1, PIECE_VALUES // max(1, Z.size)))
    return out


def _check_range(numbers: Array, columns: NumericColumns) -> None:
    with np.errstate(over="ignore"):
        if len(numbers):
            widths = np.ptp(numbers, axis=0)
        else:
            widths = np.zeros(numbers.shape[1])
    smallest = 1e-301 ** (1.0 / columns.degree)
    largest = 1e302 ** (1.0 / columns.degree)
    out_of_range = np.flatnonzero((widths > largest) | ((widths > 0.0) & (widths < smallest)))
    if len(out_of_range):
        j = out_of_range[0]
        raise ValueError(
            f"feature {columns.features[j]} varies by {widths[j]:.3g}, and differences to the power {columns.degree} "
            "are beyond double precision there: give it in another unit"
        )
