"""What is said of a measured number beside the published one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import numpy as np

from multikernel.reproduce.published import PublishedNumber

Found = Mapping[str, Any]  # what the measurement of one cell gave: numbers, lists of numbers, or one of these by name
Better = Literal["lower", "higher", "neither"]


class Mark(StrEnum):
    """The verdicts."""

    WITHIN = "within one deviation"
    BETTER = "better"
    WORSE = "worse"
    NOT_COMPARABLE = "not comparable"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Measured:
    """A number over repetitions.

    Parameters
    ----------
    value : float or str, the mean, or a word
    deviation : float, of the repetitions; 0 where there is one
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
    """From the least to the largest number."""
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
    """

    where: Mapping[str, Any]
    quantity: tuple[str, ...] = ()
    better: Better = "neither"
    summary: Callable[[Sequence[Any]], Measured | None] = over_repetitions
    cause: str = ""
    readings: Mapping[str, Callable[[Sequence[Any]], Measured | None]] = field(default_factory=dict)

    def measured(self, found: Sequence[Found]) -> Measured | None:
        """The number, from what the cells gave."""
        values: list[Any] = []
        for each in found:
            value: Any = each
            for name in self.quantity:
                value = None if value is None else value.get(name)
            if value is None:  # this cell measures other methods
                continue
            values += value if isinstance(value, list) and self.summary in (over_repetitions, extent) else [value]
        if not values:
            return None
        if isinstance(values[0], str):
            return Measured(values[0])
        return self.summary(values)


@dataclass(frozen=True)
class Constant:
    """A number that the protocol sets: what the code of the experiment takes."""

    value: float | str


@dataclass(frozen=True)
class NotComparable:
    """A published number that is not measured, and the reason."""

    reason: str


Binding = Query | Constant | NotComparable


@dataclass(frozen=True)
class Verdict:
    """What is said of one published number.

    Parameters
    ----------
    row : the published number
    mark : Mark, by what was measured as the paper states it
    measured : by the name of the variant, "stated" first
    allowed : str, what "within" means here
    cause : str, why the number differs or is not comparable; empty while that is open
    agreeing : the variants, other than "stated", that are within or better
    directed : whether lower, or higher, numbers are better; where neither is, a number that is not within differs
    """

    row: PublishedNumber
    mark: Mark
    measured: Mapping[str, Measured] = field(default_factory=dict)
    allowed: str = ""
    cause: str = ""
    agreeing: tuple[str, ...] = ()
    directed: bool = True

    @property
    def comparable(self) -> bool:
        return self.mark not in (Mark.NOT_COMPARABLE, Mark.NOT_RUN)

    @property
    def explained(self) -> bool:
        """Whether a number that is worse as stated has a cause with a name."""
        return bool(self.cause or self.agreeing)


def mark_of(row: PublishedNumber, measured: Measured, better: Better) -> tuple[Mark, str]:
    """The mark, and what was allowed: the published deviation, else our own, else the rounding of print."""
    limits = row.limits
    if isinstance(measured.value, str) or limits is None:
        mark = Mark.WITHIN if str(measured.value) == row.value else Mark.WORSE
        return mark, "the same word"
    allowed = row.deviation or 0.0
    kind = "the published deviation"
    if not allowed:
        allowed = measured.deviation
        if allowed:
            kind = f"the deviation of {measured.count} repetitions here"
        else:
            kind = "the rounding of print"
    low, high = (measured.value if end is None else end for end in (measured.low, measured.high))
    slack = allowed + 1e-9 * max(abs(low), abs(high))
    if low >= limits[0] - slack and high <= limits[1] + slack:
        return Mark.WITHIN, kind
    improved = {"lower": high < limits[0], "higher": low > limits[1], "neither": False}[better]
    return (Mark.BETTER if improved else Mark.WORSE), kind
