"""Distances in groups of columns, as a bank: what scales inside a kernel are learned on. Nothing n x n is stored.

    D_k = sum over the columns j of group k of |x_j - z_j|^q,    q = 2 or 1

Learning needs two passes, and neither forms the matrices: the sum of distances with a scale for each group,

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
    owner : int array (p,), the group of each column, from 0 to groups - 1; -1 for a column of none
    groups : int
    columns : how samples become columns, and the degree q
    """

    X: Array
    Z: Array
    owner: Array
    groups: int
    columns: NumericColumns

    @classmethod
    def of(cls, X: Any, degree: int = 2, owner: Array | None = None) -> ColumnDistancesBank:
        """On a training sample; every feature is a group of its own if ``owner`` is not given.

        Missing numbers of a feature are a group of their own, after all others.

        Parameters
        ----------
        X : array or CSR matrix (n, p), or a table whose features of strings are categories: the same or not
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
        own = np.arange(columns.p) if owner is None else np.asarray(owner)
        if own.shape != (columns.p,):
            raise ValueError(f"owner must name the group of each of {columns.p} features, got shape {own.shape}")
        numbers = columns.numbers(X)
        groups = int(own.max(initial=-1)) + 1
        holes = len(columns.holes)
        _check_range(numbers, columns)
        owner = own[columns.features]
        owner[len(owner) - holes :] = groups + np.arange(holes)
        return cls(numbers, numbers, owner, groups + holes, columns)

    @property
    def degree(self) -> int:
        """q."""
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
        """What rounding may make of each group's distance where its columns are constant; units differ by column."""
        errors = ROUNDING * np.abs(self.Z).max(axis=0, initial=0.0)
        used = self.owner >= 0
        return np.bincount(self.owner[used], errors[used] ** self.degree, minlength=self.groups)

    @cached_property
    def centre(self) -> Array:
        """Where the column samples are."""
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
                apart = np.abs(X[:, j, None] - self.Z[:, j])
                D += apart if self.degree == 1 else apart * apart
            yield D

    def combine_all(self, W: Array) -> list[Gram]:
        return [DenseGram(self._whole(np.append(w, 0.0)[self.owner])) for w in np.asarray(W, dtype=float)]

    def inner(self, M: Array) -> Array:
        if self.degree == 2:
            by_column = self._inner_squares(M)
        else:
            by_column = self._inner_absolute(M)
        used = self.owner >= 0
        return np.bincount(self.owner[used], by_column[used], minlength=self.groups)

    def quads(self, A: Array) -> Array:
        self._check_square()
        form = _form_squares if self.degree == 2 else _form_absolute
        used = self.owner >= 0
        by_column = [np.bincount(self.owner[used], form(self.X, a)[used], minlength=self.groups) for a in A.T]
        if by_column:
            return np.stack(by_column, axis=1)
        return np.zeros((self.groups, 0))

    def diagonal(self) -> Array:
        self._check_square()
        return np.zeros((self.groups, len(self.X)))

    # -- parts, new samples --------------------------------------------------------------------------------------

    def block(self, rows: Index, columns: Index) -> ColumnDistancesBank:
        X, Z = samples_of_block(self.X, self.Z, rows, columns)
        return replace(self, X=X, Z=Z)

    def select(self, index: Index) -> KernelBank:
        chosen = positions(index, self.groups)
        if len(np.unique(chosen)) < len(chosen):  # a column has one owner: columns of a group taken twice are copied
            return self._repeated(chosen)
        number = np.full(self.groups + 1, -1)
        number[chosen] = np.arange(len(chosen))
        return replace(self, owner=number[self.owner], groups=len(chosen))

    def cross(self, X: Any) -> ColumnDistancesBank:
        return replace(self, X=self.columns.numbers(X))

    def self_values(self, X: Any) -> Array:
        return np.zeros((self.groups, X.shape[0]))

    # -- parts of passes -----------------------------------------------------------------------------------------

    def _repeated(self, chosen: Array) -> ColumnDistancesBank:
        columns = [np.flatnonzero(self.owner == k) for k in chosen]
        owner = np.repeat(np.arange(len(chosen)), [len(own) for own in columns])
        index = np.concatenate(columns)
        Z = self.Z[:, index]
        return replace(self, X=Z if self.square else self.X[:, index], Z=Z, owner=owner, groups=len(chosen))

    def _whole(self, s: Array) -> Array:
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

        def part(rows: slice) -> tuple[Array, Array]:
            tile = M[rows]
            own = X[rows]
            crossed = np.einsum("ij,ij->j", own, tile @ Z)
            return np.einsum("i,ij,ij->j", tile.sum(axis=1), own, own) - 2.0 * crossed, tile.sum(axis=0)

        with one_blas_thread(0):
            parts = over_tiles(part, M.shape)
        if parts:
            by_columns = np.sum([columns for _, columns in parts], axis=0)
        else:
            by_columns = np.zeros(len(Z))
        return np.sum([own for own, _ in parts], axis=0) + np.einsum("i,ij,ij->j", by_columns, Z, Z)

    def _inner_absolute(self, M: Array) -> Array:
        from multikernel.banks import _columns

        Xt = np.ascontiguousarray(self.X.T)
        M = np.ascontiguousarray(M, dtype=np.float64)
        Zt = Xt if self.square else np.ascontiguousarray(self.Z.T)

        def part(rows: slice) -> Array:
            out = np.zeros(len(Xt))
            if self.square:
                _columns.inner_square(Xt, M, out, rows.start, rows.stop)
            else:
                _columns.inner(np.ascontiguousarray(Xt[:, rows]), Zt, M[rows], out)
            return out

        height = max(1, PIECE_VALUES // max(1, self.Z.size))
        if len(self.X):
            return np.sum(over_rows(part, len(self.X), height), axis=0)
        return np.zeros(len(Xt))


def _form_squares(X: Array, a: Array) -> Array:
    """sum_il a_i a_l (x_i - x_l)^2 of each column."""
    X = X - X[:1].sum(axis=0)  # a constant column is then exactly zero
    X = X - (X.mean(axis=0) if len(X) else 0.0)
    first = np.einsum("i,ij->j", a, X)
    second = np.einsum("i,ij,ij->j", a, X, X)
    return 2.0 * (a.sum() * second - first**2)


def _form_absolute(X: Array, a: Array) -> Array:
    """sum_il a_i a_l |x_i - x_l| of each column: in their order, 2 sum_i a_i (x_i sum_l<i a_l - sum_l<i a_l x_l)."""
    order = np.argsort(X, axis=0, kind="stable")
    x = np.take_along_axis(X, order, axis=0)
    b = a[order]
    # differences do not depend on it, their digits do
    if len(x):
        x = x - x[len(x) // 2]
    before = np.cumsum(b, axis=0) - b
    weighted = np.cumsum(b * x, axis=0) - b * x
    return 2.0 * (b * (x * before - weighted)).sum(axis=0)


def _absolute(s: Array, X: Array, Z: Array) -> Array:
    """sum_j s_j |x_j - z_j|, rows in threads."""
    from multikernel.banks import _columns

    out = np.empty((len(X), len(Z)))
    Zt = np.ascontiguousarray(Z.T)

    def part(rows: slice) -> None:
        _columns.weighted_sum(np.ascontiguousarray(X[rows].T), Zt, s, out[rows])

    over_rows(part, len(X), max(1, PIECE_VALUES // max(1, Z.size)))
    return out


def _check_range(numbers: Array, columns: NumericColumns) -> None:
    with np.errstate(over="ignore"):
        if len(numbers):
            widths = np.ptp(numbers, axis=0)
        else:
            widths = np.zeros(numbers.shape[1])
    least = 1e-301 ** (1.0 / columns.degree)
    most = 1e302 ** (1.0 / columns.degree)
    beyond = np.flatnonzero((widths > most) | ((widths > 0.0) & (widths < least)))
    if len(beyond):
        raise ValueError(
            f"feature {columns.features[beyond[0]]} varies by {widths[beyond[0]]:.3g}, and differences to the power "
            f"{columns.degree} are beyond double precision there: give it in another unit"
        )
