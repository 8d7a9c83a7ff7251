"""How the problems of a fit are scheduled: each separately, on threads, or several with shared passes over a bank."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from multikernel._work import Work
from multikernel._workers import on_cluster, on_threads
from multikernel.banks import KernelBank
from multikernel.banks.base import MEMORY
from multikernel.banks.cost import BankCost
from multikernel.banks.factor_gram import few_features
from multikernel.banks.shared import together
from multikernel.banks.threads import threads_of
from multikernel.estimators.protocol import Fitted, Model, Task
from multikernel.procedures.forecast import Cost

Job = Callable[[KernelBank], Fitted]  # solves one task on the bank that it shares with the others


def one_matrix(model: Model, bank: BankCost, task: Task) -> Cost:
    """The cost of a task where only this is known: one matrix, and an unknown time."""
    few = bank.features is not None and few_features(bank.features, bank.n)
    return Cost(None, 0.0 if few else 8.0 * float(bank.n) ** 2)


class Schedule(ABC):
    """How the tasks of a fit are solved, and their cost."""

    @abstractmethod
    def solve(self, model: Model, bank: KernelBank, jobs: Sequence[Job]) -> list[Fitted]:
        """Solve all tasks."""

    @abstractmethod
    def at_a_time(self, model: Model, count: int, n: int) -> int:
        """How many of ``count`` tasks of n samples hold matrices at the same time."""

    @abstractmethod
    def all_at_once(self, model: Model, count: int) -> bool:
        """Whether ``count`` tasks are solved at the same time, rather than one after the other."""

    @abstractmethod
    def cost(self, model: Model, bank: BankCost, tasks: Sequence[Task]) -> Cost:
        """The cost of all tasks."""


def cost_of_task(model: Model, bank: BankCost, task: Task) -> Cost:
    """The cost of one task on its samples."""
    if len(task.rows) != bank.n:
        bank = bank.block(len(task.rows))
    return model._method.cost(model, bank, task)


@dataclass(frozen=True)
class EachAlone(Schedule):
    """Each task is solved separately, with ``n_jobs`` tasks at a time."""

    def solve(self, model: Model, bank: KernelBank, jobs: Sequence[Job]) -> list[Fitted]:
        if len(jobs) == 1:
            return [jobs[0](bank)]
        return on_threads([partial(job, bank) for job in jobs], getattr(model, "n_jobs", None))

    def at_a_time(self, model: Model, count: int, n: int) -> int:
        return min(count, threads_of(getattr(model, "n_jobs", None)))

    def all_at_once(self, model: Model, count: int) -> bool:
        return getattr(model, "n_jobs", None) not in (None, 1)

    def cost(self, model: Model, bank: BankCost, tasks: Sequence[Task]) -> Cost:
        return sum((cost_of_task(model, bank, task) for task in tasks), Cost(Work()))


EACH_ALONE = EachAlone()


@dataclass(frozen=True)
class SharedPasses(Schedule):
    """One-vs-rest problems share their passes over the kernels, as many problems at a time as memory allows.

    Pairs of classes have separate banks and are solved separately; on a cluster each problem is a separate task.
    """

    def solve(self, model: Model, bank: KernelBank, jobs: Sequence[Job]) -> list[Fitted]:
        if len(jobs) == 1 or model.multiclass != "ovr" or on_cluster():
            return EACH_ALONE.solve(model, bank, jobs)
        group_size = self.at_a_time(model, len(jobs), bank.shape[0])
        groups = [jobs[first : first + group_size] for first in range(0, len(jobs), group_size)]
        return [fitted for group in groups for fitted in together(bank, group)]

    def at_a_time(self, model: Model, count: int, n: int) -> int:
        if model.multiclass != "ovr":
            return EACH_ALONE.at_a_time(model, count, n)
        return min(count, max(1, MEMORY // (4 * 8 * n**2)))  # a problem has four n x n matrices at a time

    def all_at_once(self, model: Model, count: int) -> bool:
        return model.multiclass == "ovr" or EACH_ALONE.all_at_once(model, count)

    def cost(self, model: Model, bank: BankCost, tasks: Sequence[Task]) -> Cost:
        if len(tasks) == 1 or model.multiclass != "ovr":
            return EACH_ALONE.cost(model, bank, tasks)
        # Each additional problem adds 0.4 of a pass to the shared one.
        later = replace(bank, sweep=0.4 * bank.sweep, exact=0.4 * bank.exact)
        cost = model._method.cost
        return cost(model, bank, tasks[0]) + (len(tasks) - 1) * cost(model, later, tasks[1])


SHARED_PASSES = SharedPasses()
