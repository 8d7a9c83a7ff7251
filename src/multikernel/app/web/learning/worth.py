"""How much each view of a data set contributes to the score of a method."""

from __future__ import annotations

from itertools import chain
from typing import Any

from multikernel.app.jobs.source_values import plain
from multikernel.app.web.learning.division import Division
from multikernel.app.web.learning.families import estimator_of
from multikernel.app.web.learning.measures import measure_of, scorer_of
from multikernel.app.web.learning.progress import Report
from multikernel.app.web.learning.recipe import Recipe
from multikernel.inspection import source_values


def worth_of_views(recipe: Recipe, division: Division, report: Report) -> dict[str, Any]:
    """The held-out scores of each view alone, and of all views without it.

    Parameters
    ----------
    recipe : the settings of the run
    division : the rows to learn from, and the held-out rows
    report : receives the progress
    """
    all_rows = division.all_rows
    model, model_input = estimator_of(recipe, all_rows.X, all_rows.y, all_rows.groups)
    if recipe.automatic:
        model.set_params(types=None)  # they name the columns of all views; the columns of the frame have these types
    measure = measure_of(recipe.task, recipe.measured.measure)
    stage = "Learning from some of the views"
    report(stage, 0.0)
    values = source_values(
        model,
        model_input,
        all_rows.y,
        list(chain.from_iterable(division.layout.rounds)),
        all_rows.groups,
        scoring=scorer_of(measure) if recipe.measured.measure else None,
        permutations=0,
        random_state=recipe.seed,
        observe=lambda done, total: report(stage, done / total, f"fold {done} of {total}"),
    )
    worth = plain(values) | {"measure": measure.label}
    if measure.error:  # shown as it is: what a view adds is the decrease of the error
        worth |= {name: -worth[name] for name in ("score", "constant")}
        for row in worth["sources"]:
            row |= {name: -row[name] for name in ("alone", "without")}
    return {"measure": measure.label, "worth": worth}
