"""Baselines: the average of the kernels, and the single kernel that is best by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from multikernel._parameters import Count, Part, Seed
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method, scale_free
from multikernel.estimators.parameters import ClassWeight, CrossValidation, PositiveOrAuto, WithinOneOrAuto
from multikernel.estimators.protocol import Model, Task
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.rules.folds import folds_of_classes, folds_of_numbers
from multikernel.estimators.rules.method import (
    AlphaFreeRegressor,
    RuleMKL,
    classifier_rule,
    learner_cost,
    regressor_rule,
    ridge_cost,
    ridge_machine,
)
from multikernel.estimators.streamed.estimator import LearnsFromSums
from multikernel.estimators.streamed.streaming import Streaming
from multikernel.machines import Machine
from multikernel.procedures import Weights, average, best_kernel


class BaselineModel(Model, Protocol):
    """The parameters that the functions of this file read, in addition to those of every estimator."""

    cv: Any
    random_state: Any
    fit_intercept: bool


def _equal_weights(model: BaselineModel, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    return average(bank)


@dataclass(eq=False, repr=False, kw_only=True)
class AverageMKLClassifier(BinaryClassifier):
    """A classifier on the average of the kernels: every weight is 1 / m.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default ``kernels.homogeneous_polynomials(10)``.
    learner : {"svc", "margin"}, default "svc"
        The classifier on the weighted kernel: a support vector machine, or the margin machine of EasyMKL.
    C : float > 0 or "auto", default "auto"
        Loss weight of "svc"; "auto" takes the value of least held-out error, published as ``C_``.
    lam : float in [0, 1] or "auto", default 0.1
        The parameter of "margin": 0 is the hard margin, 1 the distance of the class means. "auto" takes the value of
        least held-out error, published as ``lam_``.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of C for the samples of each class, as in scikit-learn. "margin" takes no weights: its problem is over a
        distribution on each class, which no weight of a sample changes.
    multiclass : {"ovr", "ovo"}, default "ovr"
        One problem for each class or for each pair; all problems share one bank.
    probability : {None, "platt", "isotonic"}, default None
        How decision values become the probabilities of ``predict_proba``: by a sigmoid of the decision value (Platt),
        or by any function of it that does not decrease, which needs many samples. They are calibrated on held-out
        fifths of the training samples, by models that start from the one on all samples and stop at a gap of 5e-2.
    tol : float, default 1e-6
        Relative duality gap at which the learner stops.
    max_iter : int, default 1_000_000
        Steps of the learner at most.
    n_jobs : int or None, default None
        Threads over the binary problems.
    checkpoint : str, path or None, default None
        A directory where solved binary problems are saved: after a fit was killed, the same fit resumes from them.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap. The
        current step is completed first.
    verbose : int, default 0
        1 prints a forecast; a rule takes no steps that could be reported.
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
    weights_ : array (m,), or (problems, m) with more than two classes
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (problems,)
    classes_ : array
    C_ or lam_ : float, as given or chosen, of the learner that is used
    objective_ : None, because a rule minimises no objective; an array of these with several problems
    duality_gap_ : float, the largest relative gap of the learner over the problems
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` is that value
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gaps along the way of each problem

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import AverageMKLClassifier, kernels
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AverageMKLClassifier(kernels.rbf_grid([0.1, 1.0])).fit(X, y)
    >>> model.weights_.shape, bool(model.score(X, y) > 0.95)
    ((3, 2), True)
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

    _method: ClassVar[Method] = replace(classifier_rule(_equal_weights), cost=learner_cost)


@dataclass(eq=False, repr=False, kw_only=True)
class AverageMKLRegressor(LearnsFromSums, AlphaFreeRegressor):
    """Kernel ridge regression on the average of the kernels: every weight is 1 / m.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features, normalised.
    alpha : float > 0 or "auto", default "auto"
        The ridge, which is added to the diagonal of the kernel; "auto" takes the value of least held-out error,
        published as ``alpha_``.
    fit_intercept : bool, default True
        Whether the mean of the targets is subtracted first and becomes the intercept.
    time_budget : float > 0 or None, default None
        Not used: a fit solves one linear system, and reads every kernel once.
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
    weights_ : array (m,), shared by the targets where y has shape (n, t)
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (t, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (t,)
    alpha_ : float, as given or chosen
    objective_ : None, because a rule minimises no objective
    duality_gap_ : float, the relative gap of the ridge machine
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` is that value
    converged_ : bool, whether the linear system was solved
    n_iter_ : int
    history_ : list, of one entry

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from multikernel import AverageMKLRegressor, kernels
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AverageMKLRegressor(kernels.rbf_grid([0.1, 1.0, 10.0]), alpha=0.1).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    kernels: Any = field(default=None, kw_only=False)
    alpha: PositiveOrAuto = "auto"
    fit_intercept: bool = True
    approximation: ApproximationName = None
    rank: Rank = 256

    _rule: ClassVar[RuleMKL] = RuleMKL(_equal_weights, ridge_machine, follows_target=False)
    _method: ClassVar[Method] = replace(regressor_rule(_rule), cost=ridge_cost, streaming=Streaming())


def _best_auc(model: BaselineModel, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    if len(bank) > 1:
        folds = folds_of_classes(model.cv, model.random_state, task)
    else:
        folds = ()
    return best_kernel(bank, task.target, machine, folds, roc_auc_score, task.sample_weight)


def _best_r2(model: BaselineModel, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    if len(bank) > 1:
        folds = folds_of_numbers(model.cv, model.random_state, task)
    else:
        folds = ()
    return best_kernel(bank, task.target, machine, folds, r2_score, task.sample_weight)


def _single_kernels(model: BaselineModel, bank: KernelBank, task: Task) -> Array:
    return np.eye(len(bank))


def _choosing_kernels(method: Method) -> Method:
    """The method for rules that compare single kernels: sizes do not matter, and kernels are read many times."""
    return replace(method, sizes=scale_free, reads_kernels_few_times=False, holds_samples_out=True)


@dataclass(eq=False, repr=False, kw_only=True)
class BestKernelClassifier(BinaryClassifier):
    """A classifier on the single kernel of the best cross-validated area under the curve.

    With several classes, a kernel is chosen for each binary problem. Weights of samples count in the losses on the
    training folds and in the area on the held-out ones.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test) rows, default 5
        A number of folds means shuffled, stratified ones; fewer where a class has fewer samples.
    random_state : int, RandomState or None
        Shuffles the folds.
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default ``kernels.homogeneous_polynomials(10)``.
    learner : {"svc", "margin"}, default "svc"
        The classifier on the weighted kernel: a support vector machine, or the margin machine of EasyMKL.
    C : float > 0 or "auto", default "auto"
        Loss weight of "svc"; "auto" takes the value of least held-out error, published as ``C_``.
    lam : float in [0, 1] or "auto", default 0.1
        The parameter of "margin": 0 is the hard margin, 1 the distance of the class means. "auto" takes the value of
        least held-out error, published as ``lam_``.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of C for the samples of each class, as in scikit-learn. "margin" takes no weights: its problem is over a
        distribution on each class, which no weight of a sample changes.
    multiclass : {"ovr", "ovo"}, default "ovr"
        One problem for each class or for each pair; all problems share one bank.
    probability : {None, "platt", "isotonic"}, default None
        How decision values become the probabilities of ``predict_proba``: by a sigmoid of the decision value (Platt),
        or by any function of it that does not decrease, which needs many samples. They are calibrated on held-out
        fifths of the training samples, by models that start from the one on all samples and stop at a gap of 5e-2.
    tol : float, default 1e-6
        Relative duality gap at which the learner stops.
    max_iter : int, default 1_000_000
        Steps of the learner at most.
    n_jobs : int or None, default None
        Threads over the binary problems.
    checkpoint : str, path or None, default None
        A directory where solved binary problems are saved: after a fit was killed, the same fit resumes from them.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap. The
        current step is completed first.
    verbose : int, default 0
        1 prints a forecast; a rule takes no steps that could be reported.
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.

    Attributes
    ----------
    weights_ : array (m,), or (problems, m) with more than two classes
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (problems,)
    classes_ : array
    C_ or lam_ : float, as given or chosen, of the learner that is used
    objective_ : None, because a rule minimises no objective; an array of these with several problems
    duality_gap_ : float, the largest relative gap of the learner over the problems
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` is that value
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gaps along the way of each problem
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

    _method: ClassVar[Method] = _choosing_kernels(classifier_rule(_best_auc, _single_kernels))


@dataclass(eq=False, repr=False, kw_only=True)
class BestKernelRegressor(RidgeRegressor):
    """Kernel ridge regression on the single kernel of the best cross-validated R^2.

    Weights of samples count in the losses on the training folds and in R^2 on the held-out ones.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test) rows, default 5
        A number of folds means shuffled ones.
    random_state : int, RandomState or None
        Shuffles the folds.
    time_budget : float > 0 or None, default None
        Seconds after which no further fold is evaluated.
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features, normalised.
    alpha : float > 0 or "auto", default "auto"
        The ridge, which is added to the diagonal of the kernel; "auto" takes the value of least held-out error,
        published as ``alpha_``.
    fit_intercept : bool, default True
        Whether the mean of the targets is subtracted first and becomes the intercept.
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.

    Attributes
    ----------
    weights_ : array (m,), shared by the targets where y has shape (n, t)
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (t, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (t,)
    alpha_ : float, as given or chosen
    objective_ : None, because a rule minimises no objective
    duality_gap_ : float, the relative gap of the ridge machine
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` is that value
    converged_ : bool, whether the linear system was solved
    n_iter_ : int
    history_ : list, of one entry
    """

    kernels: Any = field(default=None, kw_only=False)
    alpha: PositiveOrAuto = "auto"
    fit_intercept: bool = True
    approximation: ApproximationName = None
    rank: Rank = 256
    cv: CrossValidation = 5
    random_state: Seed = None

    _method: ClassVar[Method] = _choosing_kernels(regressor_rule(RuleMKL(_best_r2, ridge_machine, _single_kernels)))
