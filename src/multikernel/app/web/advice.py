"""Advice about targets that no method here is made for: counts, and times until an event."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from multikernel.app.web.profile import About
from multikernel.datasets import Task
from multikernel.typing import Array

_FEWEST = 10  # different values; fewer are as well classes or grades
_EVENT = re.compile(r"event|status|censor|dead|death|died|deceased|relaps|recur|fail", re.IGNORECASE)
_TIME = re.compile(r"time|duration|days|weeks|months|years|surviv|follow.?up|tte\b", re.IGNORECASE)


def advice(target: str, task: Task, values: Array, columns: Sequence[About]) -> Iterator[str]:
    """Sentences about the target, none where there is nothing to say.

    Parameters
    ----------
    target : its name
    task : what it is learned as
    values : those that are known
    columns : of the table
    """
    pair = _time_and_event(columns)
    if pair is not None and target in pair:
        time, event = pair
        yield (
            f"{time!r} and {event!r} look like times until an event that has not come for every row. The application "
            f"has no method for such data: where the event has not come, {time} is only the least that it can be, and "
            f"{event} alone does not say how long a row was watched. Take a method for survival data, or predict what "
            "had happened by a fixed time, from the rows that were watched until then."
        )
    elif task == "regression" and _counts(values):
        yield (
            f"{target!r} looks like counts. They are learned as other numbers are, by squared errors: large counts "
            "weigh most, and a prediction may lie below 0. If relative differences matter more, add a column with the "
            "square root or the logarithm (of the count plus 1) to the table, and predict that."
        )


def _counts(values: Array) -> bool:
    """Whether numbers are whole, begin at 0 or 1, and trail off to one side."""
    whole = bool((values == np.round(values)).all())
    tail = values.max() - np.median(values) > 2.0 * (np.median(values) - values.min())
    return whole and 0 <= values.min() <= 1 and len(np.unique(values)) >= _FEWEST and bool(tail)


def _time_and_event(columns: Sequence[About]) -> tuple[str, str] | None:
    """The columns of a time and of whether the event has come, by what they are called and hold."""
    names = {about: about.name.rpartition(": ")[2] for about in columns}
    events = [about for about, name in names.items() if about.distinct == 2 and _EVENT.search(name)]
    times = [about for about, name in names.items() if about.kind == "number" and _TIME.search(name)]
    times = [about for about in times if about.distinct > 2]
    return (times[0].name, events[0].name) if times and events else None
