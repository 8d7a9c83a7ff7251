"""Advice about targets for which there is no suitable method here: counts, and times until an event."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from multikernel.app.tables.table import CsvTable
from multikernel.app.web.profile import ColumnProfile, profile
from multikernel.datasets import Task
from multikernel.typing import Array

_FEWEST = 10  # different values; fewer may as well be classes or grades
_FEWEST_CLASSES = 5  # different whole numbers that are learned as classes and may be counts
_EVENT = re.compile(
    r"arrest|censor|churn|dead|death|deceased|died|event|fail|progress|readmi|recid|recur|relaps|status", re.IGNORECASE
)
_TIME = re.compile(
    r"time|duration|days|weeks|months|years|surviv|follow.?up|tenure|tte\b|(?<![a-z])week(?![a-z])", re.IGNORECASE
)


def advice(target: str, task: Task, values: Array, columns: Sequence[ColumnProfile]) -> Iterator[str]:
    """Sentences of advice about the target, if there are any.

    Parameters
    ----------
    target : its name
    task : whether it is learned as classes or as numbers
    values : its known values
    columns : the columns of the table
    """
    pair = time_and_event(columns)
    if pair is not None and target in pair:
        time, event = pair
        yield (
            f"{time!r} and {event!r} look like times until an event that has not come for every row. The application "
            f"has no method for such data: where the event has not come, {time} is only the least that it can be, and "
            f"{event} alone does not say how long a row was watched. Take a method for survival data; or add a column "
            f"that says whether the event had come by a fixed time, without the rows that were watched for less, "
            f"predict that, and untick {time} and {event}, which give each other away."
        )
    elif task == "classification" and values.dtype.kind in "if" and _counts(values, _FEWEST_CLASSES):
        yield (
            f"{target!r} holds whole numbers from {values.min():g} to {values.max():g}, and is learned as classes, "
            "which have no order. If they are counts or grades, choose that it holds numbers."
        )
    elif task == "regression" and _counts(values, _FEWEST):
        yield (
            f"{target!r} looks like counts. They are learned as other numbers are, by squared errors: large counts "
            "weigh most, and a prediction may lie below 0. If relative differences matter more, add a column with the "
            "square root or the logarithm (of the count plus 1) to the table, and predict that."
        )


def given_away(target: str, table: CsvTable, columns: Iterable[str]) -> str:
    """A warning about a run that predicts an event from the time until it, or the time from the event; "" otherwise.

    Parameters
    ----------
    target : its name
    table : the rows
    columns : the columns that the run learned from
    """
    named = [name for name in (target, *columns) if _EVENT.search(name) or _TIME.search(name)]
    if not named:
        return ""
    pair = time_and_event(profile(replace(table, columns={name: table.columns[name] for name in named})))
    if pair is None or not {target, *columns}.issuperset(pair) or target not in pair:
        return ""
    time, event = pair
    other = event if target == time else time
    return (
        f"{time!r} and {event!r} look like times until an event that has not come for every row, and {target!r} was "
        f"learned from {other!r}: of rows that are still watched it says nothing. Leave {other!r} out."
    )


def _counts(values: Array, fewest: int) -> bool:
    """Whether numbers look like counts: whole, of enough different values, from 0 or 1 on, with a long upper tail."""
    integral = bool((values == np.round(values)).all())
    tail = values.max() - np.median(values) > 2.0 * (np.median(values) - values.min())
    return integral and 0 <= values.min() <= 1 and len(np.unique(values)) >= fewest and bool(tail)


def time_and_event(columns: Sequence[ColumnProfile]) -> tuple[str, str] | None:
    """The columns of the time until an event and of whether it has come, by name and values; None where there are none.

    Parameters
    ----------
    columns : of a table
    """
    names = {about: about.name.rpartition(": ")[2] for about in columns}
    events = [about for about, name in names.items() if about.distinct == 2 and _EVENT.search(name)]
    times = [about for about, name in names.items() if about.kind == "number" and _TIME.search(name)]
    times = [about for about in times if about.distinct > 2]
    if times and events:
        return (times[0].name, events[0].name)
    return None
