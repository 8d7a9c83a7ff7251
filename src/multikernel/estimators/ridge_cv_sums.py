"""How ``MultipleKernelRidgeCV`` learns from sums over the rows of a stream."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from multikernel._linalg import as_columns
from multikernel.banks.low_rank import LowRankBank
from multikernel.banks.threads import one_blas_thread
from multikernel.estimators.parameters import drawn_seed
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.streamed.streaming import SampleTask
from multikernel.machines import RidgeMachine
from multikernel.observer import Observer
from multikernel.procedures.ridge_cv import ErrorInFeatures, Folds, HeldOutError, least_error
from multikernel.procedures.units import MachineUnits, spread
from multikernel.statistics import Moments
from multikernel.tuning import KEPT_BYTES


def folds_of_rows(model: Any) -> int:
    """The number of folds, each of which has separate sums."""
    return int(cast(int, model.cv))


def kept_factors(model: Any, q: int) -> float:
    """The most bytes that the stored factors of the folds take, for q features."""
    return 2.0 * min(KEPT_BYTES, 8.0 * folds_of_rows(model) * q * q)


def check_sums(model: Any) -> None:
    """ValueError for parameters that need samples in memory."""
    if model.fixed is not None:
        raise ValueError(
            f"{type(model).__name__} learns from sums over the rows without fixed columns: fit it to samples in memory"
        )
    if model.criterion != "held_out":
        raise ValueError(
            f"{type(model).__name__} learns from sums over the rows by held-out error: use criterion='held_out'"
        )


def learn_sums(
    model: Any,
    bank: LowRankBank,
    task: Task,
    sums_of_folds: tuple[Moments, ...],
    fit_intercept: bool,
    sample: SampleTask,
    warm: Fitted | None,
    observe: Observer,
) -> Learned:
    """Learn weights by held-out errors, which follow from the sums of each fold.

    Where there is an intercept, the targets of ``task`` have mean zero. ``sample`` is a small part of the rows, from
    which the initial weights are found.
    """
    full = [fold for fold in sums_of_folds if fold.count > 0.0]
    if len(full) < 2:
        raise ValueError(f"{type(model).__name__}: all rows are in one fold, since they are equal: give more rows")
    count, unit = sum(fold.count for fold in full), spread(task.target)
    size = float(bank.traces().sum()) / (count * len(bank)) or 1.0
    scaled = bank.scaled(np.full(len(bank), 1.0 / size))
    all_columns = np.arange(sums_of_folds[0].products.shape[1])
    sample_bank, sample_task, labels = sample
    fold_of_row = np.unique(labels, return_inverse=True)[1]
    sample_error = HeldOutError.of(
        sample_bank.scaled(np.full(len(bank), 1.0 / size)),
        as_columns(sample_task.target) / unit,
        Folds(fold_of_row, len(np.unique(labels))),
        fit_intercept,
    )
    sums = tuple(fold.of_targets(all_columns, unit) for fold in full)
    error = ErrorInFeatures.of_sums(scaled, as_columns(task.target), sums, fit_intercept, sample_error)
    with one_blas_thread(len(task.target)):
        weights = least_error(
            error, error, model.tol, model.max_iter, model.n_init, drawn_seed(model.random_state), observe
        )
        machine = RidgeMachine(weights.alpha, False)
        solution = machine.solve(scaled.combine(weights.values), task.target / unit)
    return weights.in_units(size, unit), MachineUnits(machine, size, unit, coef=unit / size).solution(solution)
