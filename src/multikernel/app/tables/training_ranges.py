"""The ranges of the numbers and dates of the training file, and which cells of another file are outside of them.

A model predicts for any value, also far from those that it has learned from. Therefore the range of each column is
stored with the model, and predictions outside of it come with a warning. (Kernels warn of categories that training did
not have.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any, Self

import numpy as np

from multikernel.app.tables.number_marks import NAMED_COLUMNS
from multikernel.app.tables.table import CsvTable
from multikernel.datasets import Column
from multikernel.streams import is_missing
from multikernel.tables import Order, likely_order, parsed
from multikernel.typing import Array

_EPOCH = date(1970, 1, 1)  # day 0


@dataclass(frozen=True)
class BeyondTraining:
    """The cells of a column that are outside its range in training.

    Parameters
    ----------
    name : str, the column
    count : int, the number of such cells
    cell : str, one of them
    row : int, the row of this cell
    rows : int, the number of rows that were checked
    """

    name: str
    count: int
    cell: str
    row: int
    rows: int

    def after(self, earlier: BeyondTraining | None) -> BeyondTraining:
        """These cells together with those of earlier rows, of which the example is taken."""
        if earlier is None:
            return self
        return replace(earlier, count=earlier.count + self.count, rows=earlier.rows + self.rows)


@dataclass(frozen=True)
class TrainingRanges:
    """The smallest and the largest value in training of each column of numbers or dates. Stored with the model.

    Parameters
    ----------
    ranges : dict from columns to these two values; dates are days since 1970
    orders : dict from the columns of dates to the order of day, month and year in them
    """

    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    orders: Mapping[str, Order] = field(default_factory=dict)

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Self:
        """From the metadata of a model's file; earlier versions stored none."""
        return cls(metadata.get("ranges", {}), metadata.get("date_orders", {}))

    def to_metadata(self) -> dict[str, Any]:
        """The metadata that ``of`` reads."""
        return {"ranges": self.ranges, "date_orders": self.orders}

    @classmethod
    def learn(cls, columns: Mapping[str, Column], kinds: Mapping[str, str]) -> Self:
        """The ranges of the columns whose kind is "number" or "date".

        Parameters
        ----------
        columns : those of the training file
        kinds : their types
        """
        ranges = {}
        orders: dict[str, Order] = {}
        for name, kind in kinds.items():
            if kind not in ("number", "date"):
                continue
            if kind == "date":
                orders[name] = likely_order(_texts(columns[name]))
            values = _values(columns[name], orders.get(name, ""))
            finite = values[np.isfinite(values)]
            if len(finite):
                ranges[name] = (float(finite.min()), float(finite.max()))
        return cls(ranges, orders)

    def beyond(self, table: CsvTable) -> str:
        """A sentence about the values of a table that are outside these ranges; "" where there are none.

        Parameters
        ----------
        table : new rows; columns that it lacks are ignored
        """
        columns_beyond = []
        for name in self.ranges:
            if name not in table.columns:
                continue
            column = table.columns[name]
            values = _values(column, self.orders.get(name, ""))
            beyond = self.beyond_values(name, values)
            if beyond is not None:
                count, i = beyond
                columns_beyond.append(BeyondTraining(name, count, column.cells[i], column.rows[i], len(values)))
        return self.sentence(columns_beyond)

    def beyond_values(self, name: str, values: Array) -> tuple[int, int] | None:
        """The number of values outside the range of a column, and the index of the farthest; None for no such value."""
        low, high = self.ranges[name]
        distances = np.nan_to_num(np.maximum(low - values, values - high), nan=0.0)
        count = int((distances > 0.0).sum())
        if count:
            return (count, int(distances.argmax()))
        return None

    def sentence(self, columns_beyond: Sequence[BeyondTraining]) -> str:
        """A sentence about columns with values outside their ranges; "" where there are none."""
        if not columns_beyond:
            return ""
        phrases = []
        for column in columns_beyond[:NAMED_COLUMNS]:
            low, high = self.ranges[column.name]
            if column.rows == 1:
                cells_text = f"{column.name!r} is {column.cell}"
            else:
                cells = f"{column.count} cell{'s' if column.count > 1 else ''} of {column.name!r}"
                cells_text = f"{cells}, such as {column.cell} in row {column.row}"
            training_range = f"{self._value_text(column.name, low)} to {self._value_text(column.name, high)}"
            phrases.append(f"{cells_text} (in training {training_range})")
        if len(columns_beyond) > NAMED_COLUMNS:
            others_text = f"; and cells of {len(columns_beyond) - NAMED_COLUMNS} more columns"
        else:
            others_text = ""
        return f"Values beyond those of training, where predictions are guesses: {'; '.join(phrases)}{others_text}"

    def _value_text(self, name: str, value: float) -> str:
        """A value as the sentence shows it: a date, or a number with six digits."""
        if self.orders.get(name):
            return (_EPOCH + timedelta(days=value)).isoformat()
        return f"{value:.6g}"


def _values(column: Column, order: Order) -> Array:
    """Numbers, or dates as days since 1970; NaN for cells that are neither."""
    return parsed((None if is_missing(cell) else cell for cell in column.cells), order)


def _texts(column: Column) -> Array:
    return np.array([cell for cell in column.cells if not is_missing(cell)], dtype=object)
