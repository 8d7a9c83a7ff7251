"""A saved model at new rows: predictions, and for one row what they come from."""

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
from multikernel.app.web.learning.samples import as_taken, frame, refused, scores
from multikernel.app.web.learning.summary import in_short
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
    """The warnings of a model about new rows, each once; for one caller at a time, as filters are the process's."""
    messages: list[str] = []
    with _ONE, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield messages
        messages += dict.fromkeys(_as_sentence(str(each.message)) for each in warned)


def _as_sentence(message: str) -> str:
    """A warning of an estimator for a person, who does not call the table X."""
    text = " ".join(message.split()).replace(" of X ", " ")
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """The model of a run, and what is known of the columns that it learned from.

    Parameters
    ----------
    model : fitted estimator
    ranges : TrainingRanges, of the numbers and dates of training
    recipe : Recipe, what it learned by
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
        """The recipe with those of its columns that the model asks for."""
        if not self.recipe.automatic:
            return self.recipe
        names = self.model.preparation_.needed
        return replace(self.recipe, columns={name: self.recipe.columns[name] for name in names})


@lru_cache(maxsize=8)
def saved_model(file: Path) -> tuple[Any, dict[str, Any]]:
    """A model and its metadata; files of runs do not change."""
    return read(file)


@dataclass(frozen=True, eq=False)
class TablePredictions:
    """The predictions for the rows of a table.

    Parameters
    ----------
    frame : a row for each, with its name where it has one, and for classes what speaks for each
    messages : list of str, sentences in which the model warns of these rows
    tests : list of dicts, for each target that the table has its name (target), the measure ("accuracy" or "R²"), the
        score on the rows where it is known, and the number of these (rows)
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

    Rows may lack a view, and a table whole views of the model: a column says which each row lacks.

    Parameters
    ----------
    learned : the model
    table : the rows
    columns : whether the cells of the table stand before the predictions
    threshold : of two classes, the probability from which on a row counts as the second; None as the model predicts

    Raises
    ------
    ValueError : where a column is missing, or a cell is no number or no date where training had these
    """
    model = learned.model
    recipe = learned.recipe
    there = _there(learned.needed, table)
    table.check_has(list(there.columns))
    for name, (i, sentence) in refused(table, there, learned.typical).items():
        raise ValueError(f"{table.file}: row {table.columns[name].rows[i]}, column {name!r}: {sentence}.")
    cells = frame(table, there)
    X = as_taken(model, cells, recipe)
    found: dict[str, Any] = {}
    if columns:
        found |= {name: list(column.cells) for name, column in table.columns.items()}
    elif recipe.key in table.columns:
        found[recipe.key] = list(table.columns[recipe.key].cells)
    with collected_warnings() as messages:
        predicted = model.predict(X)
        if is_classifier(model):
            word, values = scores(model, X)
        else:
            word, values = ("", np.empty(0))
    if threshold is not None and word == "probability" and len(model.classes_) == 2:
        predicted = model.classes_[(values[:, 1] >= threshold).astype(int)]
    answers = named_answers(predicted, recipe.targets)
    if is_classifier(model):
        answers |= {f"{word} {label}": values[:, k].tolist() for k, label in enumerate(model.classes_.tolist())}
    if len(recipe.by_view) > 1:
        lacks = _lacking_views(cells, learned.needed)
        if any(lacks):
            answers["lacks"] = list(map(", ".join, lacks))
    found |= {f"{name} (model)" if name in found else name: own for name, own in answers.items()}
    taken = replace(table, columns={name: table.columns[name] for name in there.columns})
    warned = _warnings_of(learned, taken, messages)
    return TablePredictions(pd.DataFrame(found), warned, tests_of(recipe.targets, recipe.task, table, predicted))


def named_answers(predicted: Array, targets: Sequence[str]) -> dict[str, list[Any]]:
    """Predictions by the names of columns: "prediction", or of several targets "predicted" and the name of each.

    Parameters
    ----------
    predicted : array (n,) or (n, targets)
    targets : names
    """
    if predicted.ndim == 1:
        return {"prediction": predicted.tolist()}
    return {f"predicted {name}": own for name, own in zip(targets, predicted.T.tolist(), strict=True)}


def _warnings_of(learned: LearnedModel, table: CsvTable, messages: list[str]) -> list[str]:
    """What the model has messages, after what is beyond its training and which rows are empty."""
    own = (learned.ranges.beyond(table), table.without_content(table.columns))
    return [f"{each}." for each in own if each] + messages


def tests_of(targets: Sequence[str], task: Task, table: CsvTable, predicted: Array) -> list[dict[str, Any]]:
    """The tests of a model on the rows of a table, of those targets that the table has.

    Parameters
    ----------
    targets, task : what the model predicts
    table : the rows
    predicted : array (n,) or (n, targets)
    """
    each = predicted.T if predicted.ndim > 1 else [predicted]
    tests = [_test(target, task, table, own) for target, own in zip(targets, each, strict=True)]
    return [test for test in tests if test]


def _test(target: str, task: Task, table: CsvTable, predicted: Array) -> dict[str, Any]:
    """The test by one target; empty where less than two rows know it."""
    if target not in table.columns:
        return {}
    rows, part = known(table.columns[target])
    if len(rows) < 2:
        return {}
    if task == "classification":
        if predicted.dtype.kind in "iuf":  # a class 1 may be written as 1.0
            right = numbers_in(part.cells) == predicted[rows]
        else:
            right = np.array(part.cells, dtype=object) == predicted[rows].astype(str)
        return {"target": target, "measure": "accuracy", "score": float(np.mean(right)), "rows": len(rows)}
    if part.numbers is None or np.ptp(part.numbers) == 0.0:
        return {}
    score = float(r2_score(part.numbers, predicted[rows]))
    return {"target": target, "measure": "R²", "score": score, "rows": len(rows)}


def _there(recipe: Recipe, table: CsvTable) -> Recipe:
    """The recipe with those of its views of which the table has a column; all of them where it has none."""
    views = recipe.by_view
    known = [view for view, names in views.items() if any(name in table.columns for name in names)]
    names = {name for view in known for name in views[view]}
    if not names or recipe.scales:  # which need all columns
        return recipe
    return replace(recipe, columns={name: kind for name, kind in recipe.columns.items() if name in names})


def _lacking_views(cells: pd.DataFrame, recipe: Recipe) -> list[list[str]]:
    """For each row the views that it lacks."""
    own = {view: cells[[name for name in names if name in cells]] for view, names in recipe.by_view.items()}
    gone = {view: part.isna().all(axis=1).to_numpy() for view, part in own.items()}
    return [[view for view, rows in gone.items() if rows[i]] for i in range(len(cells))]


def as_csv(found: pd.DataFrame) -> str:
    """The predictions as CSV; a text or a name that a spreadsheet would run as a formula gets an apostrophe."""
    safe = {harmless(name): [harmless(value) for value in found[name].tolist()] for name in found.columns}
    return pd.DataFrame(safe).to_csv(index=False, lineterminator="\n")


def explained(learned: LearnedModel, table: CsvTable, target: int = 0) -> dict[str, Any]:
    """The answer for the one row of a table, and what it comes from.

    Parameters
    ----------
    learned : the model
    table : one row
    target : int, of several targets the place of the one that is explained

    Returns
    -------
    dict with the prediction, those of several targets by their names (predictions), the chances of the most probable
    classes and how many classes there are, what each column does to the answer beside its usual cell (effects), the
    parts of the kernels in the value, the views that it lacks, and what the model has to say about the row (messages)
    """
    with collected_warnings() as messages:
        found = _explained(learned, table, target)
    return found | {"messages": _warnings_of(learned, table, messages)}


def _explained(learned: LearnedModel, table: CsvTable, target: int) -> dict[str, Any]:
    model = learned.model
    recipe = learned.recipe
    cells = frame(table, recipe)
    X = as_taken(model, cells, recipe)
    prediction = model.predict(X)[0]
    chances: list[tuple[str, float]] = []
    predictions: dict[str, float] = {}
    if recipe.other_targets:
        predictions = dict(zip(recipe.targets, prediction.tolist(), strict=True))
        prediction = prediction[target]
    place = -1
    classes = 0
    what = "prediction"
    if is_classifier(model):
        classes = len(model.classes_)
        word, values = scores(model, X)
        place = int(np.flatnonzero(model.classes_ == prediction)[0])
        chances = [(str(label), float(v)) for label, v in zip(model.classes_, values[0], strict=True)]
        if len(chances) > _CHANCES:
            chances = sorted(chances, key=lambda pair: -pair[1])[:_CHANCES]
        what = f"{word} of {prediction}"
    elif predictions:
        what = f"prediction of {recipe.targets[target]}"
    if predictions:
        place = target
    return {
        "prediction": prediction,
        "predictions": predictions,
        "chances": chances,
        "classes": classes,
        "what": what,
        "effects": _effects(learned, table, place),
        "lacks": _lacking_views(cells, recipe)[0] if len(recipe.by_view) > 1 else [],
        "parts": _parts(model, X, place),
    }


def _effects(learned: LearnedModel, table: CsvTable, place: int) -> list[tuple[str, float]]:
    """What the value of the answered class gains by each cell beside the usual one of its column."""
    model = learned.model
    recipe = learned.recipe
    usual = {each["name"]: each["usual"] for each in learned.typical}
    names = [name for name in recipe.columns if name in usual][:_EFFECTS]
    cells = {key: [column.cells[0]] * (len(names) + 1) for key, column in table.columns.items()}
    for k, name in enumerate(names):
        cells[name][k + 1] = usual[name]
    X = as_taken(model, frame(table_of("the sample", cells), recipe), recipe)
    if is_classifier(model):
        values = scores(model, X)[1][:, place]
    else:
        values = np.asarray(model.predict(X), dtype=float)
        if values.ndim > 1:
            values = values[:, place]
    found = [(name, float(values[0] - value)) for name, value in zip(names, values[1:], strict=True)]
    return sorted(found, key=lambda pair: -abs(pair[1]))


def _is_other(model: Any, problems: int) -> bool:
    """Whether the problems of a classifier are not its classes."""
    return is_classifier(model) and problems != len(model.classes_)


def _parts(model: Any, X: Any, place: int) -> list[tuple[str, float]]:
    """The terms of the value of the answered class, by kernel; none where they are not terms of a sum."""
    if hasattr(model, "answer_"):
        new = model.preparation_.samples(model.preparation_.read(X))
        answer = model.answer_
        names = [row["candidate"] for row in model.candidates_]
        pairs = zip(answer.blend.used.tolist(), answer.members, strict=True)
        terms = {
            m: answer.blend.weights[m] * (own.function(answer.samples)(new) + own.intercept)[0] for m, own in pairs
        }
        found = [(names[m], float(term[place])) for m, term in terms.items()]
    else:
        try:
            parts = np.asarray(model.contributions(X))[0]
        except (ValueError, AttributeError):
            return []
        if parts.ndim == 2 and (place < 0 or place >= parts.shape[1] or _is_other(model, parts.shape[1])):
            return []
        own = parts if parts.ndim == 1 else parts[:, place]
        # a value of two classes is that of the second
        if parts.ndim == 1 and place == 0:
            sign = -1.0
        else:
            sign = 1.0
        found = [(name, sign * float(v)) for name, v in zip(in_short(model.kernel_names_), own, strict=True)]
    return sorted((pair for pair in found if pair[1] != 0.0), key=lambda pair: -abs(pair[1]))
