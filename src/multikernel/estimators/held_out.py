"""Decision values of training samples by models that have not seen them, for calibration.

The folds are blocks of the training bank, and each model starts from the solution on all samples. A few digits of the
values are enough to calibrate them, so these models stop early.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

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
) -> Array:
    """The values of every problem at each training sample, shape (n, problems), by a model of the other folds.

    NaN at samples that every model learns from: those of weight zero, and that of a class without another one.

    Parameters
    ----------
    model : a classifier, fitted
    bank : its training bank
    target : array (n,) of labels
    fitted : the solutions of its problems
    sample_weight : array (n,) >= 0
    learn : how one problem is solved; the classifier's own way by default
    """
    labels = np.searchsorted(model.classes_, target)
    folds = stratified(labels, np.ones(len(labels)) if sample_weight is None else sample_weight)
    values = np.full((len(labels), np.size(model.intercept_)), np.nan)

    def of_fold(train: Array, test: Array) -> Array:
        rough = _rough(model, labels, train, fitted[0].numbers)
        weight, starts = None if sample_weight is None else sample_weight[train], [f.among(train) for f in fitted]
        rough.fit_bank(bank.block(train, train), target[train], starts, weight, learn, exact=False)
        return rough._values(bank.block(test, train))

    for fold in range(FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if len(test):  # what such a model warns of is of no use to anybody
            values[test], _ = keeping(lambda train=train, test=test: of_fold(train, test))  # type: ignore[misc]
    if time_is_up():
        warn_of_cut_choice("the models that calibrate probabilities were not learned to their end")
    return values


def stratified(labels: Array, weight: Array) -> Array:
    """The fold of each sample, 0 to ``FOLDS`` - 1, as many of each class in every fold; -1 for samples of none."""
    folds = np.full(len(labels), -1)
    mixed = np.random.default_rng(_SEED).permutation(np.flatnonzero(weight > 0))
    mixed = mixed[np.argsort(labels[mixed], kind="stable")]
    mixed = mixed[np.bincount(labels[mixed])[labels[mixed]] > 1]
    folds[mixed] = np.arange(len(mixed)) % FOLDS
    return folds


def _rough(model: Any, labels: Array, train: Array, numbers: Mapping[str, float]) -> Any:
    """A copy of a classifier that is soon content, for some of its training samples."""
    rough = copy(model)
    rough.probability, rough.verbose, rough.tol = None, 0, max(model.tol, _ROUGH)
    for name, value in numbers.items():  # chosen once, on all samples
        setattr(rough, name, value)
    cv = getattr(model, "cv", None)
    if cv is not None and not isinstance(cv, str | Integral):  # folds of all samples become folds of these
        given = check_cv(cv).split(np.empty((len(labels), 1)), labels)
        rough.cv = [tuple(np.flatnonzero(np.isin(train, rows)) for rows in fold) for fold in given]
    return rough
