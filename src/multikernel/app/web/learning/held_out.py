"""One fold: a model of the other rows, its predictions, and how much its score falls when a column is shuffled."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from multikernel.app.web.learning.division import KnownRows
from multikernel.app.web.learning.families import estimator_of
from multikernel.app.web.learning.measures import measure_of, scorer_of
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import as_model_input, class_scores, subsample
from multikernel.datasets import Task
from multikernel.typing import Array

_SHUFFLED = 40  # columns at most, as each needs separate predictions
_SCREENED = 5000  # rows from which trees select these columns: 4 s for 2000 columns
_ROWS = 300  # of a fold on which columns are shuffled


@dataclass(frozen=True, eq=False)
class FoldResult:
    """The predictions of a model for held-out rows.

    Parameters
    ----------
    model : the fitted estimator
    score : float, by the measure of the run
    predicted : array (rows,); (rows, targets) for several targets
    values : array (rows, classes) of probabilities, or of decision values where there are none; None for numbers
    calibrated : bool, whether the values are probabilities
    losses : dict from columns to the decrease of the score when that column is shuffled
    """

    model: Any
    score: float
    predicted: Array
    values: Array | None
    calibrated: bool
    losses: dict[str, float]


def held_out(recipe: Recipe, training_rows: KnownRows, test_rows: KnownRows, columns: Sequence[str]) -> FoldResult:
    """Fit a model to the training rows and score it on the test rows.

    Parameters
    ----------
    recipe : the settings of the run
    training_rows : the rows to learn from
    test_rows : the held-out rows
    columns : the columns to shuffle, one at a time
    """
    model, model_input = estimator_of(recipe, training_rows.X, training_rows.y, training_rows.groups)
    if hasattr(model, "verbose") and recipe.automatic:
        model.set_params(verbose=1)
    model.fit(model_input, training_rows.y, **training_rows.inner_groups)
    model = getattr(model, "best_estimator_", model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about categories that do not occur in a small fold
        test_input = as_model_input(model, test_rows.X, recipe)
        kind = ""
        values = None
        if recipe.task == "classification" and (hasattr(model, "predict_proba") or hasattr(model, "decision_function")):
            kind, values = class_scores(model, test_input)
        predicted = np.asarray(model.predict(test_input))
        measure = measure_of(recipe.task, recipe.measured.measure)
        score = measure.of(test_rows.y, predicted, values, getattr(model, "classes_", np.empty(0)))
        losses = _losses(model, recipe, test_rows, columns)
        return FoldResult(model, score, predicted, values, kind == "probability", losses)


def spread(values: Sequence[float]) -> float | None:
    """The standard deviation of several values; None for a single value."""
    if len(values) > 1:
        return float(np.std(values, ddof=1))
    return None


def columns_to_shuffle(X: pd.DataFrame, y: Array, task: Task) -> list[str]:
    """All columns or, of many, those that extremely randomised trees use most; trees detect interactions as well.

    Parameters
    ----------
    X, y : the samples and their target
    task : what is learned
    """
    names = [str(name) for name in X.columns]
    if len(names) <= _SHUFFLED:
        return names
    rows = np.random.default_rng(0).permutation(len(X))[:_SCREENED]
    codes = np.column_stack([_codes(X[name].iloc[rows]) for name in X.columns])
    if task == "classification":
        kind = ExtraTreesClassifier
    else:
        kind = ExtraTreesRegressor
    trees = kind(100, max_features="sqrt", min_samples_leaf=3, random_state=0).fit(codes, y[rows])
    return [names[k] for k in np.argsort(-trees.feature_importances_, kind="stable")[:_SHUFFLED]]


def _codes(column: Any) -> Array:
    """The cells of a column as numbers that trees can split: words by their alphabetical rank."""
    if column.dtype.kind == "f":
        fill_value = column.median() if column.notna().any() else 0.0
        return np.asarray(column.fillna(fill_value))
    return pd.factorize(column.astype(object), sort=True)[0].astype(float)


def _losses(model: Any, recipe: Recipe, test_rows: KnownRows, columns: Sequence[str]) -> dict[str, float]:
    """The decrease of the score when the cells of one column are shuffled, for each column."""
    some_rows = test_rows.part(subsample(test_rows.y, recipe.task, _ROWS, recipe.seed))  # a table may be sorted
    samples = some_rows.X
    truth = some_rows.y
    order = np.random.default_rng(recipe.seed).permutation(len(samples))
    score_of = scorer_of(measure_of(recipe.task, recipe.measured.measure))
    unshuffled_score = score_of(model, as_model_input(model, samples, recipe), truth)
    losses = {}
    for name in columns:
        shuffled = samples.copy()
        if samples[name].dtype != "category":
            shuffled[name] = samples[name].iloc[order].to_numpy()
        else:
            shuffled[name] = samples[name].iloc[order].array
        losses[name] = unshuffled_score - score_of(model, as_model_input(model, shuffled, recipe), truth)
    return losses


def importance_of(results: Sequence[FoldResult]) -> list[dict[str, Any]]:
    """Mean and standard deviation of the losses over the parts, the largest first; a single part has no deviation."""
    names = results[0].losses
    rows = []
    for name in names:
        losses = [result.losses[name] for result in results]
        rows.append({"name": name, "loss": float(np.mean(losses)), "spread": spread(losses)})
    return sorted(rows, key=lambda row: -row["loss"])
