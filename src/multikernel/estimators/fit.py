"""The fit of every estimator of this package, from top to bottom.

    fit_model       parameters are checked, X becomes a bank, y a target
    fit_on_bank     the target becomes problems, parameters that are "auto" get values, the problems are solved,
                    and the solutions are published; paths and searches begin here
    solve_tasks     every problem is solved, from its starting point, within its share of the time

Where matrices are stored in single precision, all problems are solved with these first, and then again from the
solutions found, with every entry evaluated in double precision: the certificate has to hold for the kernels themselves,
not for their rounded matrices. In most cases the second pass only certifies the first solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from multikernel._folds import UNDECIDED, Resampling, numbered
from multikernel._typing import Array
from multikernel._warnings import each_warning_once
from multikernel._workers import CHOICE_TIME, limited, seconds_left, time_is_up
from multikernel.banks import KernelBank
from multikernel.banks.checks import check_values
from multikernel.estimators.advice import advise_on_constant, advise_on_sizes_of
from multikernel.estimators.binding import Training, is_given, require_target
from multikernel.estimators.calibration import Sigmoid, calibrate
from multikernel.estimators.forecast import check_fits, forecast_of, forecast_on_bank
from multikernel.estimators.progress import Reporter
from multikernel.estimators.protocol import Fitted, Learned, Learner, Model, Task
from multikernel.estimators.publish import publish
from multikernel.estimators.search import choose_parameters
from multikernel.estimators.streamed.source import fit_source
from multikernel.estimators.streamed.state import forget_sums
from multikernel.estimators.unchanged import unchanged_on_error
from multikernel.observer import listener
from multikernel.persistence.checkpoint import UNKEPT, Checkpoint
from multikernel.sources.rows import aligned
from multikernel.streams import Source
from multikernel.streams.dask import as_source

Estimator = TypeVar("Estimator")


def fit_model(
    model: Estimator, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_arguments: Any
) -> Estimator:
    """Fit an estimator, and return it.

    Parameters
    ----------
    model : the estimator, which stays unchanged where the fit fails or is interrupted
    X, y, sample_weight, groups : as its ``fit`` takes them
    fit_arguments : further arguments of its ``fit``, for ``Method.prepare``
    """
    estimator = cast(Model, model)
    method = estimator._method
    with unchanged_on_error(estimator):
        estimator.check_parameters()
        y, sample_weight, groups = aligned(X, y=y, sample_weight=sample_weight, groups=groups)
        X, y = as_source(X, y, sample_weight)
        with limited(estimator.time_budget):
            if isinstance(X, Source):
                fit_source(estimator, X, y, groups, fit_arguments)
                return model
            require_target(estimator, y)
            forget_sums(estimator)
            checkpoint = Checkpoint.of(
                getattr(estimator, "checkpoint", None),
                f"fit of {type(estimator).__name__}",
                *(estimator, X, y, sample_weight, *fit_arguments.values(), groups),
            )
            training = _bound(estimator, X, y, sample_weight)
            held_out = resampling(estimator, groups, training.target)
            learn = None
            if method.prepare is not None:
                learn = method.prepare(estimator, training.bank, training.target, X, fit_arguments)
            fit_on_bank(
                estimator,
                training.bank,
                training.target,
                sample_weight=training.weight,
                learn=learn,
                checkpoint=checkpoint,
                held_out=held_out,
            )
            if method.ridge is None:  # only a posterior needs the training samples after the fit
                estimator._samples_bound = None
    return model


def fit_on_bank(
    model: Model,
    bank: KernelBank,
    target: Array,
    earlier: Sequence[Fitted] = (),
    sample_weight: Array | None = None,
    learn: Learner | None = None,
    exact: bool = True,
    checkpoint: Checkpoint = UNKEPT,
    held_out: Resampling | None = None,
) -> list[Fitted]:
    """Fit an estimator on a bank that is bound already; the parameters are those of ``KernelEstimator.fit_bank``."""
    method = model._method
    if sample_weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise ValueError(f"{type(model).__name__} takes no weights of samples: leave sample_weight out")
    if held_out is None:
        held_out = resampling(model, None, target)
    tasks = tasks_of(model, target, sample_weight, held_out)
    if is_classifier(model):
        model.classes_ = np.unique(target)
    check_fits(model, bank, tasks)
    starts = earlier if len(earlier) == len(tasks) else [None] * len(tasks)
    if learn is None:
        if method.prepare is None:
            learn = method.learn
        else:
            learn = method.prepare(model, bank, target, None, {})

    with limited(model.time_budget):
        with _naming_the_cause(model, bank), each_warning_once():
            with limited(CHOICE_TIME * seconds_left()):
                final = choose_parameters(model, learn, bank, target, sample_weight, checkpoint, held_out)
                if final is not model and time_is_up():
                    checkpoint = UNKEPT  # with more time other parameters may be chosen, which make other problems
            unrounded = bank.unrounded() if exact else bank
            # the second solve, on unrounded kernels, gets the other half of the time
            with limited(None if unrounded is bank else 0.5 * seconds_left()):
                fitted = solve_tasks(model, bank, tasks, starts, partial(learn, final), checkpoint)
            if unrounded is not bank:
                saved = checkpoint.under("exact")
                certified = solve_tasks(model, unrounded, tasks, fitted, partial(learn, final), saved)
                fitted = [second.after(first) for second, first in zip(certified, fitted, strict=True)]
        numbers = method.search.numbers(final)
        fitted = [replace(solution, numbers=numbers) for solution in fitted]
        publish(model, bank, fitted, method.single(model, tasks, target))
        vars(model).pop("calibrators_", None)  # of an earlier fit
        if getattr(model, "probability", None) is not None:
            calibrate(model, bank, target, fitted, sample_weight, learn, checkpoint, held_out)
        elif method.log_odds(model):
            model.calibrators_ = (Sigmoid(1.0, 0.0),) * np.size(model.intercept_)

    if model.converged_:  # at any parameters, a fit that ended early may be constant
        advise_on_constant(type(model).__name__, model.dual_coef_, target, numbers)
    advise_on_sizes_of(model, bank)
    return fitted


def solve_tasks(
    model: Model,
    bank: KernelBank,
    tasks: Sequence[Task],
    starts: Sequence[Fitted | None],
    learn: Callable[..., Learned],
    checkpoint: Checkpoint,
) -> list[Fitted]:
    """Solve all tasks; where they run one after another, every task gets an equal share of the time."""
    schedule = model._method.schedule
    count, total_seconds = len(tasks), seconds_left()
    simultaneous = schedule.all_at_once(model, count) or not np.isfinite(total_seconds)
    reporter = Reporter.of(model, count)
    names = [f"problem {number + 1}" for number in range(count)]
    checkpoint.expect(names)

    def job(number: int, shared_bank: KernelBank) -> Fitted:
        """Solve the task with this number, on the bank that all tasks share."""
        task, start = tasks[number], starts[number]
        if start is not None and not np.array_equal(start.rows, task.rows):
            start = None
        later = 0.0 if simultaneous else total_seconds * (count - number - 1) / count
        with limited(seconds_left() - later):
            task_bank, observe = task.bank(shared_bank), reporter.observer(number)
            if checkpoint.folder is None:
                learned = learn(task_bank, task, start, observe)
            else:
                learned = checkpoint.part(names[number], partial(learn, task_bank, task, start, observe))
            return Fitted(task.rows, *learned, sample_weight=task.sample_weight)

    if count == 1:
        return [job(0, bank)]
    return schedule.solve(model, bank, [partial(job, number) for number in range(count)])


def tasks_of(model: Model, target: Array, sample_weight: Array | None, held_out: Resampling) -> list[Task]:
    """The problems to solve; each has the folds that hold out its samples."""
    tasks = model._method.tasks(model, target, sample_weight)
    if not held_out.decided:
        return list(tasks)
    return [replace(task, resampling=held_out.among(task.rows)) for task in tasks]


def resampling(model: Model, groups: Any, target: Array) -> Resampling:
    """How samples are held out; the parameters are those of ``KernelEstimator.resampling``."""
    method, name = model._method, type(model).__name__
    cv = getattr(model, "cv", None)
    numbered(name, groups, len(target))
    if not (
        method.holds_samples_out or method.search.automatic(model) or getattr(model, "probability", None) is not None
    ):
        return UNDECIDED
    if method.holds_samples_out and isinstance(cv, Integral):
        cv = None
    return Resampling.of(name, cv, groups, target)


# -- steps of a fit ----------------------------------------------------------------------------------------------------


def _bound(model: Model, X: Any, y: Any, sample_weight: Any) -> Training:
    """The training bank and the target; with ``verbose`` a forecast is printed.

    The forecast is printed before kernels of samples are evaluated; where the user passed kernels, it is printed after
    they are checked.
    """
    prints_forecast = bool(getattr(model, "verbose", 0)) and listener() is None
    kernels_are_given = is_given(model, X)
    if prints_forecast and not kernels_are_given:
        print(forecast_of(model, X, y), flush=True)
    training: Training = model._bind(X, y, sample_weight)
    if prints_forecast and kernels_are_given:
        tasks = model._method.tasks(model, training.target, None)
        print(forecast_on_bank(model, training.bank, tasks), flush=True)
    return training


@contextmanager
def _naming_the_cause(model: Model, bank: KernelBank) -> Iterator[None]:
    """Make numerical errors name the kernel that caused them, if there is one, or say that numbers overflowed."""
    try:
        yield
    except (ValueError, ArithmeticError) as error:
        check_values(bank, getattr(model, "kernel_names_", ()))
        if isinstance(error, OverflowError) or "infs or NaNs" in str(error):  # the words of SciPy
            raise ValueError(
                f"{type(model).__name__}: numbers overflowed; scale the target and the kernels to values of about 1"
            ) from None
        raise
