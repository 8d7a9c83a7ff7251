"""Kernels weighted by their centred alignment with the target (Cortes, Mohri and Rostamizadeh 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from multikernel.banks import KernelBank
from multikernel.estimators.protocol import Task
from multikernel.estimators.rules.base import AlphaFreeRegressor, RuleClassifier
from multikernel.machines import Machine
from multikernel.procedures import Weights, alignf, alignment

_METHODS = {"alignf": alignf, "align": alignment}


@dataclass(eq=False, repr=False, kw_only=True)
class AlignmentMKLClassifier(RuleClassifier):
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

    method: Literal["alignf", "align"] = "alignf"

    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        return _METHODS[self.method](bank, task.target, task.sample_weight)

    def _advise_on_sizes(self, bank: KernelBank) -> None:
        if self.method == "align":  # the mix of largest alignment is the same whatever the sizes
            super()._advise_on_sizes(bank)


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

    method: Literal["alignf", "align"] = "alignf"

    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        centred = task.target - np.average(task.target, axis=0, weights=task.sample_weight)
        return _METHODS[self.method](bank, centred, task.sample_weight)

    def _advise_on_sizes(self, bank: KernelBank) -> None:
        if self.method == "align":  # the mix of largest alignment is the same whatever the sizes
            super()._advise_on_sizes(bank)

    def _looks_at_target(self) -> bool:
        return True
