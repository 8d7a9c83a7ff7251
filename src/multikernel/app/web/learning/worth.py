"""What each view of a data set is worth to the method of a recipe."""

from __future__ import annotations

from typing import Any

import pandas as pd

from multikernel.app.jobs.methods import OUTER_FOLDS, most_folds
from multikernel.app.jobs.source_values import plain
from multikernel.app.web.learning.families import made
from multikernel.app.web.learning.progress import Report
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import check_enough
from multikernel.inspection import source_values


def worth_of_views(recipe: Recipe, X: pd.DataFrame, y: Any, report: Report) -> dict[str, Any]:
    """The held-out scores of each view alone, and of all views without it.

    Parameters
    ----------
    recipe : what a run learns by
    X : data frame of all views
    y : the target
    report : receives the progress

    Raises
    ------
    ValueError : where there is one view only, or too few rows
    """
    if len(recipe.by_view) < 2:
        raise ValueError("There is one view only; load several files, each of which is a view.")
    check_enough(recipe.target, y, recipe.task)
    model, given = made(recipe, X, y)
    if recipe.automatic:
        model.set_params(types=None)  # these name the columns of all views; the frame has columns of these types
    folds = min(OUTER_FOLDS, most_folds(y, recipe.task))
    stage = "Learning from some of the views"
    report(stage, 0.0)
    values = source_values(
        model,
        given,
        y,
        folds,
        permutations=0,
        random_state=recipe.seed,
        observe=lambda done, total: report(stage, done / total, f"fold {done} of {total}"),
    )
    measure = "accuracy" if recipe.task == "classification" else "R²"
    return {"measure": measure, "worth": plain(values) | {"measure": measure}}
