"""A model from a file of a person: its description, and its predictions for new rows.

There are three kinds of files: of this application, of ``multikernel fit``, and of ``multikernel fit`` in chunks. They
differ in their metadata about the columns that the model learned from.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from multikernel.app.jobs.fit_stream import StreamOptions, watched_rows
from multikernel.app.jobs.predict import samples_of, views_in
from multikernel.app.tables.encoding import TableEncoding
from multikernel.app.tables.table import CsvTable, read_table
from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.app.web.learning.predicting import LearnedModel, TablePredictions, named_answers, predictions, tests_of
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import class_scores
from multikernel.datasets import Task
from multikernel.persistence import read
from multikernel.streams import predict as predict_chunks
from multikernel.typing import Array


@dataclass(frozen=True, eq=False)
class OpenedModel:
    """A model and the metadata of its file.

    Parameters
    ----------
    file : Path
    model : fitted estimator
    metadata : dict, saved with the model
    """

    file: Path
    model: Any
    metadata: Mapping[str, Any]

    @classmethod
    def of(cls, file: Path) -> OpenedModel:
        """The model of a file.

        Parameters
        ----------
        file : its path

        Raises
        ------
        ValueError : where the file is no model, or does not say which columns the model learned from
        """
        model, metadata = read(file)
        if not hasattr(model, "predict"):
            raise ValueError(f"{file} holds a {type(model).__name__}, which predicts nothing; give a fitted model")
        if not {"recipe", "columns", "table", "stream"} & metadata.keys():
            raise ValueError(
                f"{file} holds a {type(model).__name__} that does not say which columns it learned from; give a model "
                "that this application or `multikernel fit` has saved"
            )
        return cls(file, model, metadata)

    @property
    def target(self) -> str:
        """The column that the model predicts; "" where the file does not name it."""
        sources = (self.metadata, *(self.metadata.get(key, {}) for key in ("recipe", "table", "stream")))
        return str(next((source["target"] for source in sources if source.get("target")), ""))

    @property
    def targets(self) -> list[str]:
        """The columns that the model predicts; files of a model of one target may have ``target`` only."""
        return list(self.metadata.get("targets", [self.target]))

    @property
    def task(self) -> Task:
        """Whether the model predicts classes or numbers."""
        if is_classifier(self.model):
            return "classification"
        return "regression"

    def about(self) -> dict[str, Any]:
        """The description of the model for a page, as plain values."""
        if self.task == "classification":
            classes = getattr(self.model, "classes_", None)
        else:
            classes = None
        views = {view: list(names.values()) for view, names in views_in(self.metadata).items()}
        return {
            "method": type(self.model).__name__,
            "task": self.task,
            "target": ", ".join(self.targets),
            "classes": [] if classes is None else [str(label) for label in classes],
            "columns": self._columns(),
            "views": views,
            "key": str(self.metadata.get("recipe", {}).get("key", "")),
            "written": {name: list(map(str, marks)) for name, marks in self.metadata.get("numerals", {}).items()},
        }

    def _columns(self) -> dict[str, str]:
        """The columns that the model learned from, with their types where the file has them."""
        metadata = self.metadata
        if "recipe" in metadata:
            columns = Recipe.from_json(metadata["recipe"]).columns
            needed = getattr(getattr(self.model, "preparation_", None), "needed", columns)
            return {name: kind for name, kind in columns.items() if name in needed}
        if "columns" in metadata:
            return {name: "number" if numeric else "words" for name, numeric in metadata["columns"].items()}
        if "table" in metadata:
            features = TableEncoding.from_json(metadata["table"]).features
            return {feature.name: "number" if feature.levels is None else "category" for feature in features}
        return dict.fromkeys(metadata["stream"]["features"], "")

    def answers(self, table: Path, name: str, columns: bool) -> TablePredictions:
        """A prediction for each row.

        Parameters
        ----------
        table : CSV file of new rows, with numbers as Python writes them
        name : its name in sentences
        columns : whether its columns are put before the predictions

        Raises
        ------
        ValueError : where a column is missing, or a cell cannot be read as in training
        """
        if "stream" in self.metadata:
            return self._of_chunks(table, name, columns)
        cells = read_table(table)
        cells = CsvTable(name, cells.columns, raw=cells.raw, delimiter=cells.delimiter)
        if "recipe" in self.metadata:
            recipe = Recipe.from_json(self.metadata["recipe"])
            words = self.metadata.get("words", {})
            typical = [{"name": name, "words": words.get(name, [])} for name in recipe.columns]
            ranges = TrainingRanges.of(self.metadata)
            return predictions(LearnedModel(self.model, ranges, recipe, typical), cells, columns)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            X = samples_of(self.file, {**self.metadata, "numerals": {}}, cells)
            predicted = np.asarray(self.model.predict(X))
            answers = self._with_values(X, predicted)
        return self._with_tests(cells, answers, predicted, columns, warned)

    def _with_values(self, X: Any, predicted: Array) -> dict[str, Any]:
        """The predictions, with the scores of classes."""
        answers: dict[str, Any] = dict(named_answers(predicted, self.targets))
        if self.task == "classification":
            word, values = class_scores(self.model, X)
            answers |= {f"{word} {c}": values[:, k].tolist() for k, c in enumerate(self.model.classes_.tolist())}
        return answers

    def _of_chunks(self, table: Path, name: str, columns: bool) -> TablePredictions:
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                rows = watched_rows(table, self.metadata, StreamOptions())
                predicted = np.concatenate(list(predict_chunks(self.model, rows.source)))
                replace(rows, path=Path(name)).tell()
        except ValueError as error:
            raise ValueError(str(error).replace(str(table), name)) from None
        return self._with_tests(read_table(table), {"prediction": predicted.tolist()}, predicted, columns, warned)

    def _with_tests(
        self,
        cells: CsvTable,
        answers: Mapping[str, Any],
        predicted: Array,
        columns: bool,
        warned: Sequence[warnings.WarningMessage],
    ) -> TablePredictions:
        if columns:
            table_columns = {name: list(column.cells) for name, column in cells.columns.items()}
        else:
            table_columns = {}
        answer_columns = {
            f"{name} (model)" if name in table_columns else name: values for name, values in answers.items()
        }
        messages = list(dict.fromkeys(" ".join(str(warning.message).split()) for warning in warned))
        tests = tests_of(self.targets, self.task, cells, predicted)
        return TablePredictions(pd.DataFrame(table_columns | answer_columns), messages, tests)
