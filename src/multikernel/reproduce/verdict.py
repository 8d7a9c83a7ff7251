"""What is said of a measured number beside the published one.

A result agrees with a published mean x of n repetitions with deviation s where ours, y of m with deviation t, is

    |y - x| <= s                                    within one published deviation (the paper's own measure), or
    |y - x| <= 2 sqrt(s^2 / n + t^2 / m)            within two standard errors of the difference

both up to the rounding of print. The first asks whether one repetition could have given the other mean, the second
whether the two means differ by more than chance; both are shown. Everything else differs: for the better, for the
worse, or, where neither more nor less is better, as such.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import numpy as np

from multikernel.reproduce.published import PublishedNumber

Found = Mapping[str, Any]  # what the measurement of one cell gave: numbers, lists of numbers, or one of these by name
Better = Literal["lower", "higher", "neither"]
STATED = "stated"


class Mark(StrEnum):
    """The verdicts."""

    WITHIN = "within"
    BETTER = "differs: better"
    WORSE = "differs: worse"
    OTHER = "differs"  # where neither more nor less is better
    NOT_COMPARABLE = "not comparable"
    NOT_RUN = "not run"


DIFFERING = (Mark.BETTER, Mark.WORSE, Mark.OTHER)


@dataclass(frozen=True)
class Measured:
    """A number over repetitions.

    Parameters
    ----------
    value : float or str, the mean, or a word
    deviation : float, of the repetitions; 0 where there is one, and where none applies
    count : int, how many repetitions
    low, high : float or None, the ends of what was measured, where the paper states a range
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


def extent(values: Sequence[float]) -> Measured:
    """From the least to the largest number; all of it counts."""
    numbers = np.asarray(values, dtype=float)
    return Measured(float(numbers.mean()), 0.0, 1, float(numbers.min()), float(numbers.max()))


@dataclass(frozen=True)
class Query:
    """Which cells measure a published number, and how it follows from them.

    Parameters
    ----------
    where : fields of the cells
    quantity : where the number stands in what a cell gave, name by name; each entry of a list counts as a repetition
    better : whether lower or higher numbers are better
    summary : what makes one number of those of all cells, or None where some of these are missing that it needs
    cause : the name of the cause where the number differs from the published one; empty while it is not known
    readings : other summaries of the cells of what is stated, by the name of the variant
    stated : str, the variant of the cells that are what the paper states
    known : what is known of a difference whose cause is not
    instead : why what is measured is not what the paper measured, and both are not compared; empty where it is
    quoted : whether the paper quotes the number from others
    """

    where: Mapping[str, Any]
    quantity: tuple[str, ...] = ()
    better: Better = "neither"
    summary: Callable[[Sequence[Any]], Measured | None] = over_repetitions
    cause: str = ""
    readings: Mapping[str, Callable[[Sequence[Any]], Measured | None]] = field(default_factory=dict)
    stated: str = STATED
    known: str = ""
    instead: str = ""
    quoted: bool = False

    def measured(self, found: Sequence[Found]) -> Measured | None:
        """The number, from what the cells gave."""
        values: list[Any] = []
        for each in found:
            value: Any = each
            for name in self.quantity:
                value = None if value is None else value.get(name)
            if value is None:  # this cell measures other methods
                continue
            if isinstance(value, list) and self.summary in (over_repetitions, extent):
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
    """A number that the protocol sets: what the code of the experiment takes.

    Parameters
    ----------
    value : float or str
    cause : str, why it is another one than the published; empty where it is the same
    """

    value: float | str
    cause: str = ""


@dataclass(frozen=True)
class NotComparable:
    """A published number that is not measured, and the reason."""

    reason: str


Binding = Query | Constant | NotComparable


@dataclass(frozen=True)
class Agreement:
    """How far a measured number is from the published one.

    Parameters
    ----------
    deviation : bool or None, whether at most one published deviation; None where none is published
    errors : bool, whether at most two standard errors of the difference
    margin : float, these two standard errors
    """

    deviation: bool | None
    errors: bool
    margin: float = 0.0

    @property
    def within(self) -> bool:
        return bool(self.deviation) or self.errors


@dataclass(frozen=True)
class Verdict:
    """What is said of one published number.

    Parameters
    ----------
    row : the published number
    mark : Mark, by what was measured as the paper states it
    measured : by the name of the variant, "stated" first
    agreement : of each of these
    cause : str, why the number differs or is not comparable; empty while that is open
    known : what is known of a difference without a cause
    agreeing : the variants, other than "stated", that are within
    fitted : those of them that were chosen by looking at the published numbers
    quoted : whether the paper quotes the number from others
    """

    row: PublishedNumber
    mark: Mark
    measured: Mapping[str, Measured] = field(default_factory=dict)
    agreement: Mapping[str, Agreement] = field(default_factory=dict)
    cause: str = ""
    known: str = ""
    agreeing: tuple[str, ...] = ()
    fitted: tuple[str, ...] = ()
    quoted: bool = False

    @property
    def differs(self) -> bool:
        """Whether it does as stated."""
        return self.mark in DIFFERING

    @property
    def explained(self) -> bool:
        """Whether a number that differs as stated has a cause with a name."""
        return bool(self.cause or self.agreeing)


def standard_error(row: PublishedNumber, measured: Measured) -> float:
    """Of the difference of two means over repetitions; a deviation that is not published is taken to be as ours."""
    published = measured.deviation if row.deviation is None else row.deviation
    return math.hypot(published / math.sqrt(row.repetitions), measured.deviation / math.sqrt(measured.count))


def agreement(row: PublishedNumber, measured: Measured) -> Agreement:
    """Both measures of agreement; half a unit of the last printed digit is always allowed, for the rounding."""
    margin = 2.0 * standard_error(row, measured)
    by_deviation = None
    if row.deviation is not None:
        by_deviation = _apart(row, measured, row.deviation) == 0
    return Agreement(by_deviation, _apart(row, measured, margin) == 0, margin)


def mark_of(row: PublishedNumber, measured: Measured, better: Better) -> Mark:
    """The verdict: within by one of the two measures, or else on which side."""
    if agreement(row, measured).within:
        return Mark.WITHIN
    side = _apart(row, measured, 0.0)
    if better == "neither":
        return Mark.OTHER
    number = not isinstance(measured.value, str) and math.isfinite(measured.value)
    if number and (side < 0) == (better == "lower"):
        return Mark.BETTER
    return Mark.WORSE


def _apart(row: PublishedNumber, measured: Measured, allowed: float) -> int:
    """-1 where it is below what is allowed, 1 where it is above, or on both sides; 0 inside; words are 0 or 1."""
    limits = row.limits
    if isinstance(measured.value, str) or limits is None:
        return int(str(measured.value) != row.value)
    low, high = (measured.value if end is None else end for end in (measured.low, measured.high))
    if not math.isfinite(low) or not math.isfinite(high):
        return 1
    slack = allowed + 1e-9 * max(abs(low), abs(high))
    if high > limits[1] + slack:
        return 1
    if low < limits[0] - slack:
        return -1
    return 0
