"""Columns without a missing cell as numbers: categories spread over 0/1 columns, everything scaled to [0, 1].

For linear methods, whose columns are not centred and compete by their size, it is scaled to mean 0 and deviation 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import multikernel as mk
from multikernel.app.tables.table import CsvTable, read_target
from multikernel.app.tables.views import split
from multikernel.datasets import Column, Feature, Task, encode
from multikernel.typing import Array

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TableEncoding:
    """How the rows of a file become samples: learned from the training file, stored with the model."""

    target: str  # the name of its column
    task: Task
    features: tuple[Feature, ...]
    low: tuple[float, ...]  # what becomes 0 of each column that the features become: its smallest value, or its mean
    high: tuple[float, ...]  # what becomes 1: its largest value, or one deviation above the mean
    views: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # the samples' columns, of several files

    @classmethod
    def learn(
        cls,
        table: CsvTable,
        target: str,
        task: Task | None,
        types: Mapping[str, str] | None = None,
        standardized: bool = False,
    ) -> tuple[Self, pd.DataFrame, Array]:
        """The encoding of a training file, its samples before they are scaled, and its target.

        Columns are scaled to [0, 1], or if ``standardized`` to mean 0 and deviation 1.

        ValueError where there is no such target or no feature, a cell is missing, or the target does not fit the task;
        and where a column is declared to hold what it does not, or what only kernels by type can take.
        """
        y, decided, found = read_target(table, target, task)
        declared = types or {}
        table.check_types(declared, target)
        columns = [table.present(column.name) for column in found]
        features = tuple(_feature(column, declared.get(column.name)) for column in columns)
        raw = _frame(features, table)
        if standardized:
            low = raw.mean().tolist()
            high = (raw.mean() + raw.std(ddof=0)).tolist()
        else:
            low = raw.min().tolist()
            high = raw.max().tolist()
        for name, least, most in zip(raw, low, high, strict=True):
            if not isfinite(most - least):
                raise ValueError(
                    f"{table.file}: column {name!r} holds numbers up to {raw[name].abs().max():.0e}, whose differences "
                    "are more than a computer can hold; give it in other units"
                )
        return cls(target, decided, features, tuple(low), tuple(high), _views(features, table)), raw, y

    def scale(self, raw: pd.DataFrame) -> pd.DataFrame:
        """Each column by its range or its deviation in training; one that was constant there loses that constant."""
        low = np.array(self.low)
        high = np.array(self.high)
        return raw.sub(low).div(np.where(high > low, high - low, 1.0))

    def samples(self, table: CsvTable) -> pd.DataFrame:
        """The scaled samples of another file, whose further columns are ignored.

        ValueError where a column or a cell is missing, or a cell does not fit what its column held in training.
        """
        table.check_has([feature.name for feature in self.features])
        return self.scale(_frame(self.features, table))

    def of_views(self, names: Iterable[str]) -> Self:
        """The encoding of some of the views."""
        kept = {name: self.views[name] for name in names}
        taken = {column for own in kept.values() for column in own}
        columns = [name for feature in self.features for name in feature.names]
        inside = [name in taken for name in columns]
        return replace(
            self,
            features=tuple(feature for feature in self.features if feature.names[0] in taken),
            low=tuple(value for value, own in zip(self.low, inside, strict=True) if own),
            high=tuple(value for value, own in zip(self.high, inside, strict=True) if own),
            views=kept,
        )

    def as_given(self, samples: pd.DataFrame) -> Any:
        """Samples as an estimator takes them: by view where there are several files."""
        if self.views:
            return mk.views(split(samples, self.views), list(self.views))
        return samples

    def to_json(self) -> dict[str, Any]:
        """The encoding as dictionaries, lists, strings and numbers, for the header of a model file."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """The encoding from what ``to_json`` gave, once it has been written and read as JSON."""
        features = tuple(
            Feature(f["name"], None if f["levels"] is None else tuple(f["levels"])) for f in stored["features"]
        )
        return cls(
            stored["target"],
            stored["task"],
            features,
            tuple(stored["low"]),
            tuple(stored["high"]),
            stored.get("views", {}),
        )


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


def _views(features: Sequence[Feature], table: CsvTable) -> dict[str, dict[str, str]]:
    """The columns that the features of each view become, and their names in the view."""
    made = {feature.name: feature.names for feature in features}
    return {
        view: {full: full.removeprefix(f"{view}: ") for name in own for full in made[name]}
        for view, own in table.by_view(made).items()
    }


def _frame(features: Sequence[Feature], table: CsvTable) -> pd.DataFrame:
    """The samples before they are scaled, NaN where a file lacks one."""
    import pandas as pd

    views = table.by_view(feature.name for feature in features) or {"": {feature.name: "" for feature in features}}
    parts = []
    for names in views.values():
        own = [feature for feature in features if feature.name in names]
        values, columns = encode(own, [table.present(feature.name) for feature in own])
        part = pd.DataFrame(values, columns=columns)
        lacking = table.lacking(own[0].name)
        if lacking:
            n = len(part) + len(lacking)
            part = part.set_axis([i for i in range(n) if i not in lacking]).reindex(range(n))
        parts.append(part)
    if len(parts) == 1:
        return parts[0]
    return pd.concat(parts, axis=1)


def scaler_of(views: bool, standardized: bool) -> Any:
    """What scales the samples of a fold as ``TableEncoding`` does those of the file.

    Parameters
    ----------
    views : whether samples are views
    standardized : whether columns get mean 0 and deviation 1, not the range [0, 1]
    """
    if views:
        return ScaledViews(standardized)
    kind = StandardScaler if standardized else MinMaxScaler
    return kind().set_output(transform="pandas")


class ScaledViews(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns of each view to [0, 1] by their ranges in training, or to mean 0 and deviation 1.

    Parameters
    ----------
    standardized : bool
    """

    def __init__(self, standardized: bool = False) -> None:
        self.standardized = standardized

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the ranges.

        Parameters
        ----------
        X : views that are data frames of numbers
        y : ignored
        """
        self.scalers_ = {name: scaler_of(False, self.standardized).fit(part) for name, part in X.items()}
        return self

    def transform(self, X: Any) -> Any:
        """The scaled views.

        Parameters
        ----------
        X : views like those of ``fit``
        """
        scaled = {name: scaler.transform(X.part(name)) for name, scaler in self.scalers_.items()}
        return mk.views(scaled, list(scaled))
