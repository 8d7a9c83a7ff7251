"""A comparison: the automatic estimator, learned weights, one tuned kernel and trees on the same held-out folds."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import pandas as pd
from sklearn.base import clone

from multikernel.app.jobs.compare import contestants
from multikernel.app.jobs.methods import INNER_FOLDS, most_folds, shuffled_folds
from multikernel.app.web.learning.baselines import trivial
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.telling import Tell

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
    methods = contestants(recipe.task, X.shape[1], recipe.seed)
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
                fitted = clone(model).fit(X.iloc[train], y[train])
                scores.append(float(fitted.score(X.iloc[test], y[test])))
        rows.append({"method": name, "scores": scores, "seconds": (perf_counter() - start) / folds})
    return {"measure": "accuracy" if recipe.task == "classification" else "R²", "comparison": rows}
