"""CSV files as a source; needs pandas.

The first rows determine whether a column has numbers or strings: a later cell that is no number is refused in a message
with its row. Rows are numbered as in a spreadsheet, with the names of the columns in row 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from multikernel._rules import Choice, abbreviated
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.streams.frames import FrameSource, names_of, paths_of, plain_options
from multikernel.streams.missing import is_missing
from multikernel.streams.records import Record, Records
from multikernel.streams.source import Chunk
from multikernel.tables.numerals import Numerals, numbers_in, written_in

_LOOKED_AT = 10_000  # rows that determine the type of a column: read in less than a second, and enough for rare cells


@dataclass(frozen=True, eq=False, kw_only=True)
class CSVSource(FrameSource):
    """Rows of CSV files.

    Parameters
    ----------
    files, target, weight, features : as in ``FrameSource``
    delimiter : character between cells; None to infer it from the first rows
    decimal : character before the decimals of numbers; "," for columns that could be read with either
    memory, checkpoint, every : as in ``Source``
    """

    delimiter: str | None = None
    decimal: str = "."

    @cached_property
    def _first(self) -> Records:
        records = Records.of(self.files[0], self.delimiter)
        for note in records.notes:
            warn_user(f"{records.path}: {note}")
        return records

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._first.names)

    @cached_property
    def _numerals(self) -> dict[str, Numerals | None]:
        """The format of the numbers of each column, by the first rows; None for a column of strings."""
        cells = [row for _, row in islice(self._first, _LOOKED_AT)]
        columns = zip(*cells, strict=True) if cells else ([] for _ in self.names)
        comma = True if self.decimal == "," else None
        return {
            name: written_in([cell for cell in column if not is_missing(cell)], comma=comma).numerals
            for name, column in zip(self.names, columns, strict=True)
        }

    @property
    def rows(self) -> int | None:
        return None

    @property
    def identity(self) -> str:
        return f"{super().identity} {self._first.delimiter!r} {self.decimal!r}"

    def _chunks(self, start: int, height: int) -> Iterator[Chunk]:
        rows_read = 0  # rows of earlier files, and of this one
        for file in self.files:
            if file == self.files[0]:
                records = self._first
            else:
                records = Records.of(file, self.delimiter)
            missing = set(self.read).difference(records.names)
            if missing:
                raise ValueError(f"{file} lacks the column {min(missing)!r}, which {self.files[0]} has")
            rows = iter(records)
            while block := list(islice(rows, height)):
                rows_read += len(block)
                if rows_read > start:
                    block = block[max(0, start - (rows_read - len(block))) :]
                    chunk = self.chunk_of(
                        self._frame(file, records.names, block), rows_read - len(block), file, block[0][0]
                    )
                    yield replace(chunk, numbers=[number for number, _ in block])

    def _frame(self, file: Path, names: Sequence[str], rows: Sequence[Record]) -> Any:
        """Some rows as a data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("a CSV file becomes data frames of pandas: pip install 'multikernel[streams]'") from None
        columns = dict(zip(names, zip(*(cells for _, cells in rows), strict=True), strict=True))
        return pd.DataFrame({name: self._values(file, name, columns[name], rows) for name in self.read})

    def _values(self, file: Path, name: str, cells: Sequence[str], rows: Sequence[Record]) -> Array:
        numerals = self._numerals[name]
        if numerals is None:
            return np.array([None if is_missing(cell) else cell for cell in cells], dtype=object)
        values = numbers_in(cells, numerals)
        for i in np.flatnonzero(np.isnan(values)).tolist():
            if not is_missing(cells[i]):
                raise ValueError(
                    f"{file}, row {rows[i][0]}, column {name!r}: {cells[i]!r} is not a number, and the first rows of "
                    "the column are; correct the cell, or leave the row out"
                )
        return values


def csv(
    files: Any,
    target: Any = None,
    weight: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    **options: Any,
) -> CSVSource:
    """CSV files as a source, for ``fit`` and ``streams.predict``; needs pandas.

    Parameters
    ----------
    files : path of a file or of a directory of ``.csv`` files, or several paths; compressed ones too
    target : name of a column, or a list of them
    weight : name of the column of weights
    delimiter : character between cells; by default inferred from the first rows
    decimal : character before the decimals of numbers, where the cells of a column do not show it
    **options : features (names of columns), and memory, checkpoint, every, as in ``Source``

    Raises
    ------
    FileNotFoundError : where there is no such file
    ValueError : where the delimiter is not one character, or the decimal character neither "." nor ","
    """
    if delimiter is not None and not (isinstance(delimiter, str) and len(delimiter) == 1):
        raise ValueError(f"streams.csv: delimiter must be one character or None, got {abbreviated(delimiter)}")
    Choice((".", ",")).check(decimal, "streams.csv: decimal")
    column_options = {"target": names_of(target), "weight": weight, "delimiter": delimiter, "decimal": decimal}
    return CSVSource(files=paths_of(files, "*.csv*"), **column_options, **plain_options(options))
