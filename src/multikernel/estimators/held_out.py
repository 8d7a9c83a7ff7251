"""Decision values of training samples by models that have not seen them, for calibration.

The folds are blocks of the training bank, and each model starts from the solution on all samples. A few digits of the
values are enough to calibrate them, so these models stop early.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from multikernel._folds import UNDECIDED, Fold, Resampling, complete
from multikernel._typing import Array
from multikernel._warnings import keeping
from multikernel._workers import time_is_up, warn_of_cut_choice
from multikernel.banks import KernelBank
from multikernel.estimators.protocol import Fitted, Learner

FOLDS = 5
_ROUGH = 5e-2  # the certificate asked of a model of a fold, where the estimator's own is finer
_SEED = 0


def held_out_values(
    model: Any,
    bank: KernelBank,
    target: Array,
    fitted: Sequence[Fitted],
    sample_weight: Array | None = None,
    learn: Learner | None = None,
    resampling: Resampling = UNDECIDED,
) -> Array:
    """The values of every problem at each training sample, shape (n, problems), by a model of the other folds.

    NaN at samples that every model learns from: those of weight zero, and those without whom a class would be missing.
    Of a sample that is held out several times the first time counts.

    Parameters
    ----------
    model : a classifier, fitted
    bank : its training bank
    target : array (n,) of labels
    fitted : the solutions of its problems
    sample_weight : array (n,) >= 0
    learn : how one problem is solved; the classifier's own way by default
    resampling : how samples are held out

    Raises
    ------
    ValueError : where groups or given folds leave no training samples of every class
    """
    labels = np.searchsorted(model.classes_, target)
    folds = _folds(resampling, labels, np.ones(len(labels)) if sample_weight is None else sample_weight)
    values = np.full((len(labels), np.size(model.intercept_)), np.nan)

    def of_fold(train: Array, test: Array) -> Array:
        rough = _rough(model, fitted[0].numbers)
        weight, starts = None if sample_weight is None else sample_weight[train], [f.among(train) for f in fitted]
        own = resampling.among(train)
        rough.fit_bank(bank.block(train, train), target[train], starts, weight, learn, exact=False, resampling=own)
        return rough._values(bank.block(test, train))

    for train, test in folds:
        new = test[np.isnan(values[test, 0])]
        if len(new):  # what such a model warns of is of no use to anybody
            values[new], _ = keeping(lambda train=train, new=new: of_fold(train, new))  # type: ignore[misc]
    if time_is_up():
        warn_of_cut_choice("the models that calibrate probabilities were not learned to their end")
    return values


def _folds(resampling: Resampling, labels: Array, weight: Array) -> list[Fold]:
    """Training and test samples; the weights of some are zero, and no model is tested on these."""
    if not resampling.decided:
        fold = stratified(labels, weight, resampling.count or FOLDS)
        return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(int(fold.max()) + 1)]
    known = np.flatnonzero(weight > 0)
    found = resampling.among(known).folds(labels[known], FOLDS, np.random.default_rng(_SEED))
    found = complete(found, labels[known])
    if not found:
        raise ValueError(
            "probabilities are calibrated on held-out samples, and every fold leaves out all samples of a class: give "
            "groups or cv of which some leave a part of each class to learn from"
        )
    return [(known[train], known[test]) for train, test in found]


def stratified(labels: Array, weight: Array, count: int = FOLDS) -> Array:
    """The fold of each sample, 0 to ``count`` - 1, as many of each class in every fold; -1 for samples of none."""
    folds = np.full(len(labels), -1)
    mixed = np.random.default_rng(_SEED).permutation(np.flatnonzero(weight > 0))
    mixed = mixed[np.argsort(labels[mixed], kind="stable")]
    mixed = mixed[np.bincount(labels[mixed])[labels[mixed]] > 1]
    folds[mixed] = np.arange(len(mixed)) % count
    return folds


def _rough(model: Any, numbers: Mapping[str, float]) -> Any:
    """A copy of a classifier that is soon content."""
    rough = copy(model)
    rough.probability, rough.verbose, rough.tol = None, 0, max(model.tol, _ROUGH)
    for name, value in numbers.items():  # chosen once, on all samples
        setattr(rough, name, value)
    return rough
