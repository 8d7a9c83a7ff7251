"""What a person hears of a long fit: lines for ``verbose``, or what a listener such as a progress bar makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from multikernel._workers import check_interrupted
from multikernel.certificate import Certificate
from multikernel.observer import Event, Listener, Observer, Progress, Reading, listener


@dataclass(frozen=True, eq=False)
class Reporter:
    """Makes the observers of one fit; the listener is the one of the thread on which the fit begins."""

    estimator: str
    problems: int
    tol: float
    listener: Listener | None
    often: float = field(default=0.0)

    @classmethod
    def of(cls, estimator: Any, problems: int) -> Reporter:
        """For an estimator with parameters ``verbose`` and ``tol``, or without."""
        verbose = getattr(estimator, "verbose", 0)
        hears, often = listener(), 0.0
        if hears is None and verbose:
            hears = _printed
            often = 0.5 if verbose == 1 else 0.0  # seconds between lines
        return cls(type(estimator).__name__, problems, getattr(estimator, "tol", 0.0), hears, often)

    def observer(self, number: int) -> Observer:
        """For one of the problems, counted from 0; it ends the problem's work where nobody waits for it any more."""
        if self.listener is None:
            return lambda event: check_interrupted()
        report = self.listener
        start = perf_counter()
        last = -np.inf
        first = np.nan
        over = False

        def observe(event: Event) -> None:
            nonlocal last, first, over
            check_interrupted()
            now = perf_counter()
            value = event.certificate.value
            reached = event.certificate.reached(self.tol)
            if np.isnan(first):
                first = value
            elif np.isfinite(value):
                first = max(first, value)
            if now - last >= self.often or (reached and not over):
                last, over = now, reached
                report(
                    Progress(
                        self.estimator,
                        number + 1,
                        self.problems,
                        event.step,
                        event.certificate,
                        self.tol,
                        now - start,
                        first,
                    )
                )

        return observe


def _printed(progress: Progress) -> None:
    print(progress, flush=True)


def pace(model: Any, known: int | None, done: int = 0) -> Callable[[int], None]:
    """What is called after each chunk with the number of rows that are done.

    Parameters
    ----------
    model : the estimator, with or without ``verbose``
    known : int or None, how many rows there are
    done : int, how many rows an earlier pass has done
    """
    verbose = getattr(model, "verbose", 0)
    report = listener()
    if report is None and verbose:
        report = partial(print, flush=True)
    begin = perf_counter()
    last = begin

    def reached(rows: int) -> None:
        nonlocal last
        check_interrupted()
        now = perf_counter()
        over = known is not None and rows >= known
        often = 2.0 if verbose < 2 else 0.0  # seconds between lines
        if report is None or (not over and now - last < often):
            return
        last = now
        left = 1.0 - rows / known if known else 1.0
        speed = (rows - done) / max(now - begin, 1e-9)
        name, part = type(model).__name__, Certificate("stationarity", left)
        report(Reading(name, 1, 1, rows, part, 0.0, now - begin, 1.0, rows, known, speed))

    return reached
