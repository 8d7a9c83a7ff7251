"""The memory that a fit needs, known before it begins: by its bank, and by what its problems hold at a time."""

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
    """What a bank takes; where it is a sketch, once it is made.

    Of an approximate bank the features are held, and how long it takes to make them is not known beforehand.
    """
    m, n = len(bank), bank.shape[0]
    cost = bank.cost(MEMORY, np.dtype(model._method.binding.precision(model, m, n) or float).itemsize)
    if getattr(model, "approximation", None) is None or cost.features is None:
        return cost
    single = 8.0 * cost.n * cost.features > 1 << 30  # bytes
    return replace(cost, made=None, held=(4.0 if single else 8.0) * cost.n * cost.features)


def bytes_of_fit(model: Model, bank: BankCost, tasks: Sequence[Task]) -> float:
    """What a fit holds at most: its bank, and what those tasks hold that are solved at a time."""
    chosen = with_any_numbers(model)
    each = [
        cost_of_task(chosen, bank, task).bytes + (0.0 if len(task.rows) == bank.n else bank.block(len(task.rows)).held)
        for task in tasks
    ]
    at_a_time = model._method.schedule.at_a_time(model, len(tasks), bank.n) * max(each)
    return bank.held + max(bank.beside, at_a_time, cost_of_search(model, bank, tasks).bytes)


def with_any_numbers(model: Model) -> Model:
    """The model with numbers for parameters that are "auto": which ones does not matter to a forecast."""
    asked = model._method.search.automatic(model)
    if not asked:
        return model
    return with_parameters(model, **dict.fromkeys(asked, 1.0))


def cost_of_search(model: Model, bank: BankCost, tasks: Sequence[Task]) -> Cost:
    """Of the parameters that are "auto", on some of the samples; the matrices of all folds are held."""
    count = len(model._method.search.searched(model))
    if not count:
        return Cost(Work())
    folds = SEARCH_FOLDS
    n = bank.n // -(-bank.n // SEARCHED_SAMPLES) * (folds - 1) // folds
    rough = with_parameters(with_any_numbers(model), tol=max(ROUGH, getattr(model, "tol", 0.0)))
    part = bank.block(max(1, n))
    each = sum((model._method.cost(rough, part, task) for task in tasks), Cost(part.made))
    # a search tries some six candidates in each fold
    found = count * 6.0 * folds * each + Cost(bank.sweep)
    return replace(found, bytes=each.bytes + folds * part.held)
