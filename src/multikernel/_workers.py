"""Work on other threads: it is interrupted with the thread that waits for it, which also gives its warnings.

Work may also have a time limit. Iterations call ``time_is_up`` where they count their steps, and return their best
result: a time limit ends them like a limit of steps, and the certificate states the gap reached. No certificate covers
a choice between candidates, so a choice that had no time for all of them warns (``in_time``).

A thread cannot be stopped from outside, and Ctrl-C reaches only the main thread. Long work therefore calls
``check_interrupted`` in every step that takes a while.
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

CHOICE_TIME = 0.3  # of the time, for the first choice: the rest is to learn further, to compare and to train
T = TypeVar("T")
Call = Callable[[], T]
_ENDED: ContextVar[tuple[Event, ...]] = ContextVar("multikernel_ended", default=())
_DEADLINE: ContextVar[float] = ContextVar("multikernel_deadline", default=float("inf"))


class Interrupted(BaseException):
    """Ends work whose result is no longer needed."""


def check_interrupted() -> None:
    """Raise ``Interrupted`` where the thread that waits for this work was interrupted or has failed."""
    if any(ended.is_set() for ended in _ENDED.get()):
        raise Interrupted


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """A context whose work has to end in so many seconds, or earlier by an outer limit; None adds no limit."""
    deadline = float("inf") if seconds is None else perf_counter() + seconds
    token = _DEADLINE.set(min(_DEADLINE.get(), deadline))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float:
    """The seconds that this work may still take; infinite without a limit, 0 where its time is up."""
    return max(_DEADLINE.get() - perf_counter(), 0.0)


def time_is_up() -> bool:
    """Whether the time limit is reached, so that work has to return its best result so far."""
    return perf_counter() >= _DEADLINE.get()


def in_time(candidates: Iterable[T], count: int, label: str, least: int = 1) -> Iterator[T]:
    """The candidates in turn, until the time is up; a ConvergenceWarning then counts those that ended in time.

    Parameters
    ----------
    candidates : the candidates of a choice
    count : the number of candidates
    label : the name of the candidates in the warning
    least : 1 where the first candidate is needed in any case, 0 where none is
    """
    for number, candidate in enumerate(candidates):
        if number < least or not time_is_up():
            yield candidate
        if time_is_up():
            if count > least:
                warn_of_cut_choice(f"only {number} of {count} {label} ended in time")
            return


def warn_of_cut_choice(cause: str) -> None:
    """Warn that the time limit cut a choice, since no certificate shows it."""
    warn_user(
        f"time_budget was used up during a choice: {cause}; with more time the model may be another one. "
        "Raise time_budget, or leave less to choose.",
        ConvergenceWarning,
    )


def run_for_user(
    functions: Sequence[Call[T]], run: Callable[[list[Call[tuple[T, list[Message]]]]], list[tuple[T, list[Message]]]]
) -> list[T]:
    """The results of functions; their warnings are given here, each once.

    Parameters
    ----------
    functions : functions without arguments
    run : calls functions on any threads and returns their results. If it raises an error or is interrupted, work that
        is still running ends at its next ``check_interrupted``.
    """
    ended, deadline = Event(), _DEADLINE.get()
    all_ended = (*_ENDED.get(), ended)

    def with_context(function: Call[T]) -> Call[tuple[T, list[Message]]]:
        def on_thread() -> tuple[T, list[Message]]:
            token, limit = _ENDED.set(all_ended), _DEADLINE.set(deadline)
            try:
                return keeping(function)
            finally:
                _ENDED.reset(token)
                _DEADLINE.reset(limit)

        return on_thread

    try:
        results = run([with_context(function) for function in functions])
    except BaseException:
        ended.set()
        raise
    warn_once(message for _, messages in results for message in messages)
    return [result for result, _ in results]


def on_threads(functions: Sequence[Call[T]], n_jobs: int | None, **options: Any) -> list[T]:
    """The results of functions that run on ``n_jobs`` threads, in joblib's meaning of the number, with its options.

    Threads are used with every backend of joblib, because they share the kernels' matrices and can be interrupted. Only
    with joblib's Dask backend is every function a task of the cluster.
    """
    if len(functions) == 1:  # no further thread is needed
        result, messages = keeping(functions[0])
        warn_once(messages)
        return [result]
    if on_cluster():
        return _as_tasks(functions, **options)
    parallel = Parallel(n_jobs=n_jobs, require="sharedmem", **options)
    return run_for_user(
        functions, lambda contextual_functions: parallel(delayed(function)() for function in contextual_functions)
    )


def on_cluster() -> bool:
    """Whether joblib uses a cluster of Dask, and this code is not already a task of it."""
    backend, _ = get_active_backend()
    return type(backend).__name__ == "DaskDistributedBackend"


def _as_tasks(functions: Sequence[Call[T]], **options: Any) -> list[T]:
    """The results of functions that run as tasks of the cluster; shared arguments are sent there once."""
    shared: dict[int, _Shared] = {}

    def shared_value(value: Any) -> _Shared:
        return shared.setdefault(id(value), _Shared(value))

    calls = [function if isinstance(function, partial) else partial(function) for function in functions]
    results = Parallel(**options)(
        delayed(_call_on_worker)(seconds_left(), call.func, *map(shared_value, call.args), **call.keywords)
        for call in calls
    )
    warn_once(message for _, messages in results for message in messages)
    return [result for result, _ in results]


class _Shared:
    """A value that joblib's Dask backend sends to a worker once, because its stated size is large."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __sizeof__(self) -> int:
        return 1 << 20


def _call_on_worker(seconds: float, function: Callable[..., T], *args: Any, **named: Any) -> tuple[T, list[Message]]:
    """Call a function on a worker, in the remaining time and without further tasks."""
    values = [arg.value if isinstance(arg, _Shared) else arg for arg in args]
    with parallel_config(backend="threading", n_jobs=1), limited(None if isinf(seconds) else seconds):
        return keeping(lambda: function(*values, **named))
