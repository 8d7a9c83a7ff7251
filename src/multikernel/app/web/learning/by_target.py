"""Of a model of several targets, what is found of each: scores, measures, residuals, and the rows farthest off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.app.web.learning.comparison import BaselineResult
from multikernel.app.web.learning.division import KnownRows
from multikernel.app.web.learning.errors import HeldOutRows, RowNames, held_out_file
from multikernel.app.web.learning.held_out import FoldResult
from multikernel.app.web.learning.measures import measure_of
from multikernel.app.web.learning.quality import quality
from multikernel.app.web.learning.recipe import Recipe


@dataclass(frozen=True, eq=False)
class Answers:
    """What a run and what it is compared with predict of the rows that each part held out.

    Parameters
    ----------
    held : the rows
    own, single, constant : the predictions of the run, of a tuned kernel, and of the mean
    first_round : int, the parts of the first round, in which each row is held out once
    """

    held: Sequence[KnownRows]
    own: Sequence[FoldResult]
    single: Sequence[BaselineResult]
    constant: Sequence[BaselineResult]
    first_round: int

    def of_target(self, k: int) -> Answers:
        """Those of the target k of several."""
        held = [replace(rows, y=rows.y[:, k]) for rows in self.held]
        own = [replace(each, predicted=each.predicted[:, k]) for each in self.own]
        return Answers(held, own, _of_target(self.single, k), _of_target(self.constant, k), self.first_round)


def _of_target(base: Sequence[BaselineResult], k: int) -> list[BaselineResult]:
    return [replace(each, truth=each.truth[:, k], predicted=each.predicted[:, k]) for each in base]


def by_target(recipe: Recipe, answers: Answers, names: RowNames, folder: Path) -> list[dict[str, Any]]:
    """What is found of each target; its held-out rows are written to the folder of the run.

    Parameters
    ----------
    recipe : what was learned by
    answers : what was predicted
    names : what the table calls its rows
    folder : of the run
    """
    measure = measure_of(recipe.task, recipe.measured.measure)
    none = np.empty(0)
    found = []
    for k, target in enumerate(recipe.targets):
        own = answers.of_target(k)
        held = own.held[: own.first_round]
        rows = HeldOutRows.of(recipe, none, own.own[: own.first_round], held, names)
        rows.write(folder / held_out_file(k))
        scores = {
            "own": [
                measure.of(known.y, each.predicted, None, none) for known, each in zip(own.held, own.own, strict=True)
            ],
            "single": [measure.of(each.truth, each.predicted, None, none) for each in own.single],
            "trivial": [measure.of(each.truth, each.predicted, None, none) for each in own.constant],
        }
        known = quality(recipe, none, held, own.own, own.single, own.constant)
        found.append({"name": target, "scores": scores, **known, "mistakes": rows.summary()})
    return found
