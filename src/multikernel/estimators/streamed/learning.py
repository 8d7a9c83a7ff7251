"""The first samples determine the features of the kernels; further rows add to sums, from which a model is learned."""

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
from multikernel.estimators.streamed.row_folds import fold_of_rows
from multikernel.estimators.streamed.rows import Pass
from multikernel.estimators.streamed.state import Sample, StreamState
from multikernel.estimators.streamed.streaming import streaming_of
from multikernel.estimators.targets import check_every_class
from multikernel.persistence.digest import digest
from multikernel.streams import Chunk

_SAMPLE = 2000  # the least number of rows that determine the features
_TIMES = 4  # or so many times the rank, if that is more
_SETTLED = frozenset(
    {"kernels", "approximation", "rank", "cv", "class_weight"}
)  # parameters on which features and sums depend


def sample_size(model: Model) -> int:
    """The number of rows that determine the features."""
    return max(_SAMPLE, _TIMES * int(model.rank))


def warn_of_few(model: Model, first: int) -> None:
    """Warn where the first samples, which determine the features, are fewer than the features."""
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
    classes_before = None if state is None else state.classes
    if classes_before is not None and not np.array_equal(np.unique(np.asarray(classes)), classes_before):
        raise ValueError(
            f"{name}: classes={abbreviated(classes)} are not those of the first samples, "
            f"{abbreviated(classes_before)}: leave classes out, or start again with a clone of the model"
        )


def _settled(model: Model) -> dict[str, str]:
    """Digests, by name, of the parameters on which features and sums depend."""
    parameters = model.get_params(deep=False)
    digests = {}
    for name in _SETTLED.intersection(parameters):
        try:
            digests[name] = digest(parameters[name])
        except TypeError:  # whether this parameter changes later cannot be detected
            continue
    return digests


def check_settled(model: Model, state: StreamState) -> None:
    """ValueError where a parameter was changed on which the features depend, since the first samples."""
    digests = _settled(model)
    changed = [name for name, before in state.settled.items() if digests.get(name, before) != before]
    changed += set(model._method.search.automatic(model)).symmetric_difference(state.numbers)
    if changed:
        raise ValueError(
            f"{type(model).__name__}: {min(changed)} was changed after the first samples, which settled it: set it "
            "back, or start again with a clone of the model"
        )


def begin_state(model: Model, sample: Chunk, classes: Any) -> StreamState:
    """The state before any sums: the features that a sample determines, and numbers for parameters that are "auto"."""
    if is_classifier(model):
        classes = np.unique(np.asarray(sample.y if classes is None else classes))
        if len(classes) < 2:
            raise ValueError(f"{type(model).__name__} needs samples of at least two classes, got one: {classes[0]!r}")
        class_weight = getattr(model, "class_weight", None)
        # raises ValueError where class_weight names another label
        weights_of_classes = compute_class_weight(class_weight, classes=classes, y=classes)
        check_every_class(classes, weights_of_classes)
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
    rows_pass = Pass(model, reference, classes, 1 if flat else y.shape[1], streaming_of(model).folds(model))
    if classes is not None and len(classes) != 2:
        rows_pass = replace(rows_pass, targets=len(classes))
    Y = rows_pass.numbers(replace(sample, y=y))
    sample_rows = slice(_SAMPLE)
    weight = rows_pass.weight(sample)
    fold = fold_of_rows(rows_pass.samples(sample), Y, rows_pass.folds)[sample_rows]
    rows = Sample(host(bank.bank.F)[sample_rows], Y[sample_rows], y[sample_rows], part_of(weight, sample_rows), fold)
    numbers = solving.numbers(model, reference, rows)
    shift = None
    if classes is None:
        shift = Y.mean(axis=0)
    return StreamState(reference, classes, flat, rows, numbers=numbers, settled=_settled(model), shift=shift)


def pass_of(model: Model, state: StreamState) -> Pass:
    """The pass that adds up further rows."""
    folds = streaming_of(model).folds(model)
    return Pass(model, state.bank, state.classes, state.sample.Y.shape[1], folds, state.shift)


def learn_state(model: Model, state: StreamState) -> None:
    """Learn the model from the sums of a state."""
    model._state = state
    if state.classes is not None:
        model.classes_ = state.classes
    model._solved_last = solving.solve(model, state, model._solved_last)
    model.dual_coef_ = np.zeros((*np.shape(model.dual_coef_)[:-1], 0))  # no training sample is kept
