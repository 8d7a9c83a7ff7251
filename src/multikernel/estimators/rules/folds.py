"""Folds of the samples of one task, on which single kernels are compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state

from multikernel._folds import Fold, complete
from multikernel.estimators.protocol import Task


def folds_of_classes(cv: Any, random_state: Any, task: Task) -> Iterable[Fold]:
    """The user's folds, folds of groups, or else shuffled, stratified folds, fewer where a class is small.

    Every fold trains and tests on samples of both classes.
    """
    y = task.target
    if task.resampling.decided:
        labels = (y > 0).astype(int)
        folds = complete(_decided(cv, random_state, task, labels), labels)
        return [(train, test) for train, test in folds if len(np.unique(labels[test])) == 2]
    smaller = int(min((y > 0).sum(), (y < 0).sum()))
    if smaller < 2:
        return []
    return StratifiedKFold(min(int(cv), smaller), shuffle=True, random_state=random_state).split(y, y)


def folds_of_numbers(cv: Any, random_state: Any, task: Task) -> Iterable[Fold]:
    """The user's folds, folds of groups, or else shuffled folds; each tests on two samples or more."""
    n = len(task.target)
    if task.resampling.decided:
        folds = _decided(cv, random_state, task, np.zeros(n, dtype=int))
        return [(train, test) for train, test in folds if len(test) > 1]
    if n < 4:
        return []
    return KFold(min(int(cv), n // 2), shuffle=True, random_state=random_state).split(np.empty((n, 1)))


def _decided(cv: Any, random_state: Any, task: Task, labels: Any) -> list[Fold]:
    """The user's folds, or ``cv`` folds of whole groups, without folds that leave no training samples."""
    count = 0 if task.resampling.given is not None else int(cv)
    folds = task.resampling.folds(labels, count, check_random_state(random_state))
    return [(train, test) for train, test in folds if len(train)]
