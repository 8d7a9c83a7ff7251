"""Folds of a search."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, check_cv

from multikernel._folds import FOLDS, Fold, Resampling
from multikernel._rules import Whole
from multikernel._typing import Array
from multikernel._warnings import warn_user


def folds_of(cv: Any, model: Any, target: Array, scoring: Any, groups: Any = None) -> list[Fold]:
    """Training and test rows, as in scikit-learn, but shuffled where rows are ordered by a numeric target.

    Parameters
    ----------
    cv : int, splitter, iterable of pairs, or None
    model : the estimator
    target : array (n,) or (n, t)
    scoring : as the user gave it
    groups : array (n,), the group of each sample, or None

    Raises
    ------
    ValueError : for folds that leave nothing to learn from or to score, and as ``Resampling.of``
    """
    classifier = is_classifier(model)
    if groups is None and (cv is None or isinstance(cv, Integral)):
        count = FOLDS if cv is None else int(cv)
        if not classifier and _is_ordered(target):
            warn_user(
                "BankSearchCV: the rows are ordered by the target, so that consecutive folds would leave out a part of "
                "its range; the folds are shuffled. Give cv=KFold(5) for consecutive ones"
            )
            cv = KFold(count, shuffle=True, random_state=0)
        else:
            cv = check_cv(count, target, classifier=classifier)
    resampling = Resampling.of("BankSearchCV", cv, groups, target)
    folds = resampling.folds(_stratum_labels(target, classifier), FOLDS, np.random.default_rng(0))
    single = [f for f, (_, test) in enumerate(folds) if len(test) == 1]
    if single and scoring in (None, "r2") and not classifier:
        raise ValueError(
            f"BankSearchCV: fold {single[0]} of cv has one test sample, whose R^2 is not defined: give larger folds, "
            "or scoring='neg_mean_squared_error'"
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
    ValueError : where groups are not n values, where there is only one group, and for a count below 2
    """
    Whole(2).check(count, "grouped_folds: count")
    rng = np.random.default_rng(random_state)
    return Resampling.of("grouped_folds", count, groups, y).folds(_stratum_labels(y, stratify), count, rng)


def _stratum_labels(y: Array, stratify: bool) -> Array:
    """The labels that are divided evenly among folds: the values of y, or one label for all samples."""
    if stratify:
        return np.unique(y, return_inverse=True)[1]
    return np.zeros(len(y), dtype=int)


def _is_ordered(target: Array) -> bool:
    """Whether the numbers rise, or fall, from row to row; False for fewer than ten rows, where it may be chance."""
    if target.ndim != 1 or len(target) < 10 or target[0] == target[-1]:
        return False
    steps = np.diff(target)
    return bool((steps >= 0).all() or (steps <= 0).all())
