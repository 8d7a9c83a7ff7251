"""Labels become numbers to learn, and scores become labels again."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from multikernel._typing import Array
from multikernel.estimators.base import KernelEstimator


class LabelsEstimator(ClassifierMixin, KernelEstimator):  # type: ignore[misc]
    """A classifier; subclasses say which problems its labels are."""

    classes_: Array

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the kernel and the classifier.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p); or a KernelBank; or, with ``kernels="precomputed"``,
            matrices of shape (m, n, n)
        y : labels of shape (n,)
        """
        return self._fit(X, y)

    def _numbered(self, target: Array) -> Array:
        """The labels as positions in ``classes_``, which is set; ValueError for fewer than two classes."""
        check_classification_targets(target)
        self.classes_, labels = np.unique(target, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, got one class: {self.classes_[0]!r}"
            )
        return labels

    def _joined(self, values: Array) -> Array:
        """Function values of the problems as one score for each of three classes or more."""
        return values

    def decision_function(self, X: Any) -> Array:
        """Scores: shape (len(X),) for two classes, larger for the second; else (len(X), n_classes).

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        """
        values = self._values(X)
        return values[:, 0] if len(self.classes_) == 2 else self._joined(values)

    def predict(self, X: Any) -> Array:
        """The predicted labels, shape (len(X),), for X as in ``decision_function``."""
        scores = self.decision_function(X)
        index = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]
