"""The best single kernel by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from multikernel._parameters import Count, Part, Seed
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method, of_no_size
from multikernel.estimators.parameters import ClassWeight, CrossValidation, PositiveOrAuto, WithinOneOrAuto
from multikernel.estimators.protocol import Task
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.rules.folds import folds_of_classes, folds_of_numbers
from multikernel.estimators.rules.method import RuleMKL, classifier_rule, regressor_rule, ridge_machine
from multikernel.machines import Machine
from multikernel.procedures import Weights, best_kernel


def _best_auc(model: Any, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    folds = folds_of_classes(model.cv, model.random_state, task) if len(bank) > 1 else ()
    return best_kernel(bank, task.target, machine, folds, roc_auc_score, task.sample_weight)


def _best_r2(model: Any, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    folds = folds_of_numbers(model.cv, model.random_state, task) if len(bank) > 1 else ()
    return best_kernel(bank, task.target, machine, folds, r2_score, task.sample_weight)


def _each_alone(model: Any, bank: KernelBank, task: Task) -> Array:
    return np.eye(len(bank))


def _alone(method: Method) -> Method:
    """Each kernel is learned with, alone: so its size does not matter, and it is read many times."""
    return replace(method, sizes=of_no_size, reads_kernels_few_times=False, own_folds=True)


@dataclass(eq=False, repr=False, kw_only=True)
class BestKernelClassifier(BinaryClassifier):
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

    kernels: Any = field(default=None, kw_only=False)
    learner: Literal["margin", "svc"] = "svc"
    C: PositiveOrAuto = "auto"
    lam: WithinOneOrAuto = 0.1
    class_weight: ClassWeight = None
    tol: Part = 1e-6
    max_iter: Count = 1_000_000
    approximation: ApproximationName = None
    rank: Rank = 256
    cv: CrossValidation = 5
    random_state: Seed = None

    _method: ClassVar[Method] = _alone(classifier_rule(_best_auc, _each_alone))


@dataclass(eq=False, repr=False, kw_only=True)
class BestKernelRegressor(RidgeRegressor):
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

    kernels: Any = field(default=None, kw_only=False)
    alpha: PositiveOrAuto = "auto"
    fit_intercept: bool = True
    approximation: ApproximationName = None
    rank: Rank = 256
    cv: CrossValidation = 5
    random_state: Seed = None

    _method: ClassVar[Method] = _alone(regressor_rule(RuleMKL(_best_r2, ridge_machine, _each_alone)))
