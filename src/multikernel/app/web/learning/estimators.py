"""From a recipe to the estimator that learns by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import multikernel as mk
from multikernel.app.jobs.methods import most_folds, shuffled_folds
from multikernel.app.web.learning.families import family
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import as_given
from multikernel.selection import BankSearchCV

_PATH = {"C": np.logspace(-2, 3, 11), "alpha": np.logspace(-6, 2, 13), "lam": np.linspace(0.0, 1.0, 11)}
REGULARISES = tuple(_PATH)


def made(recipe: Recipe, X: pd.DataFrame, y: Any) -> tuple[Any, Any]:
    """The estimator, and the samples in the form that it takes.

    Raises
    ------
    ValueError : where a parameter is not what it may be, or no column is left to learn from
    """
    if recipe.automatic:
        kind = mk.MultiKernelClassifier if recipe.task == "classification" else mk.MultiKernelRegressor
        return kind(random_state=recipe.seed, types=dict(recipe.columns), **recipe.parameters), as_given(X, recipe)
    kind = getattr(mk, recipe.method)
    model = kind(kernels=family(X, recipe), **seeded(kind, recipe))
    if recipe.path:
        model = BankSearchCV(
            model,
            {recipe.path: path_values(recipe.path)},
            cv=shuffled_folds(recipe.task, min(5, most_folds(y, recipe.task)), recipe.seed),
            one_standard_error=True,
        )
    return model, X


def seeded(kind: Any, recipe: Recipe) -> dict[str, Any]:
    """The parameters, with the seed where the estimator takes one."""
    seed = {"random_state": recipe.seed} if hasattr(kind, "random_state") else {}
    return seed | recipe.parameters


def path_values(parameter: str) -> list[float]:
    """The values of a path."""
    return [float(f"{value:.6g}") for value in _PATH[parameter]]
