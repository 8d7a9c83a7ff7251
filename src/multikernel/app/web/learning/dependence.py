"""Partial dependence: the answers of a model when the cells of one column are exchanged.

For a value z of column j, f(x_i with x_ij = z) is the answer for sample i with its cell of column j replaced by z. Its
mean over the samples is the partial dependence (Friedman 2001, "Greedy function approximation"); the interval contains
80 % of the answers for single samples, from the 10th to the 90th percentile. It is the spread over samples, whose other
cells differ, and not a standard error of the mean.
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
from multikernel.app.web.learning.samples import TrainingSamples, as_model_input, class_scores
from multikernel.tables import likely_order, parsed
from multikernel.typing import Array

_SAMPLES = 100  # samples with which each value is combined: 20 values take 0.3 s for a model of 442 rows and 10 columns
_VALUES = 20  # values of a column of numbers or dates
_LEVELS = 12  # levels of a category
_SHARE = 0.8  # of the samples in an interval


@dataclass(frozen=True)
class Dependence:
    """The partial dependence on one column.

    Parameters
    ----------
    column, kind : its name, and "number", "category" or "date"
    names : list of str, the values as cells
    places : list of float, the values as numbers, dates in days since 1970; empty for a category
    mean, low, high : lists of float, the mean answer at each value, and the ends of the interval
    samples : int, the number of samples
    """

    column: str
    kind: Kind
    names: list[str]
    places: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]
    samples: int


def dependence(learned: LearnedModel, samples: TrainingSamples, column: str, output_index: int) -> Dependence | None:
    """The partial dependence on a column; None for a text, and for a column with fewer than two values.

    Parameters
    ----------
    learned : the model
    samples : its training samples
    column : the name of the column
    output_index : int, that of the class whose probability or decision value is the answer, or of the target among
        several; -1 where one number is predicted
    """
    kind = learned.recipe.columns[column]
    X = _with_view(learned, samples.X.iloc[samples.subsample(_SAMPLES)], column)
    tried_values = _values(samples.X[column], kind)
    if tried_values is None or not len(X):
        return None
    names, cells, places = tried_values
    exchanged_samples = pd.concat([X] * len(cells), ignore_index=True)
    exchanged_cells = np.repeat(np.asarray(cells, dtype=object), len(X))
    if kind == "number":
        exchanged_samples[column] = exchanged_cells.astype(float)
    elif kind == "category":
        exchanged_samples[column] = pd.Categorical(exchanged_cells)
    else:
        exchanged_samples[column] = exchanged_cells
    answers = _answers(learned, exchanged_samples, output_index).reshape(len(cells), len(X))
    low, high = np.quantile(answers, [0.5 - _SHARE / 2, 0.5 + _SHARE / 2], axis=1)
    return Dependence(column, kind, names, places, answers.mean(axis=1).tolist(), low.tolist(), high.tolist(), len(X))


def _with_view(learned: LearnedModel, X: pd.DataFrame, column: str) -> pd.DataFrame:
    """The samples that have the view of a column: a sample that lacks a view has no cell to exchange."""
    views = learned.recipe.by_view
    if len(views) < 2:
        return X
    view_columns = next(names for names in views.values() if column in names)
    return X[X[view_columns].notna().any(axis=1)]


def _values(column: Any, kind: Kind) -> tuple[list[str], Sequence[Any], list[float]] | None:
    """The values of the partial dependence as texts, as cells and as numbers; numbers and dates lie between the 5th and
    the 95th percentile.
    """
    known_cells = column.dropna()
    if kind == "text" or known_cells.nunique() < 2:
        return None
    if kind == "category":
        levels = known_cells.astype(str).value_counts().index[:_LEVELS].tolist()
        return levels, levels, []
    if kind == "number":
        values = _spaced_values(known_cells.to_numpy())
        return [f"{value:.6g}" for value in values], values.tolist(), values.tolist()
    cells = known_cells.to_numpy()
    days = parsed(cells, likely_order(cells))
    by_day = dict(zip(days.tolist(), cells.tolist(), strict=True))
    known_days = np.array([day for day in by_day if np.isfinite(day)])
    if len(known_days) < 2:
        return None
    spaced_days = _spaced_values(known_days)
    nearest = np.unique([known_days[np.abs(known_days - day).argmin()] for day in spaced_days]).tolist()
    names = [str(by_day[day]) for day in nearest]
    return names, names, nearest


def _spaced_values(values: Array) -> Array:
    """The distinct values where they are few, else equal steps over the middle nine tenths."""
    different = np.unique(values)
    if len(different) <= _VALUES:
        return different
    low, high = np.quantile(values, [0.05, 0.95])
    if low == high:
        low = different[0]
        high = different[-1]
    steps: Array = np.linspace(low, high, _VALUES)
    return steps


def _answers(learned: LearnedModel, X: pd.DataFrame, output_index: int) -> Array:
    """The answer for each sample."""
    # a model warns of unusual combinations of categories, which are intended here
    with collected_warnings():
        model_input = as_model_input(learned.model, X, learned.recipe)
        if not is_classifier(learned.model):
            predicted = np.asarray(learned.model.predict(model_input), dtype=float)
            if predicted.ndim == 1:
                return predicted
            return predicted[:, output_index]
        return class_scores(learned.model, model_input)[1][:, output_index]


def default_output_index(classes: int, targets: int) -> int:
    """The index of the class or the target whose answer is shown first; -1 where one number is predicted.

    Parameters
    ----------
    classes : int, their number; 0 where numbers are predicted
    targets : int, their number
    """
    if classes == 0 and targets == 1:
        return -1
    if classes == 2:
        return 1
    return 0
