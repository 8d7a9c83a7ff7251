"""What a person hears of a long fit: lines for ``verbose``, or a listener such as a progress bar.

The time left is estimated from the certificates: their logarithm falls about evenly with time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from multikernel.certificate import Certificate
from multikernel.observer import Event, Observer, silent

_OFTEN = 0.5  # seconds between two lines of one problem, for verbose=1


@dataclass(frozen=True)
class Progress:
    """Where a fit is.

    Parameters
    ----------
    estimator : str, the name of its class
    problem, problems : int, which of how many problems, counted from 1
    step : int, steps taken on this problem
    certificate : reached so far
    tol : float, the certificate asked for
    seconds : float, since this problem began
    """

    estimator: str
    problem: int
    problems: int
    step: int
    certificate: Certificate
    tol: float
    seconds: float
    first: float  # the first certificate's value

    @property
    def part(self) -> float:
        """The part of this problem that is done, on a logarithmic scale from the first certificate to ``tol``."""
        value = self.certificate.value
        if not (np.isfinite(self.first) and 0.0 < self.tol < self.first and np.isfinite(value)):
            return 1.0 if self.certificate.reached(self.tol) else 0.0
        done = np.log(self.first / max(value, self.tol)) / np.log(self.first / self.tol)
        return float(min(max(done, 0.0), 1.0))

    @property
    def seconds_left(self) -> float | None:
        """Until this problem is solved, if its certificates go on falling as they did; None where they did not."""
        return self.seconds * (1.0 - self.part) / self.part if self.part > 0.0 else None

    def __str__(self) -> str:
        which = f" {self.problem}/{self.problems}" if self.problems > 1 else ""
        left = "" if self.seconds_left is None else f", about {self.seconds_left:.1f} s left"
        return (
            f"{self.estimator}{which}: step {self.step}, {self.certificate.kind} {self.certificate.value:.1e} "
            f"(asked {self.tol:.0e}), {self.seconds:.1f} s{left}"
        )


Listener = Callable[[Progress], object]
_LISTENER: ContextVar[Listener | None] = ContextVar("multikernel_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell a listener of every step of the fits within this context, in place of lines for ``verbose``.

    Parameters
    ----------
    listener : called with a Progress; from the threads that solve the problems
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@dataclass(frozen=True, eq=False)
class Reporter:
    """Makes the observers of one fit; whom they tell is settled when the fit begins, on the thread that began it."""

    estimator: str
    problems: int
    tol: float
    listener: Listener | None
    often: float = field(default=0.0)

    @classmethod
    def of(cls, estimator: Any, problems: int) -> Reporter:
        """For an estimator with parameters ``verbose`` and ``tol``, or without."""
        verbose = getattr(estimator, "verbose", 0)
        listener, often = _LISTENER.get(), 0.0
        if listener is None and verbose:
            listener, often = _printed, _OFTEN if verbose == 1 else 0.0
        return cls(type(estimator).__name__, problems, getattr(estimator, "tol", 0.0), listener, often)

    def observer(self, number: int) -> Observer:
        """For one of the problems, counted from 0."""
        if self.listener is None:
            return silent
        start, last, first = perf_counter(), -np.inf, np.nan
        tell = self.listener

        def observe(event: Event) -> None:
            nonlocal last, first
            now, value = perf_counter(), event.certificate.value
            first = value if np.isnan(first) else max(first, value if np.isfinite(value) else first)
            if now - last >= self.often or event.certificate.reached(self.tol):
                last = now
                tell(
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
