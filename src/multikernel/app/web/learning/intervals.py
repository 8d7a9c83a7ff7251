"""Intervals by refits, where folds were drawn anew several times: of mean scores, and of partial dependence.

Scores of J folds, each of a share 1 / k of the rows, are not independent: their models have rows in common, and later
rounds hold out the same rows again. With s^2 the variance of the scores, that of their mean is taken to be

    (1 / J + q) s^2,  q = (1 / k) / (1 - 1 / k) = 1 / (k - 1), the held-out rows beside those that are learned from

and the interval is the mean and t_{J - 1, 0.975} standard errors to both sides (Nadeau and Bengio 2003, the corrected
resampled t test).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import t

from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.app.web.learning.dependence import dependence
from multikernel.app.web.learning.measures import Measure
from multikernel.app.web.learning.predicting import LearnedModel
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import TrainingSamples

_LEVEL = 0.95
_COLUMNS = 4  # the most important ones, which the page of columns shows first
_ENDS = (0.1, 0.9)  # quantiles of the refits


def interval_of(scores: Sequence[float], folds: int, measure: Measure) -> list[float]:
    """The ends of the interval of a mean score, no better than the best possible one: 1, or 0 of an error.

    Parameters
    ----------
    scores : of all folds of all rounds
    folds : int, of each round
    measure : of the scores
    """
    n = len(scores)
    error = np.std(scores, ddof=1) * np.sqrt(1.0 / n + 1.0 / (folds - 1))
    half = float(t.ppf(0.5 + _LEVEL / 2, n - 1) * error)
    mean = float(np.mean(scores))
    if measure.error:
        return [max(mean - half, 0.0), mean + half]
    return [mean - half, min(mean + half, 1.0)]


def refitted_dependence(
    recipe: Recipe, samples: TrainingSamples, models: Sequence[Any], columns: Sequence[str], place: int
) -> dict[str, Any]:
    """The partial dependence on some columns by the models of the folds, each of which lacks the rows of one fold.

    Parameters
    ----------
    recipe : what was learned by
    samples : all of them
    models : of the folds
    columns : the most important first
    place : of the class or the target whose answer is shown; -1 of one number

    Returns
    -------
    dict of the place, the number of models (count), and for each column the quantiles of their mean answers at each of
    its values (columns)
    """
    found = {}
    if len({len(getattr(model, "classes_", ())) for model in models}) > 1:
        columns = []  # where a fold lacks a class, its models have other places
    for name in [name for name in columns if recipe.columns[name] != "text"][:_COLUMNS]:
        each = [
            dependence(LearnedModel(model, TrainingRanges({}), recipe, []), samples, name, place) for model in models
        ]
        means = [own.mean for own in each if own is not None]
        if len(means) == len(models):
            found[name] = np.quantile(means, _ENDS, axis=0).tolist()
    return {"place": place, "count": len(models), "columns": found}
