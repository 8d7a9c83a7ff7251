"""The ranges of the numbers and dates of the training file, and which cells of another file lie beyond them.

A model answers for any value; whether it has learned anything about such values is another question. So the range of
each column is stored with the model. (Of categories that training did not have, kernels warn themselves.)
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

_EPOCH = date(1970, 1, 1)  # from which days are counted


@dataclass(frozen=True)
class BeyondTraining:
    """The cells of a column that are beyond training.

    Parameters
    ----------
    name : str, the column
    count : int, how many there are
    cell : str, one of them
    row : int, its row
    rows : int, how many rows were looked at
    """

    name: str
    count: int
    cell: str
    row: int
    rows: int

    def after(self, earlier: BeyondTraining | None) -> BeyondTraining:
        """With those of earlier rows."""
        if earlier is None:
            return self
        return replace(earlier, count=earlier.count + self.count, rows=earlier.rows + self.rows)


@dataclass(frozen=True)
class TrainingRanges:
    """The smallest and the largest value in training of each column of numbers or dates. Stored with the model.

    Parameters
    ----------
    ranges : dict from columns to these two, of dates in days since 1970
    orders : dict from the columns of dates to the order of day, month and year in them
    """

    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    orders: Mapping[str, Order] = field(default_factory=dict)

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Self:
        """From the metadata of a model's file; earlier versions stored none."""
        return cls(metadata.get("ranges", {}), metadata.get("date_orders", {}))

    def to_metadata(self) -> dict[str, Any]:
        """What ``of`` reads."""
        return {"ranges": self.ranges, "date_orders": self.orders}

    @classmethod
    def learn(cls, columns: Mapping[str, Column], kinds: Mapping[str, str]) -> Self:
        """The ranges of the columns whose kind is "number" or "date".

        Parameters
        ----------
        columns : those of the training file
        kinds : what they hold
        """
        found = {}
        orders: dict[str, Order] = {}
        for name, kind in kinds.items():
            if kind not in ("number", "date"):
                continue
            if kind == "date":
                orders[name] = likely_order(_texts(columns[name]))
            values = _values(columns[name], orders.get(name, ""))
            known = values[np.isfinite(values)]
            if len(known):
                found[name] = (float(known.min()), float(known.max()))
        return cls(found, orders)

    def beyond(self, table: CsvTable) -> str:
        """A sentence about the values of a table that are beyond these ranges; "" where none is.

        Parameters
        ----------
        table : new rows; columns that it lacks are passed over
        """
        found = []
        for name in self.ranges:
            if name not in table.columns:
                continue
            column = table.columns[name]
            values = _values(column, self.orders.get(name, ""))
            beyond = self.beyond_values(name, values)
            if beyond is not None:
                count, i = beyond
                found.append(BeyondTraining(name, count, column.cells[i], column.rows[i], len(values)))
        return self.sentence(found)

    def beyond_values(self, name: str, values: Array) -> tuple[int, int] | None:
        """How many values of a column are beyond its range, and the place of the farthest; None where none is."""
        low, high = self.ranges[name]
        away = np.nan_to_num(np.maximum(low - values, values - high), nan=0.0)
        count = int((away > 0.0).sum())
        if count:
            return (count, int(away.argmax()))
        return None

    def sentence(self, found: Sequence[BeyondTraining]) -> str:
        """A sentence about columns with such values; "" for none."""
        if not found:
            return ""
        parts = []
        for each in found[:NAMED_COLUMNS]:
            low, high = self.ranges[each.name]
            if each.rows == 1:
                which = f"{each.name!r} is {each.cell}"
            else:
                cells = f"{each.count} cell{'s' if each.count > 1 else ''} of {each.name!r}"
                which = f"{cells}, such as {each.cell} in row {each.row}"
            parts.append(f"{which} (in training {self._said(each.name, low)} to {self._said(each.name, high)})")
        if len(found) > NAMED_COLUMNS:
            more = f"; and cells of {len(found) - NAMED_COLUMNS} more columns"
        else:
            more = ""
        return f"Values beyond those of training, where predictions are guesses: {'; '.join(parts)}{more}"

    def _said(self, name: str, value: float) -> str:
        """A value as a person writes it."""
        if self.orders.get(name):
            return (_EPOCH + timedelta(days=value)).isoformat()
        return f"{value:.6g}"


def _values(column: Column, order: Order) -> Array:
    """Numbers, or the days of dates; NaN for what is neither."""
    return parsed((None if is_missing(cell) else cell for cell in column.cells), order)


def _texts(column: Column) -> Array:
    return np.array([cell for cell in column.cells if not is_missing(cell)], dtype=object)
