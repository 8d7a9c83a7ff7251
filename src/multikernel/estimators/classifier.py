"""The base classes of classifiers: labels become problems on one bank, and scores become labels and probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, Protocol, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from multikernel._arrays import host, returned
from multikernel._parameters import Directory, Threads, Verbosity
from multikernel._typing import Array
from multikernel.estimators.advice import advise_on_lengths
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import Binding, Training, bind_training
from multikernel.estimators.calibration import Calibration
from multikernel.estimators.fit import fit_model
from multikernel.estimators.multiclass import probabilities
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.protocol import Model
from multikernel.estimators.targets import predicted_labels, scores_of
from multikernel.kernels import KernelFamily, homogeneous_polynomials
from multikernel.machines import HingeMachine, Machine, MarginMachine
from multikernel.sources.rows import aligned


def polynomials_of_degrees_0_to_10(model: Model) -> KernelFamily:
    """The default kernels: the normalised homogeneous polynomials of degrees 0 to 10."""
    return homogeneous_polynomials(10)


def _has_probability(model: Model) -> bool:
    if model.probability is None and not model._method.log_odds(model):
        raise AttributeError(
            f"{type(model).__name__} has probabilities where it was fitted with probability='platt' or 'isotonic'"
        )
    return True


@dataclass(eq=False, repr=False, kw_only=True)
class KernelClassifier(ClassifierMixin, KernelEstimator):  # type: ignore[misc]
    """A classifier, whose ``Method`` says which problems follow from the labels and how a problem is solved."""

    probability: Calibration | None = None
    cv: CrossValidation | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learn the kernel weights and the classifier.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these; or a source of ``multikernel.streams``, which holds the target
        y : labels of shape (n,)
        sample_weight : array (n,) >= 0, what the loss of each sample is multiplied with
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return fit_model(self, X, y, sample_weight, groups)

    def _bind(self, X: Any, y: Any, sample_weight: Any = None, sketch: bool = False) -> Training:
        training = bind_training(self, X, y, sample_weight, sketch)
        if self.kernels is None:
            self._method.binding.advise(self, host(self._samples_bound), training.target)
        return training

    def decision_function(self, X: Any) -> Array:
        """Scores: shape (len(X),) for two classes, larger for the second; else (len(X), n_classes); an array like X.

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        """
        return returned(scores_of(self, self._values(X)), X)

    def predict(self, X: Any) -> Array:
        """The predicted labels, shape (len(X),), for X as in ``decision_function``."""
        scores = scores_of(self, self._values(X))
        return returned(predicted_labels(self.classes_, scores), X)

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, shape (len(X), n_classes), in the order of ``classes_``.

        Decision values of held-out training samples show how often a class occurs at such a value; those of logistic
        losses are the logarithms of odds. The class of the highest probability may differ from the one predicted, which
        follows the decision values.

        Parameters
        ----------
        X : as in ``decision_function``
        """
        check_is_fitted(self, "calibrators_")
        values = self._values(X)
        columns = [calibrated(column) for calibrated, column in zip(self.calibrators_, values.T, strict=True)]
        scheme = getattr(self, "multiclass", "ovr")
        return returned(probabilities(np.column_stack(columns), len(self.classes_), scheme), X)

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of ``predict_proba`` for X; minus infinity where a class is impossible."""
        with np.errstate(divide="ignore"):
            return returned(np.log(host(self.predict_proba(X))), X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of samples X whose predicted label is that of y, as scikit-learn's classifiers define it.

        Parameters
        ----------
        X, y : as in ``fit``
        sample_weight : array (len(X),)
        """
        y, sample_weight = aligned(X, y=y, sample_weight=sample_weight)
        return float(super().score(host(X), host(y), host(sample_weight)))

    def problem_names(self) -> list[str]:
        names = [str(label) for label in self.classes_]
        count = len(np.atleast_2d(self.weights_))
        if len(names) == 2 or count == 1:
            if len(names) == 2:
                return names[-1:]
            return ["all classes"]
        if getattr(self, "multiclass", "ovr") == "ovr":
            return names
        return [f"{a} or {b}" for a, b in combinations(names, 2)]


def advise_on_directions(model: Model, X: Any, labels: Array) -> None:
    """Warn where the lengths of samples separate the classes: normalised homogeneous polynomials ignore lengths."""
    advise_on_lengths(type(model).__name__, X, labels)


HOMOGENEOUS_POLYNOMIALS = Binding(default_kernels=polynomials_of_degrees_0_to_10, advise=advise_on_directions)


@dataclass(eq=False, repr=False, kw_only=True)
class BinaryClassifier(KernelClassifier):
    """The parameters of a classifier whose labels become binary problems."""

    multiclass: Literal["ovr", "ovo"] = "ovr"
    n_jobs: Threads = None
    checkpoint: Directory = None
    verbose: Verbosity = 0


class LearnerModel(Model, Protocol):
    """A classifier with the parameter ``learner``."""

    learner: str
    lam: float
    C: float
    max_iter: int


def classification_machine(model: LearnerModel) -> Machine:
    """The machine that the parameter ``learner`` names, for the learned kernel."""
    if model.learner == "margin":
        return MarginMachine(model.lam, model.tol, model.max_iter)
    return HingeMachine(C=model.C, tol=model.tol, max_iter=model.max_iter)
