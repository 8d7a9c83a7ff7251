"""Columns without a missing cell as numbers: categories become 0/1 columns, and all columns are scaled to [0, 1].

For linear methods, which do not centre columns and whose penalty depends on the size of the columns, they are scaled to
mean 0 and standard deviation 1 instead.
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
    """How the rows of a file become samples. It is learned from the training file and stored with the model."""

    target: str  # the name of its column
    task: Task
    features: tuple[Feature, ...]
    low: tuple[float, ...]  # for each column of the samples the value that is scaled to 0: its smallest one or its mean
    high: tuple[float, ...]  # the value that is scaled to 1: its largest one, or one deviation above the mean
    views: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of several files: the columns of each

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

        ValueError where there is no such target or no feature, a cell is missing, the target does not fit the task, or
        a column is declared as a type that its cells do not have, or that only kernels chosen by type accept.
        """
        y, decided, feature_columns = read_target(table, target, task)
        declared = types or {}
        table.check_types(declared, target)
        columns = [table.present(column.name) for column in feature_columns]
        features = tuple(_feature(column, declared.get(column.name)) for column in columns)
        raw = _frame(features, table)
        if standardized:
            low = raw.mean().tolist()
            high = (raw.mean() + raw.std(ddof=0)).tolist()
        else:
            low = raw.min().tolist()
            high = raw.max().tolist()
        for name, lowest, highest in zip(raw, low, high, strict=True):
            if not isfinite(highest - lowest):
                raise ValueError(
                    f"{table.file}: column {name!r} holds numbers up to {raw[name].abs().max():.0e}, whose differences "
                    "are more than a computer can hold; give it in other units"
                )
        return cls(target, decided, features, tuple(low), tuple(high), _views(features, table)), raw, y

    def scale(self, raw: pd.DataFrame) -> pd.DataFrame:
        """The samples scaled by ``low`` and ``high``; from a column that was constant in training, only ``low`` is
        subtracted.
        """
        low = np.array(self.low)
        high = np.array(self.high)
        return raw.sub(low).div(np.where(high > low, high - low, 1.0))

    def samples(self, table: CsvTable) -> pd.DataFrame:
        """The scaled samples of another file; columns that training did not have are ignored.

        ValueError where a column or a cell is missing, or a cell is not of the type that its column had in training.
        """
        table.check_has([feature.name for feature in self.features])
        return self.scale(_frame(self.features, table))

    def of_views(self, names: Iterable[str]) -> Self:
        """The encoding of the views with these names."""
        views = {name: self.views[name] for name in names}
        columns_of_views = {column for view_columns in views.values() for column in view_columns}
        columns = [name for feature in self.features for name in feature.names]
        in_views = [name in columns_of_views for name in columns]
        return replace(
            self,
            features=tuple(feature for feature in self.features if feature.names[0] in columns_of_views),
            low=tuple(value for value, in_view in zip(self.low, in_views, strict=True) if in_view),
            high=tuple(value for value, in_view in zip(self.high, in_views, strict=True) if in_view),
            views=views,
        )

    def as_input(self, samples: pd.DataFrame) -> Any:
        """The samples as input of an estimator: ``multikernel.views`` where there are several files."""
        if self.views:
            return mk.views(split(samples, self.views), list(self.views))
        return samples

    def to_json(self) -> dict[str, Any]:
        """The encoding as dictionaries, lists, strings and numbers, for the header of a model file."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """The encoding from the result of ``to_json`` after it was written and read as JSON."""
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
    """For each view the columns that its features become: from their names in the samples to those in the view."""
    names_of_features = {feature.name: feature.names for feature in features}
    return {
        view: {full: full.removeprefix(f"{view}: ") for name in view_columns for full in names_of_features[name]}
        for view, view_columns in table.by_view(names_of_features).items()
    }


def _frame(features: Sequence[Feature], table: CsvTable) -> pd.DataFrame:
    """The samples before they are scaled; the columns of a file that lacks a sample are NaN there."""
    import pandas as pd

    views = table.by_view(feature.name for feature in features) or {"": {feature.name: "" for feature in features}}
    frames = []
    for names in views.values():
        view_features = [feature for feature in features if feature.name in names]
        values, columns = encode(view_features, [table.present(feature.name) for feature in view_features])
        frame = pd.DataFrame(values, columns=columns)
        lacking = table.lacking(view_features[0].name)
        if lacking:
            n = len(frame) + len(lacking)
            frame = frame.set_axis([i for i in range(n) if i not in lacking]).reindex(range(n))
        frames.append(frame)
    if len(frames) == 1:
        return frames[0]
    return pd.concat(frames, axis=1)


def scaler_of(views: bool, standardized: bool) -> Any:
    """The transformer that scales the samples of a fold in the same way as ``TableEncoding`` those of the file.

    Parameters
    ----------
    views : whether samples are views
    standardized : whether columns are scaled to mean 0 and deviation 1 instead of the range [0, 1]
    """
    if views:
        return ScaledViews(standardized)
    kind = StandardScaler if standardized else MinMaxScaler
    return kind().set_output(transform="pandas")


class ScaledViews(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scales the columns of each view to [0, 1] by their ranges in training, or to mean 0 and deviation 1.

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
        self.scalers_ = {name: scaler_of(False, self.standardized).fit(frame) for name, frame in X.items()}
        return self

    def transform(self, X: Any) -> Any:
        """The scaled views.

        Parameters
        ----------
        X : views like those of ``fit``
        """
        scaled = {name: scaler.transform(X.part(name)) for name, scaler in self.scalers_.items()}
        return mk.views(scaled, list(scaled))
