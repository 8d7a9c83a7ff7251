"""The description of how one estimator learns, in which it differs from the others; ``fit.py`` reads it.

An estimator's class holds its parameters, its docstring and a ``Method``. Every function of a method takes the
estimator as first argument and reads its parameters. Fitted attributes are set by ``publish``, except the names of the
kernels, which the binding sets.

    method.binding      how samples become a bank                        binding.py
    method.tasks        how a target becomes problems                    targets.py
    method.search       which parameters may be "auto"                   search.py
    method.learn        how one problem is solved                        the family's own file
    method.schedule     which problems are solved together               schedule.py
    method.cost         time and memory of solving, known beforehand     forecast.py
    method.publish      fitted attributes that only this family has      the family's own file
    method.streaming    how it is learned from sums over rows            streamed/
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.combinations import Combination, Linear
from multikernel.estimators.binding import Binding
from multikernel.estimators.posterior import Posterior, posterior_of
from multikernel.estimators.protocol import Fitted, Learned, Learner, Model, Task
from multikernel.estimators.schedule import EACH_ALONE, Schedule, one_matrix
from multikernel.estimators.search import NO_SEARCH, Search
from multikernel.estimators.streamed.streaming import Streaming
from multikernel.estimators.targets import one_task
from multikernel.observer import Observer
from multikernel.procedures.forecast import Cost


def weighted_sum(model: Model) -> Combination:
    """Combine the kernels by their weighted sum."""
    return Linear()


def learned_weights(model: Model, fitted: Fitted) -> Array:
    """Return the learned weights, which are those of the predictor."""
    return fitted.weights.values


def predictor_gram(model: Model, bank: KernelBank) -> Array:
    """Return the learned kernel of a bank, which the predictor computes."""
    return cast(Array, model.predictor_.gram(bank))


def no_further_attributes(model: Model, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    """Set no further fitted attributes."""


def no_further_check(model: Model) -> None:
    """Check nothing beyond the annotations of the parameters."""


def all_kernels(model: Model, bank: KernelBank) -> KernelBank | None:
    """Return the bank: all its kernels should be of similar size."""
    return bank


def scale_free(model: Model, bank: KernelBank) -> KernelBank | None:
    """Return None: multiplying a kernel by a number changes nothing, so sizes need not be compared."""
    return None


@dataclass(frozen=True, kw_only=True, eq=False)
class Method:
    """How an estimator learns: everything in which it differs from the others, except its parameters.

    Parameters
    ----------
    learn : (model, bank, task, earlier, observe) -> (Weights, DualSolution)
        Solves one task on the bank of its samples; ``earlier`` is a Fitted, the solution of a similar task, or None.
    binding : Binding, how samples become a bank
    tasks : (model, target, sample_weight) -> list of Task
        The problems to solve for a checked target.
    single : (model, tasks, target) -> bool
        Whether fitted attributes are those of one problem, not a row for each of several.
    prepare : (model, bank, target, samples, fit_arguments) -> Learner
        Makes the learner of one fit where its tasks share something, such as a seed or further arguments of ``fit``.
    search : Search, the parameters that may be "auto"
    schedule : Schedule, which tasks are solved together
    cost : (model, bank, task) -> Cost
        The cost of solving one task, without that of its bank.
    combination : (model) -> Combination, how weights make a kernel
    kernel_weights : (model, fitted) -> array (m,)
        The weights in the predictor, where they differ from the learned ones.
    gram : (model, bank) -> array, the learned kernel of a bank
    publish : (model, bank, fitted, single) -> None
        Sets the fitted attributes that only this family has, after those that all have.
    before_publishing : (model, bank, fitted) -> list of Fitted
        The solutions with weights over the same kernels, where each problem selected different kernels.
    check : (model) -> None
        ValueError for parameters that do not fit each other.
    ridge : (model, fitted) -> float
        What is added to the diagonal of the kernel, in models with squared losses; None in others.
    posterior : (model, bank, fitted) -> Posterior or None
        For such a model, what its standard deviations and degrees of freedom are computed from.
    streaming : how the model learns from sums over rows; None where it cannot
    from_source : (model, source) -> None
        Fits the model to the rows of a source, in place of ``streaming``.
    sizes : (model, bank) -> KernelBank or None
        The kernels whose sizes should be alike; None where their sizes do not matter.
    log_odds : (model) -> bool
        Whether decision values are the logarithms of odds, so that probabilities need no calibration.
    squared_losses : whether a classifier's problems are regressions on labels -1 and +1
    several_targets : whether a regressor takes y of shape (n, t)
    reads_columns : (model) -> bool, whether learning reads several targets some columns at a time, as from a file
    holds_samples_out : whether learning itself holds samples out, in as many folds as the parameter ``cv`` says
    reads_kernels_few_times : whether a fit reads every kernel a few times only, so that copying a part costs more
    """

    learn: Callable[[Any, KernelBank, Task, Fitted | None, Observer], Learned]
    binding: Binding
    tasks: Callable[[Any, Array, Array | None], list[Task]] = one_task
    single: Callable[[Any, Sequence[Task], Array], bool] = lambda model, tasks, target: len(tasks) == 1
    prepare: Callable[..., Learner] | None = None
    search: Search = NO_SEARCH
    schedule: Schedule = EACH_ALONE
    cost: Callable[[Any, BankCost, Task], Cost] = one_matrix
    combination: Callable[[Any], Combination] = weighted_sum
    kernel_weights: Callable[[Any, Fitted], Array] = learned_weights
    gram: Callable[[Any, KernelBank], Array] = predictor_gram
    publish: Callable[[Any, KernelBank, Sequence[Fitted], bool], None] = no_further_attributes
    before_publishing: Callable[[Any, KernelBank, Sequence[Fitted]], Sequence[Fitted]] | None = None
    check: Callable[[Any], None] = no_further_check
    ridge: Callable[[Any, Fitted], float] | None = None
    posterior: Callable[[Any, KernelBank, Sequence[Fitted]], Posterior | None] = posterior_of
    streaming: Streaming | None = None
    from_source: Callable[[Any, Any], None] | None = None
    sizes: Callable[[Any, KernelBank], KernelBank | None] = all_kernels
    log_odds: Callable[[Any], bool] = lambda model: False
    squared_losses: bool = False
    several_targets: bool = False
    reads_columns: Callable[[Any], bool] = lambda model: False
    holds_samples_out: bool = False
    reads_kernels_few_times: bool = False
