"""``compare``: the automatic estimator beside other methods on a table, by nested cross-validation.

Each outer fold is a test set. The parameters of a method are chosen by inner folds on the samples outside of it. All
methods have the same folds and the same columns, which the automatic estimator prepares; this preparation is learned
outside of the fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedGroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import multikernel as mk
from multikernel.app.jobs.methods import GRIDS, INNER_FOLDS, count_of_folds, folds_of_task, score_name, shuffled_folds
from multikernel.app.jobs.predict import learner_of
from multikernel.app.jobs.watch import Watch
from multikernel.app.tables.columns import ColumnKinds
from multikernel.app.tables.held_out import RowsHeldOut
from multikernel.app.tables.table import CsvTable, read_target
from multikernel.app.tables.views import some_samples, split
from multikernel.auto import MultiKernelClassifier, MultiKernelRegressor, PreparedColumns
from multikernel.datasets import Task
from multikernel.estimators import (
    AverageMKLClassifier,
    AverageMKLRegressor,
    EasyMKLClassifier,
    L1MKLClassifier,
    MultipleKernelRidgeCV,
)
from multikernel.persistence import Checkpoint
from multikernel.selection import BankSearchCV, Fold
from multikernel.typing import Array

_GAMMAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # times 1 / features
_TREES = 300  # of a random forest
_BOOSTING = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [7, 31]}


@dataclass(frozen=True)
class MethodScores:
    """The results of a method on the outer folds."""

    method: str
    scores: tuple[float, ...]  # accuracy for classes, R2 for numbers
    seconds: float  # of choosing and fitting, mean over the folds

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores))

    @property
    def std(self) -> float:
        """The standard deviation over the folds."""
        return float(np.std(self.scores, ddof=1))


@dataclass(frozen=True)
class Comparison:
    """The results of all methods on a table.

    Parameters
    ----------
    file, target, measure : str
    samples, columns, folds, seed : int
    results : one for each method
    """

    file: str
    target: str
    measure: str
    samples: int
    columns: int
    folds: int
    seed: int
    results: tuple[MethodScores, ...]

    @property
    def best_first(self) -> list[MethodScores]:
        """The methods by their mean scores."""
        return sorted(self.results, key=lambda result: -result.mean)

    def to_json(self) -> dict[str, Any]:
        """The comparison as a dictionary, its methods in the order in which they ran."""
        methods = [
            {
                "method": r.method,
                "score_folds": list(r.scores),
                "score_mean": r.mean,
                "score_std": r.std,
                "seconds": r.seconds,
            }
            for r in self.results
        ]
        return {
            "target": self.target,
            "measure": self.measure,
            "samples": self.samples,
            "features": self.columns,
            "folds": self.folds,
            "seed": self.seed,
            "methods": methods,
        }


def compare_methods(
    table: CsvTable,
    target: str,
    task: Task | None,
    folds: int | None,
    seed: int,
    watch: Watch,
    only: Sequence[str] | None = None,
    checkpoint: Path | None = None,
    types: Mapping[str, str] | None = None,
) -> Comparison:
    """The scores of all methods; with a directory ``checkpoint``, the result of each fold of each method is kept there.

    ValueError where the table has too few samples for the folds, or ``only`` has a name that no method has.
    """
    y, decided, feature_columns = read_target(table, target, task)
    held_out = table.held_out
    possible_folds = held_out.possible_folds(y, decided)
    if possible_folds < 2 * INNER_FOLDS:
        raise ValueError(
            f"{table.file}: a comparison chooses on {INNER_FOLDS} folds inside of others, for which there must be as "
            f"many rows of each class, or pairs of rows, as {2 * INNER_FOLDS} folds need; the column {target!r} allows "
            f"{possible_folds}: give more rows, or fit a single method"
        )
    folds = count_of_folds(table, target, y, decided, folds)
    table.check_types(types or {}, target)
    X = ColumnKinds.learn(feature_columns, types).frame(table)
    models = methods_to_compare(decided, X.shape[1], seed, types, held_out.decided)
    views = table.by_view(X.columns)
    kernel_samples = mk.views(split(X, views)) if views else X
    unknown_names = [name for name in only or () if name not in models]
    if unknown_names:
        raise ValueError(f"--only {unknown_names[0]!r} is none of the methods; they are {', '.join(models)}")
    store = Checkpoint.of(checkpoint, "comparison", X, y, models, folds, seed, held_out.groups, held_out.times)
    chosen = {name: model for name, model in models.items() if only is None or name in only}
    store.expect([_part_name(name, fold) for name in chosen for fold in range(folds)])
    results = []
    fold_rows = folds_of_task(decided, folds, seed, y, held_out)
    with watch.steps(len(chosen), Path(table.file).name) as observe:
        for k, (name, model) in enumerate(chosen.items(), start=1):
            learner = kernel_learner(model) if views else None
            if learner is None:
                results.append(_score_method(name, model, X, y, held_out, fold_rows, store))
            else:
                results.append(_score_method(name, learner, kernel_samples, y, held_out, fold_rows, store))
            observe(f"{name}, method {k}")
    return Comparison(table.file, target, score_name(decided), len(y), X.shape[1], folds, seed, tuple(results))


def _score_method(
    name: str, model: Any, X: Any, y: Array, held_out: RowsHeldOut, folds: Sequence[Fold], store: Checkpoint
) -> MethodScores:
    def measure(train: Array, test: Array) -> tuple[float, float]:
        fit_arguments = fit_groups(model, held_out.together(train))
        return fold_score(model, (some_samples(X, train), y[train]), (some_samples(X, test), y[test]), **fit_arguments)

    fold_results = [store.part(_part_name(name, fold), partial(measure, *rows)) for fold, rows in enumerate(folds)]
    return MethodScores(
        name, tuple(score for score, _ in fold_results), sum(seconds for _, seconds in fold_results) / len(fold_results)
    )


def kernel_learner(model: Any) -> Any | None:
    """The estimator of a method that learns kernels, which accepts views; None for a method that does not.

    Parameters
    ----------
    model : an estimator, or a pipeline, whose last step is returned
    """
    final_step = learner = learner_of(model)
    if isinstance(final_step, BankSearchCV):
        learner = final_step.estimator
    if isinstance(learner, MultiKernelClassifier | MultiKernelRegressor) or "kernels" in learner.get_params():
        return final_step
    return None


def fold_score(
    model: Any,
    training: tuple[Any, Array],
    held_out: tuple[Any, Array],
    scorer: Callable[[Any, Any, Array], float] | None = None,
    **fit_arguments: Any,
) -> tuple[float, float]:
    """The score of a method on one fold, and the seconds of choosing and fitting.

    Parameters
    ----------
    model : the estimator, which is not changed
    training, held_out : samples and targets
    scorer : function of a fitted model, samples and targets; None for the ``score`` of the model
    fit_arguments : further arguments of ``fit``
    """
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of parameters that are tried, and of unseen categories in a test fold
        fitted = clone(model).fit(*training, **fit_arguments)
        seconds = perf_counter() - start
        score = float(scorer(fitted, *held_out) if scorer else fitted.score(*held_out))
    return score, seconds


def fit_groups(model: Any, groups: Array | None) -> dict[str, Any]:
    """The arguments of ``fit`` for the groups of its samples; none for forests, which hold nothing out.

    Parameters
    ----------
    model : an estimator, or a pipeline
    groups : array (n,), None where there are none
    """
    if groups is None or isinstance(learner_of(model), RandomForestClassifier | RandomForestRegressor):
        return {}
    if isinstance(model, Pipeline):
        return {f"{model.steps[-1][0]}__groups": groups}
    return {"groups": groups}


def _part_name(name: str, fold: int) -> str:
    return f"{name}, fold {fold + 1}"


def methods_to_compare(
    task: Task, columns: int, seed: int, types: Mapping[str, str] | None = None, grouped: bool = False
) -> dict[str, Any]:
    """The methods by name: the automatic estimator, learned weights and their baselines, a tuned Gaussian, trees.

    Parameters
    ----------
    task, columns, seed : the task, the number of columns, and the seed of the folds
    types : the declared types of columns
    grouped : bool, whether fits have groups, which inner folds do not split
    """
    folds_of = group_folds if grouped else shuffled_folds
    inner: Any = folds_of(task, INNER_FOLDS, seed)
    trees = {"n_estimators": _TREES, "random_state": seed}

    def prepared(model: Any) -> Any:
        return make_pipeline(PreparedColumns(types), model)

    def searched(model: Any, parameter: str) -> Any:
        return prepared(BankSearchCV(model, {parameter: GRIDS[parameter]}, cv=inner))

    if task == "classification":
        return {
            "automatic": MultiKernelClassifier(types=types, random_state=seed),
            "L1MKL": searched(L1MKLClassifier(), "C"),
            "EasyMKL": searched(EasyMKLClassifier(), "lam"),
            "average of kernels": searched(AverageMKLClassifier(), "C"),
            "one Gaussian (SVC)": prepared(gaussian(task, columns, inner)),
            "random forest": prepared(RandomForestClassifier(**trees)),
            "gradient boosting": prepared(
                GridSearchCV(HistGradientBoostingClassifier(random_state=seed), _BOOSTING, cv=inner),
            ),
        }
    return {
        "automatic": MultiKernelRegressor(types=types, random_state=seed),
        "MultipleKernelRidgeCV": prepared(MultipleKernelRidgeCV()),
        "average of kernels": searched(AverageMKLRegressor(), "alpha"),
        "one Gaussian (kernel ridge)": prepared(gaussian(task, columns, inner)),
        "random forest": prepared(RandomForestRegressor(**trees)),
        "gradient boosting": prepared(
            GridSearchCV(HistGradientBoostingRegressor(random_state=seed), _BOOSTING, cv=inner)
        ),
    }


def group_folds(task: Task, n: int, seed: int) -> StratifiedGroupKFold | GroupKFold:
    """A splitter into n shuffled folds of whole groups, with about the same share of each class in each.

    Parameters
    ----------
    task, n, seed : the task, the number of folds, and their seed
    """
    kind = StratifiedGroupKFold if task == "classification" else GroupKFold
    return kind(n, shuffle=True, random_state=seed)


def gaussian(task: Task, columns: int, inner: Any, *, quick: bool = False) -> Any:
    """One Gaussian kernel whose width and regularisation are chosen on inner folds.

    Parameters
    ----------
    task, columns : the task, and the number of columns
    inner : the splitter of the inner folds; None, where there are too few rows, for default values
    quick : bool, whether values at the ends of the grid are left out
    """
    if inner is None:
        if task == "classification":
            return SVC(gamma=1.0 / columns)
        return TransformedTargetRegressor(KernelRidge(kernel="rbf", gamma=1.0 / columns), transformer=StandardScaler())
    gammas = [gamma / columns for gamma in _GAMMAS]
    costs = GRIDS["C"]
    alphas = GRIDS["alpha"]
    if quick:
        gammas = gammas[1:-1]
        costs = costs[1:]
        alphas = alphas[:-1]
    if task == "classification":
        return GridSearchCV(SVC(), {"C": costs, "gamma": gammas}, cv=inner)
    ridge = GridSearchCV(KernelRidge(kernel="rbf"), {"alpha": alphas, "gamma": gammas}, cv=inner)
    return TransformedTargetRegressor(ridge, transformer=StandardScaler())


def rows_of(comparison: Comparison) -> list[list[str]]:
    """The lines of the printed table, the best method first."""
    return [[r.method, f"{r.mean:.4f} +- {r.std:.4f}", f"{r.seconds:.2f}"] for r in comparison.best_first]
