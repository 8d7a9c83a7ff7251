"""What is to be learned of many samples, what some thousands of them say of it, and the units of both.

Columns are measured about their medians, in units of their mean distances, before they are in single precision; values
farther than a million of these count as that far while scales are learned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from multikernel._arrays import part_of
from multikernel._floats import ROUNDING
from multikernel._folds import in_proportion
from multikernel._typing import Array
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.products import ColumnProductsBank
from multikernel.combinations import Profiles
from multikernel.machines.ridge.centres import CentresSolution, CentreSums, Over
from multikernel.procedures.learned_scales.forms import Form
from multikernel.procedures.learned_scales.landmarks import LandmarkSamples, LandmarkScales
from multikernel.procedures.learned_scales.search import LearnedScales, form_of
from multikernel.procedures.ridge_cv import Folds
from multikernel.procedures.units import RegressionUnits
from multikernel.tuning import ALL_SAMPLES

Loss = Literal["squared", "logistic"]


@dataclass(frozen=True, eq=False)
class PosedScales:
    """What is to be learned.

    Parameters
    ----------
    bank : square bank of distances in columns, or of their products for a metric
    combination : Profiles of one kernel
    Y : array (n, t)
    weight : array (n,) >= 0, or None
    folds : Folds
    strata : int array (n,), the classes, of which all parts of the samples get their share
    fit_intercept : bool
    rank : int or None, of a metric; full if not given
    seed : int
    loss : "squared" or "logistic", of the function that is trained at the end; scales have squared losses
    """

    bank: ColumnDistancesBank | ColumnProductsBank
    combination: Profiles
    Y: Array
    weight: Array | None
    folds: Folds
    strata: Array
    fit_intercept: bool
    rank: int | None
    seed: int
    loss: Loss = "squared"

    @cached_property
    def rows(self) -> Array:
        """The samples of a weight that is not 0."""
        if self.weight is None:
            return np.arange(len(self.Y))
        return np.flatnonzero(self.weight)

    @cached_property
    def form(self) -> Form:
        """Of the scales, with the mean distances of all samples."""
        bank = self.bank.block(self.rows, self.rows)
        return form_of(bank, self.rank, self.seed, self.weights(self.rows))

    @cached_property
    def standard(self) -> Form:
        """The same, for columns in their units."""
        return replace(self.form, means=(self.form.means > 0.0).astype(float))

    @cached_property
    def _units(self) -> tuple[Array, Array]:
        """The median of each column, and the unit that its differences are measured in."""
        few = self.bank.X[self.some(self.rows, ALL_SAMPLES)]
        means = np.where(self.form.means > 0.0, self.form.means, 1.0)
        if isinstance(self.bank, ColumnDistancesBank):
            means = np.append(means, 1.0)[self.bank.owner]
        return np.median(few, axis=0), means ** (1.0 / self.bank.columns.degree)

    def some(self, among: Array, count: int) -> Array:
        """So many of these samples, in order."""
        return among[in_proportion(self.strata[among], count, self.seed)]

    def single(self, rows: Array) -> Array:
        """Samples in single precision, at most so far from the median that it has digits for the others."""
        centre, unit = self._units
        far = 1.0 / np.finfo(np.float32).eps
        return np.clip((self.bank.X[rows] - centre) / unit, -far, far).astype(np.float32)

    def samples(self, rows: Array) -> LandmarkSamples:
        """Samples as landmarks meet them."""
        return LandmarkSamples(self.single(rows), self.Y[rows], self.weights(rows))

    def weights(self, rows: Array) -> Array | None:
        """Of these samples."""
        return part_of(self.weight, rows)

    def errors(self, rows: Array, predicted: Array) -> Array:
        """The mean squared error of predictions (r, t) of these samples, for each target."""
        return np.asarray(np.average((self.Y[rows] - predicted) ** 2, axis=0, weights=self.weights(rows)))

    def constant(self, rows: Array) -> Array:
        """What is predicted without features, shape (t,)."""
        if self.fit_intercept:
            return np.asarray(np.average(self.Y[rows], axis=0, weights=self.weights(rows)))
        return np.zeros(self.Y.shape[1])

    def exact(self, rows: Array, columns: Array, scales: Array) -> Array:
        """The kernel with these scales between samples, in double precision."""
        gram = self.combination.gram(self.bank.block(rows, columns), np.append(1.0, scales))
        return np.asarray(gram.dense())


@dataclass(frozen=True, eq=False)
class SampleUnits:
    """Targets and weights as they are learned.

    Parameters
    ----------
    shift : array (t,), what is taken off the targets, so that sums of squares keep their digits
    target : RegressionUnits, by which they are then divided
    weight : float, what weights are divided by
    """

    shift: Array
    target: RegressionUnits
    weight: float

    @classmethod
    def of(cls, posed: PosedScales) -> SampleUnits:
        """Those of some samples."""
        if posed.weight is None:
            weight = 1.0
        else:
            weight = float(posed.weight[posed.rows].mean())
        return cls(posed.constant(posed.rows), RegressionUnits.of(posed.Y), weight)

    def targets(self, Y: Array) -> Array:
        """Targets (n, t) in these units; 0 where rounding alone is left."""
        left = Y - self.shift
        return np.where(np.abs(left) > ROUNDING * np.abs(self.shift), left, 0.0) / self.target.target

    def weights(self, weight: Array | None) -> Array | None:
        """Weights in these units."""
        if weight is None:
            return None
        return weight / self.weight

    def solution(self, found: CentresSolution, loss: Loss) -> CentresSolution:
        """A solution in the units of the user; labels have no units."""
        if loss == "logistic":
            return replace(found, value=self.weight * found.value)
        return replace(
            found,
            coef=self.target.target * found.coef,
            intercept=self.shift + self.target.target * found.intercept,
            value=self.target.squared(self.weight * found.value),
        )


@dataclass(frozen=True, eq=False)
class ChosenScales:
    """What was found on some thousands of samples, before all are trained on.

    Parameters
    ----------
    units : SampleUnits
    first : LearnedScales, of a thousand samples
    further : LandmarkScales, of some thousands; None where there was no further descent
    scales, alpha : the scales of all columns, and the ridge
    centres : int array (M,), samples
    """

    units: SampleUnits
    first: LearnedScales
    further: LandmarkScales | None
    scales: Array
    alpha: float
    centres: Array


class RowsBeyond(Protocol):
    """The rows of a source, of which the samples at hand are some, in a random order."""

    @property
    def total(self) -> int:
        """How many rows there are."""

    @property
    def kept(self) -> ChosenScales | None:
        """What an earlier fit had found that did not come to its end."""

    def sums(self, chosen: ChosenScales) -> CentreSums:
        """The sums over all rows but those that are compared on, the first of the samples."""

    def over(self, chosen: ChosenScales) -> Over:
        """Passes over all rows."""
