"""Kernels on prepared samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.auto.samples import Samples
from multikernel.kernels import DistanceKernel


class Similarity(ABC):
    """One kernel of samples."""

    @abstractmethod
    def __call__(self, new: Samples, old: Samples) -> Array:
        """The matrix of shape (len(new), len(old)); old are training samples."""


@dataclass(frozen=True, eq=False)
class OfDistance(Similarity):
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

    def __call__(self, new: Samples, old: Samples) -> Array:
        used = self.scales > 0.0
        factors = self.scales[used] ** (1.0 / self.kernel.degree)
        X, Z = ((part.ranked if self.ranked else part.plain)[:, used] * factors for part in (new, old))
        if not used.any():
            return np.ones((len(new), len(old)))
        return self.kernel(X, Z)


@dataclass(frozen=True, eq=False)
class Linear(Similarity):
    """k(x, z) = x'z / columns."""

    def __call__(self, new: Samples, old: Samples) -> Array:
        return new.plain @ old.plain.T / max(1, new.plain.shape[1])


@dataclass(frozen=True, eq=False)
class Cosine(Similarity):
    """k(x, z) = (x'z)^degree of the rows of one sparse part."""

    part: int
    degree: int = 1

    def __call__(self, new: Samples, old: Samples) -> Array:
        K = np.asarray((new.sparse[self.part] @ old.sparse[self.part].T).todense())
        return K**self.degree


@dataclass(frozen=True, eq=False)
class Given(Similarity):
    """A kernel matrix that the user computed."""

    part: int

    def __call__(self, new: Samples, old: Samples) -> Array:
        return new.given[self.part][:, old.rows]


@dataclass(frozen=True, eq=False)
class Weighed(Similarity):
    """k = sum_r w_r k_r."""

    parts: tuple[Similarity, ...]
    weights: Array

    def __call__(self, new: Samples, old: Samples) -> Array:
        total = np.zeros((len(new), len(old)))
        for part, weight in zip(self.parts, self.weights.tolist(), strict=True):
            total += weight * part(new, old)
        return total
