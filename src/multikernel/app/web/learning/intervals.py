"""Intervals for mean scores and for partial dependence, from the refits of several rounds of folds.

The scores of J folds, each of which holds out a share 1 / k of the rows, are dependent: their models have rows in
common, and later rounds hold out the same rows again. With s^2 the variance of the scores, the variance of their mean
is estimated by

    (1 / J + q) s^2,  q = (1 / k) / (1 - 1 / k) = 1 / (k - 1), the number of test rows divided by that of training rows

and the interval extends t_{J - 1, 0.975} roots of this variance to both sides of the mean (Nadeau and Bengio 2003, the
corrected resampled t test).
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
_COLUMNS = 4  # the most important columns, which the page of columns shows first
_ENDS = (0.1, 0.9)  # quantiles of the refits


def interval_of(scores: Sequence[float], folds: int, measure: Measure) -> list[float]:
    """The ends of the interval of a mean score, cut off at the best possible score: 1, or 0 for an error.

    Parameters
    ----------
    scores : those of all folds of all rounds
    folds : int, the number of folds in each round
    measure : the measure of the scores
    """
    n = len(scores)
    error = np.std(scores, ddof=1) * np.sqrt(1.0 / n + 1.0 / (folds - 1))
    half = float(t.ppf(0.5 + _LEVEL / 2, n - 1) * error)
    mean = float(np.mean(scores))
    if measure.error:
        return [max(mean - half, 0.0), mean + half]
    return [mean - half, min(mean + half, 1.0)]


def refitted_dependence(
    recipe: Recipe, samples: TrainingSamples, models: Sequence[Any], columns: Sequence[str], output_index: int
) -> dict[str, Any]:
    """The partial dependence on some columns by the models of the folds, each of which lacks the rows of one fold.

    Parameters
    ----------
    recipe : the settings of the run
    samples : all samples
    models : the models of the folds
    columns : their names, the most important first
    output_index : int, that of the class or the target whose answer is shown; -1 where one number is predicted

    Returns
    -------
    dict of the output index (place), the number of models (count), and for each column the quantiles over the models of
    the mean answers at each of its values (columns)
    """
    quantiles = {}
    if len({len(getattr(model, "classes_", ())) for model in models}) > 1:
        columns = []  # where a fold lacks a class, the classes of its model have other indices
    for name in [name for name in columns if recipe.columns[name] != "text"][:_COLUMNS]:
        dependences = [
            dependence(LearnedModel(model, TrainingRanges({}), recipe, []), samples, name, output_index)
            for model in models
        ]
        means = [curve.mean for curve in dependences if curve is not None]
        if len(means) == len(models):
            quantiles[name] = np.quantile(means, _ENDS, axis=0).tolist()
    return {"place": output_index, "count": len(models), "columns": quantiles}
