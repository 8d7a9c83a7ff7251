"""Forecasts of a fit: its time, its memory, and a way out where the memory is not enough.

A method states what one of its problems costs (``Method.cost``, made of costs in ``procedures/forecast.py``), and a
bank states its own cost. A fit is its bank, a search of the parameters that are "auto", its problems, and folds that
probabilities are calibrated on.
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
    """What a fit will take, as far as it is known beforehand.

    Parameters
    ----------
    estimator : str, the name of its class
    kernels, samples, problems : int
    seconds : float or None, on this machine while nothing else runs; None where nobody knows
    bytes : float, that the fit takes at a time, beside what the process holds before
    memory : float, bytes that are available to this process
    form : str, how the kernels are held
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
        more = "" if self.fits else f", and {_size(self.memory)} are available"
        return f"{self.estimator}: {time} and {_size(self.bytes)}{more}: {kernels}{problems}"


def forecast_of(model: Model, X: Any, y: Any) -> Forecast:
    """What a fit of the model to these samples will take; nothing is fitted, and nothing drawn from its generator."""
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
    """What solving these tasks takes on a bank, bound or sketched.

    Parameters
    ----------
    checked : whether the bank is of matrices that are checked first, which factors them
    """
    cost = bank_cost(model, bank)
    if checked:
        cost = cost.of_matrices()
    chosen = with_any_numbers(model)
    solved = model._method.schedule.cost(chosen, cost, tasks) + _calibration(chosen, cost, tasks)
    whole = Cost(cost.made) + cost_of_search(model, cost, tasks) + solved
    seconds = None
    if whole.work is not None:
        seconds = float(seconds_here(whole.work, cost.n))
    if seconds is not None and model.time_budget is not None:
        seconds = min(seconds, float(model.time_budget))
    form = "evaluated in every pass"
    if cost.features is not None:
        form = "known by features"
    elif cost.held:
        form = "stored"
    return Forecast(
        type(model).__name__,
        cost.m,
        cost.n,
        len(tasks),
        seconds,
        bytes_of_fit(model, cost, tasks),
        _memory.available_memory(),
        form,
    )


def check_fits(model: Model, bank: KernelBank, tasks: Sequence[Task]) -> None:
    """MemoryError, with ways out, where a fit takes more memory than there is."""
    taken = bank.cost().held  # by the bank, which is bound: it is no longer available
    most = _memory.available_memory() + taken
    # a problem holds fewer than 16 matrices of all samples; a small fit has no time to be looked at
    if MEMORY + 16 * 8.0 * float(bank.shape[0]) ** 2 * len(tasks) <= most:
        return
    cost = bank_cost(model, bank)
    needed = bytes_of_fit(model, cost, tasks)
    if needed <= most or (cost.features is not None and cost.features < cost.n):
        return  # what works on features makes no matrix of the samples, or looks at the memory before
    ways = [f"take at most {int(cost.n * np.sqrt(most / needed)):,} samples"]
    if cost.held > 0.5 * needed:
        ways.append("fewer kernels")
    if getattr(model, "approximation", "") is None:
        ways.append("approximation='nystroem', which needs no matrix of all samples")
    beside = ", beside the matrices that are stored," if taken else ""
    what = f"{type(model).__name__}: a fit of {cost.m:,} kernels to {cost.n:,} samples{beside}"
    _memory.check_memory(needed - taken, what, ", or ".join(ways), itemsize=1)


def _calibration(model: Model, bank: BankCost, tasks: Sequence[Task]) -> Cost:
    """Of the folds on which probabilities are calibrated."""
    if getattr(model, "probability", None) is None:
        return Cost(Work())
    part = bank.block(bank.n - bank.n // FOLDS)
    each = sum((model._method.cost(model, part, task) for task in tasks), Cost(part.made))
    # a model of a fold starts from that of all samples, and takes half the time of a fresh one
    return FOLDS * 0.5 * each


def _duration(seconds: float) -> str:
    """In the customary unit."""
    for least, unit, name in ((7200.0, 3600.0, "hours"), (120.0, 60.0, "min"), (0.1, 1.0, "s")):
        if seconds >= least:
            return f"about {float(f'{seconds / unit:.2g}'):,g} {name}"
    return "less than 0.1 s"


def _size(number: float) -> str:
    """Bytes, as megabytes or gigabytes."""
    if number >= 1e9:
        return f"{float(f'{number / 1e9:.2g}'):,g} GB"
    return f"{max(1.0, number / 1e6):.0f} MB"
