"""A fitted model from sums over samples, which determine problems with squared losses.

The problem is solved on few artificial samples that have the same sums (``statistics/coordinates.py``), with targets
less their means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from multikernel._parameters import check_parameters
from multikernel._typing import Array
from multikernel.banks.low_rank import LowRankBank
from multikernel.estimators.advice import advise_on_sizes_of
from multikernel.estimators.progress import Reporter
from multikernel.estimators.protocol import Fitted, Model, Task
from multikernel.estimators.search import Samples, choose_parameters, with_parameters
from multikernel.estimators.streamed.state import Sample, StreamState
from multikernel.estimators.streamed.streaming import streaming_of
from multikernel.statistics import Moments, coordinates


def solve(model: Model, state: StreamState, earlier: Sequence[Fitted]) -> list[Fitted]:
    """Fit a model to its sums and publish what it learned.

    Parameters
    ----------
    model : estimator whose ``Method`` has a ``Streaming``
    state : StreamState with the sums over all samples
    earlier : what a fit to similar sums returned; may be empty
    """
    sums_of_folds, total, bank = _about_mean(state)
    unweighted = with_parameters(model, **_values(model, state, total.count))
    if model.fit_intercept:
        means = total.means
    else:
        means = -state.origin  # so that the sums are those of the unshifted targets
        sums_of_folds = tuple(fold.about(means) for fold in sums_of_folds)
    G, Z = coordinates(total.about(means))
    inner = bank.on_features(G)
    all_targets = np.arange(len(means))
    shared = _weights_are_shared(model) and not (state.classes is not None and len(all_targets) == 1)
    problems = [all_targets] if shared else [all_targets[p : p + 1] for p in all_targets]
    single_target = not shared or (state.flat and state.classes is None)
    reporter, fitted = Reporter.of(model, len(problems)), []
    sample_bank = state.bank.on_features(state.sample.F)
    for number, targets in enumerate(problems):
        task = Task(np.arange(len(Z)), Z[:, targets[0]] if single_target else Z)
        start = earlier[number] if len(earlier) == len(problems) else None
        sums_of_targets = tuple(fold.of_targets(targets) for fold in sums_of_folds)
        sample = (sample_bank, *_start(state, targets, model.fit_intercept))
        weights, solution = streaming_of(model).learn(
            unweighted, inner, task, sums_of_targets, model.fit_intercept, sample, start, reporter.observer(number)
        )
        intercept = means[targets] + state.origin[targets]
        if single_target:
            intercept = float(intercept[0])
        solution = replace(solution, intercept=intercept)
        fitted.append(Fitted(task.rows, weights, solution, model._method.search.numbers(unweighted)))
    single = len(fitted) == 1 and (is_classifier(model) or state.flat or shared)
    model.publish(inner, fitted, single)
    if model.kernels is not None:
        advise_on_sizes_of(model, sample_bank)
    return fitted


def _weights_are_shared(model: Model) -> bool:
    """Whether several targets, or classes, share the weights."""
    if is_classifier(model):
        return getattr(model, "multiclass", "ovr") == "shared"
    return getattr(model, "shared_weights", True)


def _about_mean(state: StreamState) -> tuple[tuple[Moments, ...], Moments, LowRankBank]:
    """The sums of each fold, their total, and the bank, after the features of centred kernels are centred."""
    total, bank = state.total, state.bank
    is_centred = np.repeat(bank.follows, bank.bank.sizes)
    shift = np.where(is_centred, total.sums / total.count, 0.0)
    if not shift.any():
        return state.sums, total, bank
    bank = replace(bank, mean=bank.mean + shift)
    if len(state.sums) == 1:
        moved = total.moved(shift)
        return (moved,), moved, bank
    return tuple(fold.moved(shift) for fold in state.sums), total.moved(shift), bank


def _start(state: StreamState, targets: Array, fit_intercept: bool) -> tuple[Task, Array]:
    """The task of these targets on the sample of the first rows, and the folds of the rows."""
    sample = state.sample
    Y = sample.Y - state.origin if fit_intercept else sample.Y
    Y = Y[:, targets[0]] if len(targets) == 1 else Y[:, targets]
    return Task(np.arange(len(Y)), Y, sample.weight), sample.fold


# -- parameters that are "auto" ----------------------------------------------------------------------------------------


def numbers(model: Model, bank: LowRankBank, sample: Sample) -> dict[str, float]:
    """Values of parameters that are "auto", of least held-out error on the sample, in units of the sample."""
    names = model._method.search.automatic(model)
    if not names:
        return {}
    sample_bank = bank.on_features(sample.F)
    held_out = model.resampling(None, sample.y)
    chosen = choose_parameters(
        with_parameters(model), model._method.learn, sample_bank, sample.y, sample.weight, resampling=held_out
    )
    return {name: getattr(chosen, name) / _unit(model, name, sample_bank, sample, None) for name in names}


def _values(model: Model, state: StreamState, count: float) -> dict[str, float]:
    """The parameters of the problem of all samples, in their unit; it has no intercept, since targets are centred."""
    sample, bank = state.sample, None
    values: dict[str, Any] = {"fit_intercept": False}
    for name, multiple in state.numbers.items():
        bank = bank or state.bank.on_features(sample.F)
        values[name] = multiple * _unit(model, name, bank, sample, count)
    check_parameters(with_parameters(model, **values))
    return values


def _unit(model: Model, name: str, bank: LowRankBank, sample: Sample, count: float | None) -> float:
    """The unit of candidates, which is the first one: for the sample, or for ``count`` samples like these."""
    n = len(sample.Y)
    share = np.ones(n) if sample.weight is None else sample.weight
    weight = share if count is None else share * (count / share.sum())
    return float(model._method.search.candidates(model, name, Samples(bank, sample.Y, weight))[0])
