"""The comparison of a measured number with a published one.

A measured mean y of m repetitions with deviation t agrees with a published mean x of n repetitions with deviation s if

    |y - x| <= s                                    it is within one published deviation (the paper's measure), or
    |y - x| <= 2 sqrt(s^2 / n + t^2 / m)            within two standard errors of the difference,

both up to the rounding of the printed number. The first asks whether one repetition could have given the other mean,
the second whether the two means differ by more than chance; both are shown. The second does not apply where the
repetitions are folds of samples that the paper has, too: their deviation is that between folds, which is in both means.
A number without any deviation agrees where it rounds to the printed one. All other results differ: they are better or
worse, or neither, where it is not defined whether higher or lower numbers are better. Where two standard errors are
more than half of the published number, hardly any number can differ, and there is no verdict. Numbers that a paper
quotes from others are measured, and not counted as its results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

import numpy as np

from multikernel.reproduce.published import PublishedNumber

Measurement = Mapping[str, Any]  # of one cell: numbers, lists of numbers, or dictionaries of these
Better = Literal["lower", "higher", "neither"]
STATED = "stated"


class Mark(StrEnum):
    """The verdicts."""

    WITHIN = "within"
    BETTER = "differs: better"
    WORSE = "differs: worse"
    OTHER = "differs"  # where neither higher nor lower numbers are better
    NOT_COMPARABLE = "not comparable"
    NOT_RUN = "not run"


DIFFERING = (Mark.BETTER, Mark.WORSE, Mark.OTHER)


@dataclass(frozen=True)
class Measured:
    """The mean of a number over repetitions.

    Parameters
    ----------
    value : float or str, the mean, or a word
    deviation : float, of the repetitions; 0 for a single repetition, and where it is not defined
    count : int, the number of repetitions
    low, high : float or None, the least and the largest measured number, where the paper states a range
    """

    value: float | str
    deviation: float = 0.0
    count: int = 1
    low: float | None = None
    high: float | None = None


def over_repetitions(values: Sequence[float]) -> Measured:
    """Mean and standard deviation."""
    numbers = np.asarray(values, dtype=float)
    spread = float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0
    return Measured(float(numbers.mean()), spread, len(numbers))


def smallest_to_largest(values: Sequence[float]) -> Measured:
    """The range of the numbers, all of which has to agree."""
    numbers = np.asarray(values, dtype=float)
    return Measured(float(numbers.mean()), 0.0, 1, float(numbers.min()), float(numbers.max()))


@dataclass(frozen=True)
class Query:
    """The cells that measure a published number, and how the number follows from them.

    Parameters
    ----------
    where : fields of the cells
    quantity : the path of names to the number in the measurement of a cell; each entry of a list is a repetition
    better : whether lower or higher numbers are better
    summary : function of the numbers of all cells: the measured number, or None where cells that it needs are missing
    cause : the cause where the number differs from the published one and no variant of ``causes`` agrees; empty while
        it is unknown
    summaries : other summaries of the stated cells, by the name of the variant
    summaries_of : the variant whose cells a summary is taken of, where these are not the stated ones
    stated : str, the variant of the cells that follow the paper
    remark : on a difference whose cause is unknown
    instead : why the measured number is not the one of the paper, so that they are not compared; empty if it is
    quoted : whether the paper quotes the number from others
    same_samples : whether the repetitions are folds of the samples that the paper has, too
    of_squares : whether the published standard deviation is that of the square of the number
    causes : the variants that may be the cause of a difference, each with a sentence that says so; the sentence of the
        first one that agrees is reported instead of ``cause``. That any other variant agrees is shown, and not counted
    exact : whether the published number is a count, of which no rounding is allowed
    """

    where: Mapping[str, Any]
    quantity: tuple[str, ...] = ()
    better: Better = "neither"
    summary: Callable[[Sequence[Any]], Measured | None] = over_repetitions
    cause: str = ""
    summaries: Mapping[str, Callable[[Sequence[Any]], Measured | None]] = field(default_factory=dict)
    summaries_of: Mapping[str, str] = field(default_factory=dict)
    stated: str = STATED
    remark: str = ""
    instead: str = ""
    quoted: bool = False
    same_samples: bool = False
    of_squares: bool = False
    causes: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False

    def compared(self, row: PublishedNumber) -> PublishedNumber:
        """The published number with the deviation of the number itself: to first order, that of x^2 is 2 x times it."""
        if self.exact:
            row = replace(row, value=f"{row.value}.0000")
        if not self.of_squares or row.deviation is None:
            return row
        return replace(row, deviation=row.deviation / (2.0 * float(row.value)))

    def measured(self, measurements: Sequence[Measurement]) -> Measured | None:
        """The measured number, from the measurements of the cells; None where there are none."""
        values: list[Any] = []
        for measurement in measurements:
            value: Any = measurement
            for name in self.quantity:
                value = None if value is None else value.get(name)
            if value is None:  # this cell measures other methods
                continue
            if isinstance(value, list) and self.summary in (over_repetitions, smallest_to_largest):
                values += value
            else:
                values.append(value)
        if not values:
            return None
        if isinstance(values[0], str):
            return Measured(values[0])
        return self.summary(values)


@dataclass(frozen=True)
class Constant:
    """A constant of the protocol, as the code of the experiment uses it.

    Parameters
    ----------
    value : float or str
    cause : str, why it differs from the published one; empty where it is the same
    """

    value: float | str
    cause: str = ""


@dataclass(frozen=True)
class NotComparable:
    """A published number that is not measured, the reason, and whether the paper quotes it from others."""

    reason: str
    quoted: bool = False


Binding = Query | Constant | NotComparable


@dataclass(frozen=True)
class Agreement:
    """The two measures of agreement of a measured number with the published one.

    Parameters
    ----------
    deviation : bool or None, whether at most one published deviation; None where none is published
    errors : bool or None, whether at most two standard errors of the difference; None where there are none
    equal : bool, whether the measured number rounds to the published one
    decisive : bool, whether two standard errors are at most half of the published number
    """

    deviation: bool | None
    errors: bool | None
    equal: bool
    decisive: bool = True

    @property
    def within(self) -> bool:
        if self.deviation or (self.errors and self.decisive):
            return True
        return self.equal and self.errors is None


@dataclass(frozen=True)
class Verdict:
    """The verdict on one published number.

    Parameters
    ----------
    row : the published number
    mark : Mark, for the number measured as the paper states
    measured : by the name of the variant, "stated" first
    agreement : by the name of the variant
    cause : str, why the number differs or is not comparable; empty while it is unknown
    remark : on a difference whose cause is unknown
    agreeing : the variants that agree and are a cause of the difference
    fitted : the agreeing variants that were chosen by looking at the published numbers
    quoted : whether the paper quotes the number from others
    """

    row: PublishedNumber
    mark: Mark
    measured: Mapping[str, Measured] = field(default_factory=dict)
    agreement: Mapping[str, Agreement] = field(default_factory=dict)
    cause: str = ""
    remark: str = ""
    agreeing: tuple[str, ...] = ()
    fitted: tuple[str, ...] = ()
    quoted: bool = False

    @property
    def differs(self) -> bool:
        """Whether the number measured as stated differs."""
        return self.mark in DIFFERING

    @property
    def explained(self) -> bool:
        """Whether the difference has a stated cause, or a variant agrees."""
        return bool(self.cause or self.agreeing)


def standard_error(row: PublishedNumber, measured: Measured) -> float:
    """The standard error of the difference of two means; where no deviation is published, the measured one is used."""
    published = measured.deviation if row.deviation is None else row.deviation
    return math.hypot(published / math.sqrt(row.repetitions), measured.deviation / math.sqrt(measured.count))


def agreement(row: PublishedNumber, measured: Measured, same_samples: bool = False) -> Agreement:
    """Both measures of agreement; half a unit of the last printed digit is always allowed, for the rounding.

    With ``same_samples`` only this rounding counts as an agreement beside the published deviation.
    """
    margin = 2.0 * standard_error(row, measured)
    equal = _side_of(row, measured, 0.0) == 0
    by_deviation = None
    if row.deviation is not None:
        by_deviation = _side_of(row, measured, row.deviation) == 0
    if same_samples or margin == 0.0:
        return Agreement(by_deviation, None, equal)
    limits = row.limits
    decisive = limits is None or margin <= 0.25 * abs(limits[0] + limits[1])
    return Agreement(by_deviation, _side_of(row, measured, margin) == 0, equal, decisive)


def mark_of(row: PublishedNumber, measured: Measured, better: Better, same_samples: bool = False) -> Mark:
    """The verdict: within, by a measure of agreement; otherwise better, worse or just different.

    Not comparable where only a measure agrees with which nothing can differ.
    """
    agreed = agreement(row, measured, same_samples)
    if agreed.within:
        return Mark.WITHIN
    if agreed.errors:
        return Mark.NOT_COMPARABLE
    side = _side_of(row, measured, 0.0)
    if better == "neither":
        return Mark.OTHER
    number = not isinstance(measured.value, str) and math.isfinite(measured.value)
    if number and (side < 0) == (better == "lower"):
        return Mark.BETTER
    return Mark.WORSE


def _side_of(row: PublishedNumber, measured: Measured, tolerance: float) -> int:
    """0 where the measured number is within the tolerance, -1 where it is below, 1 where it is above or on both sides.

    A word gives 0 where it is the published word, else 1.
    """
    limits = row.limits
    if isinstance(measured.value, str) or limits is None:
        return int(str(measured.value) != row.value)
    low, high = (measured.value if end is None else end for end in (measured.low, measured.high))
    if not math.isfinite(low) or not math.isfinite(high):
        return 1
    slack = tolerance + 1e-9 * max(abs(low), abs(high))
    if high > limits[1] + slack:
        return 1
    if low < limits[0] - slack:
        return -1
    return 0
