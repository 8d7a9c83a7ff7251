"""The first samples settle the features of the kernels; further rows add to the sums, from which a model is learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.class_weight import compute_class_weight

from multikernel._arrays import host, part_of
from multikernel._rules import abbreviated
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.banks.low_rank import LowRankBank
from multikernel.estimators.protocol import Model
from multikernel.estimators.streamed import solving
from multikernel.estimators.streamed.parts import parts
from multikernel.estimators.streamed.rows import Pass
from multikernel.estimators.streamed.state import Sample, StreamState
from multikernel.estimators.streamed.streaming import streaming_of
from multikernel.persistence.digest import digest
from multikernel.streams import Chunk

_SAMPLE = 2000  # rows that settle the features, at least
_TIMES = 4  # or so many times the rank
_SETTLED = frozenset({"kernels", "approximation", "rank", "cv", "class_weight"})  # what features and sums depend on


def sample_size(model: Model) -> int:
    """How many rows settle the features."""
    return max(_SAMPLE, _TIMES * int(model.rank))


def warn_of_few(model: Model, first: int) -> None:
    """Warn where the samples that settle the features are fewer than the features are to be."""
    if first < int(model.rank):
        warn_user(
            f"{type(model).__name__}: the first {first} samples settle widths, scales and landmarks of the kernels, "
            f"and rank={model.rank} asks for more: give the first partial_fit {_TIMES * int(model.rank)} of them or "
            "more",
            PredictionWarning,
        )


def check_classes(model: Model, state: StreamState | None, classes: Any) -> None:
    """ValueError where labels are given to a regressor, or are not those of the first call."""
    if classes is None:
        return
    name = type(model).__name__
    if not is_classifier(model):
        raise ValueError(f"{name} predicts numbers, which are of no class: leave classes out")
    if np.ndim(classes) != 1:
        raise ValueError(f"{name}: classes must be a list of labels, got {abbreviated(classes)}")
    known = None if state is None else state.classes
    if known is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
        raise ValueError(
            f"{name}: classes={abbreviated(classes)} are not those of the first samples, {abbreviated(known)}: leave "
            "classes out, or start again with a clone of the model"
        )


def _settled(model: Model) -> dict[str, str]:
    """Digests of the parameters on which features and sums depend, by name."""
    parameters = model.get_params(deep=False)
    found = {}
    for name in _SETTLED.intersection(parameters):
        try:
            found[name] = digest(parameters[name])
        except TypeError:  # whether this one was changed is not known
            continue
    return found


def check_settled(model: Model, state: StreamState) -> None:
    """ValueError where a parameter was changed that the first samples settled."""
    now = _settled(model)
    changed = [name for name, own in state.settled.items() if now.get(name, own) != own]
    changed += set(model._method.search.automatic(model)).symmetric_difference(state.numbers)
    if changed:
        raise ValueError(
            f"{type(model).__name__}: {min(changed)} was changed after the first samples, which settled it: set it "
            "back, or start again with a clone of the model"
        )


def begin_state(model: Model, sample: Chunk, classes: Any) -> StreamState:
    """The features that a sample settles."""
    if is_classifier(model):
        classes = np.unique(np.asarray(sample.y if classes is None else classes))
        if len(classes) < 2:
            raise ValueError(f"{type(model).__name__} needs samples of at least two classes, got one: {classes[0]!r}")
        class_weight = getattr(model, "class_weight", None)
        compute_class_weight(class_weight, classes=classes, y=classes)  # refuses a label that is none of these
    else:
        classes = None
    method = model.approximation
    try:
        if method == "auto":
            model.approximation = "nystroem"
        bank, y = model.bind(sample.X, sample.y)
    finally:
        model.approximation = method
    if not isinstance(bank, LowRankBank) or model._samples_bound is None:
        raise ValueError(f"{type(model).__name__} learns chunk by chunk from samples, and not from kernel matrices")
    model._samples_bound = None
    flat = np.ndim(y) == 1
    reference = bank.reference(np.arange(0))
    own = Pass(model, reference, classes, 1 if flat else y.shape[1], streaming_of(model).folds(model))
    if classes is not None and len(classes) != 2:
        own = replace(own, targets=len(classes))
    Y = own.numbers(replace(sample, y=y))
    few = slice(_SAMPLE)
    weight = own.weight(sample)
    fold = parts(own.samples(sample), Y, own.folds)[few]
    rows = Sample(host(bank.bank.F)[few], Y[few], y[few], part_of(weight, few), fold)
    numbers = solving.numbers(model, reference, rows)
    shift = None
    if classes is None:
        shift = Y.mean(axis=0)
    return StreamState(reference, classes, flat, rows, numbers=numbers, settled=_settled(model), shift=shift)


def pass_of(model: Model, state: StreamState) -> Pass:
    """What turns further rows into sums."""
    folds = streaming_of(model).folds(model)
    return Pass(model, state.bank, state.classes, state.sample.Y.shape[1], folds, state.shift)


def learn_state(model: Model, state: StreamState) -> None:
    """The model of sums."""
    model._state = state
    if state.classes is not None:
        model.classes_ = state.classes
    model._solved_last = solving.solve(model, state, model._solved_last)
    model.dual_coef_ = np.zeros((*np.shape(model.dual_coef_)[:-1], 0))  # no training sample is kept
