"""Several problems on one bank, each pass over the stored matrices made once for all of them.

Every problem runs in a thread of its own and sees a bank like any other. Where it asks for a sum, a form or a product,
it waits until all problems that still run have asked for something; then one pass answers all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field
from threading import Condition
from typing import Any, TypeVar

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks.base import KernelBank
from multikernel.banks.gram import Gram
from multikernel.banks.wrappers import WrapperBank

T = TypeVar("T")


def together(bank: KernelBank, problems: Sequence[Callable[[KernelBank], T]]) -> list[T]:
    """What every problem returns, in order; the first error of a problem, once all have ended."""
    if len(problems) == 1:
        return [problems[0](bank)]
    passes = Passes(bank, len(problems))

    def run(problem: Callable[[KernelBank], T]) -> T:
        try:
            return problem(SharedBank(bank, passes))
        finally:
            passes.leave()

    with ThreadPoolExecutor(len(problems), thread_name_prefix="multikernel-problem") as threads:
        futures = [threads.submit(run, problem) for problem in problems]
    return [future.result() for future in futures]


@dataclass(eq=False)
class _Request:
    """What a problem asks for."""

    kind: str
    value: Array
    answer: Any = None
    error: Exception | None = None
    done: bool = False


@dataclass(eq=False)
class Passes:
    """Collects the requests of the problems that still run, and answers them at once."""

    bank: KernelBank
    running: int
    pending: list[_Request] = field(default_factory=list)
    changed: Condition = field(default_factory=Condition)

    def ask(self, kind: str, value: Array) -> Any:
        request = _Request(kind, value)
        with self.changed:
            self.pending.append(request)
            self._serve()
            self.changed.wait_for(lambda: request.done)
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
        batch, self.pending = self.pending, []
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
        answers = passes([request.value for request in requests])
        for request, answer in zip(requests, answers, strict=True):
            request.answer = answer
    except Exception as error:  # each problem raises it in its own thread
        for request in requests:
            request.error = error
    for request in requests:
        request.done = True


def _own(name: str) -> Any:
    """A method of the bank itself: for what does not read all matrices, or leads to another bank."""
    return lambda self, *args, **named: getattr(self.bank, name)(*args, **named)


@dataclass(frozen=True, eq=False)
class SharedBank(WrapperBank):
    """A bank whose sums, forms and products are made together with those of other problems."""

    passes: Passes

    def combine(self, weights: Array) -> Gram:
        gram: Gram = self.passes.ask("combine", np.asarray(weights, dtype=float))
        return gram

    def quad(self, A: Array) -> Array:
        A = as_columns(A)
        forms: Array = self.passes.ask("quad", A[:, 0]) if A.shape[1] == 1 else self.bank.quad(A)
        return forms

    def apply(self, C: Array) -> Array:
        products: Array = self.passes.ask("apply", C)
        return products

    def compact(self) -> SharedBank:
        return self

    def __reduce__(self) -> Any:
        """A copy in another process makes its own passes."""
        return copy, (self.bank,)

    tiles, combine_all, quads, inner = _own("tiles"), _own("combine_all"), _own("quads"), _own("inner")
    pairs, pair_forms, hadamard_apply = _own("pairs"), _own("pair_forms"), _own("hadamard_apply")
    diagonal, traces, self_values = _own("diagonal"), _own("traces"), _own("self_values")
    held_out_self_values = _own("held_out_self_values")
    block, principal, reference = _own("block"), _own("principal"), _own("reference")
    select, exact, cross = _own("select"), _own("exact"), _own("cross")
