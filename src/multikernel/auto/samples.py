"""Samples as kernels see them: numbers, sparse rows of norm 1, and rows of kernel matrices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks.single import ScaledPoints, over_few_rows
from multikernel.kernels import DistanceKernel


@dataclass(frozen=True, eq=False)
class PreparedSamples:
    """n samples.

    Parameters
    ----------
    plain, ranked : arrays (n, q), numbers of spread 1 as they are and by their ranks
    owner : int array (q,), the group of each column, whose columns share a scale
    view : int array (q,), the view of each column
    sparse : tuple of CSR matrices with rows of norm 1
    given : tuple of kernel matrices (n, training samples)
    rows : int array (n,), for training samples their numbers
    names : tuple of str, the column of the table that each group comes from
    views : tuple of str, the names of the views by their number; one without a name where the samples are one table
    parts : tuple of str, the names of the sparse parts and then of the kernel matrices
    """

    plain: Array
    ranked: Array
    owner: Array
    view: Array
    sparse: tuple[Any, ...]
    given: tuple[Array, ...]
    rows: Array
    names: tuple[str, ...]
    views: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def several(self) -> bool:
        """Whether there are several views, of which a table by itself is none."""
        return "" not in self.views and len(self.views) + len(self.parts) > 1

    def of(self, index: Array) -> PreparedSamples:
        """The samples at these positions."""
        return replace(
            self,
            plain=self.plain[index],
            ranked=self.ranked[index],
            sparse=tuple(matrix[index] for matrix in self.sparse),
            given=tuple(matrix[index] for matrix in self.given),
            rows=self.rows[index],
        )

    def without_given(self) -> PreparedSamples:
        """The same without rows of kernel matrices, which training samples no longer need once a model is fitted."""
        return replace(self, given=tuple(np.empty((0, 0)) for _ in self.given))


class Similarity(ABC):
    """One kernel of samples."""

    @abstractmethod
    def __call__(self, samples: PreparedSamples, centres: PreparedSamples) -> Array:
        """The matrix of shape (len(samples), len(centres)); centres are training samples."""

    def to(self, centres: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        """The same as a function of samples alone: everything that depends on the centres only is computed once.

        Some kernels are faster in single precision (``dtype=np.float32``).
        """
        return lambda samples: np.asarray(self(samples, centres), dtype=dtype)

    def function(self, centres: PreparedSamples, coef: Array, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        """The function sum_l k(x, z_l) coef_l of samples, for coefficients (len(centres), k): shape (len(samples), k).

        ``dtype`` is that of kernels, as for ``to``.
        """
        kernel = self.to(centres, dtype)
        return lambda samples: product(kernel(samples), coef)


@dataclass(frozen=True, eq=False)
class DistanceSimilarity(Similarity):
    """k(x, z) = f(sum_j s_j |x_j - z_j|^q).

    Parameters
    ----------
    kernel : DistanceKernel, with profile f and degree q
    scales : array (columns,), s
    ranked : bool, whether numbers are taken by their ranks
    """

    kernel: DistanceKernel
    scales: Array
    ranked: bool = False

    def __call__(self, samples: PreparedSamples, centres: PreparedSamples) -> Array:
        positive = self.scales > 0.0
        factors = self.scales[positive] ** (1.0 / self.kernel.degree)
        X, Z = ((side.ranked if self.ranked else side.plain)[:, positive] * factors for side in (samples, centres))
        if not positive.any():
            return np.ones((len(samples), len(centres)))
        return self.kernel(X, Z)

    def to(self, centres: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        if dtype is float:
            return super().to(centres)
        kernel = InSingle(self.kernel, self._points(centres))
        return lambda samples: kernel(self._columns(samples))

    def function(self, centres: PreparedSamples, coef: Array, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        if dtype is float:
            return super().function(centres, coef)
        kernel = InSingle(self.kernel, self._points(centres))
        return lambda samples: kernel.times(self._columns(samples), coef)

    def coordinates(self, samples: PreparedSamples) -> Array:
        """Numbers (n, q) in single precision, in which k(x, z) = f(sum_j |x_j - z_j|^q)."""
        positive = self.scales > 0.0
        factors = (self.scales[positive] ** (1.0 / self.kernel.degree)).astype(np.float32)
        return np.asarray(self._columns(samples)[:, positive].astype(np.float32) * factors)

    def _columns(self, samples: PreparedSamples) -> Array:
        if self.ranked:
            return samples.ranked
        return samples.plain

    def _points(self, centres: PreparedSamples) -> ScaledPoints:
        return ScaledPoints.of(self._columns(centres), self.scales, self.kernel.degree)


@dataclass(frozen=True, eq=False)
class InSingle:
    """A kernel with fixed points, computed in single precision for blocks of samples, on several threads.

    Parameters
    ----------
    kernel : DistanceKernel
    points : ScaledPoints
    """

    kernel: DistanceKernel
    points: ScaledPoints

    def __call__(self, X: Array) -> Array:
        """The kernel matrix."""
        K = np.empty((len(X), len(self.points.lengths)), np.float32)

        def fill(rows: slice) -> None:
            K[rows] = self.kernel.profile(self.points.distances(X[rows]))

        over_few_rows(fill, *K.shape)
        return K

    def times(self, X: Array, coef: Array) -> Array:
        """The kernel matrix times coefficients, summed in double precision; no matrix is stored."""
        values = np.empty((len(X), coef.shape[1]))

        def fill(rows: slice) -> None:
            values[rows] = product(self.kernel.profile(self.points.distances(X[rows])).astype(float), coef)

        over_few_rows(fill, len(X), len(coef))
        return values


@dataclass(frozen=True, eq=False)
class TurnedSimilarity(Similarity):
    """k(x, z) = f(|(x - z)'A|^2).

    Parameters
    ----------
    kernel : DistanceKernel, with profile f, of squared distances
    turn : array (columns, r), A
    """

    kernel: DistanceKernel
    turn: Array

    def __call__(self, samples: PreparedSamples, centres: PreparedSamples) -> Array:
        return self.kernel(samples.plain @ self.turn, centres.plain @ self.turn)

    def coordinates(self, samples: PreparedSamples) -> Array:
        """Numbers (n, r) in single precision, in which k(x, z) = f(|x - z|^2)."""
        return np.asarray(samples.plain.astype(np.float32) @ self.turn.astype(np.float32))

    def to(self, centres: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        if dtype is float:
            return super().to(centres)
        kernel = InSingle(self.kernel, ScaledPoints.turned(centres.plain, self.turn))
        return lambda samples: kernel(samples.plain)

    def function(self, centres: PreparedSamples, coef: Array, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        if dtype is float:
            return super().function(centres, coef)
        kernel = InSingle(self.kernel, ScaledPoints.turned(centres.plain, self.turn))
        return lambda samples: kernel.times(samples.plain, coef)


@dataclass(frozen=True, eq=False)
class LinearSimilarity(Similarity):
    """k(x, z) = x'z / columns.

    Parameters
    ----------
    columns : tuple of int, the columns that are used; None for all
    """

    columns: tuple[int, ...] | None = None

    def __call__(self, samples: PreparedSamples, centres: PreparedSamples) -> Array:
        if self.columns is None:
            X, Z = samples.plain, centres.plain
        else:
            X, Z = (side.plain[:, list(self.columns)] for side in (samples, centres))
        return X @ Z.T / max(1, X.shape[1])

    def to(self, centres: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        columns: Any = slice(None) if self.columns is None else list(self.columns)
        Z = np.ascontiguousarray(centres.plain[:, columns].astype(dtype).T)
        Z /= dtype(max(1, len(Z)))
        return lambda samples: np.asarray(samples.plain[:, columns].astype(dtype) @ Z)

    def function(self, centres: PreparedSamples, coef: Array, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        """The linear function of samples, by one coefficient for each column."""
        columns: Any = slice(None) if self.columns is None else list(self.columns)
        Z = centres.plain[:, columns]
        column_coef = Z.T @ coef / max(1, Z.shape[1])
        return lambda samples: np.asarray(samples.plain[:, columns] @ column_coef)


@dataclass(frozen=True, eq=False)
class Cosine(Similarity):
    """k(x, z) = (x'z)^degree of the rows of one sparse part."""

    part: int
    degree: int = 1

    def __call__(self, samples: PreparedSamples, centres: PreparedSamples) -> Array:
        K = np.asarray((samples.sparse[self.part] @ centres.sparse[self.part].T).todense())
        return K**self.degree


@dataclass(frozen=True, eq=False)
class Given(Similarity):
    """A kernel matrix that the user computed, by its number among those of the samples."""

    part: int

    def __call__(self, samples: PreparedSamples, centres: PreparedSamples) -> Array:
        return np.ascontiguousarray(samples.given[self.part][:, centres.rows])


@dataclass(frozen=True, eq=False)
class WeightedSimilarity(Similarity):
    """k = sum_r w_r k_r."""

    parts: tuple[Similarity, ...]
    weights: Array

    def __call__(self, samples: PreparedSamples, centres: PreparedSamples) -> Array:
        total = np.zeros((len(samples), len(centres)))
        for kernel, weight in zip(self.parts, self.weights.tolist(), strict=True):
            total += weight * kernel(samples, centres)
        return total

    def to(self, centres: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        kernels = [kernel.to(centres, dtype) for kernel in self.parts]

        def total(samples: PreparedSamples) -> Array:
            sums = np.zeros((len(samples), len(centres)), dtype)
            for kernel, weight in zip(kernels, self.weights.tolist(), strict=True):
                sums += dtype(weight) * kernel(samples)
            return sums

        return total


@dataclass(frozen=True, eq=False)
class ProductSimilarity(Similarity):
    """k(x, z) = k_1(x, z) k_2(x, z)."""

    first: Similarity
    second: Similarity

    def __call__(self, samples: PreparedSamples, centres: PreparedSamples) -> Array:
        return self.first(samples, centres) * self.second(samples, centres)

    def to(self, centres: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        first, second = self.first.to(centres, dtype), self.second.to(centres, dtype)
        return lambda samples: first(samples) * second(samples)
