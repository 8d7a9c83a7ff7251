"""Kernels of one distance: K_k = f_k(D), entry by entry, with one matrix D for all.

Where two successive kernels are exp(-gamma D) and the second gamma is a small whole multiple of the first, the second
matrix is a power of the first and needs no exponential.

``fill`` computes packed halves of such kernels, some rows of the lower triangle at a time: no full matrix is formed,
and a tile of distances stays in the cache until every kernel is evaluated on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._floats import ROUNDING
from multikernel._typing import Array, Index
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.checks import real
from multikernel.banks.indices import positions
from multikernel.banks.one_matrix import OneMatrixBank
from multikernel.banks.packed import PackedBank
from multikernel.banks.packing import half_size, pack, pairs_of_rows
from multikernel.banks.powers import raised
from multikernel.banks.threads import one_blas_thread, over_rows
from multikernel.kernels.distance import (
    DistanceKernel,
    ExponentialKernel,
    OfDistance,
    far_middle,
    is_exponential,
    squared_distances,
)
from multikernel.tuning import POWER_FAST, TILE_ROWS, TILE_VALUES

# The largest product of the powers since the last exponential. Rounding errors grow with it, to 3e-14 of an entry in
# double precision, and to at most two units in the last place in single precision.
LONGEST_CHAIN = 256
LONGEST_CHAIN_SINGLE = 2


@dataclass(frozen=True, eq=False, repr=False)
class ProfilesBank(OneMatrixBank):
    """K_k = f_k(D).

    Parameters
    ----------
    B : BaseMatrix, the matrix D of distances, stored or computed on demand
    kernels : m kernels of this distance, with profiles f_k
    """

    kernels: tuple[DistanceKernel, ...]

    def __len__(self) -> int:
        return len(self.kernels)

    def select(self, index: Index) -> ProfilesBank:
        return replace(self, kernels=tuple(self.kernels[k] for k in positions(index, len(self))))

    def exact(self, index: Index = slice(None)) -> KernelBank:
        """The kernels, stored if they fit into memory, as reading them is ten times faster than exponentials."""
        chosen = self.select(index)
        n = self.shape[1]
        if not self.square:
            return chosen
        chosen = chosen._in_double()
        if 8 * len(chosen) * half_size(n) > MEMORY:
            return chosen
        packed = np.empty((len(chosen), half_size(n)))
        for row, K in zip(packed, profiles(chosen.kernels, pack(chosen.B.values())), strict=True):
            row[:] = K
        return PackedBank(chosen, packed, n)

    def tiles(self, rows: Index) -> Iterator[Array]:
        return profiles(self.kernels, self.B.entries(rows))

    def diagonal(self) -> Array:
        self._check_square()
        return self.self_values(self.B.columns.values)

    def self_values(self, X: Any) -> Array:
        return np.stack([kernel.diagonal(X) for kernel in self.kernels])


def profiles(kernels: Sequence[DistanceKernel], D: Array) -> Iterator[Array]:
    """f_k(D) of every kernel in turn."""
    longest = LONGEST_CHAIN if D.dtype == np.float64 else LONGEST_CHAIN_SINGLE
    previous_gamma = 0.0
    K = D  # exp(-previous_gamma D), where ``chain`` is the product of the powers since the last exponential
    chain = 0
    for kernel in kernels:
        gamma: float = kernel.gamma if is_exponential(kernel) else 0.0  # type: ignore[attr-defined]
        ratio = gamma / previous_gamma if previous_gamma else 0.0
        power = round(min(ratio, LONGEST_CHAIN))
        is_multiple = 1 <= power <= POWER_FAST and abs(ratio - power) <= ROUNDING * power
        if is_multiple and chain * power <= longest:
            K = raised(K, power)
            chain = chain * power
        else:
            K = kernel.profile(D)
            chain = 1
        previous_gamma = gamma
        yield K


@dataclass(frozen=True, eq=False)
class _Squares:
    """Squared distances |x_i - x_j|^2 = |x_i|^2 + |x_j|^2 - 2 x_i'x_j for j <= i."""

    X: Array
    lengths: Array

    @classmethod
    def of(cls, X: Array) -> _Squares:
        mean = far_middle(X)
        X = np.ascontiguousarray(X) if mean is None else X - mean
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
    """Whether ``fill`` can compute the half of a kernel with this fact: squared distances in several columns."""
    if not isinstance(fact, OfDistance):
        return False
    is_squared = fact.kernel.distance is squared_distances and _follows_profile(fact.kernel)
    has_several = isinstance(X, np.ndarray) and (X.shape[1] if fact.columns is None else len(fact.columns)) > 1
    return is_squared and has_several and X.dtype == np.float64


def _follows_profile(kernel: DistanceKernel) -> bool:
    """Whether values of a kernel are those of its profile, which a class with another ``__call__`` may not use."""
    return type(kernel).__call__ in (ExponentialKernel.__call__, DistanceKernel.__call__)


def fill(halves: Sequence[Array], facts: Sequence[OfDistance], X: Array) -> None:
    """Compute the packed halves of kernels of the same squared distances, for which ``of_squares`` is True.

    Parameters
    ----------
    halves : for each kernel an array (n (n + 1) / 2,)
    facts : the facts that the kernels state
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

    with one_blas_thread(0):  # rows are distributed among threads
        over_rows(rows, len(X), max(TILE_ROWS, TILE_VALUES // max(1, len(X))))
