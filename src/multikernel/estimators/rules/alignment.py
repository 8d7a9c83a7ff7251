"""Kernels weighted by their centred alignment with the target (Cortes, Mohri and Rostamizadeh 2012)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol

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
from multikernel.machines.ridge.centred import CentredTargets
from multikernel.procedures import Weights, alignf, alignment

_METHODS = {"alignf": alignf, "align": alignment}


class AlignmentModel(Model, Protocol):
    """The parameters that the functions of this file read, in addition to those of every estimator."""

    method: str


def _weigh_for_labels(model: AlignmentModel, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    return _METHODS[model.method](bank, task.target, task.sample_weight)


def _weigh_for_numbers(model: AlignmentModel, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    targets = CentredTargets.of(task.target, True, task.sample_weight)
    return _METHODS[model.method](bank, targets.target, task.sample_weight)


def _sizes(model: AlignmentModel, bank: KernelBank) -> KernelBank | None:
    """The bank for "align", where the sizes of kernels matter; the mix of largest alignment does not depend on them."""
    if model.method == "align":
        return bank
    return None


@dataclass(eq=False, repr=False, kw_only=True)
class AlignmentMKLClassifier(BinaryClassifier):
    """A classifier on kernels weighted by their centred alignment with the labels.

    Weights of samples, and of classes, count in the alignment as in the losses: weight two is a sample that is there
    twice.

    Parameters
    ----------
    method : {"alignf", "align"}, default "alignf"
        "alignf": the non-negative mix of largest alignment; "align": each weight proportional to its own alignment.
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
