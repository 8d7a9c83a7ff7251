"""What a model answers where the cells of one column are exchanged: partial dependence.

For a value z of column j, f(x_i with x_ij = z) is the answer for sample i as it would be with that cell. Its mean over
samples is the partial dependence (Friedman 2001, "Greedy function approximation"); the interval holds 80 % of the
samples' own answers, from the 10th to the 90th percentile. It is the spread over samples, whose other cells differ, and
no error of the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from multikernel.app.web.learning.predicting import LearnedModel, collected_warnings
from multikernel.app.web.learning.recipe import Kind
from multikernel.app.web.learning.samples import TrainingSamples, as_taken, scores
from multikernel.tables import likely_order, parsed
from multikernel.typing import Array

_SAMPLES = 100  # whose answers are taken for each value: 20 values of them take 0.3 s beside 442 rows, of 10 columns
_VALUES = 20  # of a column of numbers or dates
_LEVELS = 12  # of a category
_SHARE = 0.8  # of the samples in an interval


@dataclass(frozen=True)
class Dependence:
    """Of one column.

    Parameters
    ----------
    column, kind : its name, and "number", "category" or "date"
    names : list of str, its values as cells
    places : list of float, these as numbers, of dates in days since 1970; empty of a category
    mean, low, high : lists of float, the mean answer at each value, and the ends of the interval
    samples : int, how many samples were asked about
    """

    column: str
    kind: Kind
    names: list[str]
    places: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]
    samples: int


def dependence(learned: LearnedModel, samples: TrainingSamples, column: str, place: int) -> Dependence | None:
    """The partial dependence on a column; None of a text, and of a column with less than two values.

    Parameters
    ----------
    learned : the model
    samples : those that it learned from
    column : the name of the column
    place : of the class whose probability or decision value is the answer, or of the target of several; -1 where one
        number is predicted
    """
    kind = learned.recipe.columns[column]
    X = _with_view(learned, samples.X.iloc[samples.some(_SAMPLES)], column)
    found = _values(samples.X[column], kind)
    if found is None or not len(X):
        return None
    names, cells, places = found
    many = pd.concat([X] * len(cells), ignore_index=True)
    exchanged = np.repeat(np.asarray(cells, dtype=object), len(X))
    if kind == "number":
        many[column] = exchanged.astype(float)
    elif kind == "category":
        many[column] = pd.Categorical(exchanged)
    else:
        many[column] = exchanged
    answers = _answers(learned, many, place).reshape(len(cells), len(X))
    low, high = np.quantile(answers, [0.5 - _SHARE / 2, 0.5 + _SHARE / 2], axis=1)
    return Dependence(column, kind, names, places, answers.mean(axis=1).tolist(), low.tolist(), high.tolist(), len(X))


def _with_view(learned: LearnedModel, X: pd.DataFrame, column: str) -> pd.DataFrame:
    """The samples that do not lack the view of a column: one cell alone would be no view."""
    views = learned.recipe.by_view
    if len(views) < 2:
        return X
    own = next(names for names in views.values() if column in names)
    return X[X[own].notna().any(axis=1)]


def _values(column: Any, kind: Kind) -> tuple[list[str], Sequence[Any], list[float]] | None:
    """The values that are tried, as words, as cells and as numbers; of numbers and dates from the 5th to the 95th
    percentile.
    """
    known = column.dropna()
    if kind == "text" or known.nunique() < 2:
        return None
    if kind == "category":
        levels = known.astype(str).value_counts().index[:_LEVELS].tolist()
        return levels, levels, []
    if kind == "number":
        values = _spread(known.to_numpy())
        return [f"{value:.6g}" for value in values], values.tolist(), values.tolist()
    cells = known.to_numpy()
    days = parsed(cells, likely_order(cells))
    by_day = dict(zip(days.tolist(), cells.tolist(), strict=True))
    there = np.array([day for day in by_day if np.isfinite(day)])
    if len(there) < 2:
        return None
    wanted = _spread(there)
    nearest = np.unique([there[np.abs(there - day).argmin()] for day in wanted]).tolist()
    names = [str(by_day[day]) for day in nearest]
    return names, names, nearest


def _spread(values: Array) -> Array:
    """Few values as they are; of many, equal steps over the middle nine tenths."""
    different = np.unique(values)
    if len(different) <= _VALUES:
        return different
    low, high = np.quantile(values, [0.05, 0.95])
    if low == high:
        low = different[0]
        high = different[-1]
    steps: Array = np.linspace(low, high, _VALUES)
    return steps


def _answers(learned: LearnedModel, X: pd.DataFrame, place: int) -> Array:
    """The answer for each sample."""
    with (
        collected_warnings()
    ):  # a model warns of a category that stands beside others than in training, which is meant here
        given = as_taken(learned.model, X, learned.recipe)
        if not is_classifier(learned.model):
            predicted = np.asarray(learned.model.predict(given), dtype=float)
            if predicted.ndim == 1:
                return predicted
            return predicted[:, place]
        return scores(learned.model, given)[1][:, place]


def usual_place(classes: int, targets: int) -> int:
    """The place of the class or the target whose answer is shown first; -1 where one number is predicted.

    Parameters
    ----------
    classes : int, how many there are, 0 of numbers
    targets : int
    """
    if classes == 0 and targets == 1:
        return -1
    if classes == 2:
        return 1
    return 0
