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
from multikernel.app.web.learning.samples import as_taken, frame, refused, scores
from multikernel.app.web.learning.summary import in_short
from multikernel.datasets import Column

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
    """A prediction for each row, with its name where it has one, and for classes what speaks for each.

    Rows may lack a view, and a table whole views of the model: a column says which each row lacks.

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
    needed = recipe
    if recipe.automatic:
        needed = replace(recipe, columns={name: recipe.columns[name] for name in model.preparation_.needed})
    there = _there(needed, table)
    table.check_has(list(there.columns))
    for name, (i, sentence) in refused(table, there, typical).items():
        raise ValueError(f"{table.file}: row {table.columns[name].rows[i]}, column {name!r}: {sentence}.")
    cells = frame(table, there)
    X = as_taken(model, cells, recipe)
    found: dict[str, Any] = {}
    if recipe.key in table.columns:
        found[recipe.key] = list(table.columns[recipe.key].cells)
    with _warned():
        found["prediction"] = model.predict(X).tolist()
        word, values = scores(model, X) if is_classifier(model) else ("", np.empty(0))
    if is_classifier(model):
        found |= {f"{word} {label}": values[:, k].tolist() for k, label in enumerate(model.classes_.tolist())}
    if len(recipe.by_view) > 1:
        lacks = _lacking_views(cells, needed)
        if any(lacks):
            found["lacks"] = list(map(", ".join, lacks))
    return pd.DataFrame(found)


def _there(recipe: Recipe, table: CsvTable) -> Recipe:
    """The recipe with those of its views of which the table has a column; all of them where it has none."""
    views = recipe.by_view
    known = [view for view, names in views.items() if any(name in table.columns for name in names)]
    names = {name for view in known for name in views[view]}
    if not names:
        return recipe
    return replace(recipe, columns={name: kind for name, kind in recipe.columns.items() if name in names})


def _lacking_views(cells: pd.DataFrame, recipe: Recipe) -> list[list[str]]:
    """For each row the views that it lacks."""
    own = {view: cells[[name for name in names if name in cells]] for view, names in recipe.by_view.items()}
    gone = {view: part.isna().all(axis=1).to_numpy() for view, part in own.items()}
    return [[view for view, rows in gone.items() if rows[i]] for i in range(len(cells))]


def as_csv(found: pd.DataFrame) -> str:
    """The predictions as CSV; a label that a spreadsheet would run as a formula gets an apostrophe."""
    safe = found.copy()
    for name in safe.columns:
        if safe[name].dtype == object:
            safe[name] = [harmless(value) for value in found[name]]
    return safe.to_csv(index=False, lineterminator="\n")


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
    (effects), the parts of the kernels in the value, the views that it lacks, and what the model has to say about the
    row (said)
    """
    with _warned() as said:
        found = _explained(model, recipe, table, typical)
    return found | {"said": said}


def _explained(model: Any, recipe: Recipe, table: CsvTable, typical: Sequence[dict[str, Any]]) -> dict[str, Any]:
    cells = frame(table, recipe)
    X = as_taken(model, cells, recipe)
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
        "lacks": _lacking_views(cells, recipe)[0] if len(recipe.by_view) > 1 else [],
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
    X = as_taken(model, frame(table_of("the sample", cells), recipe), recipe)
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
