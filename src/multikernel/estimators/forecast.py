"""Forecasts of a fit: its time, its memory, and what to change where the memory is not enough.

A method states what one of its problems costs (``Method.cost``, made of costs in ``procedures/forecast.py``), and a
bank states its own cost. The cost of a fit is the sum of four: of the bank, of the search over parameters that are
"auto", of the problems, and of the folds on which probabilities are calibrated.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from multikernel import _memory
from multikernel._folds import FOLDS
from multikernel._warnings import keeping
from multikernel._work import Work
from multikernel.banks import KernelBank
from multikernel.banks.base import MEMORY
from multikernel.banks.cost import BankCost
from multikernel.banks.rows import BankRows
from multikernel.banks.speed import seconds_here
from multikernel.estimators.binding import is_given
from multikernel.estimators.needed_memory import bank_cost, bytes_of_fit, cost_of_search, with_any_numbers
from multikernel.estimators.protocol import Model, Task
from multikernel.procedures.forecast import Cost
from multikernel.streams import Source
from multikernel.streams.dask import as_source


@dataclass(frozen=True)
class Forecast:
    """The time and memory that a fit will take.

    Parameters
    ----------
    estimator : str, the name of its class
    kernels, samples, problems : int
    seconds : float or None, on this machine while nothing else runs; None where it is not known beforehand
    bytes : float, the largest memory that the fit takes at a time, beside what the process already holds
    memory : float, bytes that are available to this process
    form : str, how the kernels are stored
    """

    estimator: str
    kernels: int
    samples: int
    problems: int
    seconds: float | None
    bytes: float
    memory: float
    form: str

    @property
    def fits(self) -> bool:
        """Whether the memory is enough."""
        return self.bytes <= self.memory

    def __str__(self) -> str:
        kernels = f"{self.kernels:,} kernel{'s' * (self.kernels != 1)} of {self.samples:,} samples, {self.form}"
        problems = f", {self.problems} problems" if self.problems > 1 else ""
        time = "a time that is not known beforehand"
        if self.seconds is not None:
            time = _duration(self.seconds)
        available = "" if self.fits else f", and {_size(self.memory)} are available"
        return f"{self.estimator}: {time} and {_size(self.bytes)}{available}: {kernels}{problems}"


def forecast_of(model: Model, X: Any, y: Any) -> Forecast:
    """The forecast of a fit to these samples; nothing is fitted, and the model's random generator is not used."""
    model = copy(model)
    if hasattr(model, "random_state"):
        model.random_state = deepcopy(model.random_state)
    model.check_parameters()
    X, y = as_source(X, y, None)
    if isinstance(X, Source):
        raise ValueError(
            f"{type(model).__name__}: a forecast looks at samples in memory, and a source is read in chunks: fit it "
            "with verbose=1, which reports rows per second and the time left"
        )
    training, _ = keeping(partial(model._bind, X, y, sketch=True))
    checked = is_given(model, X) and not isinstance(X, KernelBank | BankRows)
    return forecast_on_bank(model, training.bank, model._method.tasks(model, training.target, None), checked)


def forecast_on_bank(model: Model, bank: KernelBank, tasks: Sequence[Task], checked: bool = False) -> Forecast:
    """The forecast of solving these tasks on a bank, bound or sketched.

    Parameters
    ----------
    checked : whether the bank consists of matrices of the user, whose check takes a factorisation of each
    """
    cost = bank_cost(model, bank)
    if checked:
        cost = cost.of_matrices()
    model_with_numbers = with_any_numbers(model)
    cost_of_problems = model._method.schedule.cost(model_with_numbers, cost, tasks)
    cost_of_problems = cost_of_problems + _calibration(model_with_numbers, cost, tasks)
    total = Cost(cost.made) + cost_of_search(model, cost, tasks) + cost_of_problems
    seconds = None
    if total.work is not None:
        seconds = float(seconds_here(total.work, cost.n))
    if seconds is not None and model.time_budget is not None:
        seconds = min(seconds, float(model.time_budget))
    storage = "evaluated in every pass"
    if cost.features is not None:
        storage = "known by features"
    elif cost.held:
        storage = "stored"
    return Forecast(
        type(model).__name__,
        cost.m,
        cost.n,
        len(tasks),
        seconds,
        bytes_of_fit(model, cost, tasks),
        _memory.available_memory(),
        storage,
    )


def check_fits(model: Model, bank: KernelBank, tasks: Sequence[Task]) -> None:
    """MemoryError, with remedies, where a fit takes more memory than there is."""
    bank_bytes = bank.cost().held  # the bank is bound already, so this memory is no longer available
    limit = _memory.available_memory() + bank_bytes
    # a problem holds fewer than 16 matrices of all samples; a small fit is too short for the full forecast
    if MEMORY + 16 * 8.0 * float(bank.shape[0]) ** 2 * len(tasks) <= limit:
        return
    cost = bank_cost(model, bank)
    needed = bytes_of_fit(model, cost, tasks)
    if needed <= limit or (cost.features is not None and cost.features < cost.n):
        return  # procedures on features form no matrix of the samples, or check the memory before they do
    remedies = [f"take at most {int(cost.n * np.sqrt(limit / needed)):,} samples"]
    if cost.held > 0.5 * needed:
        remedies.append("fewer kernels")
    if getattr(model, "approximation", "") is None:
        remedies.append("approximation='nystroem', which needs no matrix of all samples")
    beside = ", beside the matrices that are stored," if bank_bytes else ""
    subject = f"{type(model).__name__}: a fit of {cost.m:,} kernels to {cost.n:,} samples{beside}"
    _memory.check_memory(needed - bank_bytes, subject, ", or ".join(remedies), itemsize=1)


def _calibration(model: Model, bank: BankCost, tasks: Sequence[Task]) -> Cost:
    """The cost of the folds on which probabilities are calibrated."""
    if getattr(model, "probability", None) is None:
        return Cost(Work())
    fold_bank = bank.block(bank.n - bank.n // FOLDS)
    cost_of_fold = sum((model._method.cost(model, fold_bank, task) for task in tasks), Cost(fold_bank.made))
    # a model of a fold starts from that of all samples, and takes half the time of a fresh one
    return FOLDS * 0.5 * cost_of_fold


def _duration(seconds: float) -> str:
    """The duration in hours, minutes or seconds."""
    for threshold, unit, name in ((7200.0, 3600.0, "hours"), (120.0, 60.0, "min"), (0.1, 1.0, "s")):
        if seconds >= threshold:
            return f"about {float(f'{seconds / unit:.2g}'):,g} {name}"
    return "less than 0.1 s"


def _size(number: float) -> str:
    """Bytes, as megabytes or gigabytes."""
    if number >= 1e9:
        return f"{float(f'{number / 1e9:.2g}'):,g} GB"
    return f"{max(1.0, number / 1e6):.0f} MB"
