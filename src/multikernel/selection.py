"""Cross-validation that binds a bank once and slices it for the folds.

Binding (distances, Gram matrices, a stack) is done once for each set of kernels, a fold is a block of that bank, and
the candidates of a fold follow each other with warm starts. Candidates that differ in alpha only, of a regressor whose
weights do not look at alpha, share a decomposition of one kernel matrix; where the weights do not look at the target
either, so do the folds. scikit-learn's GridSearchCV works as well; it binds anew for every fold and candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring, r2_score
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel._workers import on_threads
from multikernel.banks import KernelBank
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.predictor import knowing
from multikernel.estimators.protocol import FitsManyAlphas, Fitted

SIMPLER = {"lam": 1, "alpha": 1, "C": -1}  # the direction in which a parameter makes a model simpler
_EQUAL = 1e-12  # of the best score: scores that differ by less are equal
_FEW = 1000  # samples up to which BLAS threads cost more than they bring: the idle ones spin between small products


def _has(method: str) -> Any:
    return available_if(lambda search: hasattr(search.estimator, method))


@dataclass(frozen=True)
class _Fold:
    """Scores and fit times of every candidate on one fold."""

    scores: list[float]
    seconds: list[float]


class BankSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Exhaustive search over parameters of a multiple-kernel estimator, on one bank.

    Parameters
    ----------
    estimator : an estimator of this package
    param_grid : dict or list of dicts, as in GridSearchCV; a bank is bound for each value of ``kernels``
    cv : int, splitter or iterable of (train, test) rows; stratified folds for classifiers; default 5
    scoring : as in GridSearchCV; default the estimator's ``score``
    one_standard_error : bool, default False
        Take the simplest candidate (largest ``lam`` or ``alpha``, smallest ``C``) whose mean score is within one
        standard error, over the folds, of the best.
    n_jobs : int or None, threads over the folds; not used for candidates that are found together
    verbose : int, progress over the folds, as in joblib

    Attributes
    ----------
    best_params_ : dict; of candidates with equal mean scores the simplest: that with the fewest kernels, then the
        largest ``lam`` and ``alpha``, then the smallest ``C``, then the first in the grid
    best_score_ : float, the mean score over the folds
    best_estimator_ : the estimator fitted on all data with ``best_params_``
    cv_results_ : dict of arrays with the keys of GridSearchCV: params, param_*, split*_test_score, mean_test_score,
        std_test_score, rank_test_score, mean_fit_time

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import BankSearchCV, EasyMKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> search = BankSearchCV(EasyMKLClassifier(), {"lam": [0.0, 0.1, 0.5, 1.0]}).fit(X, y)
    >>> len(search.cv_results_["params"]), bool(search.best_score_ > 0.9)
    (4, True)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        cv: Any = None,
        *,
        scoring: Any = None,
        one_standard_error: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = deepcopy(inner.classifier_tags), deepcopy(inner.regressor_tags)
        tags.target_tags = deepcopy(inner.target_tags)
        tags.input_tags.pairwise, tags.input_tags.sparse = inner.input_tags.pairwise, inner.input_tags.sparse
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Search, then fit the best candidate on all samples.

        Parameters
        ----------
        X, y : as for the estimator's ``fit``: samples, a bank, or precomputed matrices; and the target
        """
        if not isinstance(self.estimator, KernelEstimator):
            raise TypeError(
                f"BankSearchCV searches estimators of multikernel, got {type(self.estimator).__name__}; "
                "use GridSearchCV for others"
            )
        candidates = list(ParameterGrid(self.param_grid))
        if not candidates:
            raise ValueError(
                "param_grid is empty, so there is no candidate: give a dict of parameters, or a list of some"
            )
        simpler = _simplicity(candidates) if self.one_standard_error else None
        splits = -1
        scores: dict[int, list[float]] = {}
        seconds: dict[int, list[float]] = {}
        bound: list[tuple[list[int], KernelEstimator, KernelBank, Array]] = []
        for members in _by_kernels(candidates):
            model = clone(self.estimator).set_params(**candidates[members[0]])
            bank, target = model.bind(X, y)
            folds = list(
                check_cv(self.cv, target, classifier=is_classifier(model)).split(np.empty((len(target), 1)), target)
            )
            self._check_folds(folds)
            splits = len(folds)
            with _blas_threads(len(target), self.n_jobs):
                done = self._run(bank, target, folds, [candidates[c] for c in members])
            for position, c in enumerate(members):
                scores[c] = [fold.scores[position] for fold in done]
                seconds[c] = [fold.seconds[position] for fold in done]
            bound.append((members, model, bank, target))
        order = range(len(candidates))
        self.cv_results_ = _results(candidates, [scores[c] for c in order], [seconds[c] for c in order])
        self.n_splits_ = splits
        sizes = {c: len(bank) for members, _, bank, _ in bound for c in members}
        own = self.estimator.get_params(deep=False)  # of the parameters that a candidate does not name
        complexity = [_complexity(own | params, sizes[c]) for c, params in enumerate(candidates)]
        self.best_index_ = _best(self.cv_results_, simpler, complexity)
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        _, model, bank, target = next(entry for entry in bound if self.best_index_ in entry[0])
        model.set_params(**self.best_params_).check_parameters()
        with _blas_threads(len(target)):
            model.fit_bank(bank, target)
        self.best_estimator_ = model
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        return self

    def _check_folds(self, folds: list[tuple[Array, Array]]) -> None:
        """ValueError for folds that leave nothing to learn from or to score."""
        if not folds:
            raise ValueError(
                "cv gives no folds: give a number of folds, a splitter, or pairs of training and test rows"
            )
        for f, (train, test) in enumerate(folds):
            trained, tested = (
                int(rows.sum()) if rows.dtype == bool else len(rows) for rows in map(np.asarray, (train, test))
            )
            if min(trained, tested) == 0:
                raise ValueError(
                    f"fold {f} of cv has {trained} training and {tested} test samples: each fold needs some of both"
                )
            if tested == 1 and self.scoring in (None, "r2") and not is_classifier(self.estimator):
                raise ValueError(
                    f"fold {f} of cv has one test sample, whose R^2 is not defined: give larger folds, or "
                    "scoring='neg_mean_squared_error'"
                )

    def _run(
        self, bank: KernelBank, y: Array, folds: list[tuple[Array, Array]], candidates: list[dict[str, Any]]
    ) -> list[_Fold]:
        """Every candidate on every fold; together where they differ in alpha only, and the estimator can."""
        differ = {name.split("__")[0] for params in candidates for name in params} - {
            "kernels"
        }  # whose values are equal
        if differ == {"alpha"} and len(candidates) > 1 and isinstance(self.estimator, FitsManyAlphas):
            return self._run_together(bank, y, folds, candidates)
        each = [partial(self._run_fold, bank, y, train, test, candidates) for train, test in folds]
        return on_threads(each, self.n_jobs, verbose=self.verbose)

    def _run_together(
        self, bank: KernelBank, y: Array, folds: list[tuple[Array, Array]], candidates: list[dict[str, Any]]
    ) -> list[_Fold]:
        """Candidates that differ in alpha: one decomposition for all, and where possible for all folds as well."""
        models = [clone(self.estimator).set_params(**params) for params in candidates]
        for model in models:
            model.check_parameters()
        start = perf_counter()
        found = models[0].fit_folds(bank, y, [model.alpha for model in models], folds)
        seconds = [(perf_counter() - start) / (len(models) * len(folds))] * len(models)
        return [
            _Fold(self._scores(models, bank, y, train, test, fits), seconds)
            for (train, test), fits in zip(folds, found, strict=True)
        ]

    def _scores(
        self, models: list[Any], bank: KernelBank, y: Array, train: Array, test: Array, fits: list[tuple[Fitted, Array]]
    ) -> list[float]:
        """The scores of fits whose values at the test rows are known; R^2 is computed for all in one call."""
        if self.scoring is None:
            values, truth = np.hstack([values for _, values in fits]), as_columns(y[test])
            each = r2_score(np.tile(truth, len(fits)), values, multioutput="raw_values")
            return each.reshape(len(fits), -1).mean(axis=1).tolist()
        inner, outer, scores = bank.block(train, train), bank.block(test, train), []
        for model, (fitted, values) in zip(models, fits, strict=True):
            model.publish(inner, [fitted], single=True)
            scores.append(float(check_scoring(model, self.scoring)(knowing(model, values), outer, y[test])))
        return scores

    def _run_fold(
        self, bank: KernelBank, y: Array, train: Array, test: Array, candidates: list[dict[str, Any]]
    ) -> _Fold:
        """Fit and score every candidate on one fold: two blocks of the bank, warm starts from one to the next."""
        inner, outer = bank.block(train, train), bank.block(test, train)
        scores, seconds = [], []
        warm: list[Fitted] = []
        for params in candidates:
            model = clone(self.estimator).set_params(**params)
            start = perf_counter()
            model.check_parameters()
            warm = model.fit_bank(inner, y[train], warm)
            seconds.append(perf_counter() - start)
            scores.append(float(check_scoring(model, self.scoring)(model, outer, y[test])))
        return _Fold(scores, seconds)

    @_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Array:
        """Predictions of the best estimator for samples X."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Decision values of the best estimator for samples X."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes by the best estimator for samples X."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    def score(self, X: Any, y: Any) -> float:
        """The score of the best estimator on samples X and their target y, by ``scoring``."""
        check_is_fitted(self)
        return float(check_scoring(self.best_estimator_, self.scoring)(self.best_estimator_, X, y))


def _blas_threads(n: int, n_jobs: int | None = None) -> Any:
    """As many BLAS threads as pay with n samples; one beside other threads of ours."""
    return threadpool_limits(1 if n <= _FEW or n_jobs else None, user_api="blas")


def _by_kernels(candidates: list[dict[str, Any]]) -> list[list[int]]:
    """Positions of candidates with equal kernels: they share a bank."""
    groups: list[tuple[dict[str, Any], list[int]]] = []
    for c, params in enumerate(candidates):
        own = {name: value for name, value in params.items() if name.split("__")[0] == "kernels"}
        for kernels, members in groups:
            if kernels == own:
                members.append(c)
                break
        else:
            groups.append((own, [c]))
    return [members for _, members in groups]


def _simplicity(candidates: list[dict[str, Any]]) -> Array:
    """For each candidate how simple its model is: the one parameter of the grid that says so."""
    known = sorted({name for params in candidates for name in params if name in SIMPLER})
    if len(known) != 1:
        raise ValueError(
            f"one_standard_error needs exactly one of {', '.join(SIMPLER)} in param_grid, to tell which model is "
            f"simpler; got {', '.join(known) or 'none of them'}"
        )
    return np.array([SIMPLER[known[0]] * float(params.get(known[0], np.nan)) for params in candidates])


def _complexity(params: dict[str, Any], kernels: int) -> tuple[float, ...]:
    """Which of two models is the simpler: that with fewer kernels, then by the parameters of ``SIMPLER`` in turn."""
    return (kernels, *(-direction * float(params.get(name, 0.0)) for name, direction in SIMPLER.items()))


def _results(candidates: list[dict[str, Any]], scores: list[list[float]], seconds: list[list[float]]) -> dict[str, Any]:
    """The table of GridSearchCV."""
    table = np.array(scores)
    mean = table.mean(axis=1)
    results: dict[str, Any] = {"params": candidates}
    for name in sorted({name for params in candidates for name in params}):
        results[f"param_{name}"] = [params.get(name) for params in candidates]
    results |= {f"split{s}_test_score": table[:, s] for s in range(table.shape[1])}
    results["mean_test_score"] = mean
    results["std_test_score"] = table.std(axis=1)
    results["rank_test_score"] = 1 + (mean[:, None] < mean[None, :]).sum(axis=1)
    results["mean_fit_time"] = np.array(seconds).mean(axis=1)
    return results


def _best(results: dict[str, Any], simpler: Array | None, complexity: list[tuple[float, ...]]) -> int:
    """The simplest of the best mean scores, the first of equally simple ones; or within one standard error of it."""
    mean = results["mean_test_score"]
    if np.isnan(mean).all():
        raise ValueError(
            "every candidate scored NaN: check that the score is defined on each fold, which may need samples of every "
            "class or more than one sample"
        )
    highest = float(np.nanmax(mean))
    best = min(np.flatnonzero(mean >= highest - _EQUAL * abs(highest)).tolist(), key=lambda c: complexity[c])
    if simpler is None:
        return best
    folds = sum(name.startswith("split") for name in results)
    error = results["std_test_score"][best] * np.sqrt(folds / max(folds - 1, 1)) / np.sqrt(folds)
    return int(np.nanargmax(np.where(mean >= mean[best] - error, simpler, np.nan)))
