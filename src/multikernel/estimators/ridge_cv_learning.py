"""How ``MultipleKernelRidgeCV`` learns from samples: its tasks, folds, costs, weights and fitted attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, cast

import numpy as np

from multikernel._linalg import as_columns
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.threads import one_blas_thread
from multikernel.estimators.fixed import learned_columns
from multikernel.estimators.parameters import drawn_seed
from multikernel.estimators.protocol import Fitted, Learned, Learner, Task
from multikernel.estimators.target_columns import TargetColumns
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.observer import Observer
from multikernel.procedures.forecast import Cost, many_targets, own_ridges, ridge
from multikernel.procedures.forecast import ridge_cv as ridge_cv_cost
from multikernel.procedures.ridge_cv import (
    Criterion,
    ErrorInFeatures,
    Evidence,
    Folds,
    RidgeCVWeights,
    TargetSearch,
    held_out_error,
    least_error,
    ridge_cv_each,
    with_own_ridges,
)
from multikernel.procedures.ridge_cv.fixed import FixedColumns, determined, varied
from multikernel.procedures.units import MachineUnits, kernel_size, spread


def tasks(model: Any, target: Array, sample_weight: Array | None) -> list[Task]:
    """One problem, or one for each target."""
    together = target.ndim == 1 or model.shared_weights or _shares_candidates(model, target)
    return [Task(np.arange(len(target)), column) for column in ([target] if together else target.T)]


def _shares_candidates(model: Any, target: Any) -> bool:
    """Whether several targets with separate weights are one problem, solved at candidates that all of them share."""
    return target.ndim == 2 and target.shape[1] > 1 and has_separate_weights(model)


def has_separate_weights(model: Any) -> bool:
    """Whether each of several targets has separate weights, which are found together."""
    return not model.shared_weights


def _has_separate_ridges(model: Any, target: Any) -> bool:
    """Whether targets that share weights have separate ridges."""
    several = target.ndim == 2 and target.shape[1] > 1
    return several and model.criterion == "held_out" and model.fixed is None


def _folds(model: Any, task: Task) -> Folds:
    """The user's folds; where ``cv`` is a number, folds of consecutive samples, or of whole groups."""
    n, resampling = len(task.target), task.resampling
    if not resampling.decided:
        return Folds.of(model.cv, n, task.target)
    count = int(model.cv) if isinstance(model.cv, Integral) else n
    return Folds.held_out(resampling, np.zeros(n, dtype=int), count, np.random.default_rng(0))


# -- learning ----------------------------------------------------------------------------------------------------------


def prepare(model: Any, bank: KernelBank, target: Array, X: Any, fit_arguments: dict[str, Any]) -> Learner:
    """The learner of a fit, with one seed for all targets and the fixed columns."""
    n = bank.shape[0]
    if isinstance(model.cv, Integral) and int(model.cv) > n:
        raise ValueError(
            f"{type(model).__name__}: cv must be at most {n}, the number of samples, got {abbreviated(model.cv)}"
        )
    return partial(learn, seed=drawn_seed(model.random_state), fixed=learned_columns(model, X, n))


def cost_of(model: Any, bank: BankCost, task: Task) -> Cost:
    """The cost of one task."""
    folds = int(model.cv) if isinstance(model.cv, Integral) else bank.n
    if _shares_candidates(model, task.target):
        t = task.target.shape[1]
        held_out = model.criterion == "held_out"
        cost = model.n_init * many_targets(bank, folds, t, by_folds=held_out and model.fixed is None)
        if model.standard_errors > 0.0 and bank.m > 1 and held_out:
            cost = cost + Cost(own_ridges(bank, folds, t).work)  # its memory is already counted: blocks of targets
        return cost
    cost = model.n_init * ridge_cv_cost(bank, folds) + ridge(bank)
    if _has_separate_ridges(model, task.target):
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
    """The weights, and the ridge machine's solution on all samples.

    There is one set of weights for a target (n,) and for several targets that share it, or one set for each target.
    Targets that share weights of least held-out error have separate ridges.
    """
    if _shares_candidates(model, task.target):
        return _learn_each(model, bank, task, observe, seed, fixed)
    if fixed is not None:
        return _learn_beside(model, bank, task, observe, seed, fixed)
    size, units = kernel_size(bank), _units(as_columns(task.target))
    bank, Y = bank.scaled(np.full(len(bank), 1.0 / size)), as_columns(task.target) / units
    with one_blas_thread(len(Y)):
        folds = _folds(model, task)
        unit = _unit_of_all(model, Y - Y.mean(axis=0) if model.fit_intercept else Y, Y, units)
        held_out = held_out_error(bank, Y * _shares(model, units), folds, model.fit_intercept)
        error: Criterion = held_out
        if model.criterion == "evidence":
            error = Evidence.of(bank, Y, model.fit_intercept)
        weights = least_error(error, held_out, model.tol, model.max_iter, model.n_init, seed, observe)
        if _has_separate_ridges(model, task.target):
            weights, solution = with_own_ridges(bank, Y, folds, weights, model.fit_intercept, model.tol, model.max_iter)
        else:
            if isinstance(held_out, ErrorInFeatures):
                gram = held_out.gram(weights.values)
            else:
                gram = bank.combine(weights.values)
            solution = RidgeMachine(weights.alpha, model.fit_intercept).solve(gram, Y.reshape(task.target.shape))
    return weights.in_units(size, unit, units), _in_units(solution, size, units)


# -- units of several targets that share weights -----------------------------------------------------------------------


def _units(Y: Array) -> Array:
    """The numbers by which targets are divided: shape (t,)."""
    return np.array([spread(y) for y in Y.T])


def _shares(model: Any, units: Array) -> Array:
    """The factors of targets in their own units, by which the sum of errors is proportional to that in user's units."""
    if model.criterion == "evidence":
        return np.ones(len(units))
    return units / units.max()


def _unit_of_all(model: Any, Z: Array, Y: Array, units: Array) -> float:
    """The unit of the objective: for a sum of errors the largest unit; for the evidence the geometric mean.

    The evidence is a product over the targets, and only those that vary count.
    """
    if model.criterion == "held_out":
        return float(units.max())
    varying_units = units[varied(Z, Y)]
    if len(varying_units):
        return float(np.exp(np.log(varying_units).mean()))
    return 1.0


def _in_units(solution: DualSolution, kernel: float, units: Array) -> DualSolution:
    """The solution in the user's units, from one for kernels divided by ``kernel`` and targets divided by ``units``."""
    target_units: Any = units if solution.coef.ndim > 1 else float(units[0])
    if solution.coef.ndim == 1:
        return MachineUnits(RidgeMachine(1.0), kernel, target_units, coef=target_units / kernel).solution(solution)
    with np.errstate(over="ignore"):
        coef = solution.coef * (target_units / kernel)
        beyond = None if solution.beyond is None else solution.beyond * target_units
        intercept = solution.intercept * target_units
    return replace(
        solution, coef=coef, intercept=intercept, value=0.0, upper=0.0, factor=coef, warm=coef, beyond=beyond
    )


# -- each target, and fixed columns ------------------------------------------------------------------------------------


def _learn_each(
    model: Any, bank: KernelBank, task: Task, observe: Observer, seed: int, fixed: FixedColumns | None
) -> Learned:
    """Learn separate weights for each of several targets."""
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
    held_out_is_known = _held_out_is_known(model, fixed, folds)
    if isinstance(task.target, TargetColumns):
        target = task.target.in_memory()
    else:
        target = task.target
    weights, solution = ridge_cv_each(bank, target, folds, search, model.n_jobs, observe, fixed)
    if not held_out_is_known:
        weights = replace(weights, errors=np.full(len(weights.errors), np.nan))
    return weights, solution


def _held_out_is_known(model: Any, fixed: FixedColumns | None, folds: Folds) -> bool:
    """Whether the samples outside each fold determine the coefficients of the fixed columns.

    Held-out errors need these coefficients; without them there is a ValueError where weights are chosen by held-out
    errors.
    """
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
    """Learn with fixed columns: weights for the targets' residuals on these columns, then their coefficients."""
    folds = _folds(model, task)
    held_out_is_known = _held_out_is_known(model, fixed, folds)
    residuals = fixed.rest(as_columns(task.target))
    size, units = kernel_size(bank), _units(residuals)
    unit = _unit_of_all(model, residuals, residuals, units)
    # a kernel whose functions are combinations of the columns gets no weight
    bank, Z = bank.scaled(np.where(fixed.traces(bank) > 0.0, 1.0 / size, 0.0)), residuals / units
    with one_blas_thread(len(Z)):
        held_out = held_out_error(bank, Z, folds, basis=fixed.basis)
        error: Criterion = held_out
        if model.criterion == "evidence":
            error = Evidence.of(bank, Z, basis=fixed.basis)
        elif len(units) > 1:
            error = held_out_error(bank, Z * _shares(model, units), folds, basis=fixed.basis)
        weights = least_error(error, held_out, model.tol, model.max_iter, model.n_init, seed, observe)
        gram = bank.combine(weights.values)
        effects, values = fixed.effects(gram, weights.alpha, as_columns(task.target) / units, Z)
        without_effects = (as_columns(task.target) / units - values).reshape(task.target.shape)
        solution = RidgeMachine(weights.alpha, False).solve(gram, without_effects)
    weights = replace(weights.in_units(size, unit, units), effects=effects.in_units(units))
    if not held_out_is_known:
        weights = replace(weights, errors=np.full(len(weights.errors), np.nan))
    solution = _in_units(solution, size, units)
    if model.fit_intercept:
        assert weights.effects is not None
        constant = weights.effects.coef[0]
        solution = replace(solution, intercept=float(constant[0]) if task.target.ndim == 1 else constant)
    return weights, solution


# -- after fitting -----------------------------------------------------------------------------------------------------


def ridge_of(model: Any, fitted: Fitted) -> Any:
    """The ridge, which is added to the diagonal of the kernel: a number, or one for each target."""
    return cast(RidgeCVWeights, fitted.weights).alpha


def publish(model: Any, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    """Set the fitted attributes that only this estimator has."""
    weights_of_tasks = [cast(RidgeCVWeights, f.weights) for f in fitted]
    errors = np.concatenate([weights.errors for weights in weights_of_tasks])
    if single:
        model.alpha_ = weights_of_tasks[0].alpha
    else:
        model.alpha_ = np.concatenate([np.atleast_1d(weights.alpha) for weights in weights_of_tasks])
    if len(errors) == 1 and model.dual_coef_.ndim == 1:
        model.cv_loss_ = float(errors[0])
    else:
        model.cv_loss_ = errors
    vars(model).pop("target_stationarity_", None)  # of an earlier fit
    if not single or weights_of_tasks[0].stationarities is not None:
        model.target_stationarity_ = np.concatenate([_stationarities(weights) for weights in weights_of_tasks])
    _publish_effects(model, weights_of_tasks)


def _stationarities(weights: RidgeCVWeights) -> Array:
    if weights.stationarities is not None:
        return weights.stationarities
    assert weights.certificate is not None
    return np.array([weights.certificate.value])


def _publish_effects(model: Any, weights_of_tasks: Sequence[RidgeCVWeights]) -> None:
    """Set the attributes of the fixed columns; the coefficients of the intercept are separate attributes."""
    for name in ("fixed_names_", "fixed_coef_", "fixed_std_errors_", "intercept_std_error_"):
        vars(model).pop(name, None)  # of an earlier fit
    effects = [weights.effects for weights in weights_of_tasks if weights.effects is not None]
    if not effects:
        model._fixed_samples = model._fixed_columns = None
        return
    coef = np.hstack([fixed_effects.coef for fixed_effects in effects]).T
    errors = np.hstack([fixed_effects.errors for fixed_effects in effects]).T
    first = int(model.fit_intercept)
    if model.dual_coef_.ndim == 1:
        coef = coef[0]
        errors = errors[0]
    model.fixed_names_ = np.array(model._fixed_samples.names, dtype=object)
    model.fixed_coef_ = coef[..., first:]
    model.fixed_std_errors_ = errors[..., first:]
    if first:
        if errors.ndim > 1:
            model.intercept_std_error_ = errors[..., 0]
        else:
            model.intercept_std_error_ = float(errors[0])
