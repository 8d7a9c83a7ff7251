"""The rows that were held out, the largest errors first.

The error of a row is y - f of a number y and its prediction f. Of a class that is predicted wrong it is v_f - v_y: how
much more speaks for the predicted class than for the true one, v the probabilities or the decision values of the model
that has not learned from the row; 1 where a model has neither. Of a class that is predicted right it is 0.
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

_MISTAKES = 200  # rows predicted wrong that the page of a run lists
_FARTHEST = 20  # rows of numbers there


@dataclass(frozen=True)
class RowNames:
    """What a table calls its rows.

    Parameters
    ----------
    column : str, the column of the names; "" where there is none
    cells : dict from the numbers of rows to their names; empty where there is none
    file : str, what the table is called where it is a test file; "" of the table of the run
    """

    column: str = ""
    cells: Mapping[int, str] = field(default_factory=dict)
    file: str = ""

    @classmethod
    def of(cls, table: CsvTable, recipe: Recipe, file: str = "") -> RowNames:
        """By the column that matched several files, or the first identifier that is not learned from."""
        for name, column in table.columns.items():
            if name in recipe.targets or name in recipe.columns or (recipe.key and name != recipe.key):
                continue
            found = type_of(name, Cells(name, "strings", as_strings(column)))
            if name == recipe.key or found.type == "identifier":
                return cls(name, {row - 1: cell for row, cell in zip(column.rows, column.cells, strict=True)}, file)
        return cls(file=file)


@dataclass(frozen=True)
class HeldOutRows:
    """Rows that were held out with what was predicted of them, the largest errors first.

    Parameters
    ----------
    rows : list of int, their numbers in the table
    truth, predicted : lists of float, or of int, the places of classes in ``classes``
    errors : list of float
    probabilities : list of float, those of the predicted classes; empty where the model has none
    classes : list of str; empty of numbers
    named_by : str, the column of the names; "" where rows have none
    names : list of str; empty where rows have none
    file : str, the test file that they are rows of; "" where they are rows of the table
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
        cls, recipe: Recipe, labels: Array, parts: Sequence[FoldResult], held: Sequence[KnownRows], names: RowNames
    ) -> HeldOutRows:
        """The rows of all parts.

        Parameters
        ----------
        recipe : what was learned by
        labels : array (classes,), all classes in order
        parts : what a run says of each part
        held : the rows that each part held out
        names : what their table calls its rows
        """
        predicted = np.concatenate([part.predicted for part in parts])
        truth = np.concatenate([part.y for part in held])
        rows = np.concatenate([part.numbers for part in held])
        if recipe.task == "regression":
            return cls.of_numbers(truth, predicted, rows, names)
        values = None
        if all(part.values is not None and part.values.shape[1] == len(labels) for part in parts):
            values = np.concatenate([part.values for part in parts if part.values is not None])
        calibrated = all(part.calibrated for part in parts)
        return cls.of_classes(truth, predicted, labels, values, calibrated, rows, names)

    @classmethod
    def of_numbers(cls, truth: Array, predicted: Array, rows: Array, names: RowNames) -> HeldOutRows:
        """Of numbers: by the size of the error."""
        errors = truth - predicted
        order = np.lexsort((rows, -np.abs(errors)))
        found = (rows[order].tolist(), truth[order].tolist(), predicted[order].tolist(), errors[order].tolist())
        return cls(*found, [], [], names.column, _of_rows(names, rows[order]), names.file)

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
        """Of classes: those predicted wrong first, by how much more spoke for the wrong one than for the true one.

        Parameters
        ----------
        truth, predicted : arrays (n,), of labels
        labels : array (classes,), in order
        values : array (n, classes) of probabilities or decision values; None where there are none
        calibrated : whether they are probabilities
        rows : array (n,), the numbers of the rows
        names : what the table calls its rows
        """
        own = np.searchsorted(labels, truth)
        answered = np.searchsorted(labels, predicted)
        wrong = own != answered
        each = np.arange(len(rows))
        errors = wrong.astype(float)
        sure = errors
        if values is not None:
            errors = np.where(wrong, values[each, answered] - values[each, own], 0.0)
            sure = values[each, answered]
        order = np.lexsort((rows, np.where(wrong, -sure, sure), -errors, ~wrong))
        if calibrated and values is not None:
            probabilities = sure[order].tolist()
        else:
            probabilities = []
        found = (rows[order].tolist(), own[order].tolist(), answered[order].tolist(), errors[order].tolist())
        named = _of_rows(names, rows[order])
        return cls(*found, probabilities, list(map(str, labels)), names.column, named, names.file)

    @classmethod
    def read(cls, file: Path) -> HeldOutRows:
        """Those that ``write`` has kept."""
        return cls(**json.loads(file.read_text()))

    def write(self, file: Path) -> None:
        """Keep them with a run."""
        write_whole(file, json.dumps(asdict(self)).encode())

    def wrong(self) -> list[int]:
        """The places of the rows that are predicted wrong; of numbers of all rows."""
        if not self.classes:
            return list(range(len(self.rows)))
        return [i for i, (own, answered) in enumerate(zip(self.truth, self.predicted, strict=True)) if own != answered]

    def of_cell(self, truth: int | None, predicted: int | None) -> list[int]:
        """The places of the rows of a true class, and of a predicted one; None for any."""
        return [
            i
            for i, (own, answered) in enumerate(zip(self.truth, self.predicted, strict=True))
            if truth in (None, own) and predicted in (None, answered)
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
        """The first of them, for the page of a run."""
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
    target : int, the place of the target among several; 0 of a single one
    """
    if target:
        return f"held_out-{target}.json"
    return "held_out.json"
