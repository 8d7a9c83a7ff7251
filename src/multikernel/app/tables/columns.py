"""Columns as a person has them, for the automatic estimator: numbers or words, with missing cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from multikernel._typing import Array
from multikernel.app.tables.table import Table, is_missing
from multikernel.datasets.column import Column
from multikernel.kernels.parsed import numbers_in

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Columns:
    """What the columns of the training file hold. Stored with the model.

    Parameters
    ----------
    numeric : dict from names to whether the column is one of numbers
    words_missing : bool, whether a word among numbers counts as a missing cell; else it is refused
    """

    numeric: dict[str, bool]
    words_missing: bool = False

    @classmethod
    def learn(cls, columns: list[Column], types: Mapping[str, str] | None = None) -> Self:
        """Numbers are where all known cells are numbers, and nobody declares the column to hold anything else."""
        return cls({column.name: _numeric(column, (types or {}).get(column.name)) for column in columns})

    def frame(self, table: Table) -> pd.DataFrame:
        """The samples of a file, whose further columns are ignored; a missing cell is NaN or None.

        ValueError where a column is missing, or a cell that is to be a number is a word.
        """
        import pandas as pd

        table.check_has(list(self.numeric))
        cells = {
            name: _values(table.columns[name], numeric, self.words_missing) for name, numeric in self.numeric.items()
        }
        return pd.DataFrame(cells)


def _numeric(column: Column, declared: str | None) -> bool:
    part = known(column)[1]
    if declared == "number":  # words among numbers go to the estimator as strings, which counts them as missing
        return not np.isnan(numbers_in(part.cells)).any()
    return declared is None and part.numbers is not None


def known(column: Column) -> tuple[Array, Column]:
    """The positions of the cells that are not missing, and the column of these."""
    kept = [i for i, cell in enumerate(column.cells) if not is_missing(cell)]
    part = Column(column.file, column.name, [column.cells[i] for i in kept], [column.rows[i] for i in kept])
    return np.array(kept, dtype=int), part


def _values(column: Column, numeric: bool, words_missing: bool) -> Array:
    kept, part = known(column)
    if numeric and words_missing and part.numbers is None:
        return numbers_in(None if is_missing(cell) else cell for cell in column.cells)
    values: Array = np.full(len(column.cells), np.nan if numeric else None, dtype=float if numeric else object)
    if not len(kept):
        return values
    if numeric and part.numbers is None:
        raise part.error(part.first_word, "is not a number, and the column was numeric in training")
    values[kept] = part.numbers if numeric else part.cells
    return values
