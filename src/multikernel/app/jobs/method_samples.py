"""The samples of a method that a person chose, from a table of columns of any type.

Where all columns are numbers and categories without missing cells, they become columns of numbers
(tables/encoding.py). Where a column contains dates or texts, names the rows, or has a missing cell, each column has the
kernels of its type, like those of the automatic estimator. Kernels that the user named, and methods without kernels,
are then applied to the numbers that the automatic estimator makes of the columns, scaled as in the first case.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import multikernel as mk
from multikernel import PredictionWarning
from multikernel.app.jobs.methods import FitRequest, kernels_by_type, make_model, nothing_distinguishes
from multikernel.app.tables.columns import ColumnKinds
from multikernel.app.tables.encoding import TableEncoding, scaler_of
from multikernel.app.tables.table import CsvTable, read_target
from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.app.tables.views import split
from multikernel.auto import PreparedColumns
from multikernel.datasets import Task
from multikernel.tables import Column, typed
from multikernel.typing import Array

if TYPE_CHECKING:
    import pandas as pd

_PLAIN = ("number", "category", "empty")  # the types of columns that tables/encoding.py makes numbers of


@dataclass(frozen=True, eq=False)
class MethodSamples:
    """The samples of a table, with the transformers and the kernels of a method.

    Parameters
    ----------
    X : data frame or views, before anything is learned from them
    y : array (n,), the target
    task : classification or regression
    features : tuple of str, the columns that are learned from
    metadata : what a model's file says about the columns
    steps : transformers before the method
    kernels : by the types of the columns; None for those of the request or of the method
    scaled : the samples as input of the model in a file; None where the steps are in the file
    """

    X: Any
    y: Array
    task: Task
    features: tuple[str, ...]
    metadata: dict[str, Any]
    steps: tuple[Any, ...] = ()
    kernels: Any = None
    scaled: Any = None

    @classmethod
    def of(cls, table: CsvTable, request: FitRequest, *, as_numbers: bool = False) -> Self:
        """The samples of a table.

        Parameters
        ----------
        table : the table
        request : the method, the target, and the declared types of columns
        as_numbers : whether columns of all types become numbers, so that a method can be fitted without some of them

        Raises
        ------
        ValueError : where the table or an option does not allow it
        """
        y, task, feature_columns = read_target(table, request.target, request.task)
        table.check_types(request.types, request.target)
        frame = ColumnKinds.learn(feature_columns, request.types).frame(table)
        columns = [_column(table, frame, name, request.types) for name in map(str, frame)]
        all_plain = all(column.type in _PLAIN and not column.gaps for column in columns)
        # Kernels by the types of columns warn of these notes themselves.
        if all_plain or not kernels_by_type(request, task) or as_numbers:
            for column in columns:
                if column.note:
                    warnings.warn(f"{table.file}: {column.note}", PredictionWarning, stacklevel=2)
        if all_plain:
            return cls._from_plain_columns(table, request)
        column_types = {str(column.key): column.type for column in columns if column.used}
        if not column_types:
            raise nothing_distinguishes(table, request.target)
        X = frame[list(column_types)]
        views = table.by_view(column_types)
        metadata = {
            "columns": {name: X[name].dtype.kind == "f" for name in column_types},
            "target": request.target,
            "numerals": table.as_written(column_types),
            **TrainingRanges.learn(table.columns, column_types).to_metadata(),
            **({"views": views} if views else {}),
        }
        samples = cls(X, y, task, tuple(column_types), metadata)
        types = {name: kind for name, kind in request.types.items() if name in column_types} or None
        if kernels_by_type(request, task) and not as_numbers:
            return samples.by_type(views, types)
        if views:
            raise ValueError(
                f"{table.file}: columns of dates and texts, and missing cells, have kernels by their types where there "
                "are several files; leave --kernels out, or take another --method"
            )
        prepared = PreparedColumns(None if as_numbers else types).set_output(transform="pandas")
        return replace(samples, steps=(prepared, scaler_of(False, request.standardized)))

    @classmethod
    def _from_plain_columns(cls, table: CsvTable, request: FitRequest) -> Self:
        """The samples of a table of numbers and categories without missing cells."""
        encoding, raw, y = TableEncoding.learn(table, request.target, request.task, request.types, request.standardized)
        kinds = {feature.name: "number" if feature.levels is None else "category" for feature in encoding.features}
        metadata = {
            "table": encoding.to_json(),
            "numerals": table.as_written(kinds),
            **TrainingRanges.learn(table.columns, kinds).to_metadata(),
        }
        return cls(
            encoding.as_input(raw),
            y,
            encoding.task,
            tuple(kinds),
            metadata,
            (scaler_of(bool(table.views), request.standardized),),
            scaled=encoding.as_input(encoding.scale(raw)),
        )

    def by_type(self, views: Mapping[str, Mapping[str, str]], types: Mapping[str, Any] | None) -> Self:
        """The samples with kernels by the types of the columns, of each view where there are several.

        Parameters
        ----------
        views : for each view its columns: from their names in ``X`` to those in the view; empty for a single table
        types : the declared types of columns
        """
        if not views:
            return replace(self, kernels=mk.kernels.for_columns(self.X, types=types))
        frames = split(self.X, views)
        kernels = {}
        for view, names in views.items():
            view_types = {name: types[full] for full, name in names.items() if types and full in types}
            kernels[view] = mk.kernels.for_columns(frames[view], types=view_types or None)
        return replace(self, X=mk.views(frames, list(frames)), kernels=kernels)

    def model(self, request: FitRequest) -> Any:
        """The method with its kernels."""
        return make_model(request if self.kernels is None else replace(request, kernels=self.kernels), self.task)

    def pipeline(self, model: Any) -> Any:
        """The pipeline of the steps and the model, which learns from ``X``."""
        return make_pipeline(*(clone(step) for step in self.steps), model)

    def prepared(self) -> tuple[Any, tuple[Any, ...]]:
        """All samples as input of the model, and the fitted steps that are part of its file."""
        if self.scaled is not None:
            return self.scaled, ()
        X = self.X
        steps = tuple(clone(step) for step in self.steps)
        for step in steps:
            X = step.fit_transform(X)
        return X, steps


def _column(table: CsvTable, frame: pd.DataFrame, name: str, types: Mapping[str, str]) -> Column:
    """The type of a column, from the samples that its file contains."""
    lacking = table.lacking(name)
    column_frame = frame[[name]]
    if lacking:
        column_frame = column_frame[[i not in lacking for i in range(len(column_frame))]]
    declared: dict[str, Any] | None = {name: types[name]} if name in types else None
    try:
        return next(column for column, _ in typed(column_frame, declared))
    except ValueError as error:
        raise ValueError(f"{table.file}: {error}") from None
