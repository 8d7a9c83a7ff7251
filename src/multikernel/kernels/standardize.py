"""Numbers with mean 0 and deviation 1 in the training sample, ranks of ordered categories, dates and their cycles.

A missing cell gets the mean of its column. A column with missing cells in training has one more column beside it, which
is 1 where a cell is missing and 0 elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.utils.sparsefuncs import mean_variance_axis

from multikernel._rules import Instance, shown
from multikernel._typing import Array
from multikernel.kernels.base import Kernel
from multikernel.kernels.encoding import Encoded, Encoding
from multikernel.kernels.features import Features
from multikernel.kernels.samples import as_floats, dense, scaled_columns
from multikernel.kernels.views import Restricted
from multikernel.tables.table import Table

_CONSTANT = 10.0  # roundoffs of the mean: a deviation below is that of a constant column
Numbers = Annotated[Encoding, Instance(Encoding, "an encoding of numbers such as Standardize()")]
_CYCLES = {"year": 365.2425, "week": 7.0, "day": 1.0}  # days


@dataclass(repr=False)
class Standardize(Encoding):
    """(x - mean) / deviation in each column; a missing cell gets the mean.

    Columns with missing cells in training get a column of indicators, 1 where the cell is missing. Sparse samples are
    divided only, so that zeros stay, where the training sample is sparse.

    Parameters
    ----------
    means, deviations : tuples of floats, one for each column; None until they are learned
    incomplete : tuple of int, the columns that have indicators
    """

    means: tuple[float, ...] | None = None
    deviations: tuple[float, ...] | None = None
    incomplete: tuple[int, ...] = ()

    def resolve(self, features: Features) -> Standardize:
        features.check_strings(self)
        return self

    def learned(self, X: Any) -> Standardize:
        if self.means is not None:
            return self
        X = floats_of(X)
        if hasattr(X, "tocsr"):
            mean, variance = mean_variance_axis(X.tocsr(), axis=0)
            return Standardize((0.0,) * X.shape[1], _deviations(mean, variance))
        absent = np.isnan(X)
        count = np.maximum((~absent).sum(axis=0), 1)
        unit = _units(X)  # squares of very large and of very small numbers are no numbers
        Z = np.where(absent, 0.0, X / unit)
        mean = Z.sum(axis=0, dtype=np.float64) / count
        variance = (np.where(absent, 0.0, Z - mean) ** 2).sum(axis=0) / count
        incomplete = np.flatnonzero(absent.any(axis=0)).tolist()
        return Standardize(tuple((mean * unit).tolist()), _deviations(mean, variance, unit), tuple(incomplete))

    def __call__(self, X: Any) -> Any:
        X = floats_of(X)
        if hasattr(X, "tocsr"):
            if not any(self.means or ()):
                return scaled_columns(X, 1.0 / np.array(self.deviations)).tocsr()
            X = dense(X)
        return with_indicators((X - np.array(self.means)) / np.array(self.deviations), np.isnan(X), self.incomplete)

    @property
    def sources(self) -> tuple[int, ...]:
        return (*range(len(self.deviations or ())), *self.incomplete)

    def around(self, kernel: str) -> str:
        return f"{kernel}.standardized()" if self.means is None else super().around(kernel)

    def __repr__(self) -> str:
        return "Standardize()" if self.means is None else super().__repr__()


@dataclass(repr=False)
class Ranks(Encoding):
    """Ordered categories as their standardised ranks; a category that is none of them counts as missing.

    Parameters
    ----------
    levels : tuple of str, from the first to the last
    numbers : Encoding, of the ranks: Standardize or NormalScores

    Raises
    ------
    ValueError : where levels is no tuple of strings
    """

    levels: tuple[str, ...]
    numbers: Numbers = field(default_factory=Standardize)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.levels, tuple) or not all(isinstance(level, str) for level in self.levels):
            raise ValueError(f"Ranks: levels must be a tuple of strings, got {shown(self.levels)}")

    def resolve(self, features: Features) -> Ranks:
        if features.n != 1 or len(features.strings) != 1:
            raise ValueError(f"Ranks takes one column of ordered categories, got {features.n} columns")
        return self

    def learned(self, X: Any) -> Ranks:
        numbers = self.numbers.learned(self._ranks(X))
        return self if numbers is self.numbers else replace(self, numbers=numbers)

    def __call__(self, X: Any) -> Array:
        return self.numbers(self._ranks(X))

    @property
    def sources(self) -> tuple[int, ...]:
        return self.numbers.sources

    def _ranks(self, X: Any) -> Array:
        rank = {level: float(i) for i, level in enumerate(self.levels)}
        return np.array([[rank.get(text, np.nan)] for text in X.texts[:, 0]])


@dataclass(repr=False)
class DateParts(Encoding):
    """Dates as standardised days, or as sine and cosine of their place in a year, a week or a day.

    Parameters
    ----------
    part : "days", "year", "week" or "day"
    numbers : Encoding, of the days: Standardize or NormalScores
    """

    part: Literal["days", "year", "week", "day"] = "days"
    numbers: Numbers = field(default_factory=Standardize)

    def resolve(self, features: Features) -> DateParts:
        features.check_strings(self)
        return self

    def learned(self, X: Any) -> DateParts:
        numbers = self.numbers.learned(X)
        return self if numbers is self.numbers else replace(self, numbers=numbers)

    def __call__(self, X: Any) -> Array:
        if self.part == "days":
            return self.numbers(X)
        turn = 2.0 * np.pi / _CYCLES[self.part] * floats_of(X)
        circle = np.hstack([np.cos(turn), np.sin(turn)])
        return np.where(np.isnan(circle), 0.0, circle)

    @property
    def sources(self) -> tuple[int, ...]:
        return self.numbers.sources if self.part == "days" else (0, 0)


def floats_of(X: Any) -> Any:
    """Floats, NaN where a cell is missing."""
    return as_floats(X.numbers if isinstance(X, Table) else X)


def with_indicators(Z: Array, absent: Array, incomplete: tuple[int, ...]) -> Array:
    """Numbers with 0 where a cell is missing, and columns that say where, for those that are incomplete."""
    Z[absent] = 0.0
    return np.hstack([Z, absent[:, list(incomplete)]]) if incomplete else Z


def _units(X: Array) -> Array:
    """A power of two for each column, near its largest absolute value."""
    with np.errstate(invalid="ignore"):
        largest = np.nan_to_num(np.fmax.reduce(np.abs(X), axis=0, initial=0.0))
    return np.where(largest > 0.0, np.ldexp(1.0, np.frexp(np.where(largest > 0.0, largest, 1.0))[1] - 1), 1.0)


def _deviations(mean: Array, variance: Array, unit: Array | float = 1.0) -> tuple[float, ...]:
    deviation = np.sqrt(np.maximum(variance, 0.0))
    constant = deviation <= _CONSTANT * np.finfo(float).eps * np.abs(mean)
    return tuple(np.where(constant, 1.0, deviation * unit).tolist())


def standardized(kernel: Kernel) -> Kernel:
    """The kernel of standardised columns; of the columns that it is restricted to, where it is."""
    if isinstance(kernel, Restricted):
        return Restricted(standardized(kernel.kernel), kernel.columns)
    return Encoded(kernel, Standardize())
