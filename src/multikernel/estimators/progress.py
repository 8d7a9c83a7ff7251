"""Reports of the progress of long fits: lines for ``verbose``, or events for a listener such as a progress bar."""

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
    interval: float = field(default=0.0)

    @classmethod
    def of(cls, estimator: Any, problems: int) -> Reporter:
        """The reporter of an estimator, which may have parameters ``verbose`` and ``tol``."""
        verbose = getattr(estimator, "verbose", 0)
        receiver, interval = listener(), 0.0
        if receiver is None and verbose:
            receiver = _printed
            interval = 0.5 if verbose == 1 else 0.0  # seconds between lines
        return cls(type(estimator).__name__, problems, getattr(estimator, "tol", 0.0), receiver, interval)

    def observer(self, number: int) -> Observer:
        """The observer of one problem, counted from 0; it also stops the problem where the fit was interrupted."""
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
            time = perf_counter()
            value = event.certificate.value
            reached = event.certificate.reached(self.tol)
            if np.isnan(first):
                first = value
            elif np.isfinite(value):
                first = max(first, value)
            if time - last >= self.interval or (reached and not over):
                last, over = time, reached
                report(
                    Progress(
                        self.estimator,
                        number + 1,
                        self.problems,
                        event.step,
                        event.certificate,
                        self.tol,
                        time - start,
                        first,
                    )
                )

        return observe


def _printed(progress: Progress) -> None:
    print(progress, flush=True)


def pace(model: Any, n_rows: int | None, done: int = 0) -> Callable[[int], None]:
    """A function that reports progress; it is called after each chunk with the number of rows read.

    Parameters
    ----------
    model : the estimator, with or without ``verbose``
    n_rows : int or None, how many rows there are
    done : int, how many rows an earlier pass has read
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
        time = perf_counter()
        over = n_rows is not None and rows >= n_rows
        interval = 2.0 if verbose < 2 else 0.0  # seconds between lines
        if report is None or (not over and time - last < interval):
            return
        last = time
        remaining = 1.0 - rows / n_rows if n_rows else 1.0
        speed = (rows - done) / max(time - begin, 1e-9)
        name, certificate = type(model).__name__, Certificate("stationarity", remaining)
        report(Reading(name, 1, 1, rows, certificate, 0.0, time - begin, 1.0, rows, n_rows, speed))

    return reached
