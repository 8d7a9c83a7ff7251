"""The findings for each target of a model of several targets: scores, measures, residuals, and the largest errors."""

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
    """The predictions of a run and of its baselines for the held-out rows of each part.

    Parameters
    ----------
    test_rows : the rows that each part holds out
    fold_results, single, constant : the predictions of the run, of a tuned kernel, and of the mean
    first_round : int, the parts of the first round, in which each row is held out once
    """

    test_rows: Sequence[KnownRows]
    fold_results: Sequence[FoldResult]
    single: Sequence[BaselineResult]
    constant: Sequence[BaselineResult]
    first_round: int

    def of_target(self, k: int) -> Answers:
        """The same for target k alone."""
        test_rows = [replace(rows, y=rows.y[:, k]) for rows in self.test_rows]
        fold_results = [replace(result, predicted=result.predicted[:, k]) for result in self.fold_results]
        single = _of_target(self.single, k)
        constant = _of_target(self.constant, k)
        return Answers(test_rows, fold_results, single, constant, self.first_round)


def _of_target(results: Sequence[BaselineResult], k: int) -> list[BaselineResult]:
    return [replace(result, truth=result.truth[:, k], predicted=result.predicted[:, k]) for result in results]


def by_target(recipe: Recipe, answers: Answers, names: RowNames, folder: Path) -> list[dict[str, Any]]:
    """The findings for each target; its held-out rows are written to the folder of the run.

    Parameters
    ----------
    recipe : the settings of the run
    answers : the predictions for held-out rows
    names : the names of the rows in the table
    folder : of the run
    """
    measure = measure_of(recipe.task, recipe.measured.measure)
    no_labels = np.empty(0)
    findings = []
    for k, target in enumerate(recipe.targets):
        of_target = answers.of_target(k)
        test_rows = of_target.test_rows[: of_target.first_round]
        first_results = of_target.fold_results[: of_target.first_round]
        held_out_rows = HeldOutRows.of(recipe, no_labels, first_results, test_rows, names)
        held_out_rows.write(folder / held_out_file(k))
        scores = {
            "own": [
                measure.of(rows.y, result.predicted, None, no_labels)
                for rows, result in zip(of_target.test_rows, of_target.fold_results, strict=True)
            ],
            "single": [measure.of(result.truth, result.predicted, None, no_labels) for result in of_target.single],
            "trivial": [measure.of(result.truth, result.predicted, None, no_labels) for result in of_target.constant],
        }
        measures = quality(recipe, no_labels, test_rows, of_target.fold_results, of_target.single, of_target.constant)
        findings.append({"name": target, "scores": scores, **measures, "mistakes": held_out_rows.summary()})
    return findings
