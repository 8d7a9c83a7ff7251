"""The samples of a method that a person chose, from a table of columns of any type.

Numbers and categories without a missing cell are spread over columns of numbers (tables/encoding.py). Where a column
holds dates or texts, names the rows, or lacks a cell, kernels follow the types of the columns, as those of the
automatic estimator do. Kernels that a person named, and methods that take none, are then given the numbers that the
automatic estimator makes of the columns, scaled as the others are.
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

_PLAIN = ("number", "category", "empty")  # the types of columns that are spread over columns of numbers


@dataclass(frozen=True, eq=False)
class MethodSamples:
    """Samples, and what a method needs beside them.

    Parameters
    ----------
    X : data frame or views, before anything is learned from them
    y : array (n,), the target
    task : what it is
    features : tuple of str, the columns that are learned from
    metadata : what the file of a model says of the columns
    steps : transformers before the method
    kernels : by the types of the columns; None for those of the request or of the method
    scaled : the samples as the model in a file takes them; None where the steps are in the file
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
        request : the method, the target, and what columns hold
        as_numbers : whether columns of all types become numbers, so that a method can do without some of them

        Raises
        ------
        ValueError : where the table or an option does not allow it
        """
        y, task, found = read_target(table, request.target, request.task)
        table.check_types(request.types, request.target)
        frame = ColumnKinds.learn(found, request.types).frame(table)
        columns = [_column(table, frame, name, request.types) for name in map(str, frame)]
        plain = all(column.type in _PLAIN and not column.gaps for column in columns)
        if plain or not kernels_by_type(request, task) or as_numbers:  # else kernels by the types of columns say it
            for column in columns:
                if column.note:
                    warnings.warn(f"{table.file}: {column.note}", PredictionWarning, stacklevel=2)
        if plain:
            return cls._plain(table, request)
        used = {str(column.key): column.type for column in columns if column.used}
        if not used:
            raise nothing_distinguishes(table, request.target)
        X = frame[list(used)]
        views = table.by_view(used)
        metadata = {
            "columns": {name: X[name].dtype.kind == "f" for name in used},
            "target": request.target,
            "numerals": table.as_written(used),
            **TrainingRanges.learn(table.columns, used).to_metadata(),
            **({"views": views} if views else {}),
        }
        known = cls(X, y, task, tuple(used), metadata)
        types = {name: kind for name, kind in request.types.items() if name in used} or None
        if kernels_by_type(request, task) and not as_numbers:
            return known.by_type(views, types)
        if views:
            raise ValueError(
                f"{table.file}: columns of dates and texts, and missing cells, have kernels by their types where there "
                "are several files; leave --kernels out, or take another --method"
            )
        prepared = PreparedColumns(None if as_numbers else types).set_output(transform="pandas")
        return replace(known, steps=(prepared, scaler_of(False, request.standardized)))

    @classmethod
    def _plain(cls, table: CsvTable, request: FitRequest) -> Self:
        """Of numbers and categories without a missing cell."""
        encoding, raw, y = TableEncoding.learn(table, request.target, request.task, request.types, request.standardized)
        kinds = {each.name: "number" if each.levels is None else "category" for each in encoding.features}
        metadata = {
            "table": encoding.to_json(),
            "numerals": table.as_written(kinds),
            **TrainingRanges.learn(table.columns, kinds).to_metadata(),
        }
        return cls(
            encoding.as_given(raw),
            y,
            encoding.task,
            tuple(kinds),
            metadata,
            (scaler_of(bool(table.views), request.standardized),),
            scaled=encoding.as_given(encoding.scale(raw)),
        )

    def by_type(self, views: Mapping[str, Mapping[str, str]], types: Mapping[str, Any] | None) -> Self:
        """The same with kernels by the types of the columns, of each view where there are several.

        Parameters
        ----------
        views : for each view its columns here, and their names in the view; empty for a single table
        types : what columns are declared to hold
        """
        if not views:
            return replace(self, kernels=mk.kernels.for_columns(self.X, types=types))
        parts = split(self.X, views)
        kernels = {}
        for view, names in views.items():
            own = {name: types[full] for full, name in names.items() if types and full in types}
            kernels[view] = mk.kernels.for_columns(parts[view], types=own or None)
        return replace(self, X=mk.views(parts, list(parts)), kernels=kernels)

    def model(self, request: FitRequest) -> Any:
        """The method with its kernels."""
        return make_model(request if self.kernels is None else replace(request, kernels=self.kernels), self.task)

    def pipeline(self, model: Any) -> Any:
        """The model behind the steps, which learns from ``X``."""
        return make_pipeline(*(clone(step) for step in self.steps), model)

    def prepared(self) -> tuple[Any, tuple[Any, ...]]:
        """All samples as the model takes them, and the fitted steps that belong into its file."""
        if self.scaled is not None:
            return self.scaled, ()
        X = self.X
        steps = tuple(clone(step) for step in self.steps)
        for step in steps:
            X = step.fit_transform(X)
        return X, steps


def _column(table: CsvTable, frame: pd.DataFrame, name: str, types: Mapping[str, str]) -> Column:
    """What a column holds, in the samples that its file has."""
    lacking = table.lacking(name)
    part = frame[[name]]
    if lacking:
        part = part[[i not in lacking for i in range(len(part))]]
    own: dict[str, Any] | None = {name: types[name]} if name in types else None
    try:
        return next(column for column, _ in typed(part, own))
    except ValueError as error:
        raise ValueError(f"{table.file}: {error}") from None
