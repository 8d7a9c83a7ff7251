"""Several problems on one bank, which share each pass over the stored matrices.

Every problem runs in a separate thread with a bank like any other. When it needs a sum, a form or a product, it waits
until every problem that still runs needs one; then one pass computes all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from threading import Condition, Thread
from typing import Any, Generic, TypeVar

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel._workers import Call, Interrupted, check_interrupted, run_for_user
from multikernel.banks.base import KernelBank
from multikernel.banks.gram import Gram
from multikernel.banks.wrappers import SameKernelsBank, delegate

T = TypeVar("T")
_POLL_SECONDS = 0.2  # between two checks for an interruption: an unlimited wait may miss the signal of Ctrl-C


def together(bank: KernelBank, problems: Sequence[Callable[[KernelBank], T]]) -> list[T]:
    """Run problems on one bank at the same time.

    Parameters
    ----------
    bank : KernelBank
    problems : functions of a bank, each of which gets a separate view of the bank

    Returns
    -------
    the results of the problems, in order

    Raises
    ------
    the error of the first problem that failed, when all have ended; KeyboardInterrupt immediately
    """
    if len(problems) == 1:
        return [problems[0](bank)]
    passes = Passes(bank, len(problems))

    def run(problem: Callable[[KernelBank], T]) -> T:
        try:
            return problem(SharedBank(bank, passes))
        finally:
            passes.leave()

    return run_for_user([partial(run, problem) for problem in problems], _on_threads)


def _on_threads(calls: list[Call[T]]) -> list[T]:
    """Runs each call in a thread, and returns their results.

    The main thread waits on a queue, which is a single call of C. Futures use conditions, where an interruption may
    leave a lock behind for which a thread would wait forever.
    """
    ended: SimpleQueue[None] = SimpleQueue()
    outcomes = [_Outcome(call, ended) for call in calls]
    for number, outcome in enumerate(outcomes):
        Thread(target=outcome.run, name=f"multikernel-problem-{number}").start()
    for _ in outcomes:
        while not _has_ended(ended):
            pass
    return [outcome.get() for outcome in outcomes]


def _has_ended(ended: SimpleQueue[None]) -> bool:
    """Waits for the end of a call, at most for the polling time; whether one has ended."""
    try:
        ended.get(timeout=_POLL_SECONDS)
    except Empty:
        return False
    return True


@dataclass(eq=False)
class _Outcome(Generic[T]):
    """Runs a call, and keeps its result or its error."""

    work: Call[T]
    ended: SimpleQueue[None]
    results: list[T] = field(default_factory=list)
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self.results.append(self.work())
        except BaseException as error:  # raised again in the thread that waits
            self.error = error
        finally:
            self.ended.put(None)

    def get(self) -> T:
        if self.error is not None:
            raise self.error
        return self.results[0]


@dataclass(eq=False)
class _Request:
    """A pass that a problem needs."""

    kind: str
    value: Array
    answer: Any = None
    error: BaseException | None = None
    done: bool = False


@dataclass(eq=False)
class Passes:
    """Collects the requests of the problems that still run, and answers them at once.

    Parameters
    ----------
    bank : KernelBank
    running : int, the number of problems that still run
    pending : requests that are not answered yet
    changed : the condition that is notified when requests are answered
    """

    bank: KernelBank
    running: int
    pending: list[_Request] = field(default_factory=list)
    changed: Condition = field(default_factory=Condition)

    def ask(self, kind: str, value: Array) -> Any:
        check_interrupted()
        request = _Request(kind, value)
        with self.changed:
            self.pending.append(request)
            self._serve()
            while not self.changed.wait_for(lambda: request.done, _POLL_SECONDS):
                check_interrupted()  # interrupted problems may never request a pass
        if request.error is not None:
            raise request.error
        return request.answer

    def leave(self) -> None:
        with self.changed:
            self.running -= 1
            self._serve()

    def _serve(self) -> None:
        """Answers the pending requests if every problem that still runs is waiting."""
        if not self.pending or len(self.pending) < self.running:
            return
        batch = self.pending
        self.pending = []
        for kind, passes in (("combine", self._combine), ("quad", self._quad), ("apply", self._apply)):
            requests = [request for request in batch if request.kind == kind]
            if requests:
                _answer(requests, passes)
        self.changed.notify_all()

    def _combine(self, weights: list[Array]) -> list[Gram]:
        return self.bank.combine_all(np.stack(weights))

    def _quad(self, vectors: list[Array]) -> list[Array]:
        return list(self.bank.quads(np.column_stack(vectors)).T)

    def _apply(self, blocks: list[Array]) -> list[Array]:
        ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
        return np.split(self.bank.apply(np.hstack(blocks)), ends, axis=2)


def _answer(requests: list[_Request], passes: Callable[[list[Array]], list[Any]]) -> None:
    try:
        check_interrupted()
        answers = passes([request.value for request in requests])
        for request, answer in zip(requests, answers, strict=True):
            request.answer = answer
    except (Exception, Interrupted) as error:  # each problem raises it in its own thread
        for request in requests:
            request.error = error
    for request in requests:
        request.done = True


@dataclass(frozen=True, eq=False, repr=False)
class SharedBank(SameKernelsBank):
    """A bank whose sums, forms and products are made together with those of other problems.

    Parameters
    ----------
    bank : the bank of all problems
    passes : collects the requests of all problems
    """

    passes: Passes

    def combine(self, weights: Array) -> Gram:
        return self.passes.ask("combine", np.asarray(weights, dtype=float))

    def total(self, weights: Array) -> Any:
        return self.combine(weights).fresh()

    def quad(self, A: Array) -> Array:
        A = as_columns(A)
        if A.shape[1] == 1:
            return self.passes.ask("quad", A[:, 0])
        return self.bank.quad(A)

    def apply(self, C: Array) -> Array:
        return self.passes.ask("apply", C)

    def compact(self) -> SharedBank:
        return self

    def __reduce__(self) -> Any:
        """A copy in another process is a copy of the inner bank, which is not shared."""
        return copy, (self.bank,)

    # members that return another bank return one that is not shared
    block = delegate("block")
    principal = delegate("principal")
    reference = delegate("reference")
    select = delegate("select")
    exact = delegate("exact")
    unrounded = delegate("unrounded")
    cross = delegate("cross")
    self_values = delegate("self_values")
