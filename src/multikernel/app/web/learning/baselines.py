"""What a learned kernel has to beat: the answer that looks at no column, and one kernel, tuned."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel.app.jobs.methods import shuffled_folds
from multikernel.app.web.learning.recipe import Recipe
from multikernel.auto import PreparedColumns
from multikernel.datasets import Task
from multikernel.typing import Array

_MOST = 800  # rows that it is tuned on, and as many that it is tried on, to save time and memory
_C, _ALPHAS, _GAMMAS = (1.0, 10.0, 100.0), (1e-3, 1e-2, 1e-1, 1.0), (0.03, 0.1, 0.3, 1.0)


def trivial(task: Task, train: Array, test: Array) -> float:
    """The score of the commonest class, or of the mean."""
    if task == "regression":
        return float(r2_score(test, np.full(len(test), train.mean())))
    labels, counts = np.unique(train, return_counts=True)
    return float((test == labels[counts.argmax()]).mean())


def single_kernel(recipe: Recipe, X: pd.DataFrame, y: Any, train: Array, test: Array) -> float:
    """The score of one Gaussian kernel, its width and its regularisation tuned on inner folds."""
    fit, held = _some(train, recipe.seed), _some(test, recipe.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parameters that are tried, and categories of a fold
        return float(_gaussian(recipe, X.shape[1]).fit(X.iloc[fit], y[fit]).score(X.iloc[held], y[held]))


def _some(rows: Array, seed: int) -> Array:
    if len(rows) <= _MOST:
        return rows
    chosen: Array = np.sort(np.random.default_rng(seed).choice(rows, _MOST, replace=False))
    return chosen


def _gaussian(recipe: Recipe, p: int) -> Any:
    inner = shuffled_folds(recipe.task, 3, recipe.seed)
    gammas = [gamma / p for gamma in _GAMMAS]
    columns = PreparedColumns(dict(recipe.columns))
    if recipe.task == "classification":
        return make_pipeline(columns, GridSearchCV(SVC(), {"C": _C, "gamma": gammas}, cv=inner))
    ridge = GridSearchCV(KernelRidge(kernel="rbf"), {"alpha": _ALPHAS, "gamma": gammas}, cv=inner)
    return make_pipeline(columns, TransformedTargetRegressor(ridge, transformer=StandardScaler()))
