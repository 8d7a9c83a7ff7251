"""Kernels weighted by their centred alignment with the target (Cortes, Mohri and Rostamizadeh 2012)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel.banks import KernelBank
from multikernel.estimators.parameters import check_choice
from multikernel.estimators.protocol import Task
from multikernel.estimators.rules.base import AlphaFreeRegressor, RuleClassifier
from multikernel.machines import Machine
from multikernel.procedures import Weights, alignf, alignment

_METHODS = {"alignf": alignf, "align": alignment}


@dataclass(eq=False, repr=False, kw_only=True)
class AlignmentMKLClassifier(RuleClassifier):
    """A classifier on kernels weighted by their centred alignment with the labels.

    Parameters
    ----------
    kernels : kernel, list of kernels, KernelFamily or "precomputed", default homogeneous_polynomials(10)
    method : {"alignf", "align"}, default "alignf"
        "alignf": the non-negative mix of largest alignment; "align": each weight proportional to its own alignment.
    learner : {"svc", "margin"}, default "svc"
        The classifier on the weighted kernel: a support vector machine, or the margin machine of EasyMKL.
    C : float > 0, default 1.0
        Loss weight of "svc".
    lam : float in [0, 1], default 0.1
        Of "margin", as in EasyMKLClassifier.
    multiclass : {"ovr", "ovo"}, default "ovr"
        One problem for each class or for each pair; all problems share one bank.
    tol : float, default 1e-6
        Relative duality gap at which "margin" stops.
    max_iter : int, default 1_000_000
        Steps of "margin" at most.
    n_jobs : int or None
        Threads over the binary problems.
    verbose : int, default 0
        Not used: a rule takes no steps.

    Attributes
    ----------
    As those of EasyMKLClassifier. A rule solves no problem of its own, so ``objective_`` is None and ``duality_gap_``
    that of the machine.

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

    method: str = "alignf"

    def check_parameters(self) -> None:
        super().check_parameters()
        check_choice(self, tuple(_METHODS), method=self.method)

    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        return _METHODS[self.method](bank, task.target)


@dataclass(eq=False, repr=False, kw_only=True)
class AlignmentMKLRegressor(AlphaFreeRegressor):
    """Kernel ridge regression on kernels weighted by their centred alignment with the target.

    Parameters
    ----------
    kernels : kernel, list of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features.
    method : {"alignf", "align"}, default "alignf"
        "alignf": the non-negative mix of largest alignment; "align": each weight proportional to its own alignment.
    alpha : float > 0, default 1.0
        What is added to the diagonal of the kernel.
    fit_intercept : bool, default True
        Whether the mean of the targets is taken off first and is the intercept.

    Attributes
    ----------
    As those of EasyMKLClassifier, without ``classes_``. A rule solves no problem of its own, so ``objective_`` is None
    and ``duality_gap_`` that of the ridge machine. With targets of shape (n, t), which share the kernel weights (m,),
    ``dual_coef_`` is (t, n) and ``intercept_`` (t,).

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment, JMLR 13.
    """

    method: str = "alignf"

    def check_parameters(self) -> None:
        super().check_parameters()
        check_choice(self, tuple(_METHODS), method=self.method)

    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        centred = task.target - np.average(task.target, axis=0, weights=task.sample_weight)
        return _METHODS[self.method](bank, centred, task.sample_weight)

    def _looks_at_target(self) -> bool:
        return True
