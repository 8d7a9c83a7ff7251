"""The baselines that every paper compares with: average, best single kernel, alignment.

Parameters of all classifiers: ``kernels`` (default homogeneous_polynomials(10)), ``learner`` ("svc", a support vector
machine with loss weight ``C``, or "margin", the machine of EasyMKL with ``lam``), ``multiclass``, ``tol`` and
``max_iter`` of the margin machine, ``n_jobs``, ``verbose``. Of all regressors: ``kernels`` (default polynomials of
degree 1 to 3 and nine Gaussian kernels), ``alpha`` of the ridge, ``fit_intercept``. Fitted attributes are those of
EasyMKLClassifier; a rule solves no problem of its own, so ``objective_`` is None and ``duality_gap_`` that of the
machine.

Regressors also take y of shape (n, t): the targets share the kernel weights (m,), ``dual_coef_`` is (t, n) and
``intercept_`` (t,). Their ``sample_weight`` multiplies the squared residuals; a sample of weight two is one that occurs
twice, for the rule as for the ridge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators._rules import AlphaFreeRegressor, RuleClassifier, RuleRegressor
from multikernel.machines import Machine, RidgeMachine
from multikernel.procedures import Weights, alignf, alignment, average, best_kernel


class AverageMKLClassifier(RuleClassifier):
    """A classifier on the average of the kernels: every weight is 1 / m. Parameters as in the module's head.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import AverageMKLClassifier, kernels
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AverageMKLClassifier(kernels.rbf_grid([0.1, 1.0])).fit(X, y)
    >>> model.weights_.shape, bool(model.score(X, y) > 0.95)
    ((3, 2), True)
    """

    def _weigh(self, bank: KernelBank, target: Array, machine: Machine) -> Weights:
        return average(bank)


class AverageMKLRegressor(AlphaFreeRegressor):
    """Kernel ridge regression on the average of the kernels: every weight is 1 / m. Parameters as in the module's head.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from multikernel import AverageMKLRegressor, kernels
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AverageMKLRegressor(kernels.rbf_grid([0.1, 1.0, 10.0]), alpha=0.1).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    def _weigh(self, bank: KernelBank, target: Array, machine: RidgeMachine) -> Weights:
        return average(bank)

    def _looks_at_target(self) -> bool:
        return False


class AlignmentMKLClassifier(RuleClassifier):
    """A classifier on kernels weighted by their centred alignment with the labels.

    Parameters
    ----------
    method : {"alignf", "align"}, default "alignf"
        "alignf": the non-negative mix of largest alignment; "align": each weight proportional to its own alignment.
    Others : as in the module's head.

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

    def __init__(
        self,
        kernels: Any = None,
        *,
        method: str = "alignf",
        learner: str = "svc",
        C: float = 1.0,
        lam: float = 0.1,
        multiclass: str = "ovr",
        tol: float = 1e-6,
        max_iter: int = 1_000_000,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernels,
            learner=learner,
            C=C,
            lam=lam,
            multiclass=multiclass,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.method = method

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_method(self.method)

    def _weigh(self, bank: KernelBank, target: Array, machine: Machine) -> Weights:
        return (alignf if self.method == "alignf" else alignment)(bank, target)


class AlignmentMKLRegressor(AlphaFreeRegressor):
    """Kernel ridge regression on kernels weighted by their centred alignment with the target.

    Parameters
    ----------
    method : {"alignf", "align"}, default "alignf"
        As in AlignmentMKLClassifier.
    Others : as in the module's head.
    """

    def __init__(
        self, kernels: Any = None, *, method: str = "alignf", alpha: float = 1.0, fit_intercept: bool = True
    ) -> None:
        super().__init__(kernels, alpha=alpha, fit_intercept=fit_intercept)
        self.method = method

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_method(self.method)

    def _weigh(self, bank: KernelBank, target: Array, machine: RidgeMachine) -> Weights:
        centred = target - np.average(target, axis=0, weights=machine.sample_weight)
        return (alignf if self.method == "alignf" else alignment)(bank, centred, machine.sample_weight)

    def _looks_at_target(self) -> bool:
        return True


class BestKernelClassifier(RuleClassifier):
    """A classifier on the single kernel of the best cross-validated area under the curve.

    With several classes each binary problem chooses a kernel of its own.

    Parameters
    ----------
    cv : int, default 5, the number of stratified folds (fewer where a class has fewer samples)
    random_state : int, RandomState or None, shuffles the folds
    Others : as in the module's head.
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        cv: int = 5,
        learner: str = "svc",
        C: float = 1.0,
        lam: float = 0.1,
        multiclass: str = "ovr",
        tol: float = 1e-6,
        max_iter: int = 1_000_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernels,
            learner=learner,
            C=C,
            lam=lam,
            multiclass=multiclass,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.cv = cv
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_cv(self.cv)

    def _weigh(self, bank: KernelBank, target: Array, machine: Machine) -> Weights:
        smaller = int(min((target > 0).sum(), (target < 0).sum()))
        if smaller < 2 or len(bank) == 1:  # nothing to validate on, or nothing to choose
            return best_kernel(bank, target, machine, [], roc_auc_score)
        folds = StratifiedKFold(min(self.cv, smaller), shuffle=True, random_state=self.random_state)
        return best_kernel(bank, target, machine, folds.split(target, target), roc_auc_score)


class BestKernelRegressor(RuleRegressor):
    """Kernel ridge regression on the single kernel of the best cross-validated R^2.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test) rows, default 5; a number of folds means shuffled ones
    random_state : int, RandomState or None, shuffles the folds
    Others : as in the module's head.
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        cv: Any = 5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(kernels, alpha=alpha, fit_intercept=fit_intercept)
        self.cv = cv
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (hasattr(self.cv, "split") or (isinstance(self.cv, Iterable) and not isinstance(self.cv, str))):
            _check_cv(self.cv)

    def _weigh(self, bank: KernelBank, target: Array, machine: RidgeMachine) -> Weights:
        s = machine.sample_weight
        folds = (
            [] if len(bank) == 1 else self._folds(np.arange(len(target)) if s is None else np.flatnonzero(s), target)
        )
        return best_kernel(bank, target, machine, folds, r2_score, s)

    def _folds(self, rows: Array, target: Array) -> list[tuple[Array, Array]]:
        """Training and validation rows, of those that count."""
        if isinstance(self.cv, int):
            if len(rows) < 4:
                return []
            shuffled = KFold(min(self.cv, len(rows) // 2), shuffle=True, random_state=self.random_state)
            return [(rows[train], rows[test]) for train, test in shuffled.split(rows)]
        given = check_cv(self.cv).split(np.empty((len(target), 1)), target)
        return [(np.intersect1d(train, rows), np.intersect1d(test, rows)) for train, test in given]


def _check_method(method: str) -> None:
    if method not in ("alignf", "align"):
        raise ValueError(f"method must be 'alignf' or 'align', got {method!r}")


def _check_cv(cv: int) -> None:
    if not (isinstance(cv, int) and cv >= 2):
        raise ValueError(f"cv must be a whole number of folds >= 2, got {cv!r}")
