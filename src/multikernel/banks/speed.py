"""How fast this machine is beside the one that the constants of ``Work`` were measured on.

It is measured once in a process, in some milliseconds, and only where somebody asks how long a fit will take: no choice
follows it.
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
    """What one thread takes, in seconds, for a little of each kind of work.

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
        """Of work on matrices of this order, what can be shared out among so many threads being so."""
        # products of matrices are faster by this power of the number of threads, as measured
        in_algebra = threads**0.8 if order > ORDER_SMALL else 1.0
        return (
            work.algebra * self.algebra / _REFERENCE.algebra / in_algebra
            + work.memory * self.memory / _REFERENCE.memory / threads
            + work.arithmetic * self.arithmetic / _REFERENCE.arithmetic / threads
            + work.steps * self.steps / _REFERENCE.steps
        )


_REFERENCE = Speed(algebra=6.6e-4, memory=2.1e-4, arithmetic=3.0e-5, steps=1.6e-4)


def seconds_here(work: Work, order: int) -> float:
    """What work on matrices of this order takes this machine with the threads that it has."""
    return _measured().seconds(work, order, n_threads())


@cache
def _measured() -> Speed:
    A = np.ones((256, 256))
    values = np.linspace(-1.0, 0.0, 1 << 15)
    entries = np.ones(1 << 20)  # more than caches hold
    few = np.ones(1000)

    def calls() -> None:
        for _ in range(200):
            few @ few

    with one_blas_thread(0):
        return Speed(
            algebra=_seconds(lambda: A @ A),
            memory=_seconds(entries.sum),
            arithmetic=_seconds(lambda: np.exp(values)),
            steps=_seconds(calls),
        )


def _seconds(task: Callable[[], object]) -> float:
    """The least that it takes."""
    taken = []
    for _ in range(4):  # the fastest counts, since others may use the machine
        start = perf_counter()
        task()
        taken.append(perf_counter() - start)
    return min(taken)
