"""Several problems on one bank, which make each pass over the stored matrices together.

Every problem runs in a thread of its own and sees a bank like any other. Where it needs a sum, a form or a product,
it waits until every problem that still runs needs one; then one pass answers all of them.
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
_OFTEN = 0.2  # seconds between two looks for an interruption: a wait without end may miss the signal of Ctrl-C


def together(bank: KernelBank, problems: Sequence[Callable[[KernelBank], T]]) -> list[T]:
    """Run problems on one bank at the same time.

    Parameters
    ----------
    bank : KernelBank
    problems : functions of a bank, each of which is given its own view of the bank

    Returns
    -------
    what every problem returns, in order

    Raises
    ------
    the error of the first problem that ended in one, once all have ended; KeyboardInterrupt at once
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


def _on_threads(works: list[Call[T]]) -> list[T]:
    """A thread for each work.

    The main thread waits on a queue, which is one call of C: an interruption inside of a condition's methods, as
    futures have them, may leave a lock behind for which a thread waits for ever.
    """
    ended: SimpleQueue[None] = SimpleQueue()
    outcomes = [_Outcome(work, ended) for work in works]
    for number, outcome in enumerate(outcomes):
        Thread(target=outcome.find, name=f"multikernel-problem-{number}").start()
    for _ in outcomes:
        while not _heard(ended):
            pass
    return [outcome.get() for outcome in outcomes]


def _heard(ended: SimpleQueue[None]) -> bool:
    """Whether another work ended before long."""
    try:
        ended.get(timeout=_OFTEN)
    except Empty:
        return False
    return True


@dataclass(eq=False)
class _Outcome(Generic[T]):
    """What a work returned, or how it failed."""

    work: Call[T]
    ended: SimpleQueue[None]
    results: list[T] = field(default_factory=list)
    error: BaseException | None = None

    def find(self) -> None:
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
    running : int, how many problems run
    pending : requests that are not answered yet
    changed : the condition by which problems learn that requests are answered
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
            while not self.changed.wait_for(lambda: request.done, _OFTEN):
                check_interrupted()  # others may never ask, where the interruption came before they began
        if request.error is not None:
            raise request.error
        return request.answer

    def leave(self) -> None:
        with self.changed:
            self.running -= 1
            self._serve()

    def _serve(self) -> None:
        """Answer what is pending, once every problem that runs is waiting."""
        if not self.pending or len(self.pending) < self.running:
            return
        batch = self.pending
        self.pending = []
        for kind, passes in (("combine", self._combine), ("quad", self._quad), ("apply", self._apply)):
            alike = [request for request in batch if request.kind == kind]
            if alike:
                _answer(alike, passes)
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
    passes : where this problem asks for them
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
        """A copy in another process makes its own passes."""
        return copy, (self.bank,)

    # what leads to another bank leads to one that is not shared
    block = delegate("block")
    principal = delegate("principal")
    reference = delegate("reference")
    select = delegate("select")
    exact = delegate("exact")
    unrounded = delegate("unrounded")
    cross = delegate("cross")
    self_values = delegate("self_values")
