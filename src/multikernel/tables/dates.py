"""Dates as people write them, and cells of strings that are read as numbers or as dates.

    2020-03-12 10:30   year first; also 2020/03/12
    12.03.2020         day first, which is the convention with dots
    12/03/2020         day first or month first, as the column shows: a number above 12 is a day

A time of day follows, on a clock of 24 hours or of 12 (10:30 pm), with seconds or without. Where it has an offset from
universal time (10:30+02:00, 08:30Z) the date is that of universal time, so that all times of a column are comparable.

A string that is neither a number (numerals.py) nor a date counts as a missing cell, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from math import nan
from typing import Literal

import numpy as np

from multikernel._rules import shortened
from multikernel._typing import Array
from multikernel.tables.numerals import PLAIN, Numerals, numbers_in

Order = Literal["", "ymd", "dmy", "mdy"]

_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?(?:\s*([AaPp])\.?[Mm]\.?|\s*(?:Uhr|h))?"
_OFFSET = r"(?:\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?"
_TIME = rf"(?:[ T]+{_CLOCK}{_OFFSET}\s*)?$"
_YEAR_FIRST = re.compile(r"\s*(\d{4})(?:-(?=\d+-)|/(?=\d+/))(\d{1,2})[-/](\d{1,2})\s*" + _TIME)
_YEAR_LAST = re.compile(r"\s*(\d{1,2})([./-])(\d{1,2})\2(\d{4})\s*" + _TIME)
_EPOCH = datetime(1970, 1, 1)


def date_order(texts: Array) -> Order | None:
    """The order of day, month and year in which all strings are written as dates, which may not exist in the calendar.

    The order is None where a string has another form, and where nothing distinguishes days from months.
    """
    if all(map(_YEAR_FIRST.match, texts)):
        return "ymd"
    matches = [match for match in map(_YEAR_LAST.match, texts) if match]
    if len(matches) < len(texts):
        return None
    dotted = all(match[2] == "." for match in matches)
    day_first = dotted or any(int(match[1]) > 12 for match in matches)
    month_first = any(int(match[3]) > 12 for match in matches)
    if day_first == month_first:
        return None
    if day_first:
        return "dmy"
    return "mdy"


def is_ambiguous(texts: Array) -> bool:
    """Whether all strings are dates in which day and month could be exchanged."""
    return date_order(texts) is None and not np.isnan(days_in(texts, "dmy") + days_in(texts, "mdy")).any()


def likely_order(texts: Array) -> Order:
    """The order of dates in which most of the strings can be read."""
    order = date_order(texts)
    if order is not None:
        return order
    orders: tuple[Order, ...] = ("ymd", "dmy", "mdy")
    unreadable_counts = [int(np.isnan(days_in(texts, order)).sum()) for order in orders]
    return orders[unreadable_counts.index(min(unreadable_counts))]


def days_in(texts: Iterable[str | None], order: Order) -> Array:
    """Days since 1970, NaN for a string that is no date in this order."""
    return np.array([_days(text, order) for text in texts])


def parsed(texts: Iterable[str | None], order: Order, numerals: Numerals = PLAIN) -> Array:
    """The strings as days with an order of dates, and as numbers without one."""
    if order:
        return days_in(texts, order)
    return numbers_in(texts, numerals)


def in_writing(value: float) -> str:
    """A number as a string with all its digits; an integer without a point."""
    if value == int(value):
        return str(int(value))
    return repr(value)


def unreadable(texts: Iterable[str | None], values: Array) -> tuple[str, ...]:
    """The different strings whose value is NaN, except blanks."""
    pairs = zip(texts, values, strict=True)
    return tuple(sorted({text for text, value in pairs if text is not None and text.strip() and np.isnan(value)}))


def unreadable_note(name: str, strings: Sequence[str], order: Order) -> str:
    """The note about strings that count as missing cells."""
    kind = "dates" if order else "numbers"
    quoted = shortened(list(map(repr, strings)), 3)
    return f"{name} of X is one of {kind}, and {quoted} in it counts as a missing cell"


def check_readable(
    name: str, texts: Array, values: Array, training_strings: Sequence[str], order: Order
) -> tuple[str, ...]:
    """The strings of new samples that cannot be read as a column's numbers or dates, and that training did not have.

    Parameters
    ----------
    name : the column as a message names it
    texts : object array of strings, and None for missing cells
    values : array, the numbers or days of the strings, NaN where there is none
    training_strings : strings of training that could not be read
    order : of dates, "" for numbers

    Raises
    ------
    ValueError : where they are at least half of the cells with content, so that the column holds something else
    """
    cells = [text for text in texts if text is not None and text.strip()]
    new_strings = tuple(text for text in unreadable(texts, values) if text not in training_strings)
    if new_strings and 2 * sum(text in new_strings for text in cells) >= len(cells):
        kinds, kind = ("dates", "date") if order else ("numbers", "number")
        raise ValueError(
            f"{name} of X held {kinds} in training, and {new_strings[0]!r} is not a {kind}: give {kinds}, and leave "
            "unknown cells empty"
        )
    return new_strings


def _days(text: str | None, order: Order) -> float:
    """The days since 1970 of one date, NaN for a string that is none."""
    pattern = _YEAR_FIRST if order == "ymd" else _YEAR_LAST
    match = pattern.match(text) if text is not None else None
    if match is None:
        return nan
    if order == "ymd":
        year, month, day, *time = match.groups()
    elif order == "dmy":
        day, _, month, year, *time = match.groups()
    else:
        month, _, day, year, *time = match.groups()
    try:
        return (datetime(int(year), int(month), int(day)) + _time_of_day(*time) - _EPOCH) / timedelta(days=1)
    except (ValueError, OverflowError):  # no such day, no such time, or beyond the years 1 to 9999 by its offset
        return nan


def _time_of_day(hour: str | None, minute: str, second: str | None, half: str | None, offset: str | None) -> timedelta:
    """The time after midnight, in universal time where the time has an offset.

    Raises
    ------
    ValueError : where there is no such time
    """
    if hour is None:
        return timedelta(0)
    hours = int(hour)
    minutes = int(minute)
    seconds = float((second or "0").replace(",", "."))
    if minutes > 59 or seconds >= 60 or hours > 23 or (half and not 1 <= hours <= 12):
        raise ValueError
    if half:  # 12 am is midnight, 12 pm noon
        hours = hours % 12 + (12 if half in "Pp" else 0)
    time_of_day = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if offset is None or not offset[1:].replace(":", "").isdigit():
        return time_of_day
    ahead = timedelta(hours=int(offset[1:3]), minutes=int(offset[3:].replace(":", "") or 0))
    if offset[0] == "+":
        return time_of_day - ahead
    return time_of_day + ahead
