"""Forms of the scales of a distance: one scale for each distance of a bank, or a metric over its columns.

A form maps unbounded parameters v to a row of scales s, an entry for each of the m matrices of a bank. Scales are in
units of the inverse mean distances d over pairs of samples, so that the result does not depend on the units of the
features. The prior of a form is a sum of squares, which is 0 where all features contribute equally.

    separate scales     s_k = exp(v_k) / d_k,    prior sum_k (v_k - mean v)^2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.single import ScaledPoints, weighted_differences

_LEAST = 0.1  # of the largest scale: smaller ones begin here; from 0.001 scales of relevant columns did not grow again
FARTHEST = 14.0  # scales differ from the first ones of a descent by a factor of e^14, 1.2e6, at most
LEAST_SHARE = 0.01  # of a mean scale: the least scale of a feature where gradients propose scales


@dataclass(frozen=True, eq=False)
class Form(ABC):
    """A map from parameters to scales, with a prior.

    Parameters
    ----------
    means : array, the mean of each distance over pairs of samples; 0 where it does not vary
    """

    means: Array

    @property
    def varied(self) -> Array:
        """The distances that are not zero everywhere."""
        return np.flatnonzero(self.means > 0.0)

    @property
    def units(self) -> Array:
        """The mean distances of the ``varied`` ones."""
        return np.asarray(self.means[self.varied])

    @property
    def wide(self) -> Form:
        """A form that includes equal scales and all scales of this one."""
        return self

    @property
    @abstractmethod
    def size(self) -> int:
        """How many parameters a row of scales has."""

    @abstractmethod
    def scales(self, v: Array) -> Array:
        """A row of scales, shape (m,)."""

    @abstractmethod
    def pulled(self, v: Array, slope: Array) -> Array:
        """The derivative in the parameters, given that in the scales (chain rule)."""

    @abstractmethod
    def prior(self, v: Array) -> tuple[float, Array]:
        """The prior, which measures how unequal the scales are, and its derivative."""

    @abstractmethod
    def equal(self, total: float) -> Array:
        """The parameters of equal scales with this mean distance."""

    @abstractmethod
    def total(self, scales: Array) -> float:
        """The mean distance over pairs of samples."""

    @abstractmethod
    def proposed(self, outer: Array, total: float) -> Array:
        """The parameters of scales in proportion of the root of an outer product of gradients, with this mean distance.

        ``outer`` is positive semi-definite of shape (c, c), for the columns of the bank.
        """

    @abstractmethod
    def parameters(self, scales: Array) -> Array:
        """The parameters of a row of scales for the start of a descent: very small scales are enlarged."""

    @abstractmethod
    def points(self, v: Array, Z: Array, degree: int) -> ScaledPoints:
        """Samples Z in the columns of the bank, prepared for distances to them with the scales of these parameters."""

    @abstractmethod
    def weighted(self, X: Array, Z: Array, W: Array, degree: int) -> Array:
        """<W, D_k> for the distances of a row of scales, between samples in single precision: shape (m,)."""

    @abstractmethod
    def applied(self, scales: Array, B: Array) -> Array:
        """The metric of scales times vectors in the columns of the bank: shape (n, c)."""


@dataclass(frozen=True, eq=False)
class Separate(Form):
    """A scale for each distance of a bank.

    ``owner`` is the distance to which each column of the bank belongs, -1 for none; empty for a bank without columns.
    """

    owner: Array

    @classmethod
    def of(cls, bank: KernelBank, means: Array) -> Separate:
        return cls(means, bank.owner if isinstance(bank, ColumnDistancesBank) else np.arange(0))

    @property
    def size(self) -> int:
        return len(self.varied)

    def scales(self, v: Array) -> Array:
        scales = np.zeros(len(self.means))
        scales[self.varied] = 1.0 / self.units * np.exp(v)
        return scales

    def pulled(self, v: Array, slope: Array) -> Array:
        return np.asarray((slope * self.scales(v))[self.varied])

    def prior(self, v: Array) -> tuple[float, Array]:
        apart = v - v.mean() if len(v) else v
        return float((apart**2).sum()), 2.0 * apart

    def equal(self, total: float) -> Array:
        return np.full(self.size, np.log(total / max(self.size, 1)))

    def total(self, scales: Array) -> float:
        return float(scales @ self.means)

    def proposed(self, outer: Array, total: float) -> Array:
        owned = self.owner >= 0
        squares = np.bincount(self.owner[owned], np.diag(outer)[owned], len(self.means)) * self.means
        shares = np.sqrt(squares[self.varied])
        shares = shares / (shares.mean() or 1.0) + LEAST_SHARE
        return np.asarray(np.log(total * shares / shares.sum()))

    def parameters(self, scales: Array) -> Array:
        shares = (scales * self.means)[self.varied]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(shares, _LEAST * shares.max(initial=0.0))))

    def points(self, v: Array, Z: Array, degree: int) -> ScaledPoints:
        return ScaledPoints.of(Z, np.append(self.scales(v), 0.0)[self.owner], degree)

    def weighted(self, X: Array, Z: Array, W: Array, degree: int) -> Array:
        owned = self.owner >= 0
        by_column = weighted_differences(X, Z, W, degree)
        return np.bincount(self.owner[owned], by_column[owned], len(self.means))

    def applied(self, scales: Array, B: Array) -> Array:
        return np.append(scales, 0.0)[self.owner] * B
