"""Strings that are numbers or dates in writing, and encodings of what they say.

    12.5    1e3        a number, also with a unit or with marks between thousands (numerals.py)
    2020-03-12 10:30   a date, year first; 2020/03/12 as well
    12.03.2020         a date, day first, as it is where dots stand between
    12/03/2020         day first or month first, as the column tells: a number above 12 is a day

A string that is neither counts as a missing cell, and is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import nan
from typing import Any, Literal

import numpy as np

from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.kernels.encoding import Encoding
from multikernel.kernels.features import Features
from multikernel.kernels.numerals import PLAIN, Numerals, numbers_in
from multikernel.kernels.standardize import Numbers, Standardize
from multikernel.kernels.table import Table

Order = Literal["", "ymd", "dmy", "mdy"]
_TIME = r"(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?.*)?$"
_YEAR_FIRST = re.compile(r"\s*(\d{4})(?:-(?=\d+-)|/(?=\d+/))(\d{1,2})[-/](\d{1,2})\s*" + _TIME)
_YEAR_LAST = re.compile(r"\s*(\d{1,2})([./-])(\d{1,2})\2(\d{4})\s*" + _TIME)
_MONTHS = 12
_EPOCH = datetime(1970, 1, 1)
_SHOWN = 3  # strings that a sentence lists


def date_order(texts: Array) -> Order | None:
    """In which order all of the strings are dates; None where one is none, or nothing tells days from months."""
    if all(map(_YEAR_FIRST.match, texts)):
        return "ymd"
    found = [match for match in map(_YEAR_LAST.match, texts) if match]
    if len(found) < len(texts):
        return None
    day_first = any(int(match[1]) > _MONTHS for match in found) or all(match[2] == "." for match in found)
    month_first = any(int(match[3]) > _MONTHS for match in found)
    if day_first == month_first:
        return None
    return "dmy" if day_first else "mdy"


def tells_no_order(texts: Array) -> bool:
    """Whether the strings are dates all of which have a day and a month that could be each other."""
    return date_order(texts) is None and not np.isnan(days_in(texts, "dmy") + days_in(texts, "mdy")).any()


def likely_order(texts: Array) -> Order:
    """The order of dates in which most of the strings can be read."""
    found = date_order(texts)
    if found is not None:
        return found
    orders: tuple[Order, ...] = ("ymd", "dmy", "mdy")
    unread = [int(np.isnan(days_in(texts, order)).sum()) for order in orders]
    return orders[unread.index(min(unread))]


def days_in(texts: Iterable[str | None], order: Order) -> Array:
    """Days since 1970, NaN for a string that is no date in this order."""
    return np.array([_days(text, order) for text in texts])


def parsed(texts: Iterable[str | None], order: Order, numerals: Numerals = PLAIN) -> Array:
    """Numbers where there is no order of a date, else days."""
    return days_in(texts, order) if order else numbers_in(texts, numerals)


def strangers(texts: Iterable[str | None], values: Array) -> tuple[str, ...]:
    """The different strings that were read as nothing, blanks apart."""
    return tuple(
        sorted({t for t, value in zip(texts, values, strict=True) if t is not None and t.strip() and value != value})
    )


def said_of(name: str, found: Sequence[str], order: Order) -> str:
    """The sentence about strings that count as missing cells."""
    what = ", ".join(map(repr, found[:_SHOWN])) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
    return f"{name} of X is one of {'dates' if order else 'numbers'}, and {what} in it counts as a missing cell"


def check_readable(name: str, texts: Array, values: Array, known: Sequence[str], order: Order) -> tuple[str, ...]:
    """The strings of new samples that are none of a column's numbers or dates, and that training did not have.

    Parameters
    ----------
    name : how a sentence calls the column
    texts : object array of strings, and None for missing cells
    values : array, what they say, NaN for nothing
    known : strings of training that were no numbers
    order : of dates, "" for numbers

    Raises
    ------
    ValueError : where they are half of the known cells or more, so that the column holds something else
    """
    told = [text for text in texts if text is not None and text.strip()]
    new = tuple(text for text in strangers(texts, values) if text not in known)
    if new and 2 * sum(text in new for text in told) >= len(told):
        what, one = ("dates", "date") if order else ("numbers", "number")
        raise ValueError(
            f"{name} of X held {what} in training, and {new[0]!r} is no {one}: give {what}, and leave a cell empty "
            "that is not known"
        )
    return new


def in_writing(value: float) -> str:
    """A number as a string, all of its digits; a whole number without a point."""
    return str(int(value)) if value == int(value) else repr(value)


@dataclass(repr=False)
class Parsed(Encoding):
    """A column of strings, encoded as the numbers or dates that they say.

    Parameters
    ----------
    numbers : Encoding, of the numbers, or of the days since 1970
    order : "" for numbers; "ymd", "dmy" or "mdy" for dates in this order
    known : tuple of str, strings that are known to be none
    numerals : Numerals, how the numbers are written
    name : str, how a sentence calls the column
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
        return self if numbers is self.numbers else replace(self, numbers=numbers)

    def __call__(self, X: Any) -> Any:
        values = self._values(X)
        if isinstance(X, Table) and len(X.strings):
            new = check_readable(self.name, X.texts[:, 0], values[:, 0], self.known, self.order)
            if new:
                warn_user(said_of(self.name, new, self.order), PredictionWarning)
        return self.numbers(values)

    @property
    def sources(self) -> tuple[int, ...]:
        return self.numbers.sources

    def _values(self, X: Any) -> Any:
        return (
            parsed(X.texts[:, 0], self.order, self.numerals)[:, None] if isinstance(X, Table) and len(X.strings) else X
        )


def _days(text: str | None, order: Order) -> float:
    match = None if text is None else (_YEAR_FIRST if order == "ymd" else _YEAR_LAST).match(text)
    if match is None:
        return nan
    parts = match.groups() if order == "ymd" else (match[4], match[3], match[1], *match.groups()[4:])
    year, month, day, hour, minute, second = (int(part or 0) for part in parts)
    month, day = (day, month) if order == "mdy" else (month, day)
    try:
        return (datetime(year, month, day, hour, minute, second) - _EPOCH).total_seconds() / 86_400.0
    except ValueError:  # no such day
        return nan
