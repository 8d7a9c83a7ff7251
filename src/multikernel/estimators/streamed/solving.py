"""From sums over samples to a fitted model: squared losses ask for nothing else.

The problem is solved on few samples that have the sums of all (``statistics/coordinates.py``), targets less their
means.
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
    held, total, bank = _about_mean(state)
    unweighted = with_parameters(model, **_values(model, state, total.count))
    if model.fit_intercept:
        means = total.means
    else:
        means = -state.origin  # which makes the sums those of the targets themselves
        held = tuple(each.about(means) for each in held)
    G, Z = coordinates(total.about(means))
    inner = bank.on_features(G)
    whole = np.arange(len(means))
    together = _together(model) and not (state.classes is not None and len(whole) == 1)
    problems = [whole] if together else [whole[p : p + 1] for p in whole]
    alone = not together or (state.flat and state.classes is None)
    reporter, fitted = Reporter.of(model, len(problems)), []
    few = state.bank.on_features(state.sample.F)
    for number, which in enumerate(problems):
        task = Task(np.arange(len(Z)), Z[:, which[0]] if alone else Z)
        start = earlier[number] if len(earlier) == len(problems) else None
        own = tuple(each.of_targets(which) for each in held)
        sample = (few, *_start(state, which, model.fit_intercept))
        weights, solution = streaming_of(model).learn(
            unweighted, inner, task, own, model.fit_intercept, sample, start, reporter.observer(number)
        )
        intercept = means[which] + state.origin[which]
        if alone:
            intercept = float(intercept[0])
        solution = replace(solution, intercept=intercept)
        fitted.append(Fitted(task.rows, weights, solution, model._method.search.numbers(unweighted)))
    single = len(fitted) == 1 and (is_classifier(model) or state.flat or together)
    model.publish(inner, fitted, single)
    if model.kernels is not None:
        advise_on_sizes_of(model, few)
    return fitted


def _together(model: Model) -> bool:
    """Whether several targets, or classes, share the weights."""
    if is_classifier(model):
        return getattr(model, "multiclass", "ovr") == "shared"
    return getattr(model, "shared_weights", True)


def _about_mean(state: StreamState) -> tuple[tuple[Moments, ...], Moments, LowRankBank]:
    """The sums of each fold and of all, and the bank, with features of centred kernels about their mean."""
    total, bank = state.total, state.bank
    own = np.repeat(bank.follows, bank.bank.sizes)
    shift = np.where(own, total.sums / total.count, 0.0)
    if not shift.any():
        return state.sums, total, bank
    bank = replace(bank, mean=bank.mean + shift)
    if len(state.sums) == 1:
        moved = total.moved(shift)
        return (moved,), moved, bank
    return tuple(each.moved(shift) for each in state.sums), total.moved(shift), bank


def _start(state: StreamState, which: Array, fit_intercept: bool) -> tuple[Task, Array]:
    """The task of some of the first rows, and their folds, where a search may begin."""
    sample = state.sample
    Y = sample.Y - state.origin if fit_intercept else sample.Y
    Y = Y[:, which[0]] if len(which) == 1 else Y[:, which]
    return Task(np.arange(len(Y)), Y, sample.weight), sample.fold


# -- parameters that are "auto" ----------------------------------------------------------------------------------------


def numbers(model: Model, bank: LowRankBank, sample: Sample) -> dict[str, float]:
    """Parameters that are "auto": the value of least held-out error on the sample, relative to its unit."""
    names = model._method.search.automatic(model)
    if not names:
        return {}
    own = bank.on_features(sample.F)
    held_out = model.resampling(None, sample.y)
    found = choose_parameters(
        with_parameters(model), model._method.learn, own, sample.y, sample.weight, resampling=held_out
    )
    return {name: getattr(found, name) / _unit(model, name, own, sample, None) for name in names}


def _values(model: Model, state: StreamState, count: float) -> dict[str, float]:
    """What these are for all samples, whose problem is then one without intercept."""
    sample, bank = state.sample, None
    values: dict[str, Any] = {"fit_intercept": False}
    for name, multiple in state.numbers.items():
        bank = bank or state.bank.on_features(sample.F)
        values[name] = multiple * _unit(model, name, bank, sample, count)
    check_parameters(with_parameters(model, **values))
    return values


def _unit(model: Model, name: str, bank: LowRankBank, sample: Sample, count: float | None) -> float:
    """The first candidate: for the sample, or for as many samples like those."""
    n = len(sample.Y)
    share = np.ones(n) if sample.weight is None else sample.weight
    weight = share if count is None else share * (count / share.sum())
    return float(model._method.search.candidates(model, name, Samples(bank, sample.Y, weight))[0])
