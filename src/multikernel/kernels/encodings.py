"""Encodings of one column, or of several of the same type: standardised numbers, ranks, dates and their cycles.

    Standardize     (x - mean) / deviation                    DateParts    days, and times of year, week and day
    NormalScores    normal scores of the ranks                Parsed       strings that denote numbers or dates
    Ranks           ranks of ordered categories

A missing cell gets the mean of its column. A column with missing cells in training gets an indicator beside it, a
column that is 1 where a cell is missing and 0 elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
from scipy.special import ndtri
from sklearn.utils.sparsefuncs import mean_variance_axis

from multikernel._arrays import is_sparse
from multikernel._floats import ROUNDING
from multikernel._rules import Instance, abbreviated
from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.kernels.base import Kernel
from multikernel.kernels.encoding import Encoded, Encoding
from multikernel.kernels.features import Features
from multikernel.kernels.samples import as_floats, dense, scaled_columns
from multikernel.kernels.views import Restricted
from multikernel.tables.dates import Order, check_readable, parsed, unreadable_note
from multikernel.tables.numerals import PLAIN, Numerals
from multikernel.tables.table import Table

Numbers = Annotated[Encoding, Instance(Encoding, "an encoding of numbers such as Standardize()")]
_CYCLES = {"year": 365.2425, "week": 7.0, "day": 1.0}  # days
_KNOTS = 257  # quantiles by which ranks are interpolated: scores within 1/256 of those of all ranks
Curve = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(repr=False)
class Standardize(Encoding):
    """(x - mean) / deviation in each column; a missing cell gets the mean.

    Columns with missing cells in training get a column of indicators, 1 where the cell is missing. If the
    training sample is sparse, columns are only divided by their deviation, so that zeros stay zeros.

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
        if is_sparse(X):
            unit = _units(X)
            mean, variance = mean_variance_axis(scaled_columns(X, 1.0 / unit).tocsr(), axis=0)
            return Standardize((0.0,) * X.shape[1], _deviations(mean, variance, unit))
        absent = np.isnan(X)
        count = np.maximum((~absent).sum(axis=0), 1)
        unit = _units(X)
        Z = np.where(absent, 0.0, X / unit)
        mean = Z.sum(axis=0, dtype=np.float64) / count
        variance = (np.where(absent, 0.0, Z - mean) ** 2).sum(axis=0) / count
        incomplete = np.flatnonzero(absent.any(axis=0)).tolist()
        return Standardize(tuple((mean * unit).tolist()), _deviations(mean, variance, unit), tuple(incomplete))

    def __call__(self, X: Any) -> Any:
        X = floats_of(X)
        if is_sparse(X):
            if not any(self.means or ()):
                return scaled_columns(X, 1.0 / np.array(self.deviations)).tocsr()
            X = dense(X)
        return with_indicators((X - np.array(self.means)) / np.array(self.deviations), np.isnan(X), self.incomplete)

    @property
    def sources(self) -> tuple[int, ...]:
        return (*range(len(self.deviations or ())), *self.incomplete)

    def notation(self, kernel: str) -> str:
        if self.means is None:
            return f"{kernel}.standardized()"
        return super().notation(kernel)

    def __repr__(self) -> str:
        if self.means is None:
            return "Standardize()"
        return super().__repr__()


@dataclass(repr=False)
class Ranks(Encoding):
    """Ordered categories as their standardised ranks; a category that is not listed counts as missing.

    Parameters
    ----------
    levels : tuple of str, from the first to the last
    numbers : Encoding of the ranks: Standardize or NormalScores

    Raises
    ------
    ValueError : where levels is no tuple of strings
    """

    levels: tuple[str, ...]
    numbers: Numbers = field(default_factory=Standardize)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.levels, tuple) or not all(isinstance(level, str) for level in self.levels):
            raise ValueError(f"Ranks: levels must be a tuple of strings, got {abbreviated(self.levels)}")

    def resolve(self, features: Features) -> Ranks:
        if features.n != 1 or len(features.strings) != 1:
            raise ValueError(f"Ranks takes one column of ordered categories, got {features.n} columns")
        return self

    def learned(self, X: Any) -> Ranks:
        numbers = self.numbers.learned(self._ranks(X))
        if numbers is self.numbers:
            return self
        return replace(self, numbers=numbers)

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
    """One column of dates as standardised days, or as sine and cosine of the time of year, week or day.

    Parameters
    ----------
    part : "days", "year", "week" or "day"
    numbers : Encoding of the days: Standardize or NormalScores
    """

    part: Literal["days", "year", "week", "day"] = "days"
    numbers: Numbers = field(default_factory=Standardize)

    def resolve(self, features: Features) -> DateParts:
        if features.n != 1:
            raise ValueError(f"DateParts takes one column of dates, got {features.n} columns")
        features.check_strings(self)
        return self

    def learned(self, X: Any) -> DateParts:
        numbers = self.numbers.learned(X)
        if numbers is self.numbers:
            return self
        return replace(self, numbers=numbers)

    def __call__(self, X: Any) -> Array:
        if self.part == "days":
            return self.numbers(X)
        turn = 2.0 * np.pi / _CYCLES[self.part] * floats_of(X)
        circle = np.hstack([np.cos(turn), np.sin(turn)])
        return np.where(np.isnan(circle), 0.0, circle)

    @property
    def sources(self) -> tuple[int, ...]:
        if self.part == "days":
            return self.numbers.sources
        return (0, 0)


def floats_of(X: Any) -> Any:
    """Floats, NaN where a cell is missing."""
    return as_floats(X.numbers if isinstance(X, Table) else X)


def with_indicators(Z: Array, absent: Array, incomplete: tuple[int, ...]) -> Array:
    """Numbers with 0 where a cell is missing, and indicators of missing cells for the incomplete columns."""
    Z[absent] = 0.0
    if incomplete:
        return np.hstack([Z, absent[:, list(incomplete)]])
    return Z


def _units(X: Any) -> Array:
    """A power of two for each column, near its largest absolute value.

    Columns are divided by it before they are squared: squares of very large and of very small numbers overflow and
    underflow.
    """
    if is_sparse(X):
        largest = abs(X).max(axis=0).toarray().ravel()
    else:
        with np.errstate(invalid="ignore"):
            largest = np.nan_to_num(np.fmax.reduce(np.abs(X), axis=0, initial=0.0))
    return np.where(largest > 0.0, np.ldexp(1.0, np.frexp(np.where(largest > 0.0, largest, 1.0))[1] - 1), 1.0)


def _deviations(mean: Array, variance: Array, unit: Array) -> tuple[float, ...]:
    """The deviations of the columns in their own unit, 1 for constant columns."""
    deviation = np.sqrt(np.maximum(variance, 0.0))
    constant = deviation <= ROUNDING * np.abs(mean)
    return tuple(np.where(constant, 1.0, deviation * unit).tolist())


def standardized(kernel: Kernel) -> Kernel:
    """The kernel on standardised columns; a restricted kernel is standardised on its own columns only."""
    if isinstance(kernel, Restricted):
        return Restricted(standardized(kernel.kernel), kernel.columns)
    return Encoded(kernel, Standardize())


@dataclass(repr=False)
class NormalScores(Encoding):
    """The normal score of the rank of a number in the training sample, with mean 0 and deviation 1 in each column.

    A missing cell gets 0, and columns with missing cells in training get a column of indicators, as in ``Standardize``.

    Parameters
    ----------
    curves : for each column a pair of tuples, increasing quantiles and their scores; None until they are learned
    incomplete : tuple of int, the columns that have indicators

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> X = np.array([[1.0], [2.0], [1000.0]])
    >>> kernels.NormalScores().learned(X)(X).round(2).T
    array([[-1.22,  0.  ,  1.22]])
    """

    curves: tuple[Curve, ...] | None = None
    incomplete: tuple[int, ...] = ()

    def resolve(self, features: Features) -> NormalScores:
        features.check_strings(self)
        return self

    def learned(self, X: Any) -> NormalScores:
        if self.curves is not None:
            return self
        X = dense(floats_of(X))
        absent = np.isnan(X)
        curves = tuple(_curve(column[~is_absent]) for column, is_absent in zip(X.T, absent.T, strict=True))
        return NormalScores(curves, tuple(np.flatnonzero(absent.any(axis=0)).tolist()))

    def __call__(self, X: Any) -> Array:
        X = dense(floats_of(X))
        columns = zip(X.T, self.curves or (), strict=True)
        Z = np.column_stack([np.interp(column, *curve) for column, curve in columns])
        return with_indicators(Z, np.isnan(X), self.incomplete)

    @property
    def sources(self) -> tuple[int, ...]:
        return (*range(len(self.curves or ())), *self.incomplete)

    def __repr__(self) -> str:
        if self.curves is None:
            return "NormalScores()"
        return f"NormalScores(<{len(self.curves)} columns>)"


def _curve(x: Array) -> Curve:
    """Quantiles and their scores: the normal score of the mean rank of the samples with this value, standardised."""
    if not len(x):
        return (0.0,), (0.0,)
    order = np.sort(x)
    n = len(x)
    values = np.unique(x)
    if len(values) > _KNOTS:
        values = np.unique(np.quantile(x, np.linspace(0.0, 1.0, _KNOTS)))
    ranks = 0.5 * (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")) / n
    scores = ndtri(np.clip(ranks, 0.5 / n, 1.0 - 0.5 / n))
    on_samples = np.interp(x, values, scores)
    spread = float(on_samples.std())
    scores = (scores - on_samples.mean()) / (spread if spread > 0 else 1.0)
    return tuple(values.tolist()), tuple(scores.tolist())


@dataclass(repr=False)
class Parsed(Encoding):
    """A column of strings, encoded as the numbers or dates that they denote.

    Parameters
    ----------
    numbers : Encoding of the numbers, or of the days since 1970
    order : "" for numbers; "ymd", "dmy" or "mdy" for dates in this order
    known : tuple of str, strings of the training sample that denote no number or date
    numerals : Numerals, the notation of the numbers
    name : str, the name of the column, for messages
    """

    numbers: Numbers = field(default_factory=Standardize)
    order: Order = ""
    known: tuple[str, ...] = ()
    numerals: Numerals = PLAIN
    name: str = "a column"

    def resolve(self, features: Features) -> Parsed:
        if features.n != 1:
            raise ValueError(f"Parsed takes one column of strings, got {features.n} columns")
        return replace(self, name=features.name(0))

    def learned(self, X: Any) -> Parsed:
        numbers = self.numbers.learned(self._values(X))
        if numbers is self.numbers:
            return self
        return replace(self, numbers=numbers)

    def __call__(self, X: Any) -> Any:
        values = self._values(X)
        if _has_strings(X):
            unreadable = check_readable(self.name, X.texts[:, 0], values[:, 0], self.known, self.order)
            if unreadable:
                warn_user(unreadable_note(self.name, unreadable, self.order), PredictionWarning)
        return self.numbers(values)

    @property
    def sources(self) -> tuple[int, ...]:
        return self.numbers.sources

    def _values(self, X: Any) -> Any:
        """The numbers or days of a column, shape (n, 1)."""
        if not _has_strings(X):
            return X
        return parsed(X.texts[:, 0], self.order, self.numerals)[:, None]


def _has_strings(X: Any) -> bool:
    return isinstance(X, Table) and len(X.strings) > 0
