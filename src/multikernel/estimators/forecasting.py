"""What a fit will take, told before it: time, memory, and a way out where the memory is not enough.

An estimator states what one of its problems costs (``_cost``, made of the costs in ``procedures/forecast.py``); what
its bank takes the bank says itself. A fit is its bank, a search of the parameters that are "auto", its problems, and
the folds that probabilities are calibrated on.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np

from multikernel import _memory
from multikernel._typing import Array
from multikernel._warnings import keeping
from multikernel._work import Work
from multikernel.banks import KernelBank
from multikernel.banks.base import MEMORY
from multikernel.banks.cost import BankCost
from multikernel.banks.factor_gram import few_features
from multikernel.banks.speed import seconds_here
from multikernel.banks.threads import n_threads
from multikernel.banks.views import BankRows
from multikernel.estimators import held_out
from multikernel.estimators.chosen import ROUGH, with_numbers
from multikernel.estimators.fitted_model import FittedModel
from multikernel.estimators.forecast import Forecast
from multikernel.estimators.parameters import AUTO
from multikernel.estimators.protocol import Task
from multikernel.estimators.regularised import Regularised
from multikernel.observer import listener
from multikernel.procedures.forecast import Cost
from multikernel.streams import Source
from multikernel.streams.dask import as_source

_TRIED = 6.0  # candidates of a search, in each of its folds
_SEARCHED = 500, 3  # samples that choose at most, and folds of them
_MOST_MATRICES = 16  # of all samples, that one problem holds at most: with fewer no fit has to be looked at
_CALIBRATED = 0.5  # times the cost of a fit on a fold where it starts from nothing


class Forecasting(Regularised, FittedModel):
    """An estimator that tells what a fit will take."""

    def _cost(self, bank: BankCost, task: Task) -> Cost:
        """What solving one task takes beside its bank; unless a class says more, the one matrix that all have."""
        few = bank.features is not None and few_features(bank.features, bank.n)
        return Cost(None, 0.0 if few else 8.0 * float(bank.n) ** 2)

    def _at_a_time(self, count: int, n: int) -> int:
        """How many of so many tasks of n samples hold matrices at the same time."""
        jobs = getattr(self, "n_jobs", None) or 1
        return min(count, jobs if jobs > 0 else n_threads())

    def _tasks(self, target: Array, sample_weight: Array | None) -> list[Task]:
        """The problems to solve for a checked target."""
        raise NotImplementedError

    def forecast(self, X: Any, y: Any = None) -> Forecast:
        """How long a fit to these samples will take on this machine, and how much memory; nothing is fitted.

        Time is mostly right within a factor of two, where nothing else runs. It is not known beforehand for kernels
        that are approximated, costly or written by others, and for estimators whose steps nobody can foretell.

        Parameters
        ----------
        X, y : as for ``fit``

        Returns
        -------
        Forecast, which prints as one sentence and has ``seconds`` and ``bytes``

        Raises
        ------
        ValueError : for what ``fit`` refuses, and for a source of ``multikernel.streams``, which is read in chunks
        """
        model = copy(self)
        model.check_parameters()
        X, y = as_source(X, y, None)
        if isinstance(X, Source):
            raise ValueError(
                f"{type(self).__name__}: a forecast looks at samples in memory, and a source is read in chunks: fit it "
                "with verbose=1, which tells rows per second and the time left"
            )
        model._sketches = True
        (bank, target), _ = keeping(partial(model.bind, X, y))
        given = model._is_given(X) and not isinstance(X, KernelBank | BankRows)
        return model._forecast(bank, model._tasks(target, None), checked=given)

    def check_parameters(self) -> None:
        """Refuse parameters that have no meaning, before anything is computed."""
        raise NotImplementedError

    def _forecast(self, bank: KernelBank, tasks: Sequence[Task], checked: bool = False) -> Forecast:
        """Of these tasks on a bank, bound or sketched; of matrices that are ``checked`` first, which factors them."""
        cost, chosen = self._bank_cost(bank), self._chosen()
        if checked:
            cost = cost.of_matrices()
        solved = chosen._of_tasks(cost, tasks) + chosen._calibration(cost, tasks)
        whole = Cost(cost.made) + self._search(cost, tasks) + solved
        seconds = None if whole.work is None else float(seconds_here(whole.work, cost.n))
        budget = getattr(self, "time_budget", None)
        if seconds is not None and budget is not None:
            seconds = min(seconds, float(budget))
        return Forecast(
            type(self).__name__,
            cost.m,
            cost.n,
            len(tasks),
            seconds,
            self._bytes(cost, tasks),
            _memory.available_memory(),
            "known by features" if cost.features is not None else "stored" if cost.held else "evaluated in every pass",
        )

    def _bank_cost(self, bank: KernelBank) -> BankCost:
        """What the bank takes; where it is sketched, once it is made."""
        m, n = len(bank), bank.shape[0]
        return bank.cost(MEMORY, np.dtype(self._precision(m, n) or float).itemsize)

    def _chosen(self) -> Self:
        """The model with numbers for parameters that are "auto": which ones does not matter to a forecast."""
        asked = [name for name in self._regularises() if AUTO.accepts(getattr(self, name))]
        return with_numbers(self, **dict.fromkeys(asked, 1.0)) if asked else self

    def _of_task(self, bank: BankCost, task: Task) -> Cost:
        """What one task takes, on its part of the samples."""
        return self._cost(bank if len(task.rows) == bank.n else bank.block(len(task.rows)), task)

    def _of_tasks(self, bank: BankCost, tasks: Sequence[Task]) -> Cost:
        """What all tasks take, one after the other."""
        return sum((self._of_task(bank, task) for task in tasks), Cost(Work()))

    def _bytes(self, bank: BankCost, tasks: Sequence[Task]) -> float:
        """What a fit holds at most: its bank, and what those tasks hold that are solved at a time."""
        chosen = self._chosen()
        each = [
            chosen._of_task(bank, task).bytes + (0.0 if len(task.rows) == bank.n else bank.block(len(task.rows)).held)
            for task in tasks
        ]
        at_a_time = self._at_a_time(len(tasks), bank.n) * max(each)
        return bank.held + max(bank.beside, at_a_time, self._search(bank, tasks).bytes)

    def _search(self, bank: BankCost, tasks: Sequence[Task]) -> Cost:
        """Of the parameters that are "auto", on some of the samples; the matrices of all folds are held."""
        count = sum(AUTO.accepts(getattr(self, name)) for name in self._searched())
        if not count:
            return Cost(Work())
        most, folds = _SEARCHED
        n = bank.n // -(-bank.n // most) * (folds - 1) // folds
        rough = with_numbers(self._chosen(), tol=max(ROUGH, getattr(self, "tol", 0.0)))
        part = bank.block(max(1, n))
        each = sum((rough._cost(part, task) for task in tasks), Cost(part.made))
        found = count * _TRIED * folds * each + Cost(bank.sweep)
        return replace(found, bytes=each.bytes + folds * part.held)

    def _calibration(self, bank: BankCost, tasks: Sequence[Task]) -> Cost:
        """Of the folds that tell probabilities."""
        if getattr(self, "probability", None) is None:
            return Cost(Work())
        part = bank.block(bank.n - bank.n // held_out.FOLDS)
        return held_out.FOLDS * _CALIBRATED * sum((self._cost(part, task) for task in tasks), Cost(part.made))

    def _bound_aloud(self, X: Any, y: Any) -> tuple[KernelBank, Array]:
        """``bind``; with ``verbose`` the forecast is said first, or after it where kernels are given and checked."""
        says, given = bool(getattr(self, "verbose", 0)) and listener() is None, self._is_given(X)
        if says and not given:
            print(self.forecast(X, y), flush=True)
        bank, target = self.bind(X, y)
        if says and given:
            print(self._forecast(bank, self._tasks(target, None)), flush=True)
        return bank, target

    def _check_fits(self, bank: KernelBank, tasks: Sequence[Task]) -> None:
        """MemoryError, with ways out, where a fit takes more memory than there is."""
        taken = bank.cost().held  # by the bank, which is bound: it is no longer available
        most = _memory.available_memory() + taken
        if MEMORY + _MOST_MATRICES * 8.0 * float(bank.shape[0]) ** 2 * len(tasks) <= most:  # a small fit has no time
            return
        cost = self._bank_cost(bank)
        needed = self._bytes(cost, tasks)
        if needed <= most or (cost.features is not None and cost.features < cost.n):
            return  # what works on features makes no matrix of the samples, or looks at the memory before
        ways = [f"take at most {int(cost.n * np.sqrt(most / needed)):,} samples"]
        if cost.held > 0.5 * needed:
            ways.append("fewer kernels")
        if getattr(self, "approximation", "") is None:
            ways.append("approximation='nystroem', which needs no matrix of all samples")
        beside = ", beside the matrices that are stored," if taken else ""
        what = f"{type(self).__name__}: a fit of {cost.m:,} kernels to {cost.n:,} samples{beside}"
        _memory.check_memory(needed - taken, what, ", or ".join(ways), itemsize=1)
