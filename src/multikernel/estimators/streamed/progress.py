"""How far a pass over rows is: rows per second and the time left, to whom ``verbose`` or a listener says."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from multikernel._workers import check_interrupted
from multikernel.certificate import Certificate
from multikernel.observer import Reading, listener

_OFTEN = 2.0  # seconds between two lines


def pace(model: Any, known: int | None, done: int = 0) -> Callable[[int], None]:
    """What is called after each chunk with the number of rows that are done.

    Parameters
    ----------
    model : the estimator, with or without ``verbose``
    known : int or None, how many rows there are
    done : int, how many rows an earlier pass has done
    """
    verbose = getattr(model, "verbose", 0)
    tell = listener() or ((lambda progress: print(progress, flush=True)) if verbose else None)
    begin = perf_counter()
    last = begin

    def told(rows: int) -> None:
        nonlocal last
        check_interrupted()
        now = perf_counter()
        over = known is not None and rows >= known
        if tell is None or (not over and now - last < (_OFTEN if verbose < 2 else 0.0)):
            return
        last = now
        left = 1.0 - rows / known if known else 1.0
        speed = (rows - done) / max(now - begin, 1e-9)
        name, part = type(model).__name__, Certificate("stationarity", left)
        tell(Reading(name, 1, 1, rows, part, 0.0, now - begin, 1.0, rows, known, speed))

    return told
