"""Kernels weighted by their centred alignment with the target (Cortes, Mohri and Rostamizadeh 2012)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from multikernel._parameters import Count, Part
from multikernel.banks import KernelBank
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import ClassWeight, PositiveOrAuto, WithinOneOrAuto
from multikernel.estimators.protocol import Model, Task
from multikernel.estimators.rules.method import (
    AlphaFreeRegressor,
    RuleMKL,
    classifier_rule,
    regressor_rule,
    ridge_machine,
)
from multikernel.machines import Machine
from multikernel.procedures import Weights, alignf, alignment

_METHODS = {"alignf": alignf, "align": alignment}


class AlignmentModel(Model, Protocol):
    """The parameters that these functions read, beside those of every estimator."""

    method: str


def _weigh_for_labels(model: AlignmentModel, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    return _METHODS[model.method](bank, task.target, task.sample_weight)


def _weigh_for_numbers(model: AlignmentModel, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    centred = task.target - np.average(task.target, axis=0, weights=task.sample_weight)
    return _METHODS[model.method](bank, centred, task.sample_weight)


def _sizes(model: AlignmentModel, bank: KernelBank) -> KernelBank | None:
    """The mix of largest alignment is the same whatever the sizes of the kernels."""
    return bank if model.method == "align" else None


@dataclass(eq=False, repr=False, kw_only=True)
class AlignmentMKLClassifier(BinaryClassifier):
    """A classifier on kernels weighted by their centred alignment with the labels.

    Weights of samples, and of classes, count in the alignment as in the losses: weight two is a sample that is there
    twice.

    Parameters
    ----------
    method : {"alignf", "align"}, default "alignf"
        "alignf": the non-negative mix of largest alignment; "align": each weight proportional to its own alignment.
    kernels, learner, C, lam, class_weight, multiclass, probability, tol, max_iter, n_jobs, checkpoint, time_budget,
        verbose : as in AverageMKLClassifier
    approximation, rank : as in L1MKLClassifier
    cv : as in L1MKLClassifier

    Attributes
    ----------
    As those of AverageMKLClassifier.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment, JMLR 13.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from multikernel import AlignmentMKLClassifier, kernels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AlignmentMKLClassifier(kernels.linear_features(), C=0.01).fit(X / X.max(axis=0), y)
    >>> bool(model.weights_.min() >= 0), round(float(model.weights_.sum()), 6)
    (True, 1.0)
    """

    kernels: Any = field(default=None, kw_only=False)
    method: Literal["alignf", "align"] = "alignf"
    learner: Literal["margin", "svc"] = "svc"
    C: PositiveOrAuto = "auto"
    lam: WithinOneOrAuto = 0.1
    class_weight: ClassWeight = None
    tol: Part = 1e-6
    max_iter: Count = 1_000_000
    approximation: ApproximationName = None
    rank: Rank = 256

    _method: ClassVar[Method] = replace(classifier_rule(_weigh_for_labels), sizes=_sizes)


@dataclass(eq=False, repr=False, kw_only=True)
class AlignmentMKLRegressor(AlphaFreeRegressor):
    """Kernel ridge regression on kernels weighted by their centred alignment with the target.

    Weights of samples count in the alignment as in the losses: weight two is a sample that is there twice.

    Parameters
    ----------
    method : {"alignf", "align"}, default "alignf"
        "alignf": the non-negative mix of largest alignment; "align": each weight proportional to its own alignment.
    kernels, alpha, fit_intercept, time_budget : as in AverageMKLRegressor
    approximation, rank : as in L1MKLClassifier
    cv : as in L1MKLRegressor

    Attributes
    ----------
    As those of AverageMKLRegressor.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment, JMLR 13.
    """

    kernels: Any = field(default=None, kw_only=False)
    method: Literal["alignf", "align"] = "alignf"
    alpha: PositiveOrAuto = "auto"
    fit_intercept: bool = True
    approximation: ApproximationName = None
    rank: Rank = 256

    _rule: ClassVar[RuleMKL] = RuleMKL(_weigh_for_numbers, ridge_machine)
    _method: ClassVar[Method] = replace(regressor_rule(_rule), sizes=_sizes)
