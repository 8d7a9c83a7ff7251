"""The worth of each source of the samples: the held-out scores of it alone and of all others, and what it adds.

The score S(A) is the held-out score of a model that is fitted to the sources A; S() is the score of a constant
prediction. For a source a among all sources, and for two sources a and b,

    alone        S(a)
    without      S(all but a)
    adds         S(all) - S(all but a)
    interaction  S(a, b) - S(a) - S(b) + S():  below 0 they repeat each other, above 0 they complete each other.

All scores are computed on the same J folds, so that each difference d has a value on every fold. Training sets of
different folds share samples, and the standard error of a mean over folds takes this into account (Nadeau and Bengio,
"Inference for the generalization error", Machine Learning 52, 2003):

    se^2 = (1 / J + n_test / n_train) * variance of d over the folds.

The test permutes the samples of a source and leaves those of the other sources, in training and test samples alike, and
fits again. A permutation moves samples within a fold only: then every training set keeps its samples, the kernels of
the source keep what they learned from them, and one permutation of all samples serves all folds. With B permutations,

    p = (1 + number of permutations that add at least as much) / (1 + B),

which is never 0, and at most t with probability at most t where the source is independent of the target and of the
other sources (Phipson and Smyth, "Permutation p-values should never be zero", SAGMB 9, 2010). With groups, whole groups
are permuted; where these differ in size, rows are repeated or left out, and the p-value is approximate.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.utils import check_array, check_random_state

from multikernel._arrays import host, is_sparse
from multikernel._floats import SINGULAR
from multikernel._folds import FOLDS, Fold, Resampling
from multikernel._parameters import COUNT, WHOLE
from multikernel._typing import Array
from multikernel._workers import on_threads
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import is_precomputed
from multikernel.estimators.checks import check_labels, check_target
from multikernel.estimators.learned_kernel import called
from multikernel.estimators.parameters import FoldsRule
from multikernel.estimators.samples import family_of
from multikernel.inspection.source_fits import Setting, last_step, takes_bank
from multikernel.inspection.source_parts import (
    ColumnParts,
    KernelParts,
    Parts,
    Sources,
    given_sources,
    parts_of,
    sources_of_columns,
)
from multikernel.sources.rows import aligned

Subset = tuple[int, ...]  # sources by number


def source_values(
    estimator: Any,
    X: Any,
    y: Any,
    cv: Any = FOLDS,
    groups: Any = None,
    *,
    sources: Mapping[str, Any] | None = None,
    repeats: int = 1,
    permutations: int = 99,
    pairs: bool = True,
    scoring: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    observe: Callable[[int, int], object] | None = None,
) -> Any:
    """What each source of the samples is worth to an estimator: what it scores alone, and what it adds to the others.

    The weight of a source does not say this: a source may have a large weight and add nothing, because another one
    repeats it. For s sources and f folds this takes ``repeats * f * (1 + 2 s + s (s - 1) / 2)`` fits, without the last
    term where ``pairs`` is False, and ``permutations * f * s`` fits for the p-values. Estimators of this package, alone
    or at the end of a pipeline, bind the kernels once in each fold; other estimators are fitted to the samples.

    Parameters
    ----------
    estimator : a classifier or regressor, which is not changed
    X : samples in several sources: views (a dict, a list or ``views(...)``); a bank or kernel matrices, each of which
        is a source; a table, where the kernels of the estimator are ``kernels.column_groups``, each of which is a
        source, or where ``sources`` is given
    y : the target
    cv : int, splitter or iterable of (train, test) rows; folds of a number are shuffled, and stratified for classifiers
    groups : array (n,), the group of each sample: folds, and those of the estimator's own fits, hold out whole groups,
        and permutations move whole groups (rows of the smaller of two groups are repeated)
    sources : dict, of a table the columns of each source, by name, number or slice; of a bank its kernels, and of
        views their names, where several make one source. What is in no source is left out.
    repeats : int >= 1, how often folds are drawn anew, where cv is a number
    permutations : int >= 0, of each source for its p-value, all on the first folds drawn; without any, p is NaN
    pairs : bool, whether the interactions of all pairs of sources are computed
    scoring : str or callable, as in scikit-learn; default the estimator's ``score``: accuracy or R^2
    random_state : int, RandomState or None; draws the folds and the permutations
    n_jobs : int or None, threads over the folds
    observe : function of how many folds are done and how many there are, called after each; from the threads

    Returns
    -------
    pandas.DataFrame with a row for each source
        The columns are ``source``, its name; ``alone``, the mean score over the folds with this source only;
        ``without``, the mean score with all others, of a constant prediction where there is no other; ``adds``, the
        score with all sources minus ``without``; ``se``, the standard error of ``adds``, over the same folds, corrected
        for training sets that overlap; ``p``, of the hypothesis that the source has nothing to do with the target and
        the other sources. A source that repeats another may have a small p and add nothing.

        Its ``attrs`` hold plain values: ``score`` of all sources with its standard ``error``, and ``constant``, that of
        a constant prediction; ``errors``, the standard errors of the columns ``alone`` and ``without`` by source;
        ``pairs``, of which ``multikernel.inspection.source_pairs`` makes a frame; ``measure``, ``folds`` and
        ``permutations``. ``multikernel.inspection.plot_source_values`` draws the frame.

    Raises
    ------
    ImportError : without pandas
    TypeError : for an estimator that is no classifier or regressor
    ValueError : where the sources are not known, the folds leave nothing to permute, or a score is not a number

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import AverageMKLRegressor, source_values
    >>> rng = np.random.default_rng(0)
    >>> signal, noise = rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
    >>> y = signal[:, 0] + 0.1 * rng.normal(size=60)
    >>> values = source_values(AverageMKLRegressor(), {"signal": signal, "noise": noise}, y, permutations=9)
    >>> list(values.columns), values.loc[0, "source"], bool(values.loc[0, "adds"] > 0.5)
    (['source', 'alone', 'without', 'adds', 'se', 'p'], 'signal', True)
    """
    import pandas as pd

    if getattr(last_step(estimator), "fixed", None) is not None:
        raise ValueError(
            f"source_values: {type(last_step(estimator)).__name__} has fixed columns, which are no source that can be "
            "left out: give an estimator without fixed"
        )
    COUNT.check(repeats, "source_values: repeats")
    WHOLE.check(permutations, "source_values: permutations")
    FoldsRule().check(cv, "source_values: cv")
    if repeats > 1 and not isinstance(cv, Integral):
        raise ValueError("source_values: repeats draws folds anew; give cv as a number of folds, or repeats=1")
    names, setting = _setting(estimator, X, y, groups, sources, scoring)
    rng = check_random_state(random_state)
    drawn = [_folds(estimator, cv, setting.groups, setting.y, rng) for _ in range(repeats)]
    if permutations:
        orders = _permutations(drawn[0], setting.parts.n, setting.groups, permutations, rng)
    else:
        orders = []
    subsets = _subsets(len(names), pairs)
    scores, permuted = _scores(setting, drawn, subsets, orders, n_jobs, observe)
    _check_finite(scores, names)
    p = _p_values(scores, permuted, len(names), len(drawn[0]), permutations)
    overlap = float(np.mean([len(test) / len(train) for folds in drawn for train, test in folds]))
    frame: Any = pd.DataFrame(_rows(names, scores, p, overlap))
    frame.attrs = {
        **_errors(names, scores, overlap),
        "pairs": _interactions(names, scores, overlap) if pairs else [],
        "measure": _measure(estimator, scoring),
        "folds": sum(map(len, drawn)),
        "permutations": permutations,
    }
    return frame


def _setting(
    estimator: Any, X: Any, y: Any, groups: Any, sources: Mapping[str, Any] | None, scoring: Any
) -> tuple[list[str], Setting]:
    """The names of the sources, and the checked estimator and data."""
    check_scoring(estimator, scoring)
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise TypeError(f"source_values takes a classifier or a regressor, got {called(estimator)}")
    y, groups = aligned(X, y=y, groups=groups)
    target = _target(estimator, y)
    parts = parts_of(X, isinstance(last_step(estimator), KernelEstimator) and is_precomputed(last_step(estimator)))
    named, by_kernels = _sources(estimator, parts, sources)
    if len(target) != parts.n:
        raise ValueError(f"source_values: X has {parts.n} samples and y has {len(target)}; give one of y for each")
    if takes_bank(estimator) and last_step(estimator) is estimator and not isinstance(parts, KernelParts):
        estimator.forecast(parts.only(np.arange(len(parts.names))), target)  # checks the samples, and computes nothing
    grouped = None if groups is None else np.asarray(host(groups))
    return list(named), Setting(estimator, parts, list(named.values()), by_kernels, target, grouped, scoring)


def _scores(
    setting: Setting,
    drawn: Sequence[Sequence[Fold]],
    subsets: Sequence[Subset],
    orders: Sequence[Array],
    n_jobs: int | None,
    observe: Callable[[int, int], object] | None,
) -> tuple[dict[Subset, Array], list[Array]]:
    """The scores of each subset of the sources on every fold; and on the first folds the scores of permuted sources."""
    total, count = sum(map(len, drawn)), itertools.count(1)

    def on_fold(fold: Fold, fold_orders: Sequence[Array]) -> tuple[dict[Subset, float], Array]:
        fold_scores = _scores_of_fold(setting, fold, subsets, fold_orders)
        if observe is not None:
            observe(next(count), total)
        return fold_scores

    first, *later = drawn
    jobs = [partial(on_fold, fold, orders) for fold in first]
    jobs += [partial(on_fold, fold, []) for folds in later for fold in folds]
    results = on_threads(jobs, n_jobs)
    scores = {subset: np.array([fold_scores[subset] for fold_scores, _ in results]) for subset in subsets}
    return scores, [fold_moved_scores for _, fold_moved_scores in results[: len(first)]]


def _p_values(
    scores: Mapping[Subset, Array], permuted: Sequence[Array], count: int, folds: int, permutations: int
) -> list[float]:
    """The p-value of each source, by its permutations on the first folds; NaN without permutations."""
    if not permutations:
        return [np.nan] * count
    reached = float(scores[tuple(range(count))][:folds].mean())
    size = max(float(np.abs(values).max()) for values in scores.values())  # that of a squared error has a unit
    better = (np.mean(permuted, axis=0) >= reached - SINGULAR * size).sum(axis=1)
    return [(1 + int(count_of_better)) / (1 + permutations) for count_of_better in better]


def _rows(
    names: Sequence[str], scores: Mapping[Subset, Array], p: Sequence[float], overlap: float
) -> list[dict[str, Any]]:
    """A row for each source."""
    all_sources = tuple(range(len(names)))
    rows = []
    for s, name in enumerate(names):
        without = scores[_all_but(all_sources, s)]
        adds = scores[all_sources] - without
        rows.append(
            {
                "source": name,
                "alone": scores[(s,)].mean(),
                "without": without.mean(),
                "adds": adds.mean(),
                "se": _error(adds, overlap),
                "p": p[s],
            }
        )
    return rows


def _errors(names: Sequence[str], scores: Mapping[Subset, Array], overlap: float) -> dict[str, Any]:
    """The scores of all sources and of the constant prediction, and the standard errors of the scores."""
    all_sources = tuple(range(len(names)))
    return {
        "score": float(scores[all_sources].mean()),
        "error": _error(scores[all_sources], overlap),
        "constant": float(scores[()].mean()),
        "errors": {
            "alone": {name: _error(scores[(s,)], overlap) for s, name in enumerate(names)},
            "without": {name: _error(scores[_all_but(all_sources, s)], overlap) for s, name in enumerate(names)},
        },
    }


# -- what is fitted ----------------------------------------------------------------------------------------------------


def _target(estimator: Any, y: Any) -> Array:
    """The target as an array, checked as a fit checks it."""
    (check_labels if is_classifier(estimator) else check_target)(y)
    # scikit-learn's check below refuses a sparse one
    if not is_sparse(y):
        y = np.asarray(host(y))
    return np.asarray(check_array(y, ensure_2d=False, dtype=None, input_name="y"))


def _sources(estimator: Any, parts: Parts, column_sources: Any) -> tuple[Sources, bool]:
    """The parts of each source, or its kernels where these are column groups; and whether the latter is the case."""
    if column_sources is not None:
        return given_sources(column_sources, parts), False
    if not isinstance(parts, ColumnParts):
        return {name: np.array([k]) for k, name in enumerate(parts.names)}, False
    model = last_step(estimator)
    group_kernels = None
    if takes_bank(estimator) and getattr(model, "kernels", None) is not None:
        group_kernels = sources_of_columns(family_of(model))
    if group_kernels is None:
        raise ValueError(
            "source_values: X is one table, and nothing says which columns belong to which source: give sources, a "
            "dict of the columns of each, or kernels=kernels.column_groups(...), or X as a dict of views"
        )
    return group_kernels, True


def _subsets(count: int, pairs: bool) -> list[Subset]:
    """All sets of sources that are fitted, each once."""
    all_sources = tuple(range(count))
    subsets = [(), all_sources, *((s,) for s in all_sources), *(_all_but(all_sources, s) for s in all_sources)]
    if pairs:
        subsets += itertools.combinations(all_sources, 2)
    return list(dict.fromkeys(subsets))


def _all_but(sources: Subset, s: int) -> Subset:
    return tuple(other for other in sources if other != s)


def _folds(estimator: Any, cv: Any, groups: Array | None, y: Array, rng: Any) -> list[Fold]:
    """Training and test rows; folds that are drawn are stratified for classifiers."""
    if is_classifier(estimator):
        labels = np.unique(y, return_inverse=True)[1]
    else:
        labels = np.zeros(len(y), dtype=int)
    folds = Resampling.of("source_values", cv, groups, y).folds(labels, FOLDS, rng)
    return [(np.sort(train), np.sort(test)) for train, test in folds]


def _permutations(folds: Sequence[Fold], n: int, groups: Array | None, count: int, rng: Any) -> list[Array]:
    """Permutations within the samples that are training and test samples of the same folds.

    Raises
    ------
    ValueError : where there are no two such samples, or groups
    """
    role_of_sample = np.zeros((n, len(folds)), dtype=np.int8)
    for f, (train, test) in enumerate(folds):
        role_of_sample[train, f] = 1
        role_of_sample[test, f] = 2
    role = np.unique(role_of_sample, axis=0, return_inverse=True)[1].reshape(n)
    if groups is None:
        units = np.arange(n)
    else:
        units = np.unique(groups, return_inverse=True)[1].reshape(n)
    cells = []
    for k in range(int(role.max()) + 1):
        rows = np.flatnonzero(role == k)
        cells.append([rows[units[rows] == unit] for unit in np.unique(units[rows])])
    if max(map(len, cells)) < 2:
        raise ValueError(
            "source_values: no two samples, or groups of them, are held out together, so that none can change places "
            "for a p-value: give fewer folds, or permutations=0"
        )
    return [_permutation(cells, n, rng) for _ in range(count)]


def _permutation(cells: Sequence[Sequence[Array]], n: int, rng: Any) -> Array:
    """The sample from which each sample gets the source; between groups of two sizes, rows are left out or repeated."""
    order = np.arange(n)
    for units in cells:
        for rows, other in zip(units, rng.permutation(len(units)), strict=True):
            order[rows] = np.resize(units[other], len(rows))
    return order


# -- what they score ---------------------------------------------------------------------------------------------------


def _scores_of_fold(
    setting: Setting, fold: Fold, subsets: Sequence[Subset], orders: Sequence[Array]
) -> tuple[dict[Subset, float], Array]:
    """The score of each subset, and of all sources with each of them permuted: array (sources, permutations)."""
    fits = setting.fits(fold)
    scores = {subset: fits.score(subset) if subset else setting.constant_score(fold) for subset in subsets}
    all_sources = tuple(range(len(setting.sources)))
    moved = [[fits.score(all_sources, source, order) for order in orders] for source in all_sources]
    return scores, np.array(moved)


def _check_finite(scores: Mapping[Subset, Array], names: Sequence[str]) -> None:
    for subset, values in scores.items():
        if not np.isfinite(values).all():
            fold = int(np.argmin(np.isfinite(values)))
            raise ValueError(
                f"source_values: the score with the sources {[names[s] for s in subset]} is {values[fold]} on fold "
                f"{fold}: give larger folds, or another scoring"
            )


def _error(values: Array, overlap: float) -> float:
    """The corrected standard error of the mean of differences over folds; NaN for a single fold."""
    if len(values) < 2:
        return float("nan")
    return float(np.sqrt((1.0 / len(values) + overlap) * values.var(ddof=1)))


def _interactions(names: Sequence[str], scores: Mapping[Subset, Array], overlap: float) -> list[dict[str, Any]]:
    interactions = []
    for a, b in itertools.combinations(range(len(names)), 2):
        values = scores[(a, b)] - scores[(a,)] - scores[(b,)] + scores[()]
        interactions.append(
            {
                "first": names[a],
                "second": names[b],
                "interaction": float(values.mean()),
                "se": _error(values, overlap),
            }
        )
    return interactions


def _measure(estimator: Any, scoring: Any) -> str:
    """The name of the score."""
    if isinstance(scoring, str):
        return scoring
    if scoring is not None:
        return str(getattr(scoring, "__name__", "score"))
    if is_classifier(estimator):
        return "accuracy"
    return "R2"
