"""Weights in proportion to how well each kernel predicts alone (Tanabe, Ho, Nguyen and Kawasaki 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from multikernel._folds import Fold
from multikernel._parameters import Count, Part, Seed
from multikernel._rules import AnyOf, Choice, Number
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import ClassWeight, CrossValidation, PositiveOrAuto, WithinOneOrAuto
from multikernel.estimators.protocol import Model, Task
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.rules.folds import folds_of_classes, folds_of_numbers
from multikernel.estimators.rules.method import RuleMKL, classifier_rule, regressor_rule, ridge_machine
from multikernel.machines import Machine, RidgeMachine
from multikernel.procedures import Weights, held_out_scores, proportional
from multikernel.procedures.units import kernel_size

CHANCE = Choice(("chance",))
_ACCURACY = Number(least=0, below=1)


class ProportionalModel(Model, Protocol):
    """The parameters that the functions of this file read, in addition to those of every estimator."""

    threshold: float
    cv: Any
    random_state: Any
    fit_intercept: bool


# -- classes -----------------------------------------------------------------------------------------------------------


def _weigh_by_accuracy(model: ProportionalModel, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    if len(bank) > 1:
        folds = list(folds_of_classes(model.cv, model.random_state, task))
    else:
        folds = []
    scores = held_out_scores(bank, task.target, machine, folds, _accuracy, task.sample_weight)
    if CHANCE.accepts(model.threshold):
        threshold = _chance(task, folds)
    else:
        threshold = model.threshold
    return proportional(scores, threshold)


def _trial_weights_of_classes(model: ProportionalModel, bank: KernelBank, task: Task) -> Array:
    return _weigh_by_accuracy(model, bank, task, RidgeMachine(kernel_size(bank))).values[None, :]


def _accuracy(y: Array, values: Array, sample_weight: Array | None = None) -> float:
    """The share of samples whose decision value has the right sign."""
    return float(accuracy_score(y > 0, values >= 0, sample_weight=sample_weight))


def _chance(task: Task, folds: Sequence[Fold]) -> float:
    """The mean accuracy, over the folds, of always predicting the larger class of the training samples."""
    if task.sample_weight is None:
        s = np.ones(len(task.target))
    else:
        s = task.sample_weight
    constant = (np.full(len(test), s[train] @ task.target[train]) for train, test in folds)
    accuracies = [_accuracy(task.target[test], f, s[test]) for f, (_, test) in zip(constant, folds, strict=True)]
    if accuracies:
        return float(np.mean(accuracies))
    return 1.0


@dataclass(eq=False, repr=False, kw_only=True)
class ProportionalMKLClassifier(BinaryClassifier):
    """A classifier on kernels weighted by the accuracy of each of them alone, on held-out samples (PWMK).

    With the accuracy a_k of kernel k, averaged over the folds, its weight is max(a_k - threshold, 0), scaled to sum 1;
    the weights are equal where no kernel is above the threshold. With several classes each binary problem has separate
    weights. Weights of samples count in the losses on the training folds and in the accuracy on the held-out ones.

    Parameters
    ----------
    threshold : float in [0, 1) or "chance", default "chance"
        Accuracy that counts as nothing. "chance" is that of always naming the larger class of a training fold. At 0 the
        weights of informative and uninformative kernels hardly differ.
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

    Notes
    -----
    Where C or lam is "auto", the weights that it is chosen for are those of kernel ridge regression on the labels.

    References
    ----------
    Tanabe, Ho, Nguyen and Kawasaki (2008), Simple but effective methods for combining kernels in computational biology,
    RIVF. Goenen and Alpaydin (2011), Multiple kernel learning algorithms, JMLR 12, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import ProportionalMKLClassifier, kernels
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> model = ProportionalMKLClassifier(kernels.linear_features(), C=1.0, random_state=0).fit(X, X[:, 1] > 0)
    >>> int(model.weights_.argmax()), round(float(model.weights_.sum()), 6)
    (1, 1.0)
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
    threshold: Annotated[Any, AnyOf((_ACCURACY, CHANCE))] = "chance"
    cv: CrossValidation = 5
    random_state: Seed = None

    _method: ClassVar[Method] = replace(
        classifier_rule(_weigh_by_accuracy, _trial_weights_of_classes), holds_samples_out=True
    )


# -- numbers -----------------------------------------------------------------------------------------------------------


def _weigh_by_r2(model: ProportionalModel, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    if len(bank) > 1:
        folds = folds_of_numbers(model.cv, model.random_state, task)
    else:
        folds = ()
    scores = held_out_scores(bank, task.target, machine, folds, r2_score, task.sample_weight)
    return proportional(scores, model.threshold)


def _trial_weights_of_numbers(model: ProportionalModel, bank: KernelBank, task: Task) -> Array:
    machine = RidgeMachine(kernel_size(bank), model.fit_intercept)
    return _weigh_by_r2(model, bank, task, machine).values[None, :]


@dataclass(eq=False, repr=False, kw_only=True)
class ProportionalMKLRegressor(RidgeRegressor):
    """Kernel ridge regression on kernels weighted by the R^2 of each of them alone, on held-out samples.

    The weights are max(R^2_k - threshold, 0), scaled to sum 1; they are equal where no kernel is above the threshold.

    Parameters
    ----------
    threshold : float in [0, 1), default 0.0
        The R^2 that counts as nothing: 0 is that of the mean of the target.
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

    Notes
    -----
    Where alpha is "auto", the weights that it is chosen for are those with alpha the mean self-value of the kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import ProportionalMKLRegressor, kernels
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> model = ProportionalMKLRegressor(kernels.linear_features(), alpha=1.0, random_state=0).fit(X, X[:, 1])
    >>> int(model.weights_.argmax()), round(float(model.weights_.sum()), 6)
    (1, 1.0)
    """

    kernels: Any = field(default=None, kw_only=False)
    alpha: PositiveOrAuto = "auto"
    fit_intercept: bool = True
    approximation: ApproximationName = None
    rank: Rank = 256
    threshold: Annotated[float, _ACCURACY] = 0.0
    cv: CrossValidation = 5
    random_state: Seed = None

    _method: ClassVar[Method] = replace(
        regressor_rule(RuleMKL(_weigh_by_r2, ridge_machine, _trial_weights_of_numbers)), holds_samples_out=True
    )
