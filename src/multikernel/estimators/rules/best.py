"""The best single kernel by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from multikernel._parameters import Seed
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.protocol import Task
from multikernel.estimators.rules.base import RuleClassifier, RuleRegressor
from multikernel.machines import Machine
from multikernel.procedures import Weights, best_kernel

Fold = tuple[Array, Array]  # training and validation rows


@dataclass(eq=False, repr=False, kw_only=True)
class BestKernelClassifier(RuleClassifier):
    """A classifier on the single kernel of the best cross-validated area under the curve.

    With several classes each binary problem chooses a kernel of its own. Weights of samples are those of the losses on
    the training folds and of the area on the others.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test) rows, default 5
        A number of folds means shuffled, stratified ones; fewer where a class has fewer samples.
    random_state : int, RandomState or None
        Shuffles the folds.
    kernels, learner, C, lam, class_weight, multiclass, probability, tol, max_iter, n_jobs, checkpoint, time_budget,
        verbose : as in AverageMKLClassifier
    approximation, rank : as in L1MKLClassifier

    Attributes
    ----------
    As those of AverageMKLClassifier.
    """

    cv: CrossValidation = 5
    random_state: Seed = None

    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        folds = [] if len(bank) == 1 else self._folds(task)
        return best_kernel(bank, task.target, machine, folds, roc_auc_score, task.sample_weight)

    def _tried(self, bank: KernelBank, task: Task) -> Array:
        return np.eye(len(bank))

    def _folds(self, task: Task) -> Iterable[Fold]:
        """Training and validation rows of the task."""
        y = task.target
        if not isinstance(self.cv, Integral):
            return _given_folds(self.cv, task)
        smaller = int(min((y > 0).sum(), (y < 0).sum()))
        if smaller < 2:
            return []
        return StratifiedKFold(min(int(self.cv), smaller), shuffle=True, random_state=self.random_state).split(y, y)


@dataclass(eq=False, repr=False, kw_only=True)
class BestKernelRegressor(RuleRegressor):
    """Kernel ridge regression on the single kernel of the best cross-validated R^2.

    Weights of samples are those of the losses on the training folds and of R^2 on the others.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test) rows, default 5
        A number of folds means shuffled ones.
    random_state : int, RandomState or None
        Shuffles the folds.
    time_budget : float > 0 or None, default None
        Seconds after which no further fold is looked at.
    kernels, alpha, fit_intercept : as in AverageMKLRegressor
    approximation, rank : as in L1MKLClassifier

    Attributes
    ----------
    As those of AverageMKLRegressor.
    """

    cv: CrossValidation = 5
    random_state: Seed = None

    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        folds = [] if len(bank) == 1 else self._folds(task)
        return best_kernel(bank, task.target, machine, folds, r2_score, task.sample_weight)

    def _tried(self, bank: KernelBank, task: Task) -> Array:
        return np.eye(len(bank))

    def _folds(self, task: Task) -> Iterable[Fold]:
        """Training and validation rows of the task."""
        n = len(task.target)
        if not isinstance(self.cv, Integral):
            return _given_folds(self.cv, task)
        if n < 4:
            return []
        return KFold(min(int(self.cv), n // 2), shuffle=True, random_state=self.random_state).split(np.empty((n, 1)))


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
