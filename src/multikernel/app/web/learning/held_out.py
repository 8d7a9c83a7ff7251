"""One fold: a model of the other rows, what it says of these, and what its score loses with a column shuffled."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from multikernel.app.web.learning.division import KnownRows
from multikernel.app.web.learning.families import made
from multikernel.app.web.learning.measures import measure_of, scorer_of
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
    score : float, by the measure of the run
    predicted : array (rows,); (rows, targets) of several
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


def held_out(recipe: Recipe, known: KnownRows, held: KnownRows, columns: Sequence[str]) -> FoldResult:
    """What a model of some rows says of others.

    Parameters
    ----------
    recipe : what is learned by
    known : the rows to learn from
    held : those held out
    columns : each of which is shuffled
    """
    model, given = made(recipe, known.X, known.y, known.groups)
    if hasattr(model, "verbose") and recipe.automatic:
        model.set_params(verbose=1)
    model.fit(given, known.y, **known.inner_groups)
    model = getattr(model, "best_estimator_", model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of categories that a small fold did not have
        new = as_taken(model, held.X, recipe)
        kind = ""
        values = None
        if recipe.task == "classification" and (hasattr(model, "predict_proba") or hasattr(model, "decision_function")):
            kind, values = scores(model, new)
        predicted = np.asarray(model.predict(new))
        measure = measure_of(recipe.task, recipe.measured.measure)
        score = measure.of(held.y, predicted, values, getattr(model, "classes_", np.empty(0)))
        losses = _losses(model, recipe, held, columns)
        return FoldResult(model, score, predicted, values, kind == "probability", losses)


def spread(values: Sequence[float]) -> float | None:
    """The standard deviation of several values, None of one."""
    if len(values) > 1:
        return float(np.std(values, ddof=1))
    return None


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
    if task == "classification":
        kind = ExtraTreesClassifier
    else:
        kind = ExtraTreesRegressor
    trees = kind(100, max_features="sqrt", min_samples_leaf=3, random_state=0).fit(codes, y[some])
    return [names[k] for k in np.argsort(-trees.feature_importances_, kind="stable")[:_SHUFFLED]]


def _codes(column: Any) -> Array:
    """The cells of a column as numbers that trees can split: of words their places in the alphabet."""
    if column.dtype.kind == "f":
        known = column.median() if column.notna().any() else 0.0
        return np.asarray(column.fillna(known))
    return pd.factorize(column.astype(object), sort=True)[0].astype(float)


def _losses(model: Any, recipe: Recipe, held: KnownRows, columns: Sequence[str]) -> dict[str, float]:
    """What the score loses with the cells of one column in another order."""
    few = held.X.iloc[:_ROWS]
    truth = held.y[:_ROWS]
    order = np.random.default_rng(recipe.seed).permutation(len(few))
    scored = scorer_of(measure_of(recipe.task, recipe.measured.measure))
    whole = scored(model, as_taken(model, few, recipe), truth)
    losses = {}
    for name in columns:
        shuffled = few.copy()
        if few[name].dtype != "category":
            shuffled[name] = few[name].iloc[order].to_numpy()
        else:
            shuffled[name] = few[name].iloc[order].array
        losses[name] = whole - scored(model, as_taken(model, shuffled, recipe), truth)
    return losses


def importance_of(parts: Sequence[FoldResult]) -> list[dict[str, Any]]:
    """Mean and deviation of the losses over the parts, the largest first; no deviation of one part."""
    names = parts[0].losses
    rows = []
    for name in names:
        losses = [part.losses[name] for part in parts]
        rows.append({"name": name, "loss": float(np.mean(losses)), "spread": spread(losses)})
    return sorted(rows, key=lambda row: -row["loss"])
