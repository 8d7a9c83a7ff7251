"""Columns as a person has them, for the automatic estimator: numbers or words, with missing cells."""

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
    """What the columns of the training file hold. Stored with the model.

    Parameters
    ----------
    numeric : dict from names to whether the column is one of numbers
    words : dict from names to the words among numbers that count as missing cells; other words are refused, and none
        where it is None, as in models of earlier versions of the application
    """

    numeric: dict[str, bool]
    words: Mapping[str, Sequence[str]] | None = field(default_factory=dict)

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Self:
        """From the metadata of a model's file."""
        return cls(metadata["columns"], None if metadata.get("words_missing") else metadata.get("words", {}))

    @classmethod
    def learn(cls, columns: list[Column], types: Mapping[str, str] | None = None) -> Self:
        """Numbers are where all known cells are numbers, and the column is not declared to hold anything else."""
        return cls({column.name: _numeric(column, (types or {}).get(column.name)) for column in columns})

    def frame(self, table: CsvTable) -> pd.DataFrame:
        """The samples of a file, whose further columns are ignored; a missing cell is NaN or None.

        ValueError where a column is missing, or a cell that is to be a number is a word.
        """
        import pandas as pd

        table.check_has(list(self.numeric))
        return pd.DataFrame({name: self._values(table.columns[name]) for name in self.numeric})

    def _values(self, column: Column) -> Array:
        numeric = self.numeric[column.name]
        if numeric and self.words is None:
            return numbers_in(None if is_missing(cell) else cell for cell in column.cells)
        kept, part = known(column, (self.words or {}).get(column.name, ()))
        values: Array = np.full(len(column.cells), None, dtype=object)
        if numeric:
            values = np.full(len(column.cells), np.nan)
        if not len(kept):
            return values
        if numeric and part.numbers is None:
            raise part.error(part.first_word, "is not a number, and the column was numeric in training")
        values[kept] = part.numbers if numeric else part.cells
        return values


def _numeric(column: Column, declared: str | None) -> bool:
    part = known(column)[1]
    if declared == "number":  # words among numbers go to the estimator as strings, which counts them as missing
        return not np.isnan(numbers_in(part.cells)).any()
    return declared is None and part.numbers is not None


def known(column: Column, words: Sequence[str] = ()) -> tuple[Array, Column]:
    """The positions of the cells that are not missing, and are none of some words, and the column of these."""
    kept = [i for i, cell in enumerate(column.cells) if not is_missing(cell) and cell not in words]
    part = Column(column.file, column.name, [column.cells[i] for i in kept], [column.rows[i] for i in kept])
    return np.array(kept, dtype=int), part
