"""Folds of the samples of one task, on which kernels are tried alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state

from multikernel._folds import Fold, complete
from multikernel.estimators.protocol import Task


def folds_of_classes(cv: Any, random_state: Any, task: Task) -> Iterable[Fold]:
    """Shuffled, stratified folds of labels, fewer where a class is small; or those that the user gave, or of groups.

    Every fold trains and tests on samples of both classes.
    """
    y = task.target
    if task.resampling.decided:
        labels = (y > 0).astype(int)
        found = complete(_decided(cv, random_state, task, labels), labels)
        return [(train, test) for train, test in found if len(np.unique(labels[test])) == 2]
    smaller = int(min((y > 0).sum(), (y < 0).sum()))
    if smaller < 2:
        return []
    return StratifiedKFold(min(int(cv), smaller), shuffle=True, random_state=random_state).split(y, y)


def folds_of_numbers(cv: Any, random_state: Any, task: Task) -> Iterable[Fold]:
    """Shuffled folds of two samples and more; or those that the user gave, or of groups."""
    n = len(task.target)
    if task.resampling.decided:
        found = _decided(cv, random_state, task, np.zeros(n, dtype=int))
        return [(train, test) for train, test in found if len(test) > 1]
    if n < 4:
        return []
    return KFold(min(int(cv), n // 2), shuffle=True, random_state=random_state).split(np.empty((n, 1)))


def _decided(cv: Any, random_state: Any, task: Task, labels: Any) -> list[Fold]:
    """Folds that the user gave, or so many of whole groups; those of a single group have nothing to train on."""
    count = 0 if task.resampling.given is not None else int(cv)
    found = task.resampling.folds(labels, count, check_random_state(random_state))
    return [(train, test) for train, test in found if len(train)]
