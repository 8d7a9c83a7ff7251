"""Predictions of a saved model for new rows, with an explanation of the prediction for a single row."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.metrics import r2_score

from multikernel.app.tables.columns import known
from multikernel.app.tables.table import CsvTable
from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import as_model_input, class_scores, frame, refused_cells
from multikernel.app.web.learning.summary import short_kernel_names
from multikernel.datasets import Column, Task
from multikernel.persistence import read
from multikernel.streams import harmless
from multikernel.tables import numbers_in
from multikernel.typing import Array

_ONE = Lock()
_CHANCES = 8  # classes that a page lists
_EFFECTS = 100  # columns whose effect on one answer is computed


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """The distinct warnings of a model about new rows; under a lock, because warning filters are global."""
    messages: list[str] = []
    with _ONE, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield messages
        messages += dict.fromkeys(_as_sentence(str(warning.message)) for warning in warned)


def _as_sentence(message: str) -> str:
    """A warning of an estimator as a sentence for a person, who does not call the table X."""
    text = " ".join(message.split()).replace(" of X ", " ")
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """The model of a run, with facts about the columns that it learned from.

    Parameters
    ----------
    model : fitted estimator
    ranges : TrainingRanges, of the numbers and dates in the training table
    recipe : Recipe, the settings of the run
    typical : list of dicts, for each column its usual cell and the words that count as missing
    """

    model: Any
    ranges: TrainingRanges
    recipe: Recipe
    typical: Sequence[dict[str, Any]]

    @classmethod
    def of(cls, file: Path, recipe: Mapping[str, Any], typical: Sequence[dict[str, Any]]) -> LearnedModel:
        """The model of a file, with the recipe and the typical cells of its run."""
        model, metadata = saved_model(file)
        return cls(model, TrainingRanges.of(metadata), Recipe.from_json(recipe), typical)

    @property
    def needed(self) -> Recipe:
        """The recipe, restricted to the columns that the model requires."""
        if not self.recipe.automatic:
            return self.recipe
        names = self.model.preparation_.needed
        return replace(self.recipe, columns={name: self.recipe.columns[name] for name in names})


@lru_cache(maxsize=8)
def saved_model(file: Path) -> tuple[Any, dict[str, Any]]:
    """A model and its metadata, cached because the files of runs do not change."""
    return read(file)


@dataclass(frozen=True, eq=False)
class TablePredictions:
    """The predictions for the rows of a table.

    Parameters
    ----------
    frame : data frame with a row for each prediction; with the names of the rows, where they have names, and with the
        scores of classes
    messages : list of str, the warnings of the model about these rows
    tests : list of dicts, for each target that the table has: its name (target), the measure ("accuracy" or "R²"), the
        score on the rows in which it is known, and their number (rows)
    """

    frame: pd.DataFrame
    messages: list[str]
    tests: list[dict[str, Any]]


def table_of(name: str, columns: dict[str, list[str]]) -> CsvTable:
    """Cells as a table."""
    rows = range(2, 2 + len(next(iter(columns.values()))))
    return CsvTable(name, {key: Column(name, key, cells, rows) for key, cells in columns.items()})


def predictions(
    learned: LearnedModel, table: CsvTable, columns: bool = False, threshold: float | None = None
) -> TablePredictions:
    """A prediction for each row.

    Single rows or the whole table may lack views of the model: a column says which views each row lacks.

    Parameters
    ----------
    learned : the model
    table : the rows
    columns : whether the columns of the table are put before the predictions
    threshold : the probability from which on a row is predicted as the second of two classes; None for the prediction
        of the model

    Raises
    ------
    ValueError : where a column is missing, or a cell is no number or no date in a column of these
    """
    model = learned.model
    recipe = learned.recipe
    available_recipe = _recipe_of_available_views(learned.needed, table)
    table.check_has(list(available_recipe.columns))
    for name, (i, sentence) in refused_cells(table, available_recipe, learned.typical).items():
        raise ValueError(f"{table.file}: row {table.columns[name].rows[i]}, column {name!r}: {sentence}.")
    cells = frame(table, available_recipe)
    X = as_model_input(model, cells, recipe)
    output_columns: dict[str, Any] = {}
    if columns:
        output_columns |= {name: list(column.cells) for name, column in table.columns.items()}
    elif recipe.key in table.columns:
        output_columns[recipe.key] = list(table.columns[recipe.key].cells)
    with collected_warnings() as messages:
        predicted = model.predict(X)
        if is_classifier(model):
            word, values = class_scores(model, X)
        else:
            word, values = ("", np.empty(0))
    if threshold is not None and word == "probability" and len(model.classes_) == 2:
        predicted = model.classes_[(values[:, 1] >= threshold).astype(int)]
    answers = named_answers(predicted, recipe.targets)
    if is_classifier(model):
        answers |= {f"{word} {label}": values[:, k].tolist() for k, label in enumerate(model.classes_.tolist())}
    if len(recipe.by_view) > 1:
        lacks = _missing_views(cells, learned.needed)
        if any(lacks):
            answers["lacks"] = list(map(", ".join, lacks))
    output_columns |= {
        f"{name} (model)" if name in output_columns else name: answer for name, answer in answers.items()
    }
    used_table = replace(table, columns={name: table.columns[name] for name in available_recipe.columns})
    all_messages = _warnings_of(learned, used_table, messages)
    return TablePredictions(
        pd.DataFrame(output_columns), all_messages, tests_of(recipe.targets, recipe.task, table, predicted)
    )


def named_answers(predicted: Array, targets: Sequence[str]) -> dict[str, list[Any]]:
    """Predictions by column name: "prediction", or for several targets "predicted" with the name of each target.

    Parameters
    ----------
    predicted : array (n,) or (n, targets)
    targets : names
    """
    if predicted.ndim == 1:
        return {"prediction": predicted.tolist()}
    return {
        f"predicted {name}": target_predictions
        for name, target_predictions in zip(targets, predicted.T.tolist(), strict=True)
    }


def _warnings_of(learned: LearnedModel, table: CsvTable, messages: list[str]) -> list[str]:
    """The cells beyond the training ranges and the empty rows, as sentences, followed by the messages of the model."""
    notes = (learned.ranges.beyond(table), table.without_content(table.columns))
    return [f"{note}." for note in notes if note] + messages


def tests_of(targets: Sequence[str], task: Task, table: CsvTable, predicted: Array) -> list[dict[str, Any]]:
    """The scores of a model on the rows of a table, for the targets that the table has.

    Parameters
    ----------
    targets, task : what the model predicts
    table : the rows
    predicted : array (n,) or (n, targets)
    """
    predictions_by_target = predicted.T if predicted.ndim > 1 else [predicted]
    tests = [
        _test(target, task, table, target_predictions)
        for target, target_predictions in zip(targets, predictions_by_target, strict=True)
    ]
    return [test for test in tests if test]


def _test(target: str, task: Task, table: CsvTable, predicted: Array) -> dict[str, Any]:
    """The score for one target; empty where it is known in fewer than two rows."""
    if target not in table.columns:
        return {}
    rows, known_cells = known(table.columns[target])
    if len(rows) < 2:
        return {}
    if task == "classification":
        if predicted.dtype.kind in "iuf":  # a class 1 may be written as 1.0
            correct = numbers_in(known_cells.cells) == predicted[rows]
        else:
            correct = np.array(known_cells.cells, dtype=object) == predicted[rows].astype(str)
        return {"target": target, "measure": "accuracy", "score": float(np.mean(correct)), "rows": len(rows)}
    if known_cells.numbers is None or np.ptp(known_cells.numbers) == 0.0:
        return {}
    score = float(r2_score(known_cells.numbers, predicted[rows]))
    return {"target": target, "measure": "R²", "score": score, "rows": len(rows)}


def _recipe_of_available_views(recipe: Recipe, table: CsvTable) -> Recipe:
    """The recipe, restricted to the views of which the table has a column; all views where it has no such column."""
    views = recipe.by_view
    available_views = [view for view, names in views.items() if any(name in table.columns for name in names)]
    names = {name for view in available_views for name in views[view]}
    if not names or recipe.scales:  # scales need all columns
        return recipe
    return replace(recipe, columns={name: kind for name, kind in recipe.columns.items() if name in names})


def _missing_views(cells: pd.DataFrame, recipe: Recipe) -> list[list[str]]:
    """For each row the views that it lacks."""
    view_cells = {view: cells[[name for name in names if name in cells]] for view, names in recipe.by_view.items()}
    lacking = {view: columns.isna().all(axis=1).to_numpy() for view, columns in view_cells.items()}
    return [[view for view, rows in lacking.items() if rows[i]] for i in range(len(cells))]


def as_csv(predicted: pd.DataFrame) -> str:
    """The predictions as CSV; a text or a name that a spreadsheet would run as a formula gets an apostrophe."""
    safe = {harmless(name): [harmless(value) for value in predicted[name].tolist()] for name in predicted.columns}
    return pd.DataFrame(safe).to_csv(index=False, lineterminator="\n")


def explain(learned: LearnedModel, table: CsvTable, target: int = 0) -> dict[str, Any]:
    """The answer for the single row of a table, with its explanation.

    Parameters
    ----------
    learned : the model
    table : one row
    target : int, the index of the target to explain, among several

    Returns
    -------
    dict with the prediction, the predictions of several targets by name (predictions), the probabilities of the most
    probable classes (chances) and the number of classes, the change of the answer by each cell compared with the usual
    cell of its column (effects), the contributions of the kernels to the answer (parts), the views that the row lacks,
    and the warnings of the model about the row (messages)
    """
    with collected_warnings() as messages:
        answer = _explain(learned, table, target)
    return answer | {"messages": _warnings_of(learned, table, messages)}


def _explain(learned: LearnedModel, table: CsvTable, target: int) -> dict[str, Any]:
    model = learned.model
    recipe = learned.recipe
    cells = frame(table, recipe)
    X = as_model_input(model, cells, recipe)
    prediction = model.predict(X)[0]
    chances: list[tuple[str, float]] = []
    predictions: dict[str, float] = {}
    if recipe.other_targets:
        predictions = dict(zip(recipe.targets, prediction.tolist(), strict=True))
        prediction = prediction[target]
    output_index = -1
    classes = 0
    answer_name = "prediction"
    if is_classifier(model):
        classes = len(model.classes_)
        word, values = class_scores(model, X)
        output_index = int(np.flatnonzero(model.classes_ == prediction)[0])
        chances = [(str(label), float(v)) for label, v in zip(model.classes_, values[0], strict=True)]
        if len(chances) > _CHANCES:
            chances = sorted(chances, key=lambda pair: -pair[1])[:_CHANCES]
        answer_name = f"{word} of {prediction}"
    elif predictions:
        answer_name = f"prediction of {recipe.targets[target]}"
    if predictions:
        output_index = target
    return {
        "prediction": prediction,
        "predictions": predictions,
        "chances": chances,
        "classes": classes,
        "what": answer_name,
        "effects": _effects(learned, table, output_index),
        "lacks": _missing_views(cells, recipe)[0] if len(recipe.by_view) > 1 else [],
        "parts": _contributions(model, X, output_index),
    }


def _effects(learned: LearnedModel, table: CsvTable, output_index: int) -> list[tuple[str, float]]:
    """For each column the change of the answer by its cell, compared with the usual cell of the column."""
    model = learned.model
    recipe = learned.recipe
    usual = {facts["name"]: facts["usual"] for facts in learned.typical}
    names = [name for name in recipe.columns if name in usual][:_EFFECTS]
    cells = {key: [column.cells[0]] * (len(names) + 1) for key, column in table.columns.items()}
    for k, name in enumerate(names):
        cells[name][k + 1] = usual[name]
    X = as_model_input(model, frame(table_of("the sample", cells), recipe), recipe)
    if is_classifier(model):
        values = class_scores(model, X)[1][:, output_index]
    else:
        values = np.asarray(model.predict(X), dtype=float)
        if values.ndim > 1:
            values = values[:, output_index]
    effects = [(name, float(values[0] - value)) for name, value in zip(names, values[1:], strict=True)]
    return sorted(effects, key=lambda pair: -abs(pair[1]))


def _is_other(model: Any, problems: int) -> bool:
    """Whether the problems of a classifier are other than one for each class, such as one for each pair."""
    return is_classifier(model) and problems != len(model.classes_)


def _contributions(model: Any, X: Any, output_index: int) -> list[tuple[str, float]]:
    """The contributions of the kernels to the answer; empty where the answer is not a sum over kernels."""
    if hasattr(model, "answer_"):
        samples = model.preparation_.samples(model.preparation_.read(X))
        answer = model.answer_
        names = [row["candidate"] for row in model.candidates_]
        pairs = zip(answer.blend.used.tolist(), answer.members, strict=True)
        terms = {
            m: answer.blend.weights[m] * (member.function(answer.samples)(samples) + member.intercept)[0]
            for m, member in pairs
        }
        named_terms = [(names[m], float(term[output_index])) for m, term in terms.items()]
    else:
        try:
            contributions = np.asarray(model.contributions(X))[0]
        except (ValueError, AttributeError):
            return []
        if contributions.ndim == 2 and (
            output_index < 0 or output_index >= contributions.shape[1] or _is_other(model, contributions.shape[1])
        ):
            return []
        values = contributions if contributions.ndim == 1 else contributions[:, output_index]
        # with two classes, the value is that of the second class
        if contributions.ndim == 1 and output_index == 0:
            sign = -1.0
        else:
            sign = 1.0
        named_terms = [
            (name, sign * float(v)) for name, v in zip(short_kernel_names(model.kernel_names_), values, strict=True)
        ]
    return sorted((pair for pair in named_terms if pair[1] != 0.0), key=lambda pair: -abs(pair[1]))
