"""Maps from samples to features, whose inner products are an approximate kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._arrays import foreign, host, like, namespace, taken, zeros
from multikernel._typing import Array
from multikernel.banks.low_rank.space import space
from multikernel.banks.threads import slices
from multikernel.kernels.encoding import Encoding
from multikernel.tables.table import as_samples
from multikernel.tuning import BUFFER_VALUES


class FeatureMap(ABC):
    """Maps samples to the features of one or several kernels, side by side."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """The number of features of each kernel."""

    @abstractmethod
    def _features(self, X: Any) -> Array:
        """The features of samples, shape (len(X), q)."""

    @abstractmethod
    def select(self, chosen: Sequence[int]) -> FeatureMap:
        """The map for some of the kernels."""

    def __call__(self, X: Any, dtype: Any = np.float64) -> Array:
        """The features of samples, shape (len(X), q), computed in double precision for some samples at a time.

        For arrays of another library they are arrays of that library, in double precision.
        """
        if not hasattr(X, "shape"):
            X = as_samples(X)
        n = X.shape[0]
        q = sum(self.sizes)
        F = zeros(X, (n, q)) if foreign(X) else space(n, q, dtype)
        for rows in slices(n, max(1, BUFFER_VALUES // max(1, q))):
            F[rows, :] = like(F, self._features(taken(X, rows)))
        return F


@dataclass(frozen=True, eq=False)
class SideBySide(FeatureMap):
    """Several kernels, with a separate map for each.

    Parameters
    ----------
    maps : feature maps of one kernel each
    """

    maps: tuple[FeatureMap, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(sum(map.sizes) for map in self.maps)

    def _features(self, X: Any) -> Array:
        if foreign(X):
            return namespace(X).concat([like(X, map._features(X)) for map in self.maps], axis=1)
        return np.hstack([np.empty((X.shape[0], 0)), *(map._features(X) for map in self.maps)])

    def select(self, chosen: Sequence[int]) -> SideBySide:
        return SideBySide(tuple(self.maps[k] for k in chosen))


class OneKernel(FeatureMap):
    """The features of a single kernel."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of features."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.size,)

    def select(self, chosen: Sequence[int]) -> FeatureMap:
        return SideBySide(tuple(self for _ in chosen))


@dataclass(frozen=True, eq=False)
class EncodedMap(OneKernel):
    """Maps samples to the features of encoded columns.

    Parameters
    ----------
    encoding : Encoding, which has learned
    columns : int array of the columns that it takes; None for all
    map : feature map of the encoded samples
    """

    encoding: Encoding
    columns: Array | None
    map: OneKernel

    @property
    def size(self) -> int:
        return self.map.size

    def _features(self, X: Any) -> Array:
        X = as_samples(host(X))
        encoded = self.encoding(X if self.columns is None else X[:, self.columns.tolist()])
        return self.map._features(encoded.astype(np.float64, copy=False))
