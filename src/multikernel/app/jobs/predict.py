"""``predict``: from a model and a table to predictions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.base import is_classifier

from multikernel import PredictionWarning
from multikernel.app.tables.columns import ColumnKinds
from multikernel.app.tables.encoding import TableEncoding
from multikernel.app.tables.table import CsvTable, listed
from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.app.tables.views import ViewTables, split, view_name
from multikernel.persistence import read
from multikernel.streams import harmless
from multikernel.typing import Array


@dataclass(frozen=True)
class Predictions:
    """The predictions of a model for the rows of a table.

    Parameters
    ----------
    labels : list, the predictions
    classes : list, of a classifier; None where numbers are predicted
    decision : array (n,) for two classes, or (n, classes); None for numbers, and where there are probabilities instead
    probability : array (n, classes), where they were requested
    key : str, the column that names the rows of several files; "" for one file
    names : sequence of str, the cells of this column
    targets : sequence of str, where the model predicts several columns; each prediction is then a list, one for each
    """

    labels: list[Any]
    classes: list[Any] | None
    decision: Array | None
    probability: Array | None
    key: str = ""
    names: Sequence[str] = ()
    targets: Sequence[str] = ()

    def to_csv(self) -> str:
        """The predictions as CSV; a label that a spreadsheet would run as a formula gets an apostrophe in front."""
        columns: list[tuple[str, list[Any]]] = []  # the key column may have the name of another
        if self.key:
            columns.append((harmless(self.key), [harmless(name) for name in self.names]))
        if self.targets:
            columns += [(f"predicted {name}", [row[k] for row in self.labels]) for k, name in enumerate(self.targets)]
        else:
            columns.append(("prediction", [harmless(label) for label in self.labels]))
        if self.probability is not None:
            columns += self._by_class("probability ", self.probability).items()
        elif self.decision is not None and self.decision.ndim == 1:
            columns.append(("decision", self.decision.tolist()))
        elif self.decision is not None:
            columns += self._by_class("decision ", self.decision).items()
        header = [name for name, _ in columns]
        table = pd.DataFrame({k: values for k, (_, values) in enumerate(columns)})
        return table.to_csv(index=False, header=header, lineterminator="\n")

    def to_json(self) -> dict[str, Any]:
        """The predictions as a dictionary, with decision values (for two classes of the second) or probabilities."""
        decision = None
        if self.decision is not None:
            two_classes = self.decision.ndim == 1
            classes = self.classes or []
            if two_classes:
                decision = {str(classes[-1]): self.decision.tolist()}
            else:
                decision = self._by_class("", self.decision)
        probability = None
        if self.probability is not None:
            probability = self._by_class("", self.probability)
        content: dict[str, Any] = {
            "rows": len(self.labels),
            "classes": self.classes,
            "names": list(self.names) or None,
            "predictions": self.labels,
        }
        if self.targets:
            content["targets"] = list(self.targets)
        return content | {"decision": decision, "probability": probability}

    def _by_class(self, word: str, values: Array) -> dict[str, list[float]]:
        return {f"{word}{label}": values[:, k].tolist() for k, label in enumerate(self.classes or [])}


def predictions(path: Path, table: CsvTable, proba: bool) -> Predictions:
    """The predictions for the rows of a table; for classes with decision values or probabilities.

    ValueError where the model was not written by ``fit`` or gives no probabilities, or the table lacks what it needs.

    Parameters
    ----------
    path : the file of the model
    table : the rows
    proba : probabilities instead of decision values
    """
    model, metadata = read(path)
    X = samples_of(path, metadata, table)
    if proba and not hasattr(model, "predict_proba"):
        if is_classifier(model):
            instead = "fit it with --proba"
        else:
            instead = "it predicts numbers, so leave --proba out"
        raise ValueError(f"{path} holds a {type(learner_of(model)).__name__}, which gives no probabilities; {instead}")
    names: Sequence[str] = ()
    if table.key:
        names = table.columns[table.key].cells
    classes = decision = probability = None
    if is_classifier(model):
        classes = model.classes_.tolist()
        if proba:
            probability = model.predict_proba(X)
        else:
            decision = model.decision_function(X)
    labels = model.predict(X).tolist()
    return Predictions(labels, classes, decision, probability, table.key, names, metadata.get("targets", ()))


def learner_of(model: Any) -> Any:
    """The estimator of a model, without the steps that prepare its samples."""
    if hasattr(model, "steps"):
        return model.steps[-1][1]  # of a pipeline
    return model


def samples_of(path: Path, metadata: Mapping[str, Any], table: CsvTable) -> Any:
    """The rows of a table as input of a model; views of the model that the table lacks are left out.

    Warns of values outside the ranges of training, and of empty rows. ValueError where the model's file does not
    describe its columns, or the table has a view that the model does not have.
    """
    if "columns" not in metadata and "table" not in metadata:
        raise ValueError(f"{path} holds a model without a table's columns; it has to be one that fit has written")
    views = views_in(metadata)
    table = as_views(path, metadata, table)
    table = table.written_as(metadata.get("numerals", {}))
    table_views = {view: names for view, names in views.items() if view in table.views or not table.views}
    samples = _samples(metadata, table, table_views)
    sentences = [TrainingRanges.of(metadata).beyond(table)]
    if "columns" in metadata and not views:  # other models refuse missing cells, or warn of views that a row lacks
        sentences.append(table.without_content(metadata["columns"]))
    for sentence in filter(None, sentences):
        warnings.warn(f"{table.file}: {sentence}", PredictionWarning, stacklevel=2)
    return samples


def _samples(metadata: Mapping[str, Any], table: CsvTable, table_views: Mapping[str, Mapping[str, str]]) -> Any:
    """The rows as input of a model, with the views that the table has."""
    if "table" in metadata:
        encoding = TableEncoding.from_json(metadata["table"])
        if table_views:
            encoding = encoding.of_views(table_views)
        return encoding.as_input(encoding.samples(table))
    columns = ColumnKinds.of(metadata)
    if not table_views:
        return columns.frame(table)
    numeric = {name: columns.numeric[name] for names in table_views.values() for name in names}
    return split(replace(columns, numeric=numeric).frame(table), table_views)


def views_in(metadata: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
    """For each view of a model its columns, from their full names to those in the view; empty for a single file."""
    views: Mapping[str, Mapping[str, str]] = metadata.get("table", metadata).get("views", {})
    return views


def as_views(path: Path, metadata: Mapping[str, Any], table: CsvTable) -> CsvTable:
    """The table, each of whose files is matched with a view of the model by name, or else by its columns.

    ValueError where a file matches no view. The file of the target may have no other column; then it is not a view of
    the model.
    """
    views = views_in(metadata)
    if not views:
        return table
    has_view_columns = any(name.startswith(f"{view}: ") for view in views for name in table.columns)
    if table.tables is not None or not has_view_columns:
        tables = table.tables or ViewTables({view_name(table.file): table})
        tables_by_view = _match_by_columns(_needed_columns(metadata), tables.by_view)
        if table.tables is None or list(tables_by_view) != list(tables.by_view):
            table = replace(tables, by_view=tables_by_view).joined()
    target = metadata.get("target") or metadata["table"]["target"]
    known_views = [view for view in table.views if view in views]
    unknown_views = [view for view in table.views if view not in views and not target.startswith(f"{view}: ")]
    if unknown_views or (table.views and not known_views):
        raise ValueError(
            f"{path} holds a model of the views {listed(list(views))}, and {[*unknown_views, *table.views][0]!r} is "
            f"none of them; say which view a file is, such as {next(iter(views))}=FILE"
        )
    return table


def _needed_columns(metadata: Mapping[str, Any]) -> dict[str, set[str]]:
    """The columns that a model needs of each of its views, with their names in the view."""
    if "table" in metadata:
        names = [feature["name"] for feature in metadata["table"]["features"]]
    else:
        names = list(metadata["columns"])
    starts = {view: f"{view}: " for view in views_in(metadata)}
    return {
        view: {name.removeprefix(start) for name in names if name.startswith(start)} for view, start in starts.items()
    }


def _match_by_columns(views: Mapping[str, set[str]], tables: Mapping[str, CsvTable]) -> dict[str, CsvTable]:
    """The tables by view; a file with another name is taken for the only view all of whose columns it has."""
    tables_by_view: dict[str, CsvTable] = {}
    for name, table in tables.items():
        matches = [
            view
            for view, columns in views.items()
            if view not in tables and columns and columns <= table.columns.keys()
        ]
        if name in views or len(matches) != 1 or matches[0] in tables_by_view:
            tables_by_view[name] = table
            continue
        tables_by_view[matches[0]] = table
        sentence = f"{table.file} is taken for the view {matches[0]!r}, all columns of which it has"
        warnings.warn(sentence, PredictionWarning, stacklevel=2)
    return tables_by_view
