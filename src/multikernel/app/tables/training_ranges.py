"""The ranges of the numbers of the training file, and which cells of another file lie beyond them.

A model answers for any number; whether it has learned anything about such numbers is another question. So the range of
each column is stored with the model. (Of categories that training did not have, kernels warn themselves.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from multikernel.app.tables.table import CsvTable
from multikernel.datasets import Column
from multikernel.streams import is_missing
from multikernel.tables import numbers_in

_NAMED = 5  # columns that a sentence lists


@dataclass(frozen=True)
class TrainingRanges:
    """The smallest and the largest value in training of each column of numbers. Stored with the model.

    Parameters
    ----------
    ranges : dict from columns to these two
    """

    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Self:
        """From the metadata of a model's file; earlier versions stored none."""
        return cls(metadata.get("ranges", {}))

    @classmethod
    def learn(cls, columns: Mapping[str, Column], kinds: Mapping[str, str]) -> Self:
        """The ranges of the columns whose kind is "number".

        Parameters
        ----------
        columns : those of the training file
        kinds : what they hold
        """
        found = {}
        for name, kind in kinds.items():
            if kind == "number":
                values = _numbers(columns[name])
                known = values[np.isfinite(values)]
                if len(known):
                    found[name] = (float(known.min()), float(known.max()))
        return cls(found)

    def beyond(self, table: CsvTable) -> str:
        """A sentence about the numbers of a table that are beyond these ranges; "" where none is.

        Parameters
        ----------
        table : new rows; columns that it lacks are passed over
        """
        found = []
        for name, (low, high) in self.ranges.items():
            if name not in table.columns:
                continue
            column = table.columns[name]
            values = _numbers(column)
            away = np.nan_to_num(np.maximum(low - values, values - high), nan=0.0)
            count = int((away > 0.0).sum())
            if count:
                farthest = int(away.argmax())
                found.append(
                    f"{count} cell{'s' if count > 1 else ''} of {name!r}, such as {column.cells[farthest]} in row "
                    f"{column.rows[farthest]} (in training {low:.6g} to {high:.6g})"
                )
        if not found:
            return ""
        more = f"; and cells of {len(found) - _NAMED} more columns" if len(found) > _NAMED else ""
        return f"Numbers beyond those of training, where predictions are guesses: {'; '.join(found[:_NAMED])}{more}"


def _numbers(column: Column) -> Any:
    return numbers_in(None if is_missing(cell) else cell for cell in column.cells)
