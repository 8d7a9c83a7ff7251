"""The classifier: nothing has to be chosen but the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from multikernel._arrays import host, returned
from multikernel._floats import TINY
from multikernel._typing import Array
from multikernel.auto.base import MultiKernelEstimator
from multikernel.auto.goal import Goal, LabelColumns, Labels
from multikernel.estimators.checks import check_labels
from multikernel.estimators.parameters import ClassWeight, checked_weights
from multikernel.estimators.unchanged import unchanged_unless_done
from multikernel.sources.rows import aligned


@dataclass(eq=False, repr=False, kw_only=True)
class MultiKernelClassifier(ClassifierMixin, MultiKernelEstimator):  # type: ignore[misc]
    """Classification of tables as people have them, with nothing to tune.

    Columns are typed (numbers, categories, dates, text), filled in and scaled. Several kernels and their ridges are
    learned by errors on held-out samples: a Gaussian of one width, rough kernels with a scale for each feature, by
    values and by ranks, a linear one, sums over views and texts, and kernels of each of several views alone. The answer
    is the blend of them with the least logistic loss on other held-out samples, which calibrates its probabilities.
    ``explain()`` says what was done.

    Parameters
    ----------
    types : dict or None, default None
        From names of columns to "number", "date", "category" or "text": for columns whose cells do not show it. A
        cell that cannot be read as this type counts as missing. Columns of views are named "view: column".
    time_budget : float or None, default None
        Seconds that a fit may take. Without it kernels are chosen on at most 1000 samples, and the answer is trained on
        all: of more than 4000 samples, scales are learned further on 8000, the leaves of boosted trees are one more
        kernel, and the answer is a sum of kernels with 3000 samples, its centres, for up to six classes trained by
        logistic losses where these predict held-out samples better. More time takes more samples to choose on,
        more landmarks to learn scales by, and more centres; less takes fewer, and then fewer candidates. How long each
        takes is measured in the fit, on this machine with its present load. A ConvergenceWarning says what
        was left out.
    memory : float or None, default None
        Bytes that a fit may take; by default half of the available memory, for a source half of its ``memory``.
    class_weight : None, "balanced" or dict, default None
        The factor of the losses of each class.
    random_state : int, RandomState or None
        Seed of the folds. The same seed gives the same fit.
    n_jobs : int or None
        Threads over candidates.
    verbose : int, default 0
        1 prints a line for each candidate and for each step after these, with the remaining time where all samples
        are trained on.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds that hold out each sample exactly once. A number is that of shuffled folds, five by default: kernels
        are chosen on some folds, and compared on others. A splitter, or a list, is used for both; with groups in
        ``fit`` its folds must be of whole groups.

    Attributes
    ----------
    classes_ : array
    candidates_ : list of dict, what was tried: candidate, error (the part of wrong labels on held-out samples), its
        standard error (spread), weight in the answer, seconds, and what was learned
    explanation_ : the sentences and the table of ``explain()``
    preparation_ : how tables become samples
    answer_ : the trained machines and their blend
    kernel_names_ : array (m,), the candidates with a weight in the answer
    weights_ : array (m,), their shares, of sum 1; empty where the answer is a constant
    objective_ : float, the value of the blend's problem
    objective_bound_ : float, a lower bound of its optimum
    duality_gap_ : float, no other blend of the candidates is better by more than this part of ``objective_``
    converged_ : bool, whether that gap is at most 1e-4; it says nothing of candidates that were not tried
    intercept_ : float or array, what is added to their ``contributions``
    n_samples_ : int, the number of samples with a weight; for a source that of all rows
    n_features_in_ : int
    feature_names_in_ : array, where the names of columns are strings

    Examples
    --------
    >>> import pandas as pd
    >>> from multikernel import MultiKernelClassifier
    >>> X = pd.DataFrame({"size": [1.0, 2.0, None, 4.0] * 10, "colour": ["red", "blue", "red", None] * 10})
    >>> y = ["small", "small", "large", "large"] * 10
    >>> model = MultiKernelClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:4]).tolist()
    ['small', 'small', 'large', 'large']
    """

    class_weight: ClassWeight = None

    @unchanged_unless_done
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Choose everything, and train on all samples.

        Parameters
        ----------
        X : array, sparse matrix or data frame of pandas or polars with n rows; or a dict or list of such views and
            of kernel matrices (n, n); or a square bank of kernels; or a list of n texts; or a source of
            ``multikernel.streams``, which holds labels and weights; or an array or data frame of Dask
        y : labels of shape (n,)
        sample_weight : array (n,) >= 0, the factor of each sample's loss in the blend, in the answer and where only a
            ridge is chosen; scales and weights inside a candidate, with their ridge, are learned without weights from
            the samples whose weight is not 0
        groups : array (n,), the group of each sample (the patient of a measurement, the site of a plant): folds hold
            out whole groups, so that the errors are those on groups that were not in training
        """
        return self._fit(X, y, sample_weight, groups)

    def _check_target(self, y: Any) -> None:
        check_labels(y)

    def _goal(self, y: Any, sample_weight: Any, n: int, classes: Array | None = None) -> tuple[Goal, Array | None]:
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            check_array(y, ensure_2d=False, input_name="y")
        check_consistent_length(np.empty(n), y)
        check_classification_targets(y)
        classes_here, labels = np.unique(y, return_inverse=True)
        weight = checked_weights(sample_weight, len(y))
        weighted_labels = labels if weight is None else labels[weight > 0]
        if classes is not None:
            labels = np.searchsorted(classes, y)
        self.classes_ = classes_here if classes is None else classes
        if len(np.unique(weighted_labels)) < len(classes_here) or len(classes_here) < 2:
            raise ValueError(
                f"MultiKernelClassifier needs samples with a weight of each of two classes or more, got these classes: "
                f"{', '.join(map(str, classes_here[np.unique(weighted_labels)]))}"
            )
        self._weight_of_class = None
        if self.class_weight is not None:
            if isinstance(self.class_weight, str):  # balanced: those that are not among these samples have 1
                weights = np.ones(len(self.classes_))
                weights[labels] = compute_sample_weight(self.class_weight, y)
            else:
                weights = compute_sample_weight(self.class_weight, self.classes_)
            self._weight_of_class = weights
            weight = weights[labels] if weight is None else weight * weights[labels]
        return Labels(labels, len(self.classes_)), weight

    def _columns_of_target(self) -> LabelColumns:
        return LabelColumns(self.classes_, self._weight_of_class)

    def decision_function(self, X: Any) -> Array:
        """Scores: shape (len(X),) for two classes, larger for the second; else (len(X), n_classes).

        Parameters
        ----------
        X : samples like those of ``fit``; views that are kernel matrices have a column for each training sample
        """
        return returned(self._as_output(self._values(X)), X)

    @property
    def intercept_(self) -> Any:
        """What is added to the contributions: a float for two classes, else array (n_classes,)."""
        check_is_fitted(self)
        return self._as_output(self.answer_.intercept)

    def _as_output(self, contributions: Array) -> Array:
        if len(self.classes_) == 2:
            return contributions[..., 1] - contributions[..., 0]
        return contributions

    def predict(self, X: Any) -> Array:
        """The most probable labels, shape (len(X),), for X as in ``decision_function``."""
        best = self._values(X).argmax(axis=1)
        return returned(self.classes_[best], X)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, shape (len(X), n_classes), for X as in ``decision_function``."""
        return returned(softmax(self._values(X), axis=1), X)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities."""
        return returned(np.log(np.maximum(host(self.predict_proba(X)), TINY)), X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of samples X whose predicted label is that of y, as scikit-learn's classifiers define it.

        Parameters
        ----------
        X, y : as in ``fit``
        sample_weight : array (len(X),)
        """
        y, sample_weight = aligned(X, y=y, sample_weight=sample_weight)
        return float(super().score(host(X), y, sample_weight))
