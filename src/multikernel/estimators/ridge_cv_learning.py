"""How ``MultipleKernelRidgeCV`` learns from samples: its tasks, their folds and cost, weights and machines."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from multikernel._linalg import as_columns
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.threads import one_blas_thread
from multikernel.estimators.fixed import learned_columns
from multikernel.estimators.protocol import Fitted, Learned, Learner, Task
from multikernel.machines import RidgeMachine
from multikernel.observer import Observer
from multikernel.procedures.forecast import Cost, many_targets, own_ridges, ridge
from multikernel.procedures.forecast import ridge_cv as ridge_cv_cost
from multikernel.procedures.ridge_cv import (
    Criterion,
    ErrorInFeatures,
    Evidence,
    Folds,
    TargetSearch,
    held_out_error,
    least_error,
    ridge_cv_each,
    with_own_ridges,
)
from multikernel.procedures.ridge_cv.fixed import FixedColumns, determined
from multikernel.procedures.units import MachineUnits, kernel_size, spread


def tasks(model: Any, target: Array, sample_weight: Array | None) -> list[Task]:
    """One problem, or one for each target."""
    together = target.ndim == 1 or model.shared_weights or _shares_candidates(model, target)
    return [Task(np.arange(len(target)), each) for each in ([target] if together else target.T)]


def _shares_candidates(model: Any, target: Any) -> bool:
    """Whether targets with weights of their own are one problem."""
    return target.ndim == 2 and target.shape[1] > 1 and has_own_weights(model)


def has_own_weights(model: Any) -> bool:
    """Whether each of several targets has weights of its own, which are found together."""
    return not model.shared_weights


def _has_own_ridges(model: Any, target: Any) -> bool:
    """Whether targets that share weights have a ridge each."""
    several = target.ndim == 2 and target.shape[1] > 1
    return several and model.criterion == "held_out" and model.fixed is None


def _folds(model: Any, task: Task) -> Folds:
    """As the user gives them; a number is one of consecutive samples, or of whole groups."""
    n, known = len(task.target), task.resampling
    if known.groups is None or known.given is not None:
        return Folds.of(model.cv if known.given is None else known.given, n, task.target)
    count = n if isinstance(model.cv, str) else int(model.cv)
    folds = known.drawn(np.zeros(n, dtype=int), count, np.random.default_rng(0))
    return Folds(folds, int(folds.max()) + 1)


# -- learning ----------------------------------------------------------------------------------------------------------


def drawn_seed(model: Any) -> int:
    """A seed for all targets, from ``random_state``."""
    return int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))


def prepare(model: Any, bank: KernelBank, target: Array, X: Any, given: dict[str, Any]) -> Learner:
    """The seed is drawn once for all targets."""
    n = bank.shape[0]
    if isinstance(model.cv, int | np.integer) and model.cv > n:
        raise ValueError(
            f"{type(model).__name__}: cv must be at most {n}, the number of samples, got {abbreviated(model.cv)}"
        )
    return partial(learn, seed=drawn_seed(model), fixed=learned_columns(model, X, n))


def cost_of(model: Any, bank: BankCost, task: Task) -> Cost:
    """What a task costs, as far as is known before."""
    folds = int(model.cv) if isinstance(model.cv, int | np.integer) else bank.n
    if _shares_candidates(model, task.target):
        t = task.target.shape[1]
        cost = model.n_init * many_targets(bank, folds, t)
        if model.standard_errors > 0.0 and bank.m > 1 and model.criterion == "held_out":
            cost = cost + own_ridges(bank, folds, t)
        return cost
    cost = model.n_init * ridge_cv_cost(bank, folds) + ridge(bank)
    if _has_own_ridges(model, task.target):
        cost = cost + own_ridges(bank, folds, task.target.shape[1])
    return cost


def learn(
    model: Any,
    bank: KernelBank,
    task: Task,
    warm: Fitted | None,
    observe: Observer,
    seed: int = 0,
    fixed: FixedColumns | None = None,
) -> Learned:
    """One set of weights, for a target (n,) or for several that share it, or one for each, and the machine on all.

    Several targets that share weights of least held-out error have a ridge each.
    """
    if _shares_candidates(model, task.target):
        return _learn_each(model, bank, task, observe, seed, fixed)
    if fixed is not None:
        return _learn_beside(model, bank, task, observe, seed, fixed)
    size, unit = kernel_size(bank), spread(task.target)
    bank, target = bank.scaled(np.full(len(bank), 1.0 / size)), task.target / unit
    with one_blas_thread(len(target)):
        Y = as_columns(target)
        folds = _folds(model, task)
        held_out = held_out_error(bank, Y, folds, model.fit_intercept)
        error: Criterion = held_out
        if model.criterion == "evidence":
            error = Evidence.of(bank, Y, model.fit_intercept)
        weights = least_error(error, held_out, model.tol, model.max_iter, model.n_init, seed, observe)
        if _has_own_ridges(model, Y):
            weights, solution = with_own_ridges(bank, Y, folds, weights, model.fit_intercept, model.tol, model.max_iter)
            own = RidgeMachine(1.0, model.fit_intercept)
            return weights.in_units(size, unit), MachineUnits(own, size, unit, coef=unit / size).solution(solution)
        machine = RidgeMachine(weights.alpha, model.fit_intercept)
        if isinstance(held_out, ErrorInFeatures):
            gram = held_out.gram(weights.values)
        else:
            gram = bank.combine(weights.values)
        solution = machine.solve(gram, target)
    return weights.in_units(size, unit), MachineUnits(machine, size, unit, coef=unit / size).solution(solution)


def _learn_each(
    model: Any, bank: KernelBank, task: Task, observe: Observer, seed: int, fixed: FixedColumns | None
) -> Learned:
    """Weights for each of several targets."""
    folds = _folds(model, task)
    search = TargetSearch(
        model.fit_intercept,
        model.tol,
        model.max_iter,
        model.n_init,
        seed,
        model.standard_errors,
        model.criterion == "evidence",
    )
    known = _held_out_is_known(model, fixed, folds)
    weights, solution = ridge_cv_each(bank, task.target, folds, search, model.n_jobs, observe, fixed)
    if not known:
        weights = replace(weights, errors=np.full(len(weights.errors), np.nan))
    return weights, solution


def _held_out_is_known(model: Any, fixed: FixedColumns | None, folds: Folds) -> bool:
    """Whether the samples outside each fold determine the coefficients of fixed columns, which folds need."""
    if fixed is None or determined(fixed.basis, folds):
        return True
    if model.criterion == "held_out":
        raise ValueError(
            f"{type(model).__name__}: without the samples of one fold the coefficients of the fixed columns are not "
            "determined, as where one fold holds all samples of a level: give a cv that shuffles or stratifies, "
            "fewer fixed columns, or criterion='evidence', which needs no folds"
        )
    return False


def _learn_beside(
    model: Any, bank: KernelBank, task: Task, observe: Observer, seed: int, fixed: FixedColumns
) -> Learned:
    """The same beside columns without penalty: weights for what these leave of the target, then their coefficients."""
    folds = _folds(model, task)
    held_out_is_known = _held_out_is_known(model, fixed, folds)
    rest = fixed.rest(as_columns(task.target))
    size, unit = kernel_size(bank), spread(rest)
    # a kernel whose functions the columns explain has no part
    bank, Z = bank.scaled(np.where(fixed.traces(bank) > 0.0, 1.0 / size, 0.0)), rest / unit
    with one_blas_thread(len(Z)):
        held_out = held_out_error(bank, Z, folds, basis=fixed.basis)
        error: Criterion = held_out
        if model.criterion == "evidence":
            error = Evidence.of(bank, Z, basis=fixed.basis)
        weights = least_error(error, held_out, model.tol, model.max_iter, model.n_init, seed, observe)
        gram = bank.combine(weights.values)
        effects, values = fixed.effects(gram, weights.alpha, as_columns(task.target) / unit, Z)
        machine = RidgeMachine(weights.alpha, False)
        left = (as_columns(task.target) / unit - values).reshape(task.target.shape)
        solution = machine.solve(gram, left)
    weights = replace(weights.in_units(size, unit), effects=effects.in_units(unit))
    if not held_out_is_known:
        weights = replace(weights, errors=np.full(len(weights.errors), np.nan))
    solution = MachineUnits(machine, size, unit, coef=unit / size).solution(solution)
    if model.fit_intercept:
        assert weights.effects is not None
        constant = weights.effects.coef[0]
        solution = replace(solution, intercept=float(constant[0]) if task.target.ndim == 1 else constant)
    return weights, solution
