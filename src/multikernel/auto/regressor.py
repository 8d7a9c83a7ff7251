"""The regressor: nothing has to be chosen but the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from multikernel._arrays import host, returned
from multikernel._typing import Array
from multikernel.auto.base import MultiKernelEstimator
from multikernel.auto.goal import Goal, ValueColumns, Values
from multikernel.estimators.checks import check_finite_target, check_target
from multikernel.estimators.parameters import checked_weights
from multikernel.estimators.score_split import Part, SplitScoring, split_scores
from multikernel.estimators.unchanged import unchanged_unless_done
from multikernel.sources.rows import aligned


@dataclass(eq=False, repr=False, kw_only=True)
class MultiKernelRegressor(RegressorMixin, MultiKernelEstimator):  # type: ignore[misc]
    """Regression on tables as people have them, with nothing to tune.

    Columns are typed (numbers, categories, dates, text), filled in and scaled. Several kernels and their ridges are
    learned by errors on held-out samples: a Gaussian of one width, rough kernels with a scale for each feature, by
    values and by ranks, a linear one, sums over views and texts, and kernels of each of several views alone. The answer
    is the average of them, with the weights of least squared error on other held-out samples, drawn towards equal ones.
    ``explain()`` says what was done.

    Parameters
    ----------
    types : dict or None, default None
        From names of columns to "number", "date", "category" or "text": for columns whose cells do not show it. A
        cell that cannot be read as this type counts as missing. Columns of views are named "view: column".
    time_budget : float or None, default None
        Seconds that a fit may take. Without it kernels are chosen on at most 1000 samples, and the answer is trained on
        all: of more than 4000 samples, scales are learned further on 8000, the leaves of boosted trees are one more
        kernel, and the answer is a sum of kernels with 3000 samples, its centres. More time than that takes more
        samples to choose on, more landmarks to learn scales by, and more centres; less takes fewer, and then fewer
        candidates. How long each takes is measured in the fit, on this machine with its present load. A
        ConvergenceWarning says what was left out.
    memory : float or None, default None
        Bytes that a fit may take; by default half of the available memory, for a source half of its ``memory``.
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
    candidates_ : list of dict, what was tried: candidate, error (squared, relative to the variance of the target, on
        held-out samples), its standard error (spread), weight in the answer, seconds, and what was learned
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
    >>> from sklearn.datasets import load_diabetes
    >>> from multikernel import MultiKernelRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = MultiKernelRegressor(random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.45)
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @unchanged_unless_done
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Choose everything, and train on all samples.

        Parameters
        ----------
        X : array, sparse matrix or data frame of pandas or polars with n rows; or a dict or list of such views and
            of kernel matrices (n, n); or a square bank of kernels; or a list of n texts; or a source of
            ``multikernel.streams``, which holds targets and weights; or an array or data frame of Dask
        y : real targets of shape (n,) or (n, t)
        sample_weight : array (n,) >= 0, the factor of each sample's loss in the blend, in the answer and where only a
            ridge is chosen; scales and weights inside a candidate, with their ridge, are learned without weights from
            the samples whose weight is not 0
        groups : array (n,), the group of each sample (the patient of a measurement, the site of a plant): folds hold
            out whole groups, so that the errors are those on groups that were not in training
        """
        return self._fit(X, y, sample_weight, groups)

    def _check_target(self, y: Any) -> None:
        check_target(y)

    def _goal(self, y: Any, sample_weight: Any, n: int, classes: Array | None = None) -> tuple[Goal, Array | None]:
        y = np.asarray(y)
        if y.ndim == 2:
            y = check_array(y, input_name="y", dtype=float)
        else:
            y = column_or_1d(y, warn=True)
        check_consistent_length(np.empty(n), y)
        weight = checked_weights(sample_weight, len(y))
        target = np.asarray(y, dtype=float)
        check_finite_target(target)
        self._single = target.ndim == 1
        columns = target[:, None] if self._single else target
        unit = np.abs(columns).max(axis=0)  # squares of very large and of very small numbers are none
        unit[unit == 0.0] = 1.0
        mean = np.average(columns / unit, axis=0, weights=weight)
        spread = np.sqrt(np.average((columns / unit - mean) ** 2, axis=0, weights=weight))
        self._mean = unit * mean
        self._spread = unit * np.where(spread > 0, spread, 1.0)
        return Values(self._columns_of_target()(target)[0]), weight

    def _columns_of_target(self) -> ValueColumns:
        return ValueColumns(self._mean, self._spread)

    def predict(self, X: Any, *, split: bool = False) -> Array:
        """The predicted values, shape (len(X),), or (len(X), t) after a fit to t targets.

        Parameters
        ----------
        X : samples like those of ``fit``; views that are kernel matrices have a column for each training sample
        split : bool, default False
            Whether predictions are split over the kernels of ``kernel_names_``: ``contributions(X)`` with the kernels
            first, which sum to the predictions with ``intercept_``.
        """
        if split:
            return returned(np.moveaxis(self.contributions(X), 1, 0), X)
        return returned(self._as_output(self._values(X)) + self._output_mean, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2 of the predictions for X against y, as scikit-learn's regressors define it.

        Parameters
        ----------
        X, y : as in ``fit``
        sample_weight : array (len(X),)
        """
        y, sample_weight = aligned(X, y=y, sample_weight=sample_weight)
        return float(super().score(host(X), y, sample_weight))

    def score_split(self, X: Any, Y: Any, *, scoring: SplitScoring = "r2", sample_weight: Any = None) -> Array:
        """The score of each target, split over the kernels of ``kernel_names_``.

        Parameters
        ----------
        X, Y, scoring, sample_weight : as for the ``score_split`` of ``MultipleKernelRidgeCV``

        Returns
        -------
        array (m, t), or (m,) after a fit to a target of shape (n,), whose sum over the kernels is the score
        """
        values = self.contributions(X)
        if self._single:
            values = values[:, :, None]
        all_values = Part(slice(0, len(values)), slice(None), values)
        scores = split_scores(self, X, Y, [all_values], scoring, sample_weight)
        if self._single:
            return scores[:, 0]
        return scores

    @property
    def intercept_(self) -> Any:
        """What is added to the contributions: a float for one target, else array (t,)."""
        check_is_fitted(self)
        return self._as_output(self.answer_.intercept) + self._output_mean

    @property
    def _output_mean(self) -> Any:
        if self._single:
            return self._mean[0]
        return self._mean

    def _as_output(self, contributions: Array) -> Array:
        values = contributions * self._spread
        if self._single:
            return values[..., 0]
        return values
