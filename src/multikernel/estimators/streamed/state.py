"""The state of a model that learns from sums over samples."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from multikernel._typing import Array
from multikernel.banks.low_rank import LowRankBank
from multikernel.estimators.protocol import Model
from multikernel.statistics import Moments


@dataclass(frozen=True, eq=False)
class Sample:
    """Features of some of the first rows, on which initial weights and parameters are chosen.

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
    """The sums over the samples so far, and how further samples are added.

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
    shift : array (t,), the means of the targets over the sample. Sums are taken about these means, because a mean that
        is much larger than the spread would cancel the digits of the spread. None where targets are summed as they are:
        for classes, and in models of earlier versions
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
        """The point about which targets are summed, shape (t,)."""
        if self.shift is None:
            return np.zeros(self.sample.Y.shape[1])
        return self.shift

    @property
    def total(self) -> Moments:
        """The sums over all folds."""
        total = self.sums[0]
        for fold_sums in self.sums[1:]:
            total = total.merge(fold_sums)
        return total


def forget_sums(model: Model) -> None:
    """Remove the state of an earlier fit to sums from an estimator."""
    for name in ("_state", "_solved_last"):
        model.__dict__.pop(name, None)
