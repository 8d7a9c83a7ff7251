"""Labels become numbers to learn, and scores become labels again."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from multikernel._arrays import host, returned
from multikernel._folds import Resampling
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.views import check_samples_rows
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.calibration import Calibration, Calibrator, calibrator
from multikernel.estimators.held_out import held_out_values
from multikernel.estimators.multiclass import probabilities
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.protocol import Fitted, Learner
from multikernel.persistence.checkpoint import Checkpoint


def _tells_probabilities(model: Any) -> bool:
    if model.probability is None:
        raise AttributeError(
            f"{type(model).__name__} tells probabilities where it was fitted with probability='platt' or 'isotonic'"
        )
    return True


_LABELS = "biuUS"  # kinds of arrays whose values are labels for sure: whole numbers, strings


@dataclass(eq=False, repr=False, kw_only=True)
class LabelsEstimator(ClassifierMixin, KernelEstimator):  # type: ignore[misc]
    """A classifier; subclasses say which problems its labels are."""

    probability: Calibration | None = None
    cv: CrossValidation | None = None

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:
        """Learn the kernel and the classifier.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these; or a source of ``multikernel.streams``, which holds the target
        y : labels of shape (n,)
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return self._fit(X, y, groups=groups)

    def _numbered(self, target: Array) -> Array:
        """The labels as positions in ``classes_``, which is set; ValueError for fewer than two classes."""
        if target.dtype.kind not in _LABELS or target.ndim > 1:  # the check costs more than a small problem
            check_classification_targets(target)
        classes, labels = np.unique(target, return_inverse=True)
        self.classes_: Array = classes
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, got one class: {self.classes_[0]}"
            )
        return labels

    # -- probabilities -------------------------------------------------------------------------------------------------

    def _complete(
        self,
        bank: KernelBank,
        target: Array,
        fitted: list[Fitted],
        sample_weight: Array | None,
        learn: Learner,
        checkpoint: Checkpoint,
        resampling: Resampling,
    ) -> None:
        """With ``probability``, calibrate the decision values on held-out samples."""
        self.__dict__.pop("calibrators_", None)  # of an earlier fit
        if self.probability is not None:
            values = checkpoint.part(
                "held-out values", lambda: held_out_values(self, bank, target, fitted, sample_weight, learn, resampling)
            )
            weight = np.ones(len(target)) if sample_weight is None else sample_weight
            self.calibrators_: tuple[Calibrator, ...] = self._calibrated(values, target, weight)

    def _calibrated(self, values: Array, target: Array, weight: Array) -> tuple[Calibrator, ...]:
        """A calibrator for every binary problem, of the values (n, problems) of those samples that were held out."""
        tasks = self._tasks(target, None)
        problems = [(task.rows, signs) for task in tasks for signs in as_columns(task.target).T]
        kind, found = cast(Calibration, self.probability), []
        for own, (rows, signs) in zip(values.T, problems, strict=True):
            known = ~np.isnan(own[rows])
            held = rows[known]
            found.append(calibrator(kind, own[held], signs[known] > 0, weight[held]))
        return tuple(found)

    @available_if(_tells_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, shape (len(X), n_classes), in the order of ``classes_``.

        Decision values of held-out training samples tell how often a class occurs at such a value. The class of the
        highest probability may differ from the one predicted, which follows the decision values.

        Parameters
        ----------
        X : as in ``decision_function``
        """
        check_is_fitted(self, "calibrators_")
        values = self._values(X)
        each = np.column_stack([tells(column) for tells, column in zip(self.calibrators_, values.T, strict=True)])
        return returned(probabilities(each, len(self.classes_), getattr(self, "multiclass", "ovr")), X)

    @available_if(_tells_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of ``predict_proba`` for X; minus infinity where a class is impossible."""
        with np.errstate(divide="ignore"):
            return returned(np.log(host(self.predict_proba(X))), X)

    def problem_names(self) -> list[str]:
        names = [str(label) for label in self.classes_]
        count = len(np.atleast_2d(self.weights_))
        if len(names) == 2 or count == 1:
            return names[-1:] if len(names) == 2 else ["all classes"]
        if getattr(self, "multiclass", "ovr") == "ovr":
            return names
        return [f"{a} or {b}" for a, b in combinations(names, 2)]

    # -- labels --------------------------------------------------------------------------------------------------------

    def _joined(self, values: Array) -> Array:
        """Function values of the problems as one score for each of three classes or more."""
        return values

    def _losses(self, values: Array, truth: Array) -> Array:
        """1 where the label is wrong, and 0 elsewhere."""
        scores = values[:, 0] if len(self.classes_) == 2 else self._joined(values)
        return (self._named(scores) != truth).astype(float)

    def decision_function(self, X: Any) -> Array:
        """Scores: shape (len(X),) for two classes, larger for the second; else (len(X), n_classes); an array like X.

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        """
        return returned(self._scores(X), X)

    def _scores(self, X: Any) -> Array:
        values = self._values(X)
        return values[:, 0] if len(self.classes_) == 2 else self._joined(values)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of samples X whose predicted label is that of y, as scikit-learn's classifiers tell it.

        Parameters
        ----------
        X, y : as in ``fit``
        sample_weight : array (len(X),)
        """
        check_samples_rows(X, y=y, sample_weight=sample_weight)
        return float(super().score(host(X), host(y), host(sample_weight)))

    def predict(self, X: Any) -> Array:
        """The predicted labels, shape (len(X),), for X as in ``decision_function``."""
        return returned(self._named(self._scores(X)), X)

    def _named(self, scores: Array) -> Array:
        """The labels of scores."""
        index = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]
