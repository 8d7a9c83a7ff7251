"""Rows of a matrix shared out among threads.

It pays for passes whose inner code does not hold Python's lock: numpy, BLAS, and numba with nogil.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import Lock, current_thread
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from multikernel.tuning import ORDER_SMALL, THREADS_TILE, TILE_VALUES

T = TypeVar("T")
_NAME = "multikernel-rows"  # no other threads of the package are called so


def n_threads() -> int:
    """As many as the environment allows BLAS (OMP_NUM_THREADS), else as this process has processors."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdigit():
        return max(1, int(limit))
    return _processors()


def threads_of(n_jobs: int | None) -> int:
    """As many as ``n_jobs`` asks for, as joblib counts them: -1 is all that there are, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return n_jobs
    return max(1, n_threads() + 1 + n_jobs)


@cache
def _processors() -> int:
    """Found once: it reads files of the system, which takes as long as a pass over a small bank."""
    return int(joblib.cpu_count())


@cache
def _pool(process: int, workers: int) -> ThreadPoolExecutor:
    """One pool for each process and each number of workers: a forked child must not wait for its parent's threads."""
    return ThreadPoolExecutor(workers, thread_name_prefix=_NAME)


def slices(n: int, size: int) -> Iterator[slice]:
    """The numbers 0..n - 1 in slices of at most ``size``."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def over_rows(work: Callable[[slice], T], n: int, size: int) -> list[T]:
    """What ``work`` returns for every slice of at most ``size`` of n rows, in order; several slices go to threads."""
    pieces = list(slices(n, size))
    workers = min(n_threads(), len(pieces))
    if workers <= 1 or current_thread().name.startswith(_NAME):  # a thread of the pool would wait for itself
        return [work(piece) for piece in pieces]
    return list(_pool(os.getpid(), workers).map(work, pieces))


def over_tiles(work: Callable[[slice], T], shape: tuple[int, int]) -> list[T]:
    """As ``over_rows`` for a matrix of this shape, in tiles that stay in the cache; few are not worth threads."""
    rows, columns = shape
    height = max(1, THREADS_TILE // max(1, columns))
    if rows * columns <= TILE_VALUES:
        return [work(piece) for piece in slices(rows, height)]
    return over_rows(work, rows, height)


@dataclass(eq=False)
class _OneThread:
    """BLAS is limited to one thread as long as any of the threads that run problems asks for it."""

    libraries: ThreadpoolController = field(default_factory=ThreadpoolController)  # found once, it takes milliseconds
    lock: Lock = field(default_factory=Lock)
    users: int = 0
    limit: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.users == 0:
                self.limit = self.libraries.limit(limits=1, user_api="blas")
                self._heed_every_thread()
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limit.restore_original_limits()
                self._heed_every_thread()

    def _heed_every_thread(self) -> None:
        """Have threadpoolctl accept limits from any thread.

        Newer versions ignore all threads but the first that set a limit, until a limit that was set by ``with`` ends.
        Here the first thread that enters sets the limit and the last that leaves ends it, which may be another one.
        """
        with self.libraries.limit():  # changes nothing
            pass


@cache
def _one_thread(process: int) -> _OneThread:
    return _OneThread()


@contextmanager
def one_blas_thread(n: int, most: int = ORDER_SMALL) -> Iterator[None]:
    """BLAS with one thread, for matrices of order n <= most: a second would gain little, and spin between the products.

    With n = 0 whatever the matrices: for work that is shared out among threads already.
    """
    if n > most:
        yield
        return
    limit = _one_thread(os.getpid())
    limit.enter()
    try:
        yield
    finally:
        limit.leave()


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """OpenMP with one thread, in code of other libraries that hands out work many times a second.

    Its threads wait for each other by spinning. Where other programs take the processors, that takes longer than the
    work: 200 boosted trees on 4000 x 20 numbers took 0.3 processor seconds with one thread and 15 with two.
    """
    with _one_thread(os.getpid()).libraries.limit(limits=1, user_api="openmp"):
        yield
