"""The baselines that every paper compares with: average, best single kernel, alignment.

Parameters of all classifiers: ``kernels`` (default homogeneous_polynomials(10)), ``learner`` ("svc", a support vector
machine with loss weight ``C``, or "margin", the machine of EasyMKL with ``lam``), ``multiclass``, ``tol`` and
``max_iter`` of the margin machine, ``n_jobs``, ``verbose``. Of all regressors: ``kernels`` (default polynomials of
degree 1 to 3 and nine Gaussian kernels), ``alpha`` of the ridge, ``fit_intercept``. Fitted attributes are those of
EasyMKLClassifier; a rule solves no problem of its own, so ``objective_`` is None and ``duality_gap_`` that of the
machine.
"""

from __future__ import annotations

from typing import Any

from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from multikernel.banks import KernelBank
from multikernel.estimators._rules import RuleClassifier, RuleRegressor
from multikernel.kernels.base import Array
from multikernel.machines import Machine
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


class AverageMKLRegressor(RuleRegressor):
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

    def _weigh(self, bank: KernelBank, target: Array, machine: Machine) -> Weights:
        return average(bank)


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


class AlignmentMKLRegressor(RuleRegressor):
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

    def _weigh(self, bank: KernelBank, target: Array, machine: Machine) -> Weights:
        return (alignf if self.method == "alignf" else alignment)(bank, target - target.mean())


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
    cv : int, default 5, the number of folds
    random_state : int, RandomState or None, shuffles the folds
    Others : as in the module's head.
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        cv: int = 5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(kernels, alpha=alpha, fit_intercept=fit_intercept)
        self.cv = cv
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_cv(self.cv)

    def _weigh(self, bank: KernelBank, target: Array, machine: Machine) -> Weights:
        if len(target) < 4 or len(bank) == 1:
            return best_kernel(bank, target, machine, [], r2_score)
        folds = KFold(min(self.cv, len(target) // 2), shuffle=True, random_state=self.random_state)
        return best_kernel(bank, target, machine, folds.split(target), r2_score)


def _check_method(method: str) -> None:
    if method not in ("alignf", "align"):
        raise ValueError(f"method must be 'alignf' or 'align', got {method!r}")


def _check_cv(cv: int) -> None:
    if not (isinstance(cv, int) and cv >= 2):
        raise ValueError(f"cv must be a whole number of folds >= 2, got {cv!r}")
