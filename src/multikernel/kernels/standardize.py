"""Numbers with mean 0 and deviation 1 in the training sample, ranks of ordered categories, dates and their cycles.

A missing cell gets the mean of its column. A column with missing cells in training has one more column beside it, which
is 1 where a cell is missing and 0 elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.utils.sparsefuncs import mean_variance_axis

from multikernel._parameters import Instance, shown
from multikernel._typing import Array
from multikernel.kernels.base import Kernel, register_form
from multikernel.kernels.encoding import Encoded, Encoding
from multikernel.kernels.features import Features
from multikernel.kernels.samples import as_floats, dense, scaled_columns
from multikernel.kernels.table import Table
from multikernel.kernels.views import Restricted

_CONSTANT = 10.0  # roundoffs of the mean: a deviation below is that of a constant column
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
        replace(features, missing=(), times=()).check_numbers(self)
        return self

    def learned(self, X: Any) -> Standardize:
        if self.means is not None:
            return self
        X = _numbers(X)
        if hasattr(X, "tocsr"):
            mean, variance = mean_variance_axis(X.tocsr(), axis=0)
            return Standardize((0.0,) * X.shape[1], _deviations(mean, variance))
        absent = np.isnan(X)
        count = np.maximum((~absent).sum(axis=0), 1)
        mean = np.where(absent, 0.0, X).sum(axis=0, dtype=np.float64) / count
        variance = (np.where(absent, 0.0, X - mean) ** 2).sum(axis=0) / count
        incomplete = np.flatnonzero(absent.any(axis=0)).tolist()
        return Standardize(tuple(mean.tolist()), _deviations(mean, variance), tuple(incomplete))

    def __call__(self, X: Any) -> Any:
        X = _numbers(X)
        if hasattr(X, "tocsr"):
            if not any(self.means or ()):
                return scaled_columns(X, 1.0 / np.array(self.deviations)).tocsr()
            X = dense(X)
        absent = np.isnan(X)
        Z = (X - np.array(self.means)) / np.array(self.deviations)
        Z[absent] = 0.0
        return np.hstack([Z, absent[:, list(self.incomplete)]]) if self.incomplete else Z

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
    numbers : Standardize, of the ranks

    Raises
    ------
    ValueError : where levels is no tuple of strings
    """

    levels: tuple[str, ...]
    numbers: Annotated[Standardize, Instance(Standardize, "a Standardize()")] = field(default_factory=Standardize)

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

    def _ranks(self, X: Any) -> Array:
        rank = {level: float(i) for i, level in enumerate(self.levels)}
        return np.array([[rank.get(text, np.nan)] for text in X.texts[:, 0]])


@dataclass(repr=False)
class DateParts(Encoding):
    """Dates as standardised days, or as sine and cosine of their place in a year, a week or a day.

    Parameters
    ----------
    part : "days", "year", "week" or "day"
    numbers : Standardize, of the days
    """

    part: Literal["days", "year", "week", "day"] = "days"
    numbers: Annotated[Standardize, Instance(Standardize, "a Standardize()")] = field(default_factory=Standardize)

    def resolve(self, features: Features) -> DateParts:
        replace(features, missing=(), times=()).check_numbers(self)
        return self

    def learned(self, X: Any) -> DateParts:
        numbers = self.numbers.learned(X)
        return self if numbers is self.numbers else replace(self, numbers=numbers)

    def __call__(self, X: Any) -> Array:
        if self.part == "days":
            return self.numbers(X)
        turn = 2.0 * np.pi / _CYCLES[self.part] * _numbers(X)
        circle = np.hstack([np.cos(turn), np.sin(turn)])
        return np.where(np.isnan(circle), 0.0, circle)


def _numbers(X: Any) -> Any:
    """Floats, NaN where a cell is missing."""
    return as_floats(X.numbers if isinstance(X, Table) else X)


def _deviations(mean: Array, variance: Array) -> tuple[float, ...]:
    deviation = np.sqrt(np.maximum(variance, 0.0))
    constant = deviation <= _CONSTANT * np.finfo(float).eps * np.abs(mean)
    return tuple(np.where(constant, 1.0, deviation).tolist())


def standardized(kernel: Kernel) -> Kernel:
    """The kernel of standardised columns; of the columns that it is restricted to, where it is."""
    if isinstance(kernel, Restricted):
        return Restricted(standardized(kernel.kernel), kernel.columns)
    return Encoded(kernel, Standardize())


register_form("standardized", standardized)
