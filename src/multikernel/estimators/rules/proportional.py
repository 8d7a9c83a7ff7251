"""Weights in proportion to what each kernel predicts alone (Tanabe, Ho, Nguyen and Kawasaki 2008)."""

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
    """The parameters that these functions read, beside those of every estimator."""

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


def _tried_classes(model: ProportionalModel, bank: KernelBank, task: Task) -> Array:
    return _weigh_by_accuracy(model, bank, task, RidgeMachine(kernel_size(bank))).values[None, :]


def _accuracy(y: Array, values: Array, sample_weight: Array | None = None) -> float:
    """The share of samples whose decision value has the right sign."""
    return float(accuracy_score(y > 0, values >= 0, sample_weight=sample_weight))


def _chance(task: Task, folds: Sequence[Fold]) -> float:
    """The mean accuracy over the folds of naming the larger class of the training samples."""
    if task.sample_weight is None:
        s = np.ones(len(task.target))
    else:
        s = task.sample_weight
    constant = (np.full(len(test), s[train] @ task.target[train]) for train, test in folds)
    found = [_accuracy(task.target[test], f, s[test]) for f, (_, test) in zip(constant, folds, strict=True)]
    return float(np.mean(found)) if found else 1.0


@dataclass(eq=False, repr=False, kw_only=True)
class ProportionalMKLClassifier(BinaryClassifier):
    """A classifier on kernels weighted by the accuracy of each of them alone, on held-out samples (PWMK).

    With the accuracy a_k of kernel k, averaged over the folds, its weight is max(a_k - threshold, 0), scaled to sum 1;
    the weights are equal where no kernel is above the threshold. With several classes each binary problem has weights
    of its own. Weights of samples are those of the losses on the training folds and of the accuracy on the others.

    Parameters
    ----------
    threshold : float in [0, 1) or "chance", default "chance"
        Accuracy that counts as nothing. "chance" is that of always naming the larger class of a training fold. At 0 the
        weights of kernels that know something and of kernels that know nothing hardly differ.
    cv : int, splitter or iterable of (train, test) rows, default 5
        A number of folds means shuffled, stratified ones; fewer where a class has fewer samples.
    random_state : int, RandomState or None
        Shuffles the folds.
    kernels, learner, C, lam, class_weight, multiclass, probability, tol, max_iter, n_jobs, checkpoint, time_budget,
    verbose : as in AverageMKLClassifier
    approximation, rank : as in L1MKLClassifier

    Attributes
    ----------
    As those of AverageMKLClassifier.

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

    _method: ClassVar[Method] = replace(classifier_rule(_weigh_by_accuracy, _tried_classes), own_folds=True)


# -- numbers -----------------------------------------------------------------------------------------------------------


def _weigh_by_r2(model: ProportionalModel, bank: KernelBank, task: Task, machine: Machine) -> Weights:
    if len(bank) > 1:
        folds = folds_of_numbers(model.cv, model.random_state, task)
    else:
        folds = ()
    scores = held_out_scores(bank, task.target, machine, folds, r2_score, task.sample_weight)
    return proportional(scores, model.threshold)


def _tried_numbers(model: ProportionalModel, bank: KernelBank, task: Task) -> Array:
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
        Seconds after which no further fold is looked at.
    kernels, alpha, fit_intercept : as in AverageMKLRegressor
    approximation, rank : as in L1MKLClassifier

    Attributes
    ----------
    As those of AverageMKLRegressor.

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
        regressor_rule(RuleMKL(_weigh_by_r2, ridge_machine, _tried_numbers)), own_folds=True
    )
