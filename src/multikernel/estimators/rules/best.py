"""The best single kernel by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from multikernel._parameters import Seed
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.protocol import Task
from multikernel.estimators.rules.base import RuleClassifier, RuleRegressor
from multikernel.estimators.rules.folds import folds_of_classes, folds_of_numbers
from multikernel.machines import Machine
from multikernel.procedures import Weights, best_kernel


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

    _size_matters: ClassVar[bool] = False
    few_passes: ClassVar[bool] = False  # each kernel is learned with, alone
    _own_folds: ClassVar[bool] = True
    cv: CrossValidation = 5
    random_state: Seed = None

    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        folds = folds_of_classes(self.cv, self.random_state, task) if len(bank) > 1 else ()
        return best_kernel(bank, task.target, machine, folds, roc_auc_score, task.sample_weight)

    def _tried(self, bank: KernelBank, task: Task) -> Array:
        return np.eye(len(bank))


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

    _size_matters: ClassVar[bool] = False
    few_passes: ClassVar[bool] = False  # each kernel is learned with, alone
    _own_folds: ClassVar[bool] = True
    cv: CrossValidation = 5
    random_state: Seed = None

    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        folds = folds_of_numbers(self.cv, self.random_state, task) if len(bank) > 1 else ()
        return best_kernel(bank, task.target, machine, folds, r2_score, task.sample_weight)

    def _tried(self, bank: KernelBank, task: Task) -> Array:
        return np.eye(len(bank))
