"""Folds of a search."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, check_cv

from multikernel._folds import FOLDS, Fold, Resampling, rows_of
from multikernel._typing import Array
from multikernel._warnings import warn_user


def folds_of(cv: Any, model: Any, target: Array, scoring: Any, groups: Any = None) -> list[Fold]:
    """Training and test rows: as scikit-learn makes them, but shuffled where rows are ordered by a number to predict.

    Parameters
    ----------
    cv : int, splitter, iterable of pairs, or None
    model : the estimator
    target : array (n,) or (n, t)
    scoring : as the user gave it
    groups : array (n,), the group of each sample, or None

    Raises
    ------
    ValueError : for folds that leave nothing to learn from or to score
    """
    n = len(target)
    classifier = is_classifier(model)
    if groups is not None:
        if classifier:
            labels = np.unique(target, return_inverse=True)[1]
        else:
            labels = np.zeros(n, dtype=int)
        return Resampling.of("BankSearchCV", cv, groups, target).folds(labels, FOLDS, np.random.default_rng(0))
    splitter = check_cv(cv, target, classifier=classifier)
    if (cv is None or isinstance(cv, Integral)) and not classifier and _ordered(target):
        warn_user(
            "BankSearchCV: the rows are ordered by the target, so that consecutive folds would leave out a part of its "
            "range; the folds are shuffled. Give cv=KFold(5) for consecutive ones"
        )
        splitter = KFold(FOLDS if cv is None else int(cv), shuffle=True, random_state=0)
    listed = isinstance(cv, Iterable) and not hasattr(cv, "split")
    given = cv if listed else splitter.split(np.empty((n, 1)), target)
    folds = [rows_of("BankSearchCV", f, fold, n) for f, fold in enumerate(given)]
    if not folds:
        raise ValueError("cv gives no folds: give a number of folds, a splitter, or pairs of training and test rows")
    for f, (train, test) in enumerate(folds):
        trained = len(train)
        tested = len(test)
        if min(trained, tested) == 0:
            raise ValueError(
                f"fold {f} of cv has {trained} training and {tested} test samples: each fold needs some of both"
            )
        if tested == 1 and scoring in (None, "r2") and not classifier:
            raise ValueError(
                f"fold {f} of cv has one test sample, whose R^2 is not defined: give larger folds, or "
                "scoring='neg_mean_squared_error'"
            )
    return folds


def grouped_folds(y: Array, groups: Any, count: int, *, stratify: bool, random_state: int) -> list[Fold]:
    """Training and test rows of folds that hold out whole groups.

    Parameters
    ----------
    y : array (n,), the target
    groups : values (n,), the group of each sample
    count : int, the number of folds
    stratify : bool, whether each fold gets its share of every value of y
    random_state : int

    Raises
    ------
    ValueError : where groups are not n values, or there is one only
    """
    if stratify:
        labels = np.unique(y, return_inverse=True)[1]
    else:
        labels = np.zeros(len(y), dtype=int)
    return Resampling.of("groups", count, groups, y).folds(labels, count, np.random.default_rng(random_state))


def _ordered(target: Array) -> bool:
    """Whether the numbers rise, or fall, from row to row; of fewer than ten rows that may be chance."""
    if target.ndim != 1 or len(target) < 10 or target[0] == target[-1]:
        return False
    steps = np.diff(target)
    return bool((steps >= 0).all() or (steps <= 0).all())
