"""What a model that learns from sums knows of the samples so far."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from multikernel._typing import Array
from multikernel.banks.low_rank import LowRankBank
from multikernel.estimators.protocol import Model
from multikernel.statistics import Moments


@dataclass(frozen=True, eq=False)
class Sample:
    """Features of some of the first rows, which choose where a search begins.

    Parameters
    ----------
    F : array (r, q)
    Y : array (r, t), targets as numbers
    y : array, targets as they were given
    weight : array (r,) >= 0; None where all are 1
    fold : int array (r,)
    """

    F: Array
    Y: Array
    y: Array
    weight: Array | None
    fold: Array


@dataclass(frozen=True, eq=False)
class StreamState:
    """Sums, and what makes further ones.

    Parameters
    ----------
    bank : LowRankBank without rows and columns
    classes : array of the labels; None where targets are numbers
    flat : whether targets have no second axis
    sample : Sample of the first rows
    sums : Moments of each fold
    rows : int, how many rows there are
    numbers : parameters that were "auto": the value for the sample, relative to its unit
    settled : digests of the parameters on which features and sums depend, by name
    shift : array (t,), the means of numbers over the sample, which sums are taken about: a mean far beyond the spread
        would leave no digits of it. None where targets are summed as they are: of classes, and in models of earlier
        versions
    """

    bank: LowRankBank
    classes: Array | None
    flat: bool
    sample: Sample
    sums: tuple[Moments, ...] = ()
    rows: int = 0
    numbers: dict[str, float] = field(default_factory=dict)
    settled: dict[str, str] = field(default_factory=dict)
    shift: Array | None = None

    @property
    def origin(self) -> Array:
        """What sums are taken about, shape (t,)."""
        if self.shift is None:
            return np.zeros(self.sample.Y.shape[1])
        return self.shift

    @property
    def total(self) -> Moments:
        """The sums over all folds."""
        whole = self.sums[0]
        for each in self.sums[1:]:
            whole = whole.merge(each)
        return whole


def forget_sums(model: Model) -> None:
    """Take off what an earlier fit to sums left on an estimator."""
    for name in ("_state", "_solved_last"):
        model.__dict__.pop(name, None)
