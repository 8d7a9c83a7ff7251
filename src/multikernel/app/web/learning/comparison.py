"""A comparison: the automatic estimator, learned weights, one tuned kernel and trees on the same held-out folds.

Of several views, each has kernels of its own in the methods that learn kernels; the others know columns only, and see
those of all views beside each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline, make_pipeline

from multikernel.app.jobs.compare import fold_score, gaussian, methods_to_compare
from multikernel.app.jobs.methods import INNER_FOLDS, OUTER_FOLDS, most_folds, shuffled_folds
from multikernel.app.web.learning.families import families
from multikernel.app.web.learning.progress import Report
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import as_given
from multikernel.auto import MultiKernelClassifier, MultiKernelRegressor, PreparedColumns
from multikernel.datasets import Task
from multikernel.typing import Array

_TUNED_ROWS = 800  # rows that it is tuned on, and as many that it is tried on, to save time and memory


def trivial(task: Task, train: Array, test: Array) -> float:
    """The score of the commonest class, or of the mean."""
    if task == "regression":
        return float(r2_score(test, np.full(len(test), train.mean())))
    labels, counts = np.unique(train, return_counts=True)
    return float((test == labels[counts.argmax()]).mean())


def single_kernel(recipe: Recipe, X: pd.DataFrame, y: Any, train: Array, test: Array) -> float:
    """The score of one Gaussian kernel, its width and its regularisation tuned on inner folds."""
    fit = _some(train, recipe.seed)
    held = _some(test, recipe.seed)
    tuned = gaussian(recipe.task, X.shape[1], shuffled_folds(recipe.task, INNER_FOLDS, recipe.seed), quick=True)
    model = make_pipeline(PreparedColumns(dict(recipe.columns)), tuned)
    return fold_score(model, (X.iloc[fit], y[fit]), (X.iloc[held], y[held]))[0]


def _some(rows: Array, seed: int) -> Array:
    if len(rows) <= _TUNED_ROWS:
        return rows
    chosen: Array = np.sort(np.random.default_rng(seed).choice(rows, _TUNED_ROWS, replace=False))
    return chosen


def compared(recipe: Recipe, X: pd.DataFrame, y: Any, report: Report) -> dict[str, Any]:
    """The scores of each method; ValueError where the rows are too few for the folds."""
    most = most_folds(y, recipe.task)
    if most < 2 * INNER_FOLDS:
        if recipe.task == "classification":
            raise ValueError(
                f"A comparison needs {2 * INNER_FOLDS} rows of each class, and the smallest has {most}; give more rows."
            )
        raise ValueError(f"A comparison needs {4 * INNER_FOLDS} rows, and there are {len(y)}; give more.")
    folds = min(OUTER_FOLDS, most)
    splits = list(shuffled_folds(recipe.task, folds, recipe.seed).split(X, y))
    methods = methods_to_compare(recipe.task, X.shape[1], recipe.seed, dict(recipe.columns))
    least = [trivial(recipe.task, y[train], y[test]) for train, test in splits]
    rows = [{"method": "no column at all", "scores": least, "seconds": 0.0}]
    for m, (name, model) in enumerate(methods.items()):
        found = []
        for k, (train, test) in enumerate(splits):
            part = (m + k / folds) / len(methods)
            report(f"Method {m + 1} of {len(methods)}: {name}", part, f"fold {k + 1} of {folds}")
            own = X.iloc[train].reset_index(drop=True)
            rest = X.iloc[test].reset_index(drop=True)
            training = _taken(model, recipe, own), y[train]
            held_out = _taken(model, recipe, rest), y[test]
            found.append(fold_score(_of_views(model, recipe, training[0]), training, held_out))
        seconds = sum(seconds for _, seconds in found) / folds
        rows.append({"method": name, "scores": [score for score, _ in found], "seconds": seconds})
    learned = [name for name, model in methods.items() if len(recipe.by_view) > 1 and _learns_kernels(model)]
    return {
        "measure": "accuracy" if recipe.task == "classification" else "R²",
        "comparison": rows,
        "by_view": learned,
    }


def _learns_kernels(model: Any) -> bool:
    return isinstance(model, MultiKernelClassifier | MultiKernelRegressor) or _kernels(model) is not None


def _kernels(model: Any) -> str | None:
    """How the last step of a pipeline calls its kernels."""
    names = model[-1].get_params() if isinstance(model, Pipeline) else {}
    return next((name for name in ("estimator__kernels", "kernels") if name in names), None)


def _of_views(model: Any, recipe: Recipe, given: Any) -> Any:
    """A method with kernels for each view where there are several, as a run of it alone would have them."""
    name = _kernels(model)
    if len(recipe.by_view) < 2 or name is None:
        return model
    return clone(model[-1]).set_params(**{name: families(given, recipe)})


def _taken(model: Any, recipe: Recipe, X: pd.DataFrame) -> Any:
    return as_given(X, recipe) if _learns_kernels(model) else X
