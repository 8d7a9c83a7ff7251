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
    """How many folds sums are taken of."""
    return int(cast(int, model.cv))


def kept_factors(model: Any, q: int) -> float:
    """The bytes of the factors of folds that are kept, of q features, at most."""
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
    held: tuple[Moments, ...],
    fit_intercept: bool,
    sample: SampleTask,
    warm: Fitted | None,
    observe: Observer,
) -> Learned:
    """Held-out errors from the sums of each fold; the targets are less their mean where there is an intercept."""
    full = [each for each in held if each.count > 0.0]
    if len(full) < 2:
        raise ValueError(f"{type(model).__name__}: all rows are in one fold, since they are equal: give more rows")
    count, unit = sum(each.count for each in full), spread(task.target)
    size = float(bank.traces().sum()) / (count * len(bank)) or 1.0
    scaled = bank.scaled(np.full(len(bank), 1.0 / size))
    every = np.arange(held[0].products.shape[1])
    few, own, labels = sample
    places = np.unique(labels, return_inverse=True)[1]
    part = HeldOutError.of(
        few.scaled(np.full(len(bank), 1.0 / size)),
        as_columns(own.target) / unit,
        Folds(places, len(np.unique(labels))),
        fit_intercept,
    )
    sums = tuple(each.of_targets(every, unit) for each in full)
    error = ErrorInFeatures.of_sums(scaled, as_columns(task.target), sums, fit_intercept, part)
    with one_blas_thread(len(task.target)):
        weights = least_error(
            error, error, model.tol, model.max_iter, model.n_init, drawn_seed(model.random_state), observe
        )
        machine = RidgeMachine(weights.alpha, False)
        solution = machine.solve(scaled.combine(weights.values), task.target / unit)
    return weights.in_units(size, unit), MachineUnits(machine, size, unit, coef=unit / size).solution(solution)
