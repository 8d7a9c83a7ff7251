"""Distributes rows of a matrix among threads.

This pays for passes whose inner code does not hold Python's lock: NumPy, BLAS, and Numba with nogil.
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
_NAME = "multikernel-rows"  # the prefix of thread names, which no other threads of the package have


def n_threads() -> int:
    """The number of threads: that of BLAS if OMP_NUM_THREADS limits it, else the processors of this process."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdigit():
        return max(1, int(limit))
    return _processors()


def threads_of(n_jobs: int | None) -> int:
    """The number of threads for ``n_jobs``, as joblib counts them: -1 is all threads, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return n_jobs
    return max(1, n_threads() + 1 + n_jobs)


@cache
def _processors() -> int:
    """The number of processors, cached, since joblib reads system files for it, which takes as long as a small pass."""
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
    """The results of ``work`` for slices of at most ``size`` of n rows, in order; several slices run on threads."""
    pieces = list(slices(n, size))
    workers = min(n_threads(), len(pieces))
    if workers <= 1 or current_thread().name.startswith(_NAME):  # a thread of the pool would wait for itself
        return [work(piece) for piece in pieces]
    return list(_pool(os.getpid(), workers).map(work, pieces))


def over_tiles(work: Callable[[slice], T], shape: tuple[int, int]) -> list[T]:
    """As ``over_rows``, with tiles of a matrix of this shape that stay in the cache; small ones run without threads."""
    rows, columns = shape
    height = max(1, THREADS_TILE // max(1, columns))
    if rows * columns <= TILE_VALUES:
        return [work(piece) for piece in slices(rows, height)]
    return over_rows(work, rows, height)


@dataclass(eq=False)
class _OneThread:
    """Limits BLAS to one thread while at least one thread of the package requests this."""

    libraries: ThreadpoolController = field(default_factory=ThreadpoolController)  # found once: it takes milliseconds
    lock: Lock = field(default_factory=Lock)
    users: int = 0
    limit: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.users == 0:
                self.limit = self.libraries.limit(limits=1, user_api="blas")
                self._accept_all_threads()
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limit.restore_original_limits()
                self._accept_all_threads()

    def _accept_all_threads(self) -> None:
        """Makes threadpoolctl accept limits from any thread.

        Newer versions accept limits only from the first thread that set one, until a limit set by ``with`` ends. In
        this class the first thread that enters sets the limit, and the last one that leaves, maybe another, ends it.
        """
        with self.libraries.limit():  # changes nothing
            pass


@cache
def _one_thread(process: int) -> _OneThread:
    return _OneThread()


@contextmanager
def one_blas_thread(n: int, largest_order: int = ORDER_SMALL) -> Iterator[None]:
    """BLAS with one thread for matrices of small order n, for which more threads gain little and spin between products.

    n = 0 limits BLAS for matrices of any order, for work that is distributed among threads already.
    """
    if n > largest_order:
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
    """OpenMP with one thread, for code of other libraries that starts parallel work many times a second.

    OpenMP threads wait for each other by spinning. While other programs use the processors, waiting takes longer than
    the work: 200 boosted trees on 4000 x 20 numbers took 0.3 processor seconds with one thread and 15 with two.
    """
    with _one_thread(os.getpid()).libraries.limit(limits=1, user_api="openmp"):
        yield
