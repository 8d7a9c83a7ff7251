"""The best single kernel by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.protocol import Task
from multikernel.estimators.rules.base import RuleClassifier, RuleRegressor
from multikernel.machines import Machine
from multikernel.procedures import Weights, best_kernel


@dataclass(eq=False, repr=False, kw_only=True)
class BestKernelClassifier(RuleClassifier):
    """A classifier on the single kernel of the best cross-validated area under the curve.

    With several classes each binary problem chooses a kernel of its own.

    Parameters
    ----------
    kernels : kernel, list of kernels, KernelFamily or "precomputed", default homogeneous_polynomials(10)
    cv : int, default 5
        The number of stratified folds; fewer where a class has fewer samples.
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
    random_state : int, RandomState or None
        Shuffles the folds.
    n_jobs : int or None
        Threads over the binary problems.
    verbose : int, default 0
        Not used: a rule takes no steps.

    Attributes
    ----------
    As those of EasyMKLClassifier. A rule solves no problem of its own, so ``objective_`` is None and ``duality_gap_``
    that of the machine.
    """

    cv: int = 5
    random_state: Any = None

    def check_parameters(self) -> None:
        super().check_parameters()
        _check_cv(self.cv)

    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        y = task.target
        smaller = int(min((y > 0).sum(), (y < 0).sum()))
        if smaller < 2 or len(bank) == 1:  # nothing to validate on, or nothing to choose
            return best_kernel(bank, y, machine, [], roc_auc_score)
        folds = StratifiedKFold(min(self.cv, smaller), shuffle=True, random_state=self.random_state)
        return best_kernel(bank, y, machine, folds.split(y, y), roc_auc_score)


@dataclass(eq=False, repr=False, kw_only=True)
class BestKernelRegressor(RuleRegressor):
    """Kernel ridge regression on the single kernel of the best cross-validated R^2.

    Parameters
    ----------
    kernels : kernel, list of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features.
    cv : int, splitter or iterable of (train, test) rows, default 5
        A number of folds means shuffled ones.
    alpha : float > 0, default 1.0
        What is added to the diagonal of the kernel.
    fit_intercept : bool, default True
        Whether the mean of the targets is taken off first and is the intercept.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    As those of EasyMKLClassifier, without ``classes_``. A rule solves no problem of its own, so ``objective_`` is None
    and ``duality_gap_`` that of the ridge machine. With targets of shape (n, t), which share the kernel weights (m,),
    ``dual_coef_`` is (t, n) and ``intercept_`` (t,).
    """

    cv: Any = 5
    random_state: Any = None

    def check_parameters(self) -> None:
        super().check_parameters()
        if not (hasattr(self.cv, "split") or (isinstance(self.cv, Iterable) and not isinstance(self.cv, str))):
            _check_cv(self.cv)

    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        folds = [] if len(bank) == 1 else self._folds(task)
        return best_kernel(bank, task.target, machine, folds, r2_score, task.sample_weight)

    def _folds(self, task: Task) -> Iterable[tuple[Array, Array]]:
        """Training and validation rows of the task; folds that the user gave are over all training samples."""
        n = len(task.target)
        if isinstance(self.cv, int):
            if n < 4:
                return []
            return KFold(min(self.cv, n // 2), shuffle=True, random_state=self.random_state).split(np.empty((n, 1)))
        total = int(task.rows.max()) + 1
        given = check_cv(self.cv).split(np.empty((total, 1)), np.zeros(total))
        return [(_places(train, task.rows), _places(test, task.rows)) for train, test in given]


def _places(chosen: Array, rows: Array) -> Array:
    """Where the chosen training samples stand among the sorted rows, without those that take no part."""
    chosen = np.asarray(chosen)
    place = np.minimum(np.searchsorted(rows, chosen), len(rows) - 1)
    return place[rows[place] == chosen]


def _check_cv(cv: int) -> None:
    if not (isinstance(cv, int) and cv >= 2):
        raise ValueError(f"cv must be a whole number of folds >= 2, got {cv!r}")
