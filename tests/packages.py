"""What other packages offer for kernels, as small as it can be: functions of two samples, and an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

Array = Any


def common(x: set[str], z: set[str]) -> float:
    """How many items two sets share."""
    return float(len(x & z))


def furthest(x: set[str], z: set[str]) -> float:
    """A similarity that is no kernel: how many items two sets share, less those that they do not."""
    return 1.0 + len(x & z) - len(x ^ z)


def share_of_first(x: set[str], z: set[str]) -> float:
    """A similarity that is not symmetric: the share of x that z has."""
    return len(x & z) / len(x)


@dataclass
class Commons:
    """Common items, by the interface of GraKeL: ``fit_transform`` is the matrix, ``transform`` that of new samples.

    Items that the training samples do not have are found in new samples only, as labels of graphs are.
    """

    factor: float = 1.0
    normalize: bool = False

    def fit(self, X: list[set[str]], y: Any = None) -> Self:
        self.samples_ = list(X)
        self.transformed_: list[set[str]] | None = None
        return self

    def fit_transform(self, X: list[set[str]], y: Any = None) -> Array:
        return self.fit(X)._matrix(self.samples_)

    def transform(self, X: list[set[str]]) -> Array:
        self.transformed_ = list(X)
        return self._matrix(self.transformed_)

    def diagonal(self) -> Any:
        own = self._self_values(self.samples_)
        return own if self.transformed_ is None else (own, self._self_values(self.transformed_))

    def _matrix(self, X: list[set[str]]) -> Array:
        K = self.factor * np.array([[common(x, z) for z in self.samples_] for x in X])
        if not self.normalize:
            return K
        return K / np.sqrt(np.outer(self._self_values(X), self._self_values(self.samples_)))

    def _self_values(self, X: list[set[str]]) -> Array:
        return self.factor * np.array([float(len(x)) for x in X])
