"""RLS2 with one linear kernel for each feature: sparse linear models, along the path of the Lasso."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from multikernel._parameters import Count, Part, Verbosity
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.factor import FactorBank
from multikernel.banks.mapped import MappedBank
from multikernel.estimators.binding import Binder, Binding, bound_given
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.fit import fit_model
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import ClassWeight, PositiveOrAuto
from multikernel.estimators.posterior import FeaturePosterior, Posterior, alpha_of, ridge_problem
from multikernel.estimators.predictor import Predictor
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.rls2.scaled import (
    SEARCH,
    ScaledModel,
    factors,
    learner,
    publish_scaling,
    scaled_weights,
    unscaled,
)
from multikernel.estimators.samples import family_of, features_of
from multikernel.estimators.targets import binary_tasks
from multikernel.kernels import KernelFamily, linear_features
from multikernel.kernels.samples import dense
from multikernel.observer import Observer
from multikernel.procedures.rls2 import LinearWeights, linear_rls2


@dataclass(frozen=True, eq=False)
class LinearPredictor(Predictor):
    """f(x) = x'a + intercept for every problem; a bank of features holds the samples themselves.

    Parameters
    ----------
    reference : bank of the features without rows
    support : int array (0,), since no training sample is needed
    n_train : int
    coef : array (problems, p)
    intercept : array (problems,)
    """

    reference: KernelBank
    support: Array
    n_train: int
    coef: Array
    intercept: Array

    @property
    def n_kernels(self) -> int:
        """How many features a bank of new samples has."""
        return self.coef.shape[1]

    def values(self, bank: KernelBank) -> Array:
        return cast(FactorBank, bank).F @ self.coef.T + self.intercept

    def contributions(self, bank: KernelBank, problems: slice = slice(None)) -> Array:
        return dense(cast(FactorBank, bank).F)[:, :, None] * self.coef[problems].T


# -- the bank holds the features themselves ----------------------------------------------------------------------------


def _default_kernels(model: ScaledModel) -> KernelFamily:
    return linear_features()


def _of_given(model: ScaledModel, X: Any, binder: Binder) -> KernelBank:
    bank = bound_given(model, X, binder)
    inner = bank.bank if isinstance(bank, MappedBank) else bank  # of a data frame
    if not (isinstance(inner, FactorBank) and (inner.sizes == 1).all()):
        raise ValueError(
            f"{type(model).__name__}: a bank in place of X must hold the features themselves, as that of "
            "kernels.linear_features() does for fewer features than samples: pass X itself, as one table"
        )
    return inner


def _of_samples(model: ScaledModel, X: Any, weight: Array | None, binder: Binder) -> KernelBank:
    """The bank of the features themselves, also where there are more features than samples."""
    p = X.shape[1]
    model.kernel_names_ = np.array(family_of(model).resolve(features_of(model, X)).names, dtype=object)
    F = X.astype(np.float64, copy=False)
    return FactorBank(F, F, np.ones(p, dtype=np.intp), np.arange(p))


def _against(model: ScaledModel, Z: Any) -> KernelBank:
    F = Z.astype(np.float64, copy=False)
    return FactorBank(F, F, np.ones(Z.shape[1], dtype=np.intp), np.arange(Z.shape[1]))


def _gram(model: ScaledModel, bank: KernelBank) -> Array:
    weights = np.atleast_2d(model.weights_ * model.scaling_)
    return bank.combine(weights.mean(axis=0)).dense()


# -- learning ----------------------------------------------------------------------------------------------------------


def _learn(
    model: ScaledModel,
    bank: KernelBank,
    task: Task,
    earlier: Fitted | None,
    observe: Observer,
    unlabeled_sums: Array | None = None,
) -> Learned:
    """``unlabeled_sums`` are the sums of the self-values of every kernel over the unlabeled inputs."""
    return linear_rls2(
        cast(FactorBank, bank).F,
        task.target,
        model.alpha,
        factors(model, bank, task, unlabeled_sums),
        fit_intercept=model.fit_intercept,
        tol=model.tol,
        max_iter=model.max_iter,
        start=cast(LinearWeights, earlier.weights).scaled_coef if earlier is not None else None,
        sample_weight=task.sample_weight,
        observe=observe,
    )


def _publish(model: ScaledModel, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    """Set the predictor, which has the coefficients of the features and keeps no training sample."""
    publish_scaling(model, bank, fitted, single)
    coef = np.stack([cast(Array, cast(LinearWeights, f.weights).coef) for f in fitted])
    model.coef_ = coef[0] if single else coef
    no_rows = np.empty(0, dtype=np.intp)
    model.predictor_ = LinearPredictor(
        bank.reference(no_rows), no_rows, bank.shape[1], coef, np.atleast_1d(model.intercept_)
    )


def _posterior(model: ScaledModel, bank: KernelBank, fitted: Sequence[Fitted]) -> Posterior:
    """The posterior of the features with a positive weight."""
    weights = [scaled_weights(model, f) for f in fitted]
    features = tuple(np.flatnonzero(row) for row in weights)
    roots = tuple(np.sqrt(row[columns]) for row, columns in zip(weights, features, strict=True))
    problems = tuple(ridge_problem(model, f) for f in fitted)
    return FeaturePosterior(problems, model.fit_intercept, bank.shape[0], features, roots, cast(FactorBank, bank).F)


_METHOD = Method(
    learn=_learn,
    binding=Binding(
        default_kernels=_default_kernels,
        of_samples=_of_samples,
        of_given=_of_given,
        against=_against,
        foreign_arrays=False,
    ),
    gram=_gram,
    publish=_publish,
    posterior=_posterior,
    prepare=learner,
    search=SEARCH,
    kernel_weights=scaled_weights,
    ridge=alpha_of,
    sizes=unscaled,
)


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRLS2Regressor(ScaledModel, RidgeRegressor):
    """A sparse linear model: RLS2 with one kernel s_j x_j x_j' for each feature, exactly.

    Solves min over d >= 0, sum d = 1 of (alpha / 2) y'(sum_j d_j s_j x_j x_j' + alpha I)^-1 y, y less its mean where an
    intercept is fitted. That is the Lasso with a squared norm,

        min over a of (1/2) |y - X a|^2 + (alpha / 2) (sum_j |a_j| / sqrt(s_j))^2,

    d_j being in proportion to |a_j| / sqrt(s_j), and its solutions are those of the Lasso, alpha by alpha at another
    penalty. Features enter and leave an active set until the optimality conditions hold to rounding; no n x n matrix is
    formed, and sparse X stays sparse.

    Parameters
    ----------
    alpha : float > 0 or "auto", default "auto"
        With scaling="norm", values of interest lie between 1e-4 and 1; ``multikernel.path`` follows them. "auto" takes
        the value of least held-out error, published as ``alpha_``.
    scaling : {"norm", "transductive", "none"}, default "norm"
        s_j = 1 / |x_j|^2 over the training samples, or with "transductive" over these and further inputs, given to
        ``fit`` as ``unlabeled``; or 1. A feature that is zero has factor 0 and coefficient 0.
        Columns are not centred: standardise X before where its features have means.
    fit_intercept : bool, default True
        Whether the mean of the target is subtracted first and becomes the intercept.
    tol : float, default 1e-4
        The relative duality gap that counts as converged; the gap that is reached is far smaller.
    max_iter : int, default 10000
        The most passes over all features; after each of them, up to 32 features enter the active set.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap. The
        current step is completed first.
    verbose : int, default 0
        1 prints a forecast, and then the certificate and the time left twice a second; 2 after every step.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto": a number of folds with their share of the target's range, three by default,
        or your own folds. With groups in ``fit`` they hold out whole groups.

    Attributes
    ----------
    alpha_ : float, as given or chosen
    coef_ : array (p,), a; f(x) = x'a + intercept_
    intercept_ : float
    degrees_of_freedom_ : float, tr K (K + alpha I)^-1 for the kernel K = sum_j d_j s_j x_j x_j'
    weights_ : array (p,), the d_j; they sum to 1
    scaling_ : array (p,), the s_j
    kernel_names_ : array (p,)
    dual_coef_ : array (n,), (y - mean - X a) / alpha
    objective_ : float
    objective_bound_ : float, a lower bound of the optimum
    duality_gap_ : float, an upper bound of how far ``objective_`` is above the optimum, relative to it
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gap along the way

    References
    ----------
    Dinuzzo (2010), Kernel machines with two layers and multiple kernel learning, arXiv:1001.2709.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import LinearRLS2Regressor
    >>> X = np.random.default_rng(0).normal(size=(50, 200))
    >>> model = LinearRLS2Regressor(alpha=0.01).fit(X, 3.0 * X[:, 7] - 2.0 * X[:, 11])
    >>> np.flatnonzero(abs(model.coef_) > 0.5)
    array([ 7, 11])
    >>> bool(model.duality_gap_ < 1e-10)
    True
    """

    kernels = None
    alpha: PositiveOrAuto = "auto"
    scaling: Literal["norm", "transductive", "none"] = "norm"
    fit_intercept: bool = True
    tol: Part = 1e-4
    max_iter: Count = 10_000
    verbose: Verbosity = 0

    _method: ClassVar[Method] = _METHOD

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, unlabeled: Any = None, groups: Any = None
    ) -> Self:
        """Learn the weights of the features and the regression function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p)
        y : real targets of shape (n,)
        sample_weight : array (n,) >= 0, what the squared loss of each sample is multiplied with
        unlabeled : further inputs for scaling="transductive", of shape (n_u, p)
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return fit_model(self, X, y, sample_weight, groups, unlabeled=unlabeled)


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRLS2Classifier(ScaledModel, BinaryClassifier):
    """A sparse linear classifier: LinearRLS2Regressor on labels -1 and +1, for every binary problem.

    Parameters
    ----------
    scaling : {"norm", "transductive", "fisher", "fisher_root", "none"}, default "norm"
        "fisher": s_j is one over the sum of the variances of feature j in the two classes; "fisher_root": the root of
        that, with the variances of samples.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of the squared losses of the samples of each class, as in scikit-learn.
    multiclass : {"ovr", "ovo"}, default "ovr"
        One problem for each class or for each pair; all problems share one bank, and each learns separate weights.
    probability : {None, "platt", "isotonic"}, default None
        How decision values become the probabilities of ``predict_proba``: by a sigmoid of the decision value (Platt),
        or by any function of it that does not decrease, which needs many samples. They are calibrated on held-out
        fifths of the training samples, by models that start from the one on all samples and stop at a gap of 5e-2.
    n_jobs : int or None, default None
        Threads over the binary problems.
    checkpoint : str, path or None, default None
        A directory where solved binary problems are saved: after a fit was killed, the same fit resumes from them.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap, and
        one that says which candidates were not compared for a parameter that is "auto". The current step is completed
        first.
    verbose : int, default 0
        1 prints a forecast, and then the gap and the time left twice a second; 2 after every step.
    alpha : float > 0 or "auto", default "auto"
        With scaling="norm", values of interest lie between 1e-4 and 1; ``multikernel.path`` follows them. "auto" takes
        the value of least held-out error, published as ``alpha_``.
    fit_intercept : bool, default True
        Whether the mean of the target is subtracted first and becomes the intercept.
    tol : float, default 1e-4
        The relative duality gap that counts as converged; the gap that is reached is far smaller.
    max_iter : int, default 10000
        The most passes over all features; after each of them, up to 32 features enter the active set.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto", and those that probabilities are calibrated on: a number of folds with their
        share of each class, three and five by default, or your own folds. With groups in ``fit`` they hold out whole
        groups.

    Attributes
    ----------
    coef_, weights_, scaling_ : arrays (p,), or (problems, p) with more than two classes
    classes_ : array
    The others are those of LinearRLS2Regressor, with a row or a number for each problem.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from multikernel import LinearRLS2Classifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearRLS2Classifier(alpha=0.1).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.93), int((model.coef_ != 0).sum()) < 20
    (True, True)
    """

    kernels = None
    alpha: PositiveOrAuto = "auto"
    scaling: Literal["norm", "transductive", "fisher", "fisher_root", "none"] = "norm"
    fit_intercept: bool = True
    class_weight: ClassWeight = None
    tol: Part = 1e-4
    max_iter: Count = 10_000

    _method: ClassVar[Method] = replace(_METHOD, tasks=binary_tasks, squared_losses=True)

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, unlabeled: Any = None, groups: Any = None
    ) -> Self:
        """Learn the weights of the features and the classifier.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p)
        y : labels of shape (n,)
        sample_weight : array (n,) >= 0, what the squared loss of each sample is multiplied with
        unlabeled : further inputs for scaling="transductive", of shape (n_u, p)
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return fit_model(self, X, y, sample_weight, groups, unlabeled=unlabeled)
