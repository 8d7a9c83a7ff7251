"""Regularised least squares with two layers: kernel weights on the simplex, learned with ridge regression."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, cast

from multikernel._parameters import Count, Part, Verbosity
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.low_rank import LowRankBank
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.binding import Binding
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.fit import fit_model
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import ClassWeight, PositiveOrAuto
from multikernel.estimators.posterior import alpha_of
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
from multikernel.estimators.streamed.estimator import LearnsFromSums
from multikernel.estimators.streamed.streaming import SampleTask, Streaming, learned_like_samples
from multikernel.estimators.targets import binary_or_shared_tasks
from multikernel.kernels import KernelFamily, rls2_basis
from multikernel.observer import Observer
from multikernel.procedures.forecast import Cost
from multikernel.procedures.forecast import rls2 as rls2_cost
from multikernel.procedures.rls2 import ScaledWeights, rls2, scaling_factors
from multikernel.statistics import Moments


def _default_kernels(model: ScaledModel) -> KernelFamily:
    return rls2_basis()


def _cost(model: ScaledModel, bank: BankCost, task: Task) -> Cost:
    return rls2_cost(bank, model.tol)


def _learn(
    model: ScaledModel,
    bank: KernelBank,
    task: Task,
    earlier: Fitted | None,
    observe: Observer,
    unlabeled_sums: Array | None = None,
) -> Learned:
    """``unlabeled_sums`` are the sums of the self-values of every kernel over the unlabeled inputs."""
    return rls2(
        bank,
        task.target,
        model.alpha,
        factors(model, bank, task, unlabeled_sums),
        fit_intercept=model.fit_intercept,
        mode=model.mode,
        tol=model.tol,
        max_iter=model.max_iter,
        start=cast(ScaledWeights, earlier.weights) if earlier is not None else None,
        sample_weight=task.sample_weight,
        observe=observe,
    )


# -- from sums over samples --------------------------------------------------------------------------------------------


def _check_sums(model: ScaledModel) -> None:
    if model.scaling not in ("trace", "none"):
        raise ValueError(
            f"{type(model).__name__} learns from sums over the rows, which scaling={model.scaling!r} does not follow "
            "from: use 'trace' or 'none'"
        )


def _learn_sums(
    model: ScaledModel,
    bank: LowRankBank,
    task: Task,
    sums_of_folds: tuple[Moments, ...],
    fit_intercept: bool,
    sample: SampleTask,
    earlier: Fitted | None,
    observe: Observer,
) -> Learned:
    """Learn from sums; the first fit starts at the weights for a sample of the rows."""
    if earlier is None and model.scaling == "trace" and model.mode == "certified":
        sample_bank, sample_task, _ = sample
        learned = rls2(
            sample_bank,
            sample_task.target,
            model.alpha,
            scaling_factors(model.scaling, sample_bank, sample_task.target, None, sample_task.sample_weight),
            tol=model.tol,
            max_iter=model.max_iter,
            sample_weight=sample_task.sample_weight,
        )
        earlier = Fitted(sample_task.rows, *learned)
    return learned_like_samples(model, bank, task, sums_of_folds, fit_intercept, sample, earlier, observe)


# -- the estimators ----------------------------------------------------------------------------------------------------

_METHOD = Method(
    learn=_learn,
    cost=_cost,
    binding=Binding(default_kernels=_default_kernels),
    streaming=Streaming(learn=_learn_sums, check=_check_sums),
    prepare=learner,
    search=SEARCH,
    kernel_weights=scaled_weights,
    ridge=alpha_of,
    sizes=unscaled,
    publish=publish_scaling,
)


def _check_shared(model: ScaledModel) -> None:
    if model.multiclass == "shared" and model.scaling.startswith("fisher"):
        raise ValueError(
            f"RLS2Classifier: scaling={model.scaling!r} is of two classes, and classes that share the weights have "
            "one scaling: use multiclass='ovr', or scaling='trace'"
        )


@dataclass(eq=False, repr=False, kw_only=True)
class RLS2Regressor(ScaledModel, LearnsFromSums, RidgeRegressor):
    """Few kernels of many, their weights learned together with kernel ridge regression (RLS2).

    Solves, with scaled kernels R_k = s_k K_k,

        min over d >= 0, sum d = 1 of (alpha / 2) y'(sum_k d_k R_k + alpha I)^-1 y,

    y less its mean where an intercept is fitted; several targets share the weights, their values add up. ``objective_``
    is that value. It is also the least value, over functions f = sum_k f_k in the spaces of the kernels R_k, of
    (1/2) |y - f(X)|^2 + (alpha / 2) (sum_k |f_k|)^2, a group Lasso with a squared norm: most weights are 0.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default the 13 (p + 1) kernels of the paper, ``kernels.rls2_basis()``. Features should be standardised.
        Kernels are taken as they are; ``kernel.centered()`` centres one in its feature space.
    alpha : float > 0 or "auto", default "auto"
        Scaled kernels have trace 1, so values of interest lie between 1e-6 and 1; ``multikernel.path`` follows them.
        "auto" takes the value of least held-out error, published as ``alpha_``.
    scaling : {"trace", "transductive", "none"}, default "trace"
        s_k = 1 / tr K_k; or one over the sum of the self-values of the training samples and of further ones
        (``unlabeled`` in ``fit``); or 1. A kernel that is zero has factor 0 and weight 0.
    fit_intercept : bool, default True
        Whether the mean of the targets is subtracted first and becomes the intercept.
    mode : {"certified", "paper", "conjugate"}, default "certified"
        Newton steps to a relative duality gap of ``tol``, or the paper's alternation with its stopping rule, which for
        small alpha stops early; ``duality_gap_`` bounds by how much. Where that rule was met no warning says
        that the gap is above ``tol``. "conjugate" is the alternation with linear systems solved
        by conjugate gradients, as in the paper's experiments, here to a residual of 1/100 of the targets: also its
        coefficients are near those of its weights only.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, default 200
        Steps at most.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap. The
        current step is completed first.
    verbose : int, default 0
        1 prints a forecast, and then the certificate and the time left twice a second; 2 after every step.
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto": a number of folds with their share of the target's range, three by default,
        or your own folds. With groups in ``fit`` they hold out whole groups.

    Attributes
    ----------
    alpha_ : float, as given or chosen
    weights_ : array (m,), the d_k, of the scaled kernels; they sum to 1
    scaling_ : array (m,), the s_k
    kernel_names_ : array (m,)
    dual_coef_ : array (n,), or (t, n) for t targets; f(x) = sum_k d_k s_k sum_i dual_coef_i k_k(x_i, x) + intercept_
    intercept_ : float or array (t,)
    objective_ : float
    objective_bound_ : float, a lower bound of the optimum
    duality_gap_ : float, ``objective_ - objective_bound_`` relative to ``objective_`` or to what the kernels explain,
        its distance to the value |y|^2 / 2 without kernels (y less its mean), whichever is smaller
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
    >>> from multikernel import RLS2Regressor
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> model = RLS2Regressor(alpha=1e-3).fit(X, np.sin(2.0 * X[:, 1]))
    >>> bool(model.duality_gap_ < 1e-4), bool(model.score(X, np.sin(2.0 * X[:, 1])) > 0.9)
    (True, True)
    >>> [name.split("(")[0] + name[-6:] for name in model.kernel_names_[model.weights_ > 0]]
    ['Polynomial.on(1)', 'RBF.on(1)']
    """

    kernels: Any = field(default=None, kw_only=False)
    alpha: PositiveOrAuto = "auto"
    scaling: Literal["trace", "transductive", "none"] = "trace"
    fit_intercept: bool = True
    mode: Literal["certified", "paper", "conjugate"] = "certified"
    tol: Part = 1e-4
    max_iter: Count = 200
    verbose: Verbosity = 0
    approximation: ApproximationName = None
    rank: Rank = 256

    _method: ClassVar[Method] = replace(_METHOD, several_targets=True)

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, unlabeled: Any = None, groups: Any = None
    ) -> Self:
        """Learn the kernel weights and the regression function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these; or a source of ``multikernel.streams``, which holds the target
        y : real targets of shape (n,), or (n, t) for targets that share the weights
        sample_weight : array (n,) >= 0, what the squared loss of each sample is multiplied with
        unlabeled : further inputs for scaling="transductive", of shape (n_u, p); beside a bank or precomputed kernels
            their self-values k_k(x, x), of shape (m, n_u)
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return fit_model(self, X, y, sample_weight, groups, unlabeled=unlabeled)


@dataclass(eq=False, repr=False, kw_only=True)
class RLS2Classifier(ScaledModel, LearnsFromSums, BinaryClassifier):
    """Few kernels of many, their weights learned together with kernel ridge regression on labels -1 and +1.

    Solves the problem of RLS2Regressor for every binary problem, each with separate weights, or for all classes with
    the same weights.

    Parameters
    ----------
    scaling : {"trace", "transductive", "fisher", "fisher_root", "none"}, default "trace"
        "fisher": one over the sum of the variances of the two classes in the kernel's feature space; "fisher_root": the
        root of that, with the variances of samples.
    multiclass : {"ovr", "ovo", "shared"}, default "ovr"
        One problem for each class or for each pair, each with separate weights; or one problem of all classes, with a
        column of labels for each, in which classes share the weights as several targets do. With many classes this is
        much faster.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of the squared losses of the samples of each class, as in scikit-learn.
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
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default the 13 (p + 1) kernels of the paper, ``kernels.rls2_basis()``. Features should be standardised.
        Kernels are taken as they are; ``kernel.centered()`` centres one in its feature space.
    alpha : float > 0 or "auto", default "auto"
        Scaled kernels have trace 1, so values of interest lie between 1e-6 and 1; ``multikernel.path`` follows them.
        "auto" takes the value of least held-out error, published as ``alpha_``.
    fit_intercept : bool, default True
        Whether the mean of the targets is subtracted first and becomes the intercept.
    mode : {"certified", "paper", "conjugate"}, default "certified"
        Newton steps to a relative duality gap of ``tol``, or the paper's alternation with its stopping rule, which for
        small alpha stops early; ``duality_gap_`` bounds by how much. Where that rule was met no warning says
        that the gap is above ``tol``. "conjugate" is the alternation with linear systems solved
        by conjugate gradients, as in the paper's experiments, here to a residual of 1/100 of the targets: also its
        coefficients are near those of its weights only.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, default 200
        Steps at most.
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto", and those that probabilities are calibrated on: a number of folds with their
        share of each class, three and five by default, or your own folds. With groups in ``fit`` they hold out whole
        groups.

    Attributes
    ----------
    weights_, scaling_ : arrays (m,), or (problems, m) with more than two classes that do not share them
    classes_ : array
    The others are those of RLS2Regressor, with a row for each problem.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from multikernel import RLS2Classifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = scale(X)[::4], y[::4]
    >>> model = RLS2Classifier(alpha=0.01).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(model.duality_gap_ < 1e-4), int((model.weights_ > 0).sum()) < 30
    (True, True, True)
    """

    kernels: Any = field(default=None, kw_only=False)
    alpha: PositiveOrAuto = "auto"
    scaling: Literal["trace", "transductive", "fisher", "fisher_root", "none"] = "trace"
    fit_intercept: bool = True
    mode: Literal["certified", "paper", "conjugate"] = "certified"
    multiclass: Literal["ovr", "ovo", "shared"] = "ovr"  # type: ignore[assignment]  # one value more
    class_weight: ClassWeight = None
    tol: Part = 1e-4
    max_iter: Count = 200
    approximation: ApproximationName = None
    rank: Rank = 256

    _method: ClassVar[Method] = replace(_METHOD, tasks=binary_or_shared_tasks, squared_losses=True, check=_check_shared)

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, unlabeled: Any = None, groups: Any = None
    ) -> Self:
        """Learn the kernel weights and the classifier.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these; or a source of ``multikernel.streams``, which holds the target
        y : labels of shape (n,)
        sample_weight : array (n,) >= 0, what the squared loss of each sample is multiplied with
        unlabeled : further inputs for scaling="transductive", of shape (n_u, p); beside a bank or precomputed kernels
            their self-values k_k(x, x), of shape (m, n_u)
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return fit_model(self, X, y, sample_weight, groups, unlabeled=unlabeled)
