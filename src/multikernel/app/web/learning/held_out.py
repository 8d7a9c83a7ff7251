"""One fold: a model of the other rows, what it says of these, and what its score loses with a column shuffled."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from multikernel.app.web.learning.families import made
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import as_taken, scores
from multikernel.datasets import Task
from multikernel.typing import Array

_SHUFFLED = 40  # columns at most, for each takes predictions of its own
_SCREENED = 5000  # rows from which trees find these columns, in 4 s of 2000 columns
_ROWS = 300  # of a fold on which columns are shuffled


@dataclass(frozen=True, eq=False)
class FoldResult:
    """What a model says of rows that it was not learned from.

    Parameters
    ----------
    model : the fitted estimator
    score : float, accuracy or R2
    predicted : array (rows,)
    values : array (rows, classes) of probabilities, or of decision values where there are none; None for numbers
    calibrated : bool, whether the values are probabilities
    losses : dict from columns to what the score loses with that column shuffled
    """

    model: Any
    score: float
    predicted: Array
    values: Array | None
    calibrated: bool
    losses: dict[str, float]


def held_out(
    recipe: Recipe, X: pd.DataFrame, y: Array, train: Array, test: Array, columns: Sequence[str]
) -> FoldResult:
    """The fold of these rows.

    Parameters
    ----------
    recipe : what is learned by
    X, y : all samples and their target
    train, test : the rows to learn from, and those held out
    columns : each of which is shuffled
    """
    own = X.iloc[train].reset_index(drop=True)
    model, given = made(recipe, own, y[train])
    if hasattr(model, "verbose") and recipe.automatic:
        model.set_params(verbose=1)
    model.fit(given, y[train])
    model = getattr(model, "best_estimator_", model)
    rest = X.iloc[test].reset_index(drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of categories that a small fold did not have
        new = as_taken(model, rest, recipe)
        kind, values = "", None
        if recipe.task == "classification" and (hasattr(model, "predict_proba") or hasattr(model, "decision_function")):
            kind, values = scores(model, new)
        predicted = np.asarray(model.predict(new))
        losses = _losses(model, recipe, rest, y[test], columns)
        return FoldResult(model, float(model.score(new, y[test])), predicted, values, kind == "probability", losses)


def columns_to_shuffle(X: pd.DataFrame, y: Array, task: Task) -> list[str]:
    """All columns, or of many those that extremely randomised trees use most, which see interactions as well.

    Parameters
    ----------
    X, y : the samples and their target
    task : what is learned
    """
    names = [str(name) for name in X.columns]
    if len(names) <= _SHUFFLED:
        return names
    some = np.random.default_rng(0).permutation(len(X))[:_SCREENED]
    codes = np.column_stack([_codes(X[name].iloc[some]) for name in X.columns])
    kind = ExtraTreesClassifier if task == "classification" else ExtraTreesRegressor
    trees = kind(100, max_features="sqrt", min_samples_leaf=3, random_state=0).fit(codes, y[some])
    return [names[k] for k in np.argsort(-trees.feature_importances_, kind="stable")[:_SHUFFLED]]


def _codes(column: Any) -> Array:
    """The cells of a column as numbers that trees can split: of words their places in the alphabet."""
    if column.dtype.kind == "f":
        known = column.median() if column.notna().any() else 0.0
        return np.asarray(column.fillna(known))
    return pd.factorize(column.astype(object), sort=True)[0].astype(float)


def _losses(model: Any, recipe: Recipe, X: pd.DataFrame, y: Array, columns: Sequence[str]) -> dict[str, float]:
    """What the score loses with the cells of one column in another order."""
    few = X.iloc[:_ROWS]
    truth = y[:_ROWS]
    order = np.random.default_rng(recipe.seed).permutation(len(few))
    whole = float(model.score(as_taken(model, few, recipe), truth))
    losses = {}
    for name in columns:
        shuffled = few.copy()
        if few[name].dtype != "category":
            shuffled[name] = few[name].iloc[order].to_numpy()
        else:
            shuffled[name] = few[name].iloc[order].array
        losses[name] = whole - float(model.score(as_taken(model, shuffled, recipe), truth))
    return losses


def importance_of(parts: Sequence[FoldResult]) -> list[dict[str, Any]]:
    """Mean and deviation of the losses over the folds, the largest first."""
    names = parts[0].losses
    rows = []
    for name in names:
        losses = [part.losses[name] for part in parts]
        rows.append({"name": name, "loss": float(np.mean(losses)), "spread": float(np.std(losses, ddof=1))})
    return sorted(rows, key=lambda row: -row["loss"])
