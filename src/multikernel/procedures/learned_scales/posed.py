"""The problem of scales for many samples, the scales chosen on some thousands of them, and the units of both.

Before columns are converted to single precision, their medians are subtracted and they are divided by their mean
distances; values are clipped where they would leave no digits for the others.
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
    """The problem: distances, a kernel, targets and folds.

    Parameters
    ----------
    bank : square bank of distances in columns, or of their products for a metric
    combination : Profiles of one kernel
    Y : array (n, t)
    weight : array (n,) >= 0, or None
    folds : Folds
    strata : int array (n,), the classes: each subset of samples gets its share of every class
    fit_intercept : bool
    rank : int or None, of a metric; full if not given
    seed : int
    loss : "squared" or "logistic", for the function that is trained at the end; scales are learned by squared losses
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
        """The samples with nonzero weight."""
        if self.weight is None:
            return np.arange(len(self.Y))
        return np.flatnonzero(self.weight)

    @cached_property
    def form(self) -> Form:
        """The form of the scales, with the mean distances of all samples."""
        bank = self.bank.block(self.rows, self.rows)
        return form_of(bank, self.rank, self.seed, self.weights(self.rows))

    @cached_property
    def standard(self) -> Form:
        """The form for columns that are divided by their units."""
        return replace(self.form, means=(self.form.means > 0.0).astype(float))

    @cached_property
    def _units(self) -> tuple[Array, Array]:
        """The median of each column, and the unit of its differences."""
        columns = self.bank.X[self.subsample(self.rows, ALL_SAMPLES)]
        means = np.where(self.form.means > 0.0, self.form.means, 1.0)
        if isinstance(self.bank, ColumnDistancesBank):
            means = np.append(means, 1.0)[self.bank.owner]
        return np.median(columns, axis=0), means ** (1.0 / self.bank.columns.degree)

    def subsample(self, among: Array, count: int) -> Array:
        """``count`` of these samples, in order."""
        return among[in_proportion(self.strata[among], count, self.seed)]

    def single(self, rows: Array) -> Array:
        """Samples in single precision, clipped where their values would leave no digits for the others."""
        centre, unit = self._units
        far = 1.0 / np.finfo(np.float32).eps
        return np.clip((self.bank.X[rows] - centre) / unit, -far, far).astype(np.float32)

    def samples(self, rows: Array) -> LandmarkSamples:
        """Samples in the form that ``LandmarkError`` takes."""
        return LandmarkSamples(self.single(rows), self.Y[rows], self.weights(rows))

    def weights(self, rows: Array) -> Array | None:
        """The weights of these samples."""
        return part_of(self.weight, rows)

    def errors(self, rows: Array, predicted: Array) -> Array:
        """The mean squared error of predictions (r, t) of these samples, for each target."""
        return np.asarray(np.average((self.Y[rows] - predicted) ** 2, axis=0, weights=self.weights(rows)))

    def constant(self, rows: Array) -> Array:
        """The constant prediction, the mean target or 0: shape (t,)."""
        if self.fit_intercept:
            return np.asarray(np.average(self.Y[rows], axis=0, weights=self.weights(rows)))
        return np.zeros(self.Y.shape[1])

    def exact(self, rows: Array, columns: Array, scales: Array) -> Array:
        """The kernel with these scales between samples, in double precision."""
        gram = self.combination.gram(self.bank.block(rows, columns), np.append(1.0, scales))
        return np.asarray(gram.dense())


@dataclass(frozen=True, eq=False)
class SampleUnits:
    """Units in which targets and weights are learned.

    Parameters
    ----------
    shift : array (t,), subtracted from the targets, so that sums of squares lose no digits
    target : RegressionUnits, by which targets are then divided
    weight : float, by which weights are divided
    """

    shift: Array
    target: RegressionUnits
    weight: float

    @classmethod
    def of(cls, problem: PosedScales) -> SampleUnits:
        """The units of the samples of a problem."""
        if problem.weight is None:
            weight = 1.0
        else:
            weight = float(problem.weight[problem.rows].mean())
        return cls(problem.constant(problem.rows), RegressionUnits.of(problem.Y), weight)

    def targets(self, Y: Array) -> Array:
        """Targets (n, t) in these units; 0 where the difference from ``shift`` is only rounding."""
        differences = Y - self.shift
        return np.where(np.abs(differences) > ROUNDING * np.abs(self.shift), differences, 0.0) / self.target.target

    def weights(self, weight: Array | None) -> Array | None:
        """Weights in these units."""
        if weight is None:
            return None
        return weight / self.weight

    def solution(self, solution: CentresSolution, loss: Loss) -> CentresSolution:
        """A solution in the units of the user; labels have no units."""
        if loss == "logistic":
            return replace(solution, value=self.weight * solution.value)
        return replace(
            solution,
            coef=self.target.target * solution.coef,
            intercept=self.shift + self.target.target * solution.intercept,
            value=self.target.squared(self.weight * solution.value),
        )


@dataclass(frozen=True, eq=False)
class ChosenScales:
    """The scales chosen on some thousands of samples, with which a machine is then trained on all.

    Parameters
    ----------
    units : SampleUnits
    first : LearnedScales, of a thousand samples
    further : LandmarkScales, of some thousands; None where there was no descent through landmarks
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
    """All rows of a source, of which the samples in memory are some, in a random order."""

    @property
    def total(self) -> int:
        """How many rows there are."""

    @property
    def kept(self) -> ChosenScales | None:
        """The scales chosen by an earlier fit that was interrupted; None if there was none."""

    def sums(self, chosen: ChosenScales) -> CentreSums:
        """The sums over all rows but the rows that ridges are compared on, the first of the samples."""

    def over(self, chosen: ChosenScales) -> Over:
        """Passes over all rows."""
