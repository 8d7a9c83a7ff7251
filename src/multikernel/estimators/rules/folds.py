"""Folds of the samples of one task, on which kernels are tried alone."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from multikernel._typing import Array
from multikernel.estimators.protocol import Task

Fold = tuple[Array, Array]  # training and validation rows of the task


def folds_of_classes(cv: Any, random_state: Any, task: Task) -> Iterable[Fold]:
    """Shuffled, stratified folds of labels, fewer where a class is small; or those that the user gave."""
    y = task.target
    if not isinstance(cv, Integral):
        return _given_folds(cv, task)
    smaller = int(min((y > 0).sum(), (y < 0).sum()))
    if smaller < 2:
        return []
    return StratifiedKFold(min(int(cv), smaller), shuffle=True, random_state=random_state).split(y, y)


def folds_of_numbers(cv: Any, random_state: Any, task: Task) -> Iterable[Fold]:
    """Shuffled folds of two samples and more; or those that the user gave."""
    n = len(task.target)
    if not isinstance(cv, Integral):
        return _given_folds(cv, task)
    if n < 4:
        return []
    return KFold(min(int(cv), n // 2), shuffle=True, random_state=random_state).split(np.empty((n, 1)))


def _given_folds(cv: Any, task: Task) -> list[Fold]:
    """Folds over all training samples that the user gave, as rows of the task."""
    total = int(task.rows.max()) + 1
    labels = np.zeros(total)
    labels[task.rows] = task.target if task.target.ndim == 1 else 0.0
    given = check_cv(cv).split(np.empty((total, 1)), labels)
    return [(_places(train, task.rows), _places(test, task.rows)) for train, test in given]


def _places(chosen: Array, rows: Array) -> Array:
    """Where the chosen training samples stand among the sorted rows, without those that take no part."""
    chosen = np.asarray(chosen)
    place = np.minimum(np.searchsorted(rows, chosen), len(rows) - 1)
    return place[rows[place] == chosen]
