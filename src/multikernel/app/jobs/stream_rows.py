"""Remarks on rows that are read in chunks: how numbers are written, and values outside the ranges of training.

The first rows of a CSV file decide how its numbers are written, for ambiguous columns together with the training file.
The ranges of the columns are computed in one pass over the training rows, and new rows are compared with them while
they are predicted.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from multikernel import PredictionWarning, streams
from multikernel.app.tables.number_marks import plainly
from multikernel.app.tables.training_ranges import BeyondTraining, TrainingRanges
from multikernel.datasets import Column
from multikernel.streams import Records, Source, is_missing
from multikernel.tables import Numerals
from multikernel.typing import Array

_HEAD = 10_000  # rows that decide how the numbers of a column are written, as in streams.csv
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class WrittenNumbers:
    """How the numbers of a CSV file are written.

    Parameters
    ----------
    numerals : dict from columns of numbers to the decimal mark and the unit
    note : str, what is unusual about the numbers, so that they may have been misread
    comma : bool, whether the comma is the decimal mark where a column can be read in two ways
    """

    numerals: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    note: str = ""
    comma: bool = False


def written_in(path: Path, training_numerals: Mapping[str, Any] | None = None) -> WrittenNumbers:
    """How the numbers of a CSV file are written, by its first rows.

    Parameters
    ----------
    path : a CSV file
    training_numerals : how the numbers of training were written, for columns that can be read in two ways

    Raises
    ------
    ValueError : where a column that was one of numbers in training contains another text
    """
    records = Records.of(path)
    if any(True for _ in records):
        numbers, rows = zip(*islice(records, _HEAD), strict=True)
    else:
        numbers, rows = ((), ())
    if not rows:
        return WrittenNumbers()
    cells = dict(zip(records.names, zip(*rows, strict=True), strict=True))
    stored = {name: Numerals(*marks) for name, marks in (training_numerals or {}).items() if name in cells}
    columns, numerals, notes = plainly(cells, records.delimiter, is_missing, stored)
    for name in stored:
        _check_numbers(Column(str(path), name, list(columns[name]), list(numbers)))
    comma = any(column_numerals.decimal == "," for name, column_numerals in numerals.items() if name in cells)
    return WrittenNumbers(
        {name: (column_numerals.decimal, column_numerals.unit) for name, column_numerals in numerals.items()},
        "; ".join(notes),
        comma,
    )


def _check_numbers(column: Column) -> None:
    """ValueError where a cell is neither a number nor missing."""
    indices = [i for i, cell in enumerate(column.cells) if not is_missing(cell)]
    for i in indices:
        single_cell = Column(column.file, column.name, [column.cells[i]], [column.rows[i]])
        if single_cell.numbers is None:
            raise single_cell.error(0, "is not a number, and the column was numeric in training")


def learned_of(source: Any, numbers: WrittenNumbers) -> dict[str, Any]:
    """The metadata of a model's file about the columns of its training rows, from one pass over these rows.

    Parameters
    ----------
    source : the rows
    numbers : how their numbers are written
    """
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    orders: dict[str, Any] = {}
    for chunk in source.chunks():
        for name in source.taken:
            values = _numbers(chunk.X[name])
            if values is None:
                continue
            if chunk.X[name].dtype.kind == "M":
                orders[name] = "ymd"
            finite = values[np.isfinite(values)]
            if len(finite):
                low[name] = min(low.get(name, np.inf), float(finite.min()))
                high[name] = max(high.get(name, -np.inf), float(finite.max()))
    ranges = TrainingRanges({name: (low[name], high[name]) for name in low}, orders)
    return {"numerals": {name: list(numbers.numerals.get(name, (".", ""))) for name in low}, **ranges.to_metadata()}


def _numbers(values: Any) -> Array | None:
    """The numbers of a column, or its dates as days since 1970; None for a column of neither."""
    if values.dtype.kind == "M":
        return np.asarray((values.to_numpy() - np.datetime64(0, "D")) / _DAY, dtype=float)
    if values.dtype.kind in "fiu":
        return np.asarray(values, dtype=float)
    return None


@dataclass(eq=False)
class WatchedRows:
    """New rows that are compared with those of training while they are read.

    Parameters
    ----------
    rows : the source
    path : its file
    ranges : of training
    beyond : dict from columns to their cells outside the ranges, in the last pass
    """

    rows: Any
    path: Path
    ranges: TrainingRanges
    beyond: dict[str, BeyondTraining] = field(default_factory=dict)

    @property
    def source(self) -> Source:
        """The rows, which are compared with the ranges while they are read."""
        return streams.pieces(self._chunks, str(self.path))

    def _chunks(self) -> Iterator[Any]:
        self.beyond.clear()
        for chunk in self.rows.chunks():
            for name in self.ranges.ranges:
                if name not in chunk.X:
                    continue
                values = _numbers(chunk.X[name])
                if values is None and chunk.X[name].notna().any():
                    raise ValueError(
                        f"{self.path}: column {name!r} holds {chunk.X[name].dtype} values, and in training it held "
                        "numbers; give numbers again"
                    )
                if values is None:
                    continue
                beyond = self.ranges.beyond_values(name, values)
                if beyond is not None:
                    count, i = beyond
                    if chunk.numbers is None:
                        number = chunk.row + i
                    else:
                        number = chunk.numbers[i]
                    column_beyond = BeyondTraining(name, count, f"{chunk.X[name].iloc[i]}", int(number), len(values))
                    self.beyond[name] = column_beyond.after(self.beyond.get(name))
            yield chunk

    def tell(self) -> None:
        """Warn of the cells outside the ranges of training in the rows read."""
        sentence = self.ranges.sentence(list(self.beyond.values()))
        if sentence:
            warnings.warn(f"{self.path}: {sentence}", PredictionWarning, stacklevel=2)
