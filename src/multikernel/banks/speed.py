"""The speed of this machine relative to the reference machine, on which the constants of ``Work`` were measured.

It is measured once in a process, in a few milliseconds, and only when the time of a fit is forecast: no choice of an
algorithm depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from time import perf_counter

import numpy as np

from multikernel._work import Work
from multikernel.banks.threads import n_threads, one_blas_thread
from multikernel.tuning import ORDER_SMALL


@dataclass(frozen=True)
class Speed:
    """The seconds that one thread takes for a small sample of each kind of work.

    Parameters
    ----------
    algebra : for a product of matrices of order 256
    memory : for the sum of a million numbers
    arithmetic : for 32768 exponentials
    steps : for 200 inner products of a thousand numbers
    """

    algebra: float
    memory: float
    arithmetic: float
    steps: float

    def seconds(self, work: Work, order: int, threads: int) -> float:
        """The seconds of work on matrices of this order, distributed among so many threads where possible."""
        # measured: products of matrices are faster by this power of the number of threads
        in_algebra = threads**0.8 if order > ORDER_SMALL else 1.0
        return (
            work.algebra * self.algebra / _REFERENCE.algebra / in_algebra
            + work.memory * self.memory / _REFERENCE.memory / threads
            + work.arithmetic * self.arithmetic / _REFERENCE.arithmetic / threads
            + work.steps * self.steps / _REFERENCE.steps
        )


_REFERENCE = Speed(algebra=6.6e-4, memory=2.1e-4, arithmetic=3.0e-5, steps=1.6e-4)


def seconds_here(work: Work, order: int) -> float:
    """The seconds of work on matrices of this order on this machine, with all of its threads."""
    return _measured().seconds(work, order, n_threads())


@cache
def _measured() -> Speed:
    A = np.ones((256, 256))
    values = np.linspace(-1.0, 0.0, 1 << 15)
    entries = np.ones(1 << 20)  # more than caches hold
    vector = np.ones(1000)

    def calls() -> None:
        for _ in range(200):
            vector @ vector

    with one_blas_thread(0):
        return Speed(
            algebra=_seconds(lambda: A @ A),
            memory=_seconds(entries.sum),
            arithmetic=_seconds(lambda: np.exp(values)),
            steps=_seconds(calls),
        )


def _seconds(task: Callable[[], object]) -> float:
    """The shortest time of several runs of a task."""
    times = []
    for _ in range(4):  # the fastest run counts, since other programs may use the machine
        start = perf_counter()
        task()
        times.append(perf_counter() - start)
    return min(times)
