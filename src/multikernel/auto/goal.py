"""The target, classes or numbers: its columns for machines of squared loss, how candidates are blended, and losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from multikernel._arrays import part_of
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.auto.choice import PULL_OF_FEW, Blend, blend_classes, blend_numbers
from multikernel.estimators.targets import signs_of_classes

# from targets as the user gave them to the columns that machines learn, and to class weights where there are some
TargetColumns = Callable[[Array], tuple[Array, Array | None]]


class Goal(ABC):
    """The target of n samples."""

    measure: ClassVar[str]  # the name of the mean loss

    @property
    @abstractmethod
    def targets(self) -> Array:
        """The columns that machines learn, of a spread of about 1: shape (n, t)."""

    @property
    @abstractmethod
    def strata(self) -> Array:
        """The stratum of each sample, int array (n,): all folds have the same share of each stratum."""

    @abstractmethod
    def scores(self, values: Array) -> Array:
        """The scores (..., k), which are blended, as a linear function of values (..., t) of machines."""

    @abstractmethod
    def blend(self, scores: Array, rows: Array, weight: Array | None, several: bool, few: bool = False) -> Blend:
        """The blend of candidates' scores (M, len(rows), k) of held-out samples, of one source or of several.

        ``few`` asks for few candidates with a weight, because training each of them is costly.
        """

    @abstractmethod
    def constant(self, weight: Array | None) -> Blend:
        """The blend of no candidates."""

    @abstractmethod
    def losses(self, scores: Array, rows: Array) -> Array:
        """The loss of each of these samples, by their scores (len(rows), k)."""


@dataclass(frozen=True, eq=False)
class Labels(Goal):
    """Classes: columns of -1 and 1, one for two classes; k scores, whose exponentials are as the probabilities.

    Parameters
    ----------
    index : int array (n,), from 0 to count - 1
    count : int, k
    """

    measure: ClassVar[str] = "wrong labels"

    index: Array
    count: int

    @property
    def targets(self) -> Array:
        return as_columns(signs_of_classes(self.index, self.count))

    @property
    def strata(self) -> Array:
        return self.index

    def scores(self, values: Array) -> Array:
        if self.count == 2:
            return np.concatenate([-values, values], axis=-1) / 2.0
        return values

    def blend(self, scores: Array, rows: Array, weight: Array | None, several: bool, few: bool = False) -> Blend:
        labels = self.index[rows]
        if few:
            return blend_classes(scores, labels, weight, several, PULL_OF_FEW)
        return blend_classes(scores, labels, weight, several)

    def constant(self, weight: Array | None) -> Blend:
        counts = np.bincount(self.index, weight, self.count)
        return Blend(np.empty(0), np.log(np.maximum(counts, np.finfo(float).tiny)), 0.0, 0.0)

    def losses(self, scores: Array, rows: Array) -> Array:
        return (scores.argmax(axis=1) != self.index[rows]).astype(float)


@dataclass(frozen=True, eq=False)
class Values(Goal):
    """Numbers, of mean 0 and spread 1.

    Parameters
    ----------
    columns : array (n, t)
    """

    measure: ClassVar[str] = "squared error"

    columns: Array

    @property
    def targets(self) -> Array:
        return self.columns

    @property
    def strata(self) -> Array:
        return np.zeros(len(self.columns), dtype=int)

    def scores(self, values: Array) -> Array:
        return values

    def blend(self, scores: Array, rows: Array, weight: Array | None, several: bool, few: bool = False) -> Blend:
        return blend_numbers(scores, self.columns[rows], weight)

    def constant(self, weight: Array | None) -> Blend:
        return Blend(np.empty(0), np.zeros(self.columns.shape[1]), 0.0, 0.0)

    def losses(self, scores: Array, rows: Array) -> Array:
        return ((scores - self.columns[rows]) ** 2).mean(axis=1)


@dataclass(frozen=True, eq=False)
class LabelColumns:
    """From labels of other samples to the columns of ``Labels``, and to the factors of their weights.

    Parameters
    ----------
    classes : array of the labels, in order
    weights : array, one for each class; None where all are 1
    """

    classes: Array
    weights: Array | None

    def __call__(self, y: Array) -> tuple[Array, Array | None]:
        index = np.searchsorted(self.classes, y)
        columns = as_columns(signs_of_classes(index, len(self.classes)))
        return columns, part_of(self.weights, index)


@dataclass(frozen=True, eq=False)
class ValueColumns:
    """From numbers of other samples to the columns of ``Values``.

    Parameters
    ----------
    mean, spread : arrays (t,)
    """

    mean: Array
    spread: Array

    def __call__(self, y: Array) -> tuple[Array, Array | None]:
        return (as_columns(np.asarray(y, dtype=float)) - self.mean) / self.spread, None
