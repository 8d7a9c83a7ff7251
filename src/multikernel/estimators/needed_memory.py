"""The memory that a fit needs, known before it begins: that of its bank, and of the problems solved at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from multikernel._work import Work
from multikernel.banks import KernelBank
from multikernel.banks.base import MEMORY
from multikernel.banks.cost import BankCost
from multikernel.certificate import ROUGH
from multikernel.estimators.protocol import Model, Task
from multikernel.estimators.schedule import cost_of_task
from multikernel.estimators.search import SEARCH_FOLDS, SEARCHED_SAMPLES, with_parameters
from multikernel.procedures.forecast import Cost


def bank_cost(model: Model, bank: KernelBank) -> BankCost:
    """The cost of a bank; of a sketch, that of the bank that it describes.

    An approximate bank stores features, and how long their computation takes is not known beforehand.
    """
    m, n = len(bank), bank.shape[0]
    cost = bank.cost(MEMORY, np.dtype(model._method.binding.precision(model, m, n) or float).itemsize)
    if getattr(model, "approximation", None) is None or cost.features is None:
        return cost
    single = 8.0 * cost.n * cost.features > 1 << 30  # bytes
    return replace(cost, made=None, held=(4.0 if single else 8.0) * cost.n * cost.features)


def bytes_of_fit(model: Model, bank: BankCost, tasks: Sequence[Task]) -> float:
    """The most bytes that a fit holds: its bank, and the tasks that are solved at the same time."""
    model_with_numbers = with_any_numbers(model)
    bytes_of_tasks = []
    for task in tasks:
        copied = 0.0 if len(task.rows) == bank.n else bank.block(len(task.rows)).held
        bytes_of_tasks.append(cost_of_task(model_with_numbers, bank, task).bytes + copied)
    simultaneous = model._method.schedule.at_a_time(model, len(tasks), bank.n) * max(bytes_of_tasks)
    return bank.held + max(bank.beside, simultaneous, cost_of_search(model, bank, tasks).bytes)


def with_any_numbers(model: Model) -> Model:
    """The model with numbers in place of "auto"; a forecast does not depend on the numbers."""
    automatic = model._method.search.automatic(model)
    if not automatic:
        return model
    return with_parameters(model, **dict.fromkeys(automatic, 1.0))


def cost_of_search(model: Model, bank: BankCost, tasks: Sequence[Task]) -> Cost:
    """The cost of choosing the parameters that are "auto", on some of the samples; all folds are in memory at once."""
    count = len(model._method.search.searched(model))
    if not count:
        return Cost(Work())
    folds = SEARCH_FOLDS
    n = bank.n // -(-bank.n // SEARCHED_SAMPLES) * (folds - 1) // folds
    rough = with_parameters(with_any_numbers(model), tol=max(ROUGH, getattr(model, "tol", 0.0)))
    fold_bank = bank.block(max(1, n))
    cost_of_fold = sum((model._method.cost(rough, fold_bank, task) for task in tasks), Cost(fold_bank.made))
    # a search tries some six candidates in each fold
    total = count * 6.0 * folds * cost_of_fold + Cost(bank.sweep)
    return replace(total, bytes=cost_of_fold.bytes + folds * fold_bank.held)
