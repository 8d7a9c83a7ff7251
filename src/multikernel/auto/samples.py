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
        """Some of the samples."""
        return replace(
            self,
            plain=self.plain[index],
            ranked=self.ranked[index],
            sparse=tuple(matrix[index] for matrix in self.sparse),
            given=tuple(matrix[index] for matrix in self.given),
            rows=self.rows[index],
        )

    def without_given(self) -> PreparedSamples:
        """The same without rows of kernel matrices, which training samples need no more once a model is fitted."""
        return replace(self, given=tuple(np.empty((0, 0)) for _ in self.given))


class Similarity(ABC):
    """One kernel of samples."""

    @abstractmethod
    def __call__(self, new: PreparedSamples, old: PreparedSamples) -> Array:
        """The matrix of shape (len(new), len(old)); old are training samples."""

    def to(self, old: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        """The same as a function of new samples alone: what depends on the old ones only is made once.

        In single precision (``dtype=np.float32``) it is faster where a kernel has a way of its own.
        """
        return lambda new: np.asarray(self(new, old), dtype=dtype)

    def function(self, old: PreparedSamples, coef: Array, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        """What coefficients (len(old), k) make of new samples, sum_l k(x, z_l) coef_l: shape (len(new), k).

        ``dtype`` is that of kernels, as for ``to``.
        """
        kernel = self.to(old, dtype)
        return lambda new: product(kernel(new), coef)


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

    def __call__(self, new: PreparedSamples, old: PreparedSamples) -> Array:
        used = self.scales > 0.0
        factors = self.scales[used] ** (1.0 / self.kernel.degree)
        X, Z = ((part.ranked if self.ranked else part.plain)[:, used] * factors for part in (new, old))
        if not used.any():
            return np.ones((len(new), len(old)))
        return self.kernel(X, Z)

    def to(self, old: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        if dtype is float:
            return super().to(old)
        kernel = InSingle(self.kernel, self._points(old))
        return lambda new: kernel(self._columns(new))

    def function(self, old: PreparedSamples, coef: Array, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        if dtype is float:
            return super().function(old, coef)
        kernel = InSingle(self.kernel, self._points(old))
        return lambda new: kernel.times(self._columns(new), coef)

    def coordinates(self, samples: PreparedSamples) -> Array:
        """Numbers (n, q) in single precision, in which k(x, z) = f(sum_j |x_j - z_j|^q)."""
        used = self.scales > 0.0
        factors = (self.scales[used] ** (1.0 / self.kernel.degree)).astype(np.float32)
        return np.asarray(self._columns(samples)[:, used].astype(np.float32) * factors)

    def _columns(self, samples: PreparedSamples) -> Array:
        if self.ranked:
            return samples.ranked
        return samples.plain

    def _points(self, old: PreparedSamples) -> ScaledPoints:
        return ScaledPoints.of(self._columns(old), self.scales, self.kernel.degree)


@dataclass(frozen=True, eq=False)
class InSingle:
    """A kernel with some points in single precision, of some samples at a time, on several threads.

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

        def part(rows: slice) -> None:
            K[rows] = self.kernel.profile(self.points.distances(X[rows]))

        over_few_rows(part, *K.shape)
        return K

    def times(self, X: Array, coef: Array) -> Array:
        """The kernel matrix times coefficients, of which sums are in double precision; no matrix is kept."""
        values = np.empty((len(X), coef.shape[1]))

        def part(rows: slice) -> None:
            values[rows] = product(self.kernel.profile(self.points.distances(X[rows])).astype(float), coef)

        over_few_rows(part, len(X), len(coef))
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

    def __call__(self, new: PreparedSamples, old: PreparedSamples) -> Array:
        return self.kernel(new.plain @ self.turn, old.plain @ self.turn)

    def coordinates(self, samples: PreparedSamples) -> Array:
        """Numbers (n, r) in single precision, in which k(x, z) = f(|x - z|^2)."""
        return np.asarray(samples.plain.astype(np.float32) @ self.turn.astype(np.float32))

    def to(self, old: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        if dtype is float:
            return super().to(old)
        kernel = InSingle(self.kernel, ScaledPoints.turned(old.plain, self.turn))
        return lambda new: kernel(new.plain)

    def function(self, old: PreparedSamples, coef: Array, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        if dtype is float:
            return super().function(old, coef)
        kernel = InSingle(self.kernel, ScaledPoints.turned(old.plain, self.turn))
        return lambda new: kernel.times(new.plain, coef)


@dataclass(frozen=True, eq=False)
class LinearSimilarity(Similarity):
    """k(x, z) = x'z / columns.

    Parameters
    ----------
    columns : tuple of int, those that are used; None for all
    """

    columns: tuple[int, ...] | None = None

    def __call__(self, new: PreparedSamples, old: PreparedSamples) -> Array:
        if self.columns is None:
            X, Z = new.plain, old.plain
        else:
            X, Z = (part.plain[:, list(self.columns)] for part in (new, old))
        return X @ Z.T / max(1, X.shape[1])

    def to(self, old: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        used: Any = slice(None) if self.columns is None else list(self.columns)
        Z = np.ascontiguousarray(old.plain[:, used].astype(dtype).T)
        Z /= dtype(max(1, len(Z)))
        return lambda new: np.asarray(new.plain[:, used].astype(dtype) @ Z)

    def function(self, old: PreparedSamples, coef: Array, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        """By the coefficients of the columns."""
        used: Any = slice(None) if self.columns is None else list(self.columns)
        Z = old.plain[:, used]
        of_columns = Z.T @ coef / max(1, Z.shape[1])
        return lambda new: np.asarray(new.plain[:, used] @ of_columns)


@dataclass(frozen=True, eq=False)
class Cosine(Similarity):
    """k(x, z) = (x'z)^degree of the rows of one sparse part."""

    part: int
    degree: int = 1

    def __call__(self, new: PreparedSamples, old: PreparedSamples) -> Array:
        K = np.asarray((new.sparse[self.part] @ old.sparse[self.part].T).todense())
        return K**self.degree


@dataclass(frozen=True, eq=False)
class Given(Similarity):
    """A kernel matrix that the user computed."""

    part: int

    def __call__(self, new: PreparedSamples, old: PreparedSamples) -> Array:
        return np.ascontiguousarray(new.given[self.part][:, old.rows])


@dataclass(frozen=True, eq=False)
class WeightedSimilarity(Similarity):
    """k = sum_r w_r k_r."""

    parts: tuple[Similarity, ...]
    weights: Array

    def __call__(self, new: PreparedSamples, old: PreparedSamples) -> Array:
        total = np.zeros((len(new), len(old)))
        for part, weight in zip(self.parts, self.weights.tolist(), strict=True):
            total += weight * part(new, old)
        return total

    def to(self, old: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        parts = [part.to(old, dtype) for part in self.parts]

        def total(new: PreparedSamples) -> Array:
            sums = np.zeros((len(new), len(old)), dtype)
            for part, weight in zip(parts, self.weights.tolist(), strict=True):
                sums += dtype(weight) * part(new)
            return sums

        return total


@dataclass(frozen=True, eq=False)
class ProductSimilarity(Similarity):
    """k(x, z) = k_1(x, z) k_2(x, z)."""

    first: Similarity
    second: Similarity

    def __call__(self, new: PreparedSamples, old: PreparedSamples) -> Array:
        return self.first(new, old) * self.second(new, old)

    def to(self, old: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        first, second = self.first.to(old, dtype), self.second.to(old, dtype)
        return lambda new: first(new) * second(new)
