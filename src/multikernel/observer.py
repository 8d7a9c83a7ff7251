"""The progress of an iterative method, and its listeners.

An observer is called after every step of one problem. A listener is called for all problems of a fit, with the
remaining time. This is estimated from the certificates, whose logarithm falls about linearly with time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.certificate import Certificate


@dataclass(frozen=True, eq=False)
class Event:
    """A step, as an observer receives it.

    Parameters
    ----------
    step : int, counts from 1
    certificate : of the best point so far
    theta : array (d,), the parameters at which a machine was solved, from methods that solve one in each step
    value, upper : float, the values that enclose the objective at theta
    bound : float, the best bound of the optimum so far
    """

    step: int
    certificate: Certificate
    theta: Array | None = None
    value: float = np.nan
    upper: float = np.nan
    bound: float = -np.inf


Observer = Callable[[Event], object]


def silent(event: Event) -> None:
    """An observer that does nothing."""


@dataclass(frozen=True)
class Progress:
    """The progress of a fit.

    Parameters
    ----------
    estimator : str, the name of its class
    problem, problems : int, the number of this problem, counted from 1, and the number of all problems
    step : int, steps taken on this problem
    certificate : reached so far
    tol : float, the requested certificate
    seconds : float, since this problem began
    first : float, the largest value of the certificate so far, from the first steps
    """

    estimator: str
    problem: int
    problems: int
    step: int
    certificate: Certificate
    tol: float
    seconds: float
    first: float

    @property
    def part(self) -> float:
        """The part of this problem that is done, on a logarithmic scale from the first certificate to ``tol``."""
        value = self.certificate.value
        if not (np.isfinite(self.first) and 0.0 < self.tol < self.first and np.isfinite(value)):
            if self.certificate.reached(self.tol):
                return 1.0
            return 0.0
        done = np.log(self.first / max(value, self.tol)) / np.log(self.first / self.tol)
        return float(min(max(done, 0.0), 1.0))

    @property
    def seconds_left(self) -> float | None:
        """The seconds until this problem is solved, if certificates continue to fall; None where they did not fall."""
        if self.part > 0.0:
            return self.seconds * (1.0 - self.part) / self.part
        return None

    @property
    def summary(self) -> str:
        """The progress in a word or two."""
        return f"{self.certificate.kind} {self.certificate.value:.0e}"

    @property
    def told(self) -> str:
        """The former name of ``summary``."""
        warn_user("progress.told is now progress.summary", FutureWarning)
        return self.summary

    def __str__(self) -> str:
        problem_number = f" {self.problem}/{self.problems}" if self.problems > 1 else ""
        remaining = ""
        if self.seconds_left is not None:
            remaining = f", about {self.seconds_left:.1f} s left"
        return (
            f"{self.estimator}{problem_number}: step {self.step}, {self.certificate.kind} {self.certificate.value:.1e} "
            f"(asked {self.tol:.0e}), {self.seconds:.1f} s{remaining}"
        )


@dataclass(frozen=True)
class Reading(Progress):
    """The progress of a pass over rows; the value of its certificate is the remaining part.

    Parameters
    ----------
    rows : int, the rows that are done
    known : int or None, the number of all rows, where it is known
    pace : float, rows per second
    """

    rows: int
    known: int | None
    pace: float

    @property
    def part(self) -> float:
        """The share of the rows that are done."""
        if self.known:
            return min(1.0, self.rows / self.known)
        return 0.0

    @property
    def seconds_left(self) -> float | None:
        """The seconds until the last row, at this pace."""
        if self.known and self.pace > 0.0:
            return (self.known - self.rows) / self.pace
        return None

    @property
    def summary(self) -> str:
        """The progress in a word or two."""
        return f"{self.rows:,} rows"

    def __str__(self) -> str:
        total = f" of {self.known:,}" if self.known else ""
        remaining = ""
        if self.seconds_left is not None:
            remaining = f", about {self.seconds_left:.0f} s left"
        return f"{self.estimator}: {self.rows:,}{total} rows, {self.pace:,.0f} rows per second{remaining}"


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


def listener() -> Listener | None:
    """The listener of this context, if there is one."""
    return _LISTENER.get()
