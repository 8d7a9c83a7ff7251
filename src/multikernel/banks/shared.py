"""Several problems on one bank, each pass over the stored matrices made once for all of them.

Every problem runs in a thread of its own and sees a bank like any other. Where it asks for a sum, a form or a product,
it waits until all problems that still run have asked for something; then one pass answers all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Condition
from typing import Any, TypeVar

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.gram import Gram
from multikernel.banks.wrappers import WrapperBank

T = TypeVar("T")


def together(bank: KernelBank, problems: Sequence[Callable[[KernelBank], T]]) -> list[T]:
    """What every problem returns, in order; the first error of a problem, once all have ended."""
    if len(problems) == 1:
        return [problems[0](bank)]
    passes = _Passes(bank, len(problems))

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
class _Passes:
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


@dataclass(frozen=True, eq=False)
class SharedBank(WrapperBank):
    """A bank whose sums, forms and products are made together with those of other problems."""

    passes: _Passes

    def tiles(self, rows: Index) -> Iterator[Array]:
        return self.bank.tiles(rows)

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

    # what does not read all matrices, or leads to another bank, is the bank's own

    def combine_all(self, W: Array) -> list[Gram]:
        return self.bank.combine_all(W)

    def quads(self, A: Array) -> Array:
        return self.bank.quads(A)

    def inner(self, M: Array) -> Array:
        return self.bank.inner(M)

    def pairs(self, N: Array | None = None) -> Array:
        return self.bank.pairs(N)

    def pair_forms(self, A: Array) -> Array:
        return self.bank.pair_forms(A)

    def hadamard_apply(self, P: Gram, C: Array) -> Array:
        return self.bank.hadamard_apply(P, C)

    def diagonal(self) -> Array:
        return self.bank.diagonal()

    def traces(self) -> Array:
        return self.bank.traces()

    def block(self, rows: Index, columns: Index) -> KernelBank:
        return self.bank.block(rows, columns)

    def principal(self, rows: Array) -> KernelBank:
        return self.bank.principal(rows)

    def compact(self) -> SharedBank:
        return self

    def select(self, index: Index) -> KernelBank:
        return self.bank.select(index)

    def exact(self, index: Index = slice(None)) -> KernelBank:
        return self.bank.exact(index)

    def cross(self, X: Any) -> KernelBank:
        return self.bank.cross(X)

    def reference(self, columns: Index = slice(None)) -> KernelBank:
        return self.bank.reference(columns)

    def self_values(self, X: Any) -> Array:
        return self.bank.self_values(X)

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        return self.bank.held_out_self_values(rows, columns)
