"""The held-out rows, sorted by their errors, the largest first.

For numbers, the error of a row is y - f, with y the true value and f the prediction. For classes, it is 0 where the
prediction is right; where it is wrong, it is v_f - v_y, with v_f and v_y the probabilities or decision values of the
predicted and of the true class, from the model that has not learned from the row; 1 where a model has neither.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.app.tables.table import CsvTable
from multikernel.app.web.learning.division import KnownRows
from multikernel.app.web.learning.held_out import FoldResult
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import as_strings
from multikernel.files import write_whole
from multikernel.tables import Cells, type_of
from multikernel.typing import Array

_MISTAKES = 200  # wrongly predicted rows that the page of a run lists
_FARTHEST = 20  # rows that it lists where the target is a number


@dataclass(frozen=True)
class RowNames:
    """The names of the rows of a table.

    Parameters
    ----------
    column : str, the column of the names; "" where there is none
    cells : dict from the numbers of rows to their names; empty where there is none
    file : str, the name of the test file; "" where the rows are those of the table of the run
    """

    column: str = ""
    cells: Mapping[int, str] = field(default_factory=dict)
    file: str = ""

    @classmethod
    def of(cls, table: CsvTable, recipe: Recipe, file: str = "") -> RowNames:
        """From the column that matched several files, or from the first identifier that is not learned from."""
        for name, column in table.columns.items():
            if name in recipe.targets or name in recipe.columns or (recipe.key and name != recipe.key):
                continue
            column_type = type_of(name, Cells(name, "strings", as_strings(column)))
            if name == recipe.key or column_type.type == "identifier":
                return cls(name, {row - 1: cell for row, cell in zip(column.rows, column.cells, strict=True)}, file)
        return cls(file=file)


@dataclass(frozen=True)
class HeldOutRows:
    """The held-out rows with their predictions, the largest errors first.

    Parameters
    ----------
    rows : list of int, their numbers in the table
    truth, predicted : lists of float, or of int, the indices of classes in ``classes``
    errors : list of float
    probabilities : list of float, those of the predicted classes; empty where there are no probabilities
    classes : list of str; empty of numbers
    named_by : str, the column of the names; "" where rows have none
    names : list of str; empty where rows have none
    file : str, the test file of the rows; "" where they are rows of the table
    """

    rows: list[int]
    truth: list[Any]
    predicted: list[Any]
    errors: list[float]
    probabilities: list[float]
    classes: list[str]
    named_by: str = ""
    names: list[str] | None = None
    file: str = ""

    @classmethod
    def of(
        cls,
        recipe: Recipe,
        labels: Array,
        results: Sequence[FoldResult],
        test_rows: Sequence[KnownRows],
        names: RowNames,
    ) -> HeldOutRows:
        """The rows of all parts.

        Parameters
        ----------
        recipe : the settings of the run
        labels : array (classes,), all classes in order
        results : the predictions of the run for each part
        test_rows : the rows that each part held out
        names : the names of the rows in their table
        """
        predicted = np.concatenate([result.predicted for result in results])
        truth = np.concatenate([rows_of_part.y for rows_of_part in test_rows])
        rows = np.concatenate([rows_of_part.numbers for rows_of_part in test_rows])
        if recipe.task == "regression":
            return cls.of_numbers(truth, predicted, rows, names)
        values = None
        if all(result.values is not None and result.values.shape[1] == len(labels) for result in results):
            values = np.concatenate([result.values for result in results if result.values is not None])
        calibrated = all(result.calibrated for result in results)
        return cls.of_classes(truth, predicted, labels, values, calibrated, rows, names)

    @classmethod
    def of_numbers(cls, truth: Array, predicted: Array, rows: Array, names: RowNames) -> HeldOutRows:
        """For numbers: sorted by the size of the error."""
        errors = truth - predicted
        order = np.lexsort((rows, -np.abs(errors)))
        columns = (rows[order].tolist(), truth[order].tolist(), predicted[order].tolist(), errors[order].tolist())
        return cls(*columns, [], [], names.column, _of_rows(names, rows[order]), names.file)

    @classmethod
    def of_classes(
        cls,
        truth: Array,
        predicted: Array,
        labels: Array,
        values: Array | None,
        calibrated: bool,
        rows: Array,
        names: RowNames,
    ) -> HeldOutRows:
        """For classes: the wrong predictions first, sorted by their errors.

        Parameters
        ----------
        truth, predicted : arrays (n,), of labels
        labels : array (classes,), in order
        values : array (n, classes) of probabilities or decision values; None where there are none
        calibrated : whether the values are probabilities
        rows : array (n,), the numbers of the rows
        names : the names of the rows in the table
        """
        true_indices = np.searchsorted(labels, truth)
        predicted_indices = np.searchsorted(labels, predicted)
        wrong = true_indices != predicted_indices
        row_indices = np.arange(len(rows))
        errors = wrong.astype(float)
        certainty = errors
        if values is not None:
            errors = np.where(wrong, values[row_indices, predicted_indices] - values[row_indices, true_indices], 0.0)
            certainty = values[row_indices, predicted_indices]
        order = np.lexsort((rows, np.where(wrong, -certainty, certainty), -errors, ~wrong))
        if calibrated and values is not None:
            probabilities = certainty[order].tolist()
        else:
            probabilities = []
        columns = (
            rows[order].tolist(),
            true_indices[order].tolist(),
            predicted_indices[order].tolist(),
            errors[order].tolist(),
        )
        row_names = _of_rows(names, rows[order])
        return cls(*columns, probabilities, list(map(str, labels)), names.column, row_names, names.file)

    @classmethod
    def read(cls, file: Path) -> HeldOutRows:
        """The rows that ``write`` has saved."""
        return cls(**json.loads(file.read_text()))

    def write(self, file: Path) -> None:
        """Save the rows, in the folder of a run."""
        write_whole(file, json.dumps(asdict(self)).encode())

    def wrong(self) -> list[int]:
        """The indices of the wrongly predicted rows; all indices where the target is a number."""
        if not self.classes:
            return list(range(len(self.rows)))
        return [
            i
            for i, (true_class, predicted_class) in enumerate(zip(self.truth, self.predicted, strict=True))
            if true_class != predicted_class
        ]

    def of_cell(self, truth: int | None, predicted: int | None) -> list[int]:
        """The indices of the rows of this true class and this predicted class; None for any."""
        return [
            i
            for i, (true_class, predicted_class) in enumerate(zip(self.truth, self.predicted, strict=True))
            if truth in (None, true_class) and predicted in (None, predicted_class)
        ]

    def listed(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """Rows as a page shows them: row, name, true and predicted value, error, probability."""
        return [self._row(i) for i in places]

    def _row(self, i: int) -> dict[str, Any]:
        truth = self.truth[i]
        predicted = self.predicted[i]
        if self.classes:
            truth = self.classes[truth]
            predicted = self.classes[predicted]
        row = {"row": self.rows[i], "true": truth, "predicted": predicted, "off": self.errors[i]}
        if self.names:
            row["name"] = self.names[i]
        if self.probabilities:
            row["probability"] = self.probabilities[i]
        return row

    def summary(self) -> dict[str, Any]:
        """The largest errors, for the page of a run."""
        wrong = self.wrong()
        if self.classes:
            shown = wrong[:_MISTAKES]
            count = len(wrong)
        else:
            shown = wrong[:_FARTHEST]
            count = len(shown)
        about: Mapping[str, Any] = {"calibrated": bool(self.probabilities), "named_by": self.named_by}
        return {"count": count, "rows": self.listed(shown), **about}


def _of_rows(names: RowNames, rows: Array) -> list[str] | None:
    """The names of rows by their numbers."""
    if names.column:
        return [names.cells[row] for row in rows.tolist()]
    return None


def held_out_file(target: int) -> str:
    """The file of the held-out rows in the folder of a run.

    Parameters
    ----------
    target : int, the index of the target among several; 0 for a single target
    """
    if target:
        return f"held_out-{target}.json"
    return "held_out.json"
