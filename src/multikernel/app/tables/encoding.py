"""Columns without a missing cell as numbers: categories spread over 0/1 columns, everything scaled to [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multikernel.app.tables.table import CsvTable, read_target
from multikernel.datasets import Column, Feature, Task, encode
from multikernel.typing import Array

if TYPE_CHECKING:
    import pandas as pd

_GAPS = (
    "no method takes it, and the automatic estimator does (multikernel fit FILE --target {target!r}, without --method "
    "and the options of its machine): use that, "
)


@dataclass(frozen=True)
class TableEncoding:
    """How the rows of a file become samples: learned from the training file, stored with the model."""

    target: str  # the name of its column
    task: Task
    features: tuple[Feature, ...]
    low: tuple[float, ...]  # the smallest value in training of each column that the features become
    high: tuple[float, ...]  # the largest

    @classmethod
    def learn(
        cls, table: CsvTable, target: str, task: Task | None, types: Mapping[str, str] | None = None
    ) -> tuple[Self, pd.DataFrame, Array]:
        """The encoding of a training file, its samples before they are scaled, and its target.

        ValueError where there is no such target or no feature, a cell is missing, or the target does not fit the task;
        and where a column is declared to hold what it does not, or what only kernels by type can take.
        """
        y, decided, found = read_target(table, target, task)
        declared = types or {}
        table.check_types(declared, target)
        columns = [table.column(column.name, _GAPS.format(target=target)) for column in found]
        features = tuple(_feature(column, declared.get(column.name)) for column in columns)
        raw = _frame(features, columns)
        low, high = raw.min().tolist(), raw.max().tolist()
        return cls(target, decided, features, tuple(low), tuple(high)), raw, y

    def scale(self, raw: pd.DataFrame) -> pd.DataFrame:
        """Each column to [0, 1] by its range in training; one that was constant there loses that constant."""
        low, high = np.array(self.low), np.array(self.high)
        return raw.sub(low).div(np.where(high > low, high - low, 1.0))

    def samples(self, table: CsvTable) -> pd.DataFrame:
        """The scaled samples of another file, whose further columns are ignored.

        ValueError where a column or a cell is missing, or a cell does not fit what its column held in training.
        """
        table.check_has([feature.name for feature in self.features])
        return self.scale(_frame(self.features, [table.column(feature.name) for feature in self.features]))

    def to_json(self) -> dict[str, Any]:
        """The encoding as dictionaries, lists, strings and numbers, for the header of a model file."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """The encoding from what ``to_json`` gave, once it has been written and read as JSON."""
        features = tuple(
            Feature(f["name"], None if f["levels"] is None else tuple(f["levels"])) for f in stored["features"]
        )
        return cls(stored["target"], stored["task"], features, tuple(stored["low"]), tuple(stored["high"]))


def _feature(column: Column, declared: str | None) -> Feature:
    if declared is None:
        return Feature.learn(column)
    if declared == "category":
        return Feature(column.name, tuple(sorted(set(column.cells))))
    if declared != "number":
        raise ValueError(
            f"{column.file}: a method takes numbers and categories, and column {column.name!r} is to be a {declared}; "
            "leave --method and the options of its machine out, or leave the column out"
        )
    if column.numbers is None:
        raise column.error(column.first_word, "is not a number, and the column is to hold numbers by --type")
    return Feature(column.name, None)


def _frame(features: Sequence[Feature], columns: Sequence[Column]) -> pd.DataFrame:
    import pandas as pd

    values, names = encode(features, columns)
    return pd.DataFrame(values, columns=list(names))
