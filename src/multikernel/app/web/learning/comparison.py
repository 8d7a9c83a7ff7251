"""A comparison: the automatic estimator, learned weights, one tuned kernel and trees on the same held-out folds.

Of several views, each has kernels of its own in the methods that learn kernels; the others know columns only, and see
those of all views beside each other.
"""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from multikernel.app.jobs.compare import contestants
from multikernel.app.jobs.methods import INNER_FOLDS, most_folds, shuffled_folds
from multikernel.app.web.learning.baselines import trivial
from multikernel.app.web.learning.families import family
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import as_given
from multikernel.app.web.learning.telling import Tell
from multikernel.auto import MultiKernelClassifier, MultiKernelRegressor

_FOLDS = 5


def compared(recipe: Recipe, X: pd.DataFrame, y: Any, tell: Tell) -> dict[str, Any]:
    """The scores of each method; ValueError where the rows are too few for the folds."""
    most = most_folds(y, recipe.task)
    if most < 2 * INNER_FOLDS:
        raise ValueError(
            f"A comparison needs {2 * INNER_FOLDS} rows of each class, and the smallest has {most}; give more rows."
            if recipe.task == "classification"
            else f"A comparison needs {4 * INNER_FOLDS} rows, and there are {len(y)}; give more."
        )
    folds = min(_FOLDS, most)
    splits = list(shuffled_folds(recipe.task, folds, recipe.seed).split(X, y))
    methods = contestants(recipe.task, X.shape[1], recipe.seed, dict(recipe.columns))
    rows = [
        {"method": "no column at all", "scores": [trivial(recipe.task, y[a], y[b]) for a, b in splits], "seconds": 0.0}
    ]
    for m, (name, model) in enumerate(methods.items()):
        scores, start = [], perf_counter()
        for k, (train, test) in enumerate(splits):
            tell(
                f"Method {m + 1} of {len(methods)}: {name}", (m + k / folds) / len(methods), f"fold {k + 1} of {folds}"
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of parameters that are tried, and categories of a fold
                own, rest = (X.iloc[rows].reset_index(drop=True) for rows in (train, test))
                fitted = _of_views(model, recipe, own).fit(_taken(model, recipe, own), y[train])
                scores.append(float(fitted.score(_taken(model, recipe, rest), y[test])))
        rows.append({"method": name, "scores": scores, "seconds": (perf_counter() - start) / folds})
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


def _of_views(model: Any, recipe: Recipe, X: pd.DataFrame) -> Any:
    """A method with kernels for each view where there are several, as a run of it alone would have them."""
    name = _kernels(model)
    if len(recipe.by_view) < 2 or name is None:
        return clone(model)
    return clone(model[-1]).set_params(**{name: family(X, recipe)})


def _taken(model: Any, recipe: Recipe, X: pd.DataFrame) -> Any:
    return as_given(X, recipe) if isinstance(model, MultiKernelClassifier | MultiKernelRegressor) else X
