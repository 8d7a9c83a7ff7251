"""Work on other threads, for the one that waits for it: interrupted with it, and with its warnings given by it.

Work may have a limit of time as well. Whatever goes on step by step asks ``time_is_up`` where it counts its steps, and
returns the best that it has: a limit of time ends it like a limit of steps. A certificate then says what is missing.
No certificate covers a choice between candidates, so a choice that had no time for all of them warns (``in_time``).

A thread cannot be stopped from outside, and Ctrl-C reaches the main thread alone. So long work asks now and then, in
every step that takes a while, whether it should go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from math import isinf
from threading import Event
from time import perf_counter
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend
from sklearn.exceptions import ConvergenceWarning

from multikernel._warnings import Message, keeping, warn_once, warn_user

CHOICE_TIME = 0.3  # of the time, for what is chosen first: the rest is to learn further, to compare and to train
T = TypeVar("T")
Call = Callable[[], T]
_ENDED: ContextVar[tuple[Event, ...]] = ContextVar("multikernel_ended", default=())
_DEADLINE: ContextVar[float] = ContextVar("multikernel_deadline", default=float("inf"))


class Interrupted(BaseException):
    """Ends work whose result nobody waits for any more."""


def check_interrupted() -> None:
    """Raise ``Interrupted`` where the thread that waited for this work has been interrupted, or has failed."""
    if any(ended.is_set() for ended in _ENDED.get()):
        raise Interrupted


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Work that is to end in so many seconds, or earlier where it is part of such work; None is no limit of its own."""
    own = float("inf") if seconds is None else perf_counter() + seconds
    token = _DEADLINE.set(min(_DEADLINE.get(), own))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float:
    """How long this work may still take; infinite where it has no limit, 0 where its time is up."""
    return max(_DEADLINE.get() - perf_counter(), 0.0)


def time_is_up() -> bool:
    """Whether this work is to return the best that it has."""
    return perf_counter() >= _DEADLINE.get()


def in_time(candidates: Iterable[T], count: int, what: str, least: int = 1) -> Iterator[T]:
    """The candidates in turn, until the time is up; a ConvergenceWarning then counts those that ended in time.

    Parameters
    ----------
    candidates : what is compared
    count : how many there are
    what : what the warning calls them
    least : 1 where the first candidate is needed whatever the time, 0 where none is
    """
    for number, candidate in enumerate(candidates):
        if number < least or not time_is_up():
            yield candidate
        if time_is_up():
            if count > least:
                warn_of_cut_choice(f"only {number} of {count} {what} ended in time")
            return


def warn_of_cut_choice(cause: str) -> None:
    """Warn that the time limit cut a choice, which no certificate shows."""
    warn_user(
        f"time_budget was used up during a choice: {cause}; with more time the model may be another one. "
        "Raise time_budget, or leave less to choose.",
        ConvergenceWarning,
    )


def run_for_user(
    works: Sequence[Call[T]], run: Callable[[list[Call[tuple[T, list[Message]]]]], list[tuple[T, list[Message]]]]
) -> list[T]:
    """What every work returns; their warnings are given here, each once.

    Parameters
    ----------
    works : functions without arguments
    run : calls functions, on whatever threads, and returns what they return. Where it raises an error or is
        interrupted, work that still goes on ends at its next ``check_interrupted``.
    """
    ended, deadline = Event(), _DEADLINE.get()
    all_ended = (*_ENDED.get(), ended)

    def led(work: Call[T]) -> Call[tuple[T, list[Message]]]:
        def on_thread() -> tuple[T, list[Message]]:
            token, limit = _ENDED.set(all_ended), _DEADLINE.set(deadline)
            try:
                return keeping(work)
            finally:
                _ENDED.reset(token)
                _DEADLINE.reset(limit)

        return on_thread

    try:
        found = run([led(work) for work in works])
    except BaseException:
        ended.set()
        raise
    warn_once(message for _, messages in found for message in messages)
    return [result for result, _ in found]


def on_threads(works: Sequence[Call[T]], n_jobs: int | None, **options: Any) -> list[T]:
    """What every work returns, run on ``n_jobs`` threads as joblib understands the number, with its other options.

    Threads, whatever backend joblib is told to use: they share the kernels' matrices, and hear of an interruption. Only
    on joblib's Dask backend every work is a task of the cluster.
    """
    if len(works) == 1:  # which needs no thread beside the one that waits
        result, messages = keeping(works[0])
        warn_once(messages)
        return [result]
    if on_cluster():
        return _as_tasks(works, **options)
    parallel = Parallel(n_jobs=n_jobs, require="sharedmem", **options)
    return run_for_user(works, lambda led: parallel(delayed(work)() for work in led))


def on_cluster() -> bool:
    """Whether joblib is told to work on a cluster of Dask, and this is not a task there already."""
    backend, _ = get_active_backend()
    return type(backend).__name__ == "DaskDistributedBackend"


def _as_tasks(works: Sequence[Call[T]], **options: Any) -> list[T]:
    """What every work returns, each a task of the cluster; what several of them are given goes there once."""
    shared: dict[int, _Shared] = {}

    def given(value: Any) -> _Shared:
        return shared.setdefault(id(value), _Shared(value))

    calls = [work if isinstance(work, partial) else partial(work) for work in works]
    found = Parallel(**options)(
        delayed(_elsewhere)(seconds_left(), call.func, *map(given, call.args), **call.keywords) for call in calls
    )
    warn_once(message for _, messages in found for message in messages)
    return [result for result, _ in found]


class _Shared:
    """A value that joblib's Dask backend sends to a worker once, as it does with what is large."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __sizeof__(self) -> int:
        return 1 << 20


def _elsewhere(seconds: float, function: Callable[..., T], *args: Any, **named: Any) -> tuple[T, list[Message]]:
    """On a worker: in the time that is left, and without further tasks."""
    given = [each.value if isinstance(each, _Shared) else each for each in args]
    with parallel_config(backend="threading", n_jobs=1), limited(None if isinf(seconds) else seconds):
        return keeping(lambda: function(*given, **named))
