"""Columns of a file for the automatic estimator: numbers or words, with missing cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multikernel.app.tables.table import CsvTable
from multikernel.datasets import Column
from multikernel.streams import is_missing
from multikernel.tables import numbers_in
from multikernel.typing import Array

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ColumnKinds:
    """What the columns of the training file contain. Stored with the model.

    Parameters
    ----------
    numeric : dict from the name of each column to whether it is a column of numbers
    words : dict from the name of a column of numbers to the words in it that count as missing cells, while other words
        are refused; None, as in models of earlier versions of the application, where all words count as missing
    """

    numeric: dict[str, bool]
    words: Mapping[str, Sequence[str]] | None = field(default_factory=dict)

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Self:
        """From the metadata of a model's file."""
        return cls(metadata["columns"], None if metadata.get("words_missing") else metadata.get("words", {}))

    @classmethod
    def learn(cls, columns: list[Column], types: Mapping[str, str] | None = None) -> Self:
        """A column is numeric where all cells that are not missing are numbers, and no other type is declared."""
        return cls({column.name: _numeric(column, (types or {}).get(column.name)) for column in columns})

    def frame(self, table: CsvTable) -> pd.DataFrame:
        """The samples of a file, where a missing cell is NaN or None; columns that training did not have are ignored.

        ValueError where a column is missing, or a cell of a numeric column is a word.
        """
        import pandas as pd

        table.check_has(list(self.numeric))
        return pd.DataFrame({name: self._values(table.columns[name]) for name in self.numeric})

    def _values(self, column: Column) -> Array:
        numeric = self.numeric[column.name]
        if numeric and self.words is None:
            return numbers_in(None if is_missing(cell) else cell for cell in column.cells)
        positions, known_cells = known(column, (self.words or {}).get(column.name, ()))
        values: Array = np.full(len(column.cells), None, dtype=object)
        if numeric:
            values = np.full(len(column.cells), np.nan)
        if not len(positions):
            return values
        if numeric and known_cells.numbers is None:
            raise known_cells.error(known_cells.first_word, "is not a number, and the column was numeric in training")
        values[positions] = known_cells.numbers if numeric else known_cells.cells
        return values


def _numeric(column: Column, declared: str | None) -> bool:
    known_cells = known(column)[1]
    if declared == "number":  # with words among the numbers it is left as strings: the estimator takes words as missing
        return not np.isnan(numbers_in(known_cells.cells)).any()
    return declared is None and known_cells.numbers is not None


def known(column: Column, words: Sequence[str] = ()) -> tuple[Array, Column]:
    """The positions of the cells that are neither missing nor one of some words, and the column of these cells."""
    positions = [i for i, cell in enumerate(column.cells) if not is_missing(cell) and cell not in words]
    cells = Column(column.file, column.name, [column.cells[i] for i in positions], [column.rows[i] for i in positions])
    return np.array(positions, dtype=int), cells
