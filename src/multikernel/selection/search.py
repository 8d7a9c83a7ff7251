"""Cross-validation that binds a bank once and slices it for the folds.

Binding (distances, Gram matrices, a stack) is done once for each set of kernels, a fold is a block of that bank, and
the candidates of a fold are fitted one after the other with warm starts. Where a step of a pipeline learns from the
samples, each fold has a separate bank, on which all candidates are fitted and scored. Candidates that differ only in
alpha share a decomposition of one kernel matrix if the weights of the regressor do not depend on alpha; if the weights
do not depend on the target either, the folds share it as well. scikit-learn's GridSearchCV also works, but binds for
every fold and candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from multikernel._parameters import Directory, Threads, Verbosity, check_parameters
from multikernel._typing import Array
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.simplicity import complexity
from multikernel.estimators.steps import Steps
from multikernel.estimators.unchanged import unchanged_unless_done
from multikernel.selection.groups import Group, SearchedGroup, groups_of
from multikernel.selection.table import best, check_simplicity, results
from multikernel.selection.trials import Trials, blas_threads
from multikernel.sources.rows import aligned


def _has(method: str) -> Any:
    return available_if(lambda search: hasattr(search.estimator, method))


@dataclass(eq=False, repr=False)
class BankSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Exhaustive search over parameters of a multiple-kernel estimator, on one bank.

    What kernels learn from samples (median widths, means, categories, words), they learn once, from all samples without
    their targets. GridSearchCV learns them again from the training samples of each fold.

    Parameters
    ----------
    estimator : an estimator of this package, or a Pipeline whose last step is one
        Steps before it that learn from the samples are fitted for each fold, as in GridSearchCV; others run once.
    param_grid : dict or list of dicts, as in GridSearchCV; a bank is bound for each value of ``kernels``
    cv : int, splitter or iterable of (train, test) rows; stratified folds for classifiers; default 5
        A number of folds of a regressor whose rows are ordered by the target are shuffled ones, and a warning says so.
        With ``groups``, a number is one of folds of whole groups.
    scoring : str, callable, or a list or dict of several, as in GridSearchCV; default the estimator's ``score``
    refit : str or None, the metric that decides, where there are several
    one_standard_error : bool, default False
        Take the simplest candidate whose mean score is within one standard error, over the folds, of the best: the one
        with the fewest kernels, then by the parameters in ``best_params_`` below.
    n_jobs : int or None, threads over the folds, with any backend of joblib; not used for candidates that are fitted
        together
    checkpoint : directory or None, in which finished folds are saved: a call that was killed resumes when repeated
    verbose : int, progress over the folds, as in joblib

    Attributes
    ----------
    best_params_ : dict; of candidates with equal mean scores the simplest: that with the fewest kernels, then the
        largest ``lam`` and ``alpha``, the smallest ``C``, the largest ``penalty``, the smallest ``radius`` and
        ``degree``, the largest ``nu``, ``epsilon``, ``smoothing`` and ``beta``, the smallest ``rho``, ``p``, ``norm``
        and ``rank``, then the first in the grid
    best_score_ : float, the mean score over the folds
    best_estimator_ : the estimator fitted on all data with ``best_params_``
    cv_results_ : dict with the keys of GridSearchCV: lists params and param_*, arrays split*_test_score,
        mean_test_score, std_test_score, rank_test_score and mean_fit_time; of several metrics with their names in place
        of "score"
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
    checkpoint: Directory = field(default=None, kw_only=True)
    verbose: Verbosity = field(default=0, kw_only=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        tags.target_tags = deepcopy(inner.target_tags)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags

    @unchanged_unless_done
    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Search, then fit the best candidate on all samples.

        Parameters
        ----------
        X, y : as for the estimator's ``fit``: samples, a bank, or precomputed matrices; and the target
        groups : array (n,), the group of each sample: folds, and those of the estimator's own fits, hold out whole
            groups
        """
        Steps.of(self.estimator, "BankSearchCV searches")
        y, groups = aligned(X, y=y, groups=groups)
        check_parameters(self)
        candidates = list(ParameterGrid(self.param_grid))
        if not candidates:
            raise ValueError(
                "param_grid is empty, so there is no candidate: give a dict of parameters, or a list of some"
            )
        groups_of_candidates = groups_of(self.estimator, candidates)
        params_of_candidate = {
            c: params
            for group in groups_of_candidates
            for c, params in zip(group.members, group.member_params, strict=True)
        }
        if self.one_standard_error:
            check_simplicity([*params_of_candidate.values(), *candidates])
        metric = self._deciding_metric()
        trials = Trials(self.cv, self.scoring, self.scorer_, self.n_jobs, self.verbose, self.checkpoint, groups)
        searched = [trials.of(group, X, y) for group in groups_of_candidates]
        scores_of_candidate = {}
        complexities = {}
        for group, result in zip(groups_of_candidates, searched, strict=True):
            for position, c in enumerate(group.members):
                scores_of_candidate[c] = [fold[position] for fold in result.folds]
                params = group.steps.last.get_params(deep=False) | group.member_params[position]
                complexities[c] = complexity(params, result.kernels)
        order = range(len(candidates))
        self.cv_results_ = results(candidates, [scores_of_candidate[c] for c in order])
        self.fold_weights_ = [[fold.weights for fold in scores_of_candidate[c]] for c in order]
        self.n_splits_ = len(scores_of_candidate[0])
        self.best_index_ = best(self.cv_results_, metric, self.one_standard_error, [complexities[c] for c in order])
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_[f"mean_test_{metric}"][self.best_index_])
        best_group = next(g for g, group in enumerate(groups_of_candidates) if self.best_index_ in group.members)
        self.best_estimator_ = self._refit(groups_of_candidates[best_group], searched[best_group], X, y, groups)
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    # -- what is searched ----------------------------------------------------------------------------------------------

    @property
    def scorer_(self) -> dict[str, Any]:
        """A scorer for each metric, created from ``scoring`` when it is read: a saved search holds no scorers."""
        several = self.scoring
        if several is None or callable(several) or isinstance(several, str):
            return {"score": check_scoring(self.estimator, several)}
        if isinstance(several, Mapping):
            named = dict(several)
        else:
            named = {name: name for name in several}
        if not named:
            raise ValueError("BankSearchCV: scoring is empty: name a metric, or leave it out for the estimator's score")
        return {name: check_scoring(self.estimator, scorer) for name, scorer in named.items()}

    def _deciding_metric(self) -> str:
        """The metric that decides."""
        names = list(self.scorer_)
        if len(names) > 1 and self.refit is None:
            raise ValueError(f"BankSearchCV: of several metrics say by refit which one decides: {', '.join(names)}")
        if self.refit is not None and self.refit not in names:
            raise ValueError(f"BankSearchCV: refit must be one of {', '.join(names)}, got {self.refit!r}")
        if self.refit is None:
            return names[0]
        return self.refit

    def _refit(self, group: Group, searched: SearchedGroup, X: Any, y: Any, groups: Any) -> Any:
        """The best candidate fitted to all samples, on the bank of the search if no step learns from the samples."""
        params = group.member_params[group.members.index(self.best_index_)]
        if searched.bound is None:
            with blas_threads(_num_samples(X)):
                best = clone(self.estimator).set_params(**self.best_params_)
                if groups is None:
                    return best.fit(X, y)
                steps = Steps.of(best, "BankSearchCV searches")
                learned, before = steps.applied(X, y)
                return steps.joined(before, steps.last.fit(learned, y, groups=groups))
        before, model, bank, target = searched.bound  # the model has the parameters of the first candidate
        model.set_params(**clone(group.steps.last).get_params(deep=False) | params).check_parameters()
        with blas_threads(len(target)):
            best_checkpoint = searched.checkpoint.under(f"best, {params}")
            held_out = model.resampling(groups, target)
            model.fit_bank(bank, target, checkpoint=best_checkpoint, resampling=held_out)
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
        [y] = aligned(X, y=y)
        return float(self.scorer_[self._deciding_metric()](self.best_estimator_, X, y))
