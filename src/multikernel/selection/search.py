"""Cross-validation that binds a bank once and slices it for the folds.

Binding (distances, Gram matrices, a stack) is done once for each set of kernels, a fold is a block of that bank, and
the candidates of a fold follow each other with warm starts. Where a step of a pipeline learns from the samples, each
fold has a bank of its own, on which all candidates are fitted and scored. Candidates that differ in alpha only, of a
regressor whose weights do not look at alpha, share a decomposition of one kernel matrix; where the weights do not look
at the target either, so do the folds. scikit-learn's GridSearchCV works as well; it binds anew for every fold and
candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring, r2_score
from sklearn.model_selection import ParameterGrid
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from multikernel._linalg import as_columns
from multikernel._parameters import Threads, Verbosity, check_parameters
from multikernel._typing import Array
from multikernel._workers import on_threads
from multikernel.banks import KernelBank
from multikernel.banks.dense import DenseBank
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.predictor import knowing
from multikernel.estimators.protocol import Fitted
from multikernel.estimators.several import in_one_pass, informed, share_reference
from multikernel.estimators.simplicity import complexity
from multikernel.estimators.steps import Steps
from multikernel.selection.folds import Fold, folds_of
from multikernel.selection.groups import Group, Searched, groups_of
from multikernel.selection.table import Scored, best, check_simplicity, results

_FEW = 1000  # samples up to which BLAS threads cost more than they bring: the idle ones spin between small products
_STORED = 256 << 20  # bytes of the matrices of test samples that are stored for all candidates of a fold


def _has(method: str) -> Any:
    return available_if(lambda search: hasattr(search.estimator, method))


@dataclass(eq=False, repr=False)
class BankSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Exhaustive search over parameters of a multiple-kernel estimator, on one bank.

    What kernels learn from samples (median widths, means, categories, words), they learn once, from all samples without
    their targets. GridSearchCV learns it from each training part anew.

    Parameters
    ----------
    estimator : an estimator of this package, or a Pipeline whose last step is one
        Steps before it that learn from the samples are fitted for each fold, as in GridSearchCV; others are done once.
    param_grid : dict or list of dicts, as in GridSearchCV; a bank is bound for each value of ``kernels``
    cv : int, splitter or iterable of (train, test) rows; stratified folds for classifiers; default 5
        A number of folds of a regressor whose rows are ordered by the target are shuffled ones, and a warning says so.
    scoring : str, callable, or a list or dict of several, as in GridSearchCV; default the estimator's ``score``
    refit : str or None, the metric that decides, where there are several
    one_standard_error : bool, default False
        Take the simplest candidate whose mean score is within one standard error, over the folds, of the best: that
        with the fewest kernels, then by the parameters in ``best_params_`` below.
    n_jobs : int or None, threads over the folds, whatever backend joblib is told to use; not used for candidates that
        are found together
    verbose : int, progress over the folds, as in joblib

    Attributes
    ----------
    best_params_ : dict; of candidates with equal mean scores the simplest: that with the fewest kernels, then the
        largest ``lam`` and ``alpha``, the smallest ``C``, the largest ``penalty``, the smallest ``radius`` and
        ``degree``, the largest ``nu``, ``epsilon``, ``smoothing`` and ``beta``, the smallest ``rho``, ``p``, ``norm``
        and ``rank``, then the first in the grid
    best_score_ : float, the mean score over the folds
    best_estimator_ : the estimator fitted on all data with ``best_params_``
    cv_results_ : dict of arrays with the keys of GridSearchCV: params, param_*, split*_test_score, mean_test_score,
        std_test_score, rank_test_score, mean_fit_time; of several metrics with their names in place of "score"
    fold_weights_ : list with the kernel weights of each candidate on each fold
    scorer_ : dict of the scorers by metric
    n_splits_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import BankSearchCV, EasyMKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> search = BankSearchCV(EasyMKLClassifier(), {"lam": [0.0, 0.1, 0.5, 1.0]}).fit(X, y)
    >>> len(search.cv_results_["params"]), bool(search.best_score_ > 0.9)
    (4, True)
    """

    estimator: Any
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
    cv: CrossValidation | None = None
    scoring: Any = field(default=None, kw_only=True)
    refit: str | None = field(default=None, kw_only=True)
    one_standard_error: bool = field(default=False, kw_only=True)
    n_jobs: Threads = field(default=None, kw_only=True)
    verbose: Verbosity = field(default=0, kw_only=True)

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
        Steps.of(self.estimator, "BankSearchCV searches")
        check_parameters(self)
        candidates = list(ParameterGrid(self.param_grid))
        if not candidates:
            raise ValueError(
                "param_grid is empty, so there is no candidate: give a dict of parameters, or a list of some"
            )
        groups = groups_of(self.estimator, candidates)
        own = {c: params for group in groups for c, params in zip(group.members, group.own, strict=True)}
        if self.one_standard_error:
            check_simplicity([*own.values(), *candidates])
        metric = self._deciding()
        searched = [self._searched(group, X, y) for group in groups]
        found, sizes = {}, {}
        for group, done in zip(groups, searched, strict=True):
            for position, c in enumerate(group.members):
                found[c] = [fold[position] for fold in done.folds]
                params = group.steps.last.get_params(deep=False) | group.own[position]
                sizes[c] = complexity(params, done.kernels)
        order = range(len(candidates))
        self.cv_results_ = results(candidates, [found[c] for c in order])
        self.fold_weights_ = [[fold.weights for fold in found[c]] for c in order]
        self.n_splits_ = len(found[0])
        self.best_index_ = best(self.cv_results_, metric, self.one_standard_error, [sizes[c] for c in order])
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_[f"mean_test_{metric}"][self.best_index_])
        which = next(g for g, group in enumerate(groups) if self.best_index_ in group.members)
        self.best_estimator_ = self._refitted(groups[which], searched[which], X, y)
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    # -- what is searched ----------------------------------------------------------------------------------------------

    @property
    def scorer_(self) -> dict[str, Any]:
        """A scorer for each metric, made of ``scoring``: a saved search holds none."""
        several = self.scoring
        if several is None or callable(several) or isinstance(several, str):
            return {"score": check_scoring(self.estimator, several)}
        named = dict(several) if isinstance(several, Mapping) else {name: name for name in several}
        return {name: check_scoring(self.estimator, scorer) for name, scorer in named.items()}

    def _deciding(self) -> str:
        """The metric that decides."""
        names = list(self.scorer_)
        if len(names) > 1 and self.refit is None:
            raise ValueError(f"BankSearchCV: of several metrics say by refit which one decides: {', '.join(names)}")
        if self.refit is not None and self.refit not in names:
            raise ValueError(f"BankSearchCV: refit must be one of {', '.join(names)}, got {self.refit!r}")
        return names[0] if self.refit is None else self.refit

    # -- folds ---------------------------------------------------------------------------------------------------------

    def _searched(self, group: Group, X: Any, y: Any) -> Searched:
        """Every candidate of a group on every fold; on one bank where no step learns from the samples."""
        model = group.models()[0]
        if not group.steps.once:
            target = np.asarray(y)
            folds = folds_of(self.cv, model, target, self.scoring)
            each = [partial(self._on_own_bank, group, X, target, train, test) for train, test in folds]
            with _blas_threads(len(target), self.n_jobs):
                done = on_threads(each, self.n_jobs, verbose=self.verbose)
            return Searched([scored for scored, _ in done], done[0][1], None)
        samples, before = group.steps.applied(X, y)
        bank, target = model.bind(samples, y)
        folds = folds_of(self.cv, model, target, self.scoring)
        with _blas_threads(len(target), self.n_jobs):
            found = self._on_one_bank(group, bank, target, folds)
        return Searched(found, len(bank), (before, model, bank, target))

    def _on_one_bank(self, group: Group, bank: KernelBank, y: Array, folds: list[Fold]) -> list[list[Scored]]:
        """Folds that are blocks of a bank; together where candidates differ in alpha only, and the estimator can."""
        if group.only_alpha:
            return self._together(group, bank, y, folds)

        def of_fold(train: Array, test: Array) -> list[Scored]:
            return self._scored(group, bank.block(train, train), y[train], bank.block(test, train), y[test])

        return on_threads([partial(of_fold, train, test) for train, test in folds], self.n_jobs, verbose=self.verbose)

    def _on_own_bank(self, group: Group, X: Any, y: Array, train: Array, test: Array) -> tuple[list[Scored], int]:
        """A fold whose steps are fitted to its training samples, and how many kernels there are."""
        learned, before = group.steps.applied(_safe_indexing(X, train), y[train])
        model = group.models()[0]
        inner, target = model.bind(learned, y[train])
        held_out = before.transform(_safe_indexing(X, test))
        outer = model.against(inner, held_out)
        return self._scored(group, inner, target, outer, y[test]), len(inner)

    def _scored(self, group: Group, inner: KernelBank, y: Array, outer: KernelBank, truth: Array) -> list[Scored]:
        """Every candidate fitted on one bank and scored on another: warm starts, then one pass for all."""
        models, seconds = zip(*group.fitted(inner, y), strict=True)
        share_reference(models, inner)
        outer = outer if in_one_pass(models) else _stored(outer)
        scorers, found = self.scorer_.items(), []
        for model, spent in zip(informed(models, outer), seconds, strict=True):
            scores = {name: float(scorer(model, outer, truth)) for name, scorer in scorers}
            found.append(Scored(scores, spent, model.weights_))
        return found

    def _together(self, group: Group, bank: KernelBank, y: Array, folds: list[Fold]) -> list[list[Scored]]:
        """Candidates that differ in alpha: one decomposition for all, and where possible for all folds as well."""
        models = group.models()
        start = perf_counter()
        fits = models[0].fit_folds(bank, y, [model.alpha for model in models], folds)
        seconds = (perf_counter() - start) / (len(models) * len(folds))
        scored = []
        for (train, test), own in zip(folds, fits, strict=True):
            scores = self._scores(models, bank, y, train, test, own)
            weights = [fit.weights.values for fit, _ in own]
            scored.append([Scored(s, seconds, w) for s, w in zip(scores, weights, strict=True)])
        return scored

    def _scores(
        self, models: list[Any], bank: KernelBank, y: Array, train: Array, test: Array, fits: list[tuple[Fitted, Array]]
    ) -> list[dict[str, float]]:
        """The scores of fits whose values at the test rows are known; R^2 is computed for all in one call."""
        if self.scoring is None:
            values, truth = np.hstack([values for _, values in fits]), as_columns(y[test])
            each = r2_score(np.tile(truth, len(fits)), values, multioutput="raw_values")
            return [{"score": score} for score in each.reshape(len(fits), -1).mean(axis=1).tolist()]
        inner, outer, scores = bank.block(train, train), bank.block(test, train), []
        for model, (fitted, values) in zip(models, fits, strict=True):
            model.publish(inner, [fitted], single=True)
            known = knowing(model, values)
            scores.append({name: float(scorer(known, outer, y[test])) for name, scorer in self.scorer_.items()})
        return scores

    def _refitted(self, group: Group, searched: Searched, X: Any, y: Any) -> Any:
        """The best candidate on all samples, on the bank that is there already if no step learns from them."""
        params = group.own[group.members.index(self.best_index_)]
        if searched.bound is None:
            with _blas_threads(len(y)):
                return clone(self.estimator).set_params(**self.best_params_).fit(X, y)
        before, model, bank, target = searched.bound
        model.set_params(**params).check_parameters()
        with _blas_threads(len(target)):
            model.fit_bank(bank, target)
        return group.steps.joined(before, model)

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
        """The score of the best estimator on samples X and their target y, by ``scoring``; by ``refit`` of several."""
        check_is_fitted(self)
        return float(self.scorer_[self._deciding()](self.best_estimator_, X, y))


def _stored(outer: KernelBank) -> KernelBank:
    """The bank with its matrices stored, where candidates ask for them one after the other and memory allows it."""
    if outer.of_distances or outer.n_features is not None or 8 * len(outer) * np.prod(outer.shape) > _STORED:
        return outer
    return DenseBank(outer, outer.matrices())


def _blas_threads(n: int, n_jobs: int | None = None) -> Any:
    """As many BLAS threads as pay with n samples; one beside other threads of ours."""
    return threadpool_limits(1 if n <= _FEW or n_jobs else None, user_api="blas")
