"""A saved model at new rows: predictions, and for one row what they come from."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

import multikernel
from multikernel.app.jobs.predict import harmless
from multikernel.app.tables.table import CsvTable
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import as_given, frame, refused
from multikernel.app.web.learning.summary import in_short
from multikernel.datasets import Column
from multikernel.typing import Array

_ONE = Lock()


@contextmanager
def _warned() -> Iterator[list[str]]:
    """Hear what a model has to say about new rows; one at a time, for the filters of warnings are the process's."""
    said: list[str] = []
    with _ONE, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield said
        said += dict.fromkeys(" ".join(str(each.message).split()) for each in warned)


@lru_cache(maxsize=8)
def model_of(path: Path) -> Any:
    """The model of a file; files of runs do not change."""
    return multikernel.load(path)


def table_of(name: str, columns: dict[str, list[str]]) -> CsvTable:
    """Cells as a table."""
    rows = range(2, 2 + len(next(iter(columns.values()))))
    return CsvTable(name, {key: Column(name, key, cells, rows) for key, cells in columns.items()})


def predictions(model: Any, recipe: Recipe, table: CsvTable, typical: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """A prediction for each row, and for classes what speaks for each.

    Parameters
    ----------
    model : fitted
    recipe : what it learned by
    table : the rows
    typical : what is known of each column of training

    Raises
    ------
    ValueError : where a column is missing, or a cell is no number or no date where training had these
    """
    if recipe.automatic:
        recipe = replace(recipe, columns={name: recipe.columns[name] for name in model.preparation_.needed})
    table.check_has(list(recipe.columns))
    for name, (i, sentence) in refused(table, recipe, typical).items():
        raise ValueError(f"{table.file}: row {table.columns[name].rows[i]}, column {name!r}: {sentence}.")
    X = as_taken(frame(table, recipe), recipe)
    with _warned():
        found: dict[str, Any] = {"prediction": model.predict(X).tolist()}
        word, values = scores(model, X) if is_classifier(model) else ("", np.empty(0))
    if is_classifier(model):
        found |= {f"{word} {label}": values[:, k].tolist() for k, label in enumerate(model.classes_.tolist())}
    return pd.DataFrame(found)


def as_csv(found: pd.DataFrame) -> str:
    """The predictions as CSV; a label that a spreadsheet would run as a formula gets an apostrophe."""
    safe = found.copy()
    safe["prediction"] = [harmless(value) for value in found["prediction"]]
    return safe.to_csv(index=False, lineterminator="\n")


def as_taken(X: pd.DataFrame, recipe: Recipe) -> Any:
    """Samples in the form that the model takes."""
    return as_given(X, recipe) if recipe.automatic else X


def scores(model: Any, X: Any) -> tuple[str, Array]:
    """Probabilities where the model has them, else decision values: a column for each class."""
    if hasattr(model, "predict_proba"):
        return "probability", np.asarray(model.predict_proba(X))
    decision = np.asarray(model.decision_function(X))
    return "decision", np.column_stack([-decision, decision]) if decision.ndim == 1 else decision


def explained(model: Any, recipe: Recipe, table: CsvTable, typical: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The answer for the one row of a table, and what it comes from.

    Parameters
    ----------
    model : fitted
    recipe : what it learned by
    table : one row
    typical : for each column its usual cell

    Returns
    -------
    dict with the prediction, the chances of each class, what each column does to the answer beside its usual cell
    (effects), the parts of the kernels in the value, and what the model has to say about the row (said)
    """
    with _warned() as said:
        found = _explained(model, recipe, table, typical)
    return found | {"said": said}


def _explained(model: Any, recipe: Recipe, table: CsvTable, typical: Sequence[dict[str, Any]]) -> dict[str, Any]:
    X = as_taken(frame(table, recipe), recipe)
    prediction = model.predict(X)[0]
    chances: list[tuple[str, float]] = []
    place = -1
    if is_classifier(model):
        word, values = scores(model, X)
        place = int(np.flatnonzero(model.classes_ == prediction)[0])
        chances = [(str(label), float(v)) for label, v in zip(model.classes_, values[0], strict=True)]
        what = f"{word} of {prediction}"
    else:
        what = "prediction"
    effects = _effects(model, recipe, table, typical, place)
    return {
        "prediction": prediction,
        "chances": chances,
        "what": what,
        "effects": effects,
        "parts": _parts(model, X, place),
    }


def _effects(
    model: Any, recipe: Recipe, table: CsvTable, typical: Sequence[dict[str, Any]], place: int
) -> list[tuple[str, float]]:
    usual = {each["name"]: each["usual"] for each in typical}
    names = [name for name in recipe.columns if name in usual][:100]
    cells = {key: [column.cells[0]] * (len(names) + 1) for key, column in table.columns.items()}
    for k, name in enumerate(names):
        cells[name][k + 1] = usual[name]
    X = as_taken(frame(table_of("the sample", cells), recipe), recipe)
    if place >= 0:
        values = scores(model, X)[1][:, place]
    else:
        values = np.asarray(model.predict(X), dtype=float)
    found = [(name, float(values[0] - value)) for name, value in zip(names, values[1:], strict=True)]
    return sorted(found, key=lambda pair: -abs(pair[1]))


def _parts(model: Any, X: Any, place: int) -> list[tuple[str, float]]:
    """The terms of the value of the answered class, by kernel; none where they are not terms of a sum."""
    if hasattr(model, "answer_"):
        new = model.preparation_.samples(model.preparation_.read(X))
        answer = model.answer_
        names = [row["candidate"] for row in model.candidates_]
        pairs = zip(answer.blend.used.tolist(), answer.members, strict=True)
        terms = {
            m: answer.blend.weights[m] * (own.similarity(new, answer.samples) @ own.coef + own.intercept)[0]
            for m, own in pairs
        }
        found = [(names[m], float(term[place])) for m, term in terms.items()]
    else:
        try:
            parts = np.asarray(model.contributions(X))[0]
        except (ValueError, AttributeError):
            return []
        if parts.ndim == 2 and (place < 0 or parts.shape[1] != len(model.classes_)):
            return []
        own = parts if parts.ndim == 1 else parts[:, place]
        sign = -1.0 if parts.ndim == 1 and place == 0 else 1.0
        found = [(name, sign * float(v)) for name, v in zip(in_short(model.kernel_names_), own, strict=True)]
    return sorted((pair for pair in found if pair[1] != 0.0), key=lambda pair: -abs(pair[1]))
