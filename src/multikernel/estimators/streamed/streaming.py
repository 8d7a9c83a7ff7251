"""How an estimator is learned from sums over rows, and which parameters are refused there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.banks.low_rank import LowRankBank
from multikernel.estimators.protocol import Fitted, Learned, Model, Task
from multikernel.observer import Observer
from multikernel.statistics import Moments

SampleTask = tuple[LowRankBank, Task, Array]  # the bank, the task and the folds of some of the first rows


def learned_like_samples(
    model: Model,
    bank: LowRankBank,
    task: Task,
    sums_of_folds: tuple[Moments, ...],
    fit_intercept: bool,
    sample: SampleTask,
    earlier: Fitted | None,
    observe: Observer,
) -> Learned:
    """Learn on the bank of few samples that have the sums of all samples, as on any other bank.

    Only the weights of an earlier solution are used: its variables belong to other coordinates.
    """
    if earlier is not None:
        earlier = replace(earlier, same_samples=False)
    return model._method.learn(model, bank, task, earlier, observe)


def one_sum(model: Model) -> int:
    """Keep one sum over all rows."""
    return 1


def no_factors(model: Model, q: int) -> float:
    """Return 0: steps keep no factors."""
    return 0.0


def nothing_refused(model: Model) -> None:
    """Accept all parameters: their problem follows from sums."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Streaming:
    """How an estimator is learned from sums over rows.

    Parameters
    ----------
    learn : (model, bank, task, sums_of_folds, fit_intercept, sample, earlier, observe) -> (Weights, DualSolution)
        Solves one problem. ``bank`` is a LowRankBank of few samples that have the sums of all samples. ``task`` has
        their targets, less the means where ``fit_intercept``; the problem itself has no intercept any more.
        ``sums_of_folds`` has the sums of each fold over all samples, ``sample`` the bank, the task and the folds of
        some of the first rows. ``earlier`` is the solution for similar sums.
    folds : (model) -> the number of folds, each of which has separate sums
    kept_factors : (model, q) -> the most bytes of factors of order q that steps store
    check : (model) -> None
        ValueError for parameters whose problem does not follow from sums.
    """

    learn: Callable[..., Learned] = learned_like_samples
    folds: Callable[[Any], int] = one_sum
    kept_factors: Callable[[Any, int], float] = no_factors
    check: Callable[[Any], None] = nothing_refused


_REFUSED = {
    "probability": "probabilities are calibrated on held-out rows, which are not kept: leave probability out",
    "class_weight": "weights of classes that are 'balanced' need all rows: give a dict of weights",
    "multiclass": "pairs of classes need separate sums: use multiclass='ovr' or 'shared'",
}


def streaming_of(model: Model) -> Streaming:
    """The ``Streaming`` of a model that learns from sums."""
    streaming = model._method.streaming
    assert streaming is not None
    return streaming


def check_sums(model: Model) -> None:
    """ValueError where a model's problem does not follow from sums."""
    name = type(model).__name__
    if model.approximation is None:
        raise ValueError(
            f"{name} learns chunk by chunk on approximate kernels: give approximation='nystroem', and a rank"
        )
    cv = getattr(model, "cv", None)
    if cv is not None and not isinstance(cv, Integral):
        raise ValueError(
            f"{name} learns from sums over the rows, which are held out by what they hold: give cv as a number of "
            f"folds, got {abbreviated(cv)}"
        )
    for parameter, why in _REFUSED.items():
        value = getattr(model, parameter, None)
        allowed = value in (None, "ovr", "shared") or (parameter == "class_weight" and isinstance(value, dict))
        if not allowed:
            raise ValueError(f"{name} learns from sums over the rows, and {why}")
    if model._method.streaming is not None:
        model._method.streaming.check(model)
