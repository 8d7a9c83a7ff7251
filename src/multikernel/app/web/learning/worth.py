"""What each view of a data set is worth to the method of a recipe."""

from __future__ import annotations

from itertools import chain
from typing import Any

from multikernel.app.jobs.source_values import plain
from multikernel.app.web.learning.division import Division
from multikernel.app.web.learning.families import made
from multikernel.app.web.learning.measures import measure_of, scorer_of
from multikernel.app.web.learning.progress import Report
from multikernel.app.web.learning.recipe import Recipe
from multikernel.inspection import source_values


def worth_of_views(recipe: Recipe, division: Division, report: Report) -> dict[str, Any]:
    """The held-out scores of each view alone, and of all views without it.

    Parameters
    ----------
    recipe : what a run learns by
    division : what is learned from, and what is held out
    report : receives the progress
    """
    whole = division.whole
    model, given = made(recipe, whole.X, whole.y, whole.groups)
    if recipe.automatic:
        model.set_params(types=None)  # these name the columns of all views; the frame has columns of these types
    measure = measure_of(recipe.task, recipe.measured.measure)
    stage = "Learning from some of the views"
    report(stage, 0.0)
    values = source_values(
        model,
        given,
        whole.y,
        list(chain.from_iterable(division.layout.rounds)),
        whole.groups,
        scoring=scorer_of(measure) if recipe.measured.measure else None,
        permutations=0,
        random_state=recipe.seed,
        observe=lambda done, total: report(stage, done / total, f"fold {done} of {total}"),
    )
    found = plain(values) | {"measure": measure.label}
    if measure.error:  # which is shown as it is; what a view adds is what it takes off
        found |= {name: -found[name] for name in ("score", "constant")}
        for row in found["sources"]:
            row |= {name: -row[name] for name in ("alone", "without")}
    return {"measure": measure.label, "worth": found}
