"""Packed halves of functions of squared Euclidean distances, some rows of the lower triangle at a time.

Neither a whole matrix nor its other half is formed: a tile of distances is one matrix product, and stays in the cache
until every kernel of these distances is evaluated on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks.checks import real
from multikernel.banks.packing import pairs_of_rows
from multikernel.banks.profiles import profiles
from multikernel.banks.threads import one_blas_thread, over_rows
from multikernel.kernels.distance import DistanceKernel, ExponentialKernel, OfDistance, far_middle, squared_distances

_TILE_VALUES = 1 << 18  # of a tile of distances: 2 MB
_LEAST_ROWS = 64


@dataclass(frozen=True, eq=False)
class _Squares:
    """|x_i - x_j|^2 = |x_i|^2 + |x_j|^2 - 2 x_i'x_j for j <= i."""

    X: Array
    lengths: Array

    @classmethod
    def of(cls, X: Array) -> _Squares:
        middle = far_middle(X)
        X = np.ascontiguousarray(X) if middle is None else X - middle
        return cls(X, np.einsum("ij,ij->i", X, X))

    def rows(self, rows: slice) -> Array:
        """The packed entries of these rows."""
        D = (-2.0 * self.X[rows]) @ self.X[: rows.stop].T
        D += self.lengths[rows, None]
        D += self.lengths[: rows.stop]
        np.maximum(D, 0.0, out=D)
        np.fill_diagonal(D[:, rows], 0.0)
        return np.concatenate([row[: i + 1] for i, row in enumerate(D, start=rows.start)])


def of_squares(fact: Any, X: Any) -> bool:
    """Whether ``fill`` makes the half of a kernel that states this: it is one of squared distances in some columns."""
    if not isinstance(fact, OfDistance):
        return False
    plain = fact.kernel.distance is squared_distances and _follows_profile(type(fact.kernel))
    several = isinstance(X, np.ndarray) and (X.shape[1] if fact.columns is None else len(fact.columns)) > 1
    return plain and several and X.dtype == np.float64


def _follows_profile(kind: type[DistanceKernel]) -> bool:
    """Whether values of a kernel are those of its profile: a class may have written another ``__call__``."""
    exponential = kind.__call__ is ExponentialKernel.__call__ and kind.profile is ExponentialKernel.profile
    return exponential or kind.__call__ is DistanceKernel.__call__


def fill(halves: Sequence[Array], facts: Sequence[OfDistance], X: Array) -> None:
    """Fill in the packed halves of kernels of the same distances, which ``of_squares`` says are such.

    Parameters
    ----------
    halves : for each kernel an array (n (n + 1) / 2,)
    facts : what the kernels state
    X : array (n, p) in double precision
    """
    if not len(X):
        return
    columns = facts[0].columns
    squares = _Squares.of(X if columns is None else X[:, np.asarray(columns, dtype=int)])
    kernels = [fact.kernel for fact in facts]

    def rows(r: slice) -> None:
        for half, kernel, K in zip(halves, kernels, profiles(kernels, squares.rows(r)), strict=True):
            half[pairs_of_rows(r)] = real(K, repr(kernel))

    with one_blas_thread(0):  # the rows are shared out among threads
        over_rows(rows, len(X), max(_LEAST_ROWS, _TILE_VALUES // max(1, len(X))))
