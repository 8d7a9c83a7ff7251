"""From the cells of a table to the data frame that is learned from, its columns of the kinds that the recipe says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from multikernel.app.jobs.methods import INNER_FOLDS, most_folds
from multikernel.app.tables.columns import known
from multikernel.app.tables.table import CsvTable, listed
from multikernel.app.web.learning.recipe import Kind, Recipe
from multikernel.datasets import Column, Task, decide
from multikernel.streams import is_missing
from multikernel.tables import likely_order, parsed, typed
from multikernel.typing import Array

_FEWEST = 4  # rows, two to learn from and two to hold out
_FIXES = {"number": "write it with a decimal point, as 50.5", "date": "write it as the training file does"}
_OF_EACH = 3  # samples of each class that a part of many has at least, as long as there is room
LARGEST = 1e100  # of a target, whose errors are squared and summed


def frame(table: CsvTable, recipe: Recipe) -> pd.DataFrame:
    """The samples of a table; ValueError where a column is missing."""
    table.check_has(list(recipe.columns))
    return pd.DataFrame({name: values(table.columns[name], kind) for name, kind in recipe.columns.items()})


def values(column: Column, kind: Kind) -> Any:
    """The cells of a column: numbers, a categorical, or strings with None where a cell is missing.

    A word in a column of numbers counts as missing: ``refused`` returns those that training did not have.
    Strings that say dates stay strings, which kernels read.
    """
    if kind == "number":
        return np.array([_number(cell) for cell in column.cells])
    strings = as_strings(column)
    if kind == "category":
        return pd.Categorical(strings)
    return strings


def as_strings(column: Column) -> Array:
    """The cells as strings, None where one is missing."""
    return np.array([None if is_missing(cell) else cell for cell in column.cells], dtype=object)


def unread(column: Column, kind: Kind) -> list[int]:
    """The positions of the known cells that cannot be read as what the column holds."""
    if kind not in ("number", "date"):
        return []
    cells = as_strings(column)
    places = np.flatnonzero(cells != None)  # noqa: E711
    if kind == "number":
        read = values(column, kind)[places]
    else:
        read = parsed(cells[places], likely_order(cells[places]))
    return [int(i) for i in places[np.isnan(read)]]


def words_of(table: CsvTable, recipe: Recipe) -> dict[str, list[str]]:
    """The cells among numbers and dates that count as missing, for each column that has some."""
    columns = {name: table.columns[name] for name in recipe.columns}
    found = {name: {c.cells[i] for i in unread(c, recipe.columns[name])} for name, c in columns.items()}
    return {name: sorted(cells) for name, cells in found.items() if cells}


def refused(table: CsvTable, recipe: Recipe, typical: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, str]]:
    """For each column with cells that cannot be read, and that training did not have: the place of one, and a sentence.

    Parameters
    ----------
    table : new rows
    recipe : what the model learned by
    typical : what is known of each column of training, the words among its numbers or dates for one
    """
    known = {each["name"]: each["words"] for each in typical if "words" in each}  # runs of earlier versions lack them
    found = {}
    for name, words in known.items():
        if name not in recipe.columns:
            continue
        column = table.columns[name]
        kind = recipe.columns[name]
        wrong = [i for i in unread(column, kind) if column.cells[i] not in words]
        if wrong:
            sentence = f"{column.cells[wrong[0]]!r} is not a {kind}, and the model learned {kind}s from this column"
            found[name] = wrong[0], f"{sentence}; {_FIXES[kind]}, or leave the cell empty"
    return found


def _number(cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        return np.nan
    if isfinite(value):
        return value
    return np.nan


def target_of(table: CsvTable, target: str, task: Task | None) -> tuple[Array, Task, Array]:
    """The target where it is known, its task, and the rows where it is.

    ValueError where there is no such column, it has one value, or does not fit the task.
    """
    if target not in table.columns:
        raise ValueError(f"There is no column {target!r}; choose the column to predict.")
    rows, part = known(table.columns[target])
    if not len(rows):
        raise ValueError(f"The column {target!r} has no value at all; choose another to predict.")
    y, decided = decide(part, task)
    if len(np.unique(y)) < 2:
        raise ValueError(f"The column {target!r} has one value only, {y[0]}; choose another to predict.")
    if decided == "regression" and np.abs(y).max() > LARGEST:
        raise ValueError(
            f"The column {target!r} holds numbers up to {np.abs(y).max():.0e}, whose squares are more than a computer "
            "can hold; give it in other units."
        )
    return y, decided, rows


def targets_of(table: CsvTable, recipe: Recipe) -> tuple[Array, Task, Array]:
    """The target or the targets of a recipe, (n,) or (n, targets), the task, and the rows where each is known.

    ValueError where one cannot be a target, or no rows know all of them.
    """
    if not recipe.other_targets:
        return target_of(table, recipe.target, recipe.task)
    if recipe.task != "regression":
        raise ValueError("A model of several targets predicts numbers; choose one column to predict classes.")
    each = [target_of(table, name, "regression") for name in recipe.targets]
    rows = reduce(np.intersect1d, [own for _, _, own in each])
    if not len(rows):
        raise ValueError("No row has a value of all targets; choose fewer of them.")
    Y = np.column_stack([y[np.isin(own, rows)] for y, _, own in each]).astype(float)
    constant = np.flatnonzero(np.ptp(Y, axis=0) == 0.0)
    if len(constant):
        raise ValueError(
            f"In the {len(Y)} rows that have a value of all targets, {recipe.targets[constant[0]]!r} has one value "
            "only; choose other targets."
        )
    return Y, "regression", rows


def check_enough(target: str, y: Array, task: Task) -> None:
    """ValueError where there are too few rows to hold some out."""
    if task == "regression":
        if len(y) < _FEWEST:
            raise ValueError(f"{len(y)} rows are too few to hold some out; give {_FEWEST} or more.")
        return
    labels, counts = np.unique(y, return_counts=True)
    rare = [repr(str(label)) for label in labels[counts < 2]]
    if rare:
        if len(rare) == 1:
            which = f"the class {rare[0]}"
        else:
            which = f"each of the classes {listed(rare)}"
        raise ValueError(
            f"In the column {target!r} {which} has one row only, which cannot be both learned from and held out; give "
            "more rows, or empty the target in those that are too few, and they are left out."
        )


def check_comparable(y: Array, task: Task) -> None:
    """ValueError where there are too few rows to hold some out, and others to choose parameters of methods by."""
    most = most_folds(y, task)
    if most >= 2 * INNER_FOLDS:
        return
    if task == "classification":
        raise ValueError(
            f"A comparison needs {2 * INNER_FOLDS} rows of each class, and the smallest has {most}; give more rows."
        )
    raise ValueError(f"A comparison needs {4 * INNER_FOLDS} rows, and there are {len(y)}; give more.")


def check_distinguished(X: pd.DataFrame, recipe: Recipe, among: str) -> None:
    """ValueError where no column tells rows apart without naming them.

    Parameters
    ----------
    X : the rows
    recipe : what says what the columns hold
    among : which rows they are, for the sentence
    """
    for name, kind in recipe.columns.items():
        if kind == "number" and X[name].nunique() > 1:  # which most tables have, and is found at once
            return
    if not any(column.used for column, _ in typed(X, dict(recipe.columns))):
        raise ValueError(
            f"In {among} each column that is learned from has one value only, or names the rows: there is nothing to "
            "learn. Use other columns, or give more rows."
        )


def complete(table: CsvTable, views: Iterable[Sequence[str]]) -> CsvTable:
    """The samples of a table that no view lacks.

    ValueError where each of them lacks a view.

    Parameters
    ----------
    table : the samples
    views : the columns of each view
    """
    away: set[int] = set()
    for names in views:
        away |= set(lacking(table, names))
    kept = [i for i in range(table.n) if i not in away]
    if not kept:
        raise ValueError("Each sample lacks a view; keep samples that lack one, or match the files by another column.")
    return table.of_rows(kept)


@dataclass(frozen=True, eq=False)
class TrainingSamples:
    """What a run learns from.

    Parameters
    ----------
    cells : the rows of the table, without those that lack a view where these are dropped
    X : data frame of the rows whose target is known
    y : array (n,), their target; (n, targets) of several
    task : "classification" or "regression"
    places : int array (n,), their places in ``cells``
    """

    cells: CsvTable
    X: pd.DataFrame
    y: Array
    task: Task
    places: Array

    @classmethod
    def of(cls, table: CsvTable, recipe: Recipe) -> TrainingSamples:
        """Of a table; ValueError where it or the recipe does not allow learning."""
        cells = table
        if recipe.views and recipe.missing == "drop":
            cells = complete(table, recipe.by_view.values())
        y, task, places = targets_of(cells, recipe)
        if not recipe.columns:
            raise ValueError("There is no column to learn from; use at least one beside the target.")
        return cls(cells, frame(cells, recipe).iloc[places].reset_index(drop=True), y, task, places)

    @property
    def first(self) -> Array:
        """Their first target."""
        if self.y.ndim == 1:
            return self.y
        return self.y[:, 0]

    @property
    def numbers(self) -> Array:
        """The numbers of the rows in the table, from 1; the names of the columns are row 1 of a file."""
        numbers: Array = np.array(next(iter(self.cells.columns.values())).rows)[self.places] - 1
        return numbers

    def some(self, most: int) -> Array:
        """The places of so many samples, in order, a few of each class among them."""
        order = np.random.default_rng(0).permutation(len(self.y))
        if self.task == "classification":
            met: Counter[Any] = Counter()
            later = np.zeros(len(order), dtype=bool)
            for k, label in enumerate(self.y[order].tolist()):
                later[k] = met[label] >= _OF_EACH
                met[label] += 1
            order = order[np.argsort(later, kind="stable")]
        return np.sort(order[:most])


def lacking(table: CsvTable, names: Iterable[str]) -> list[int]:
    """The samples all of whose cells in some columns are missing."""
    rows: Iterable[int] = range(table.n)
    for name in names:
        cells = table.columns[name].cells
        rows = [i for i in rows if is_missing(cells[i])]
    return list(rows)


def as_given(X: pd.DataFrame, recipe: Recipe) -> Any:
    """The samples as estimators take them: views by name where there are several, of new samples those that X has.

    Scales are learned for the columns of all views side by side.
    """
    views = recipe.by_view
    if len(views) < 2 or recipe.scales:
        return X
    there = {view: [name for name in names if name in X] for view, names in views.items()}
    return {
        view: X[names].rename(columns={name: bare(name, view) for name in names})
        for view, names in there.items()
        if names
    }


def as_taken(model: Any, X: pd.DataFrame, recipe: Recipe) -> Any:
    """New samples in the form that a model takes; methods of earlier versions learned from one frame of all views."""
    if hasattr(model, "feature_names_in_"):
        return X
    return as_given(X, recipe)


def scores(model: Any, X: Any) -> tuple[str, Array]:
    """Probabilities where the model has them, else decision values: a column for each class."""
    if hasattr(model, "predict_proba"):
        return "probability", np.asarray(model.predict_proba(X))
    decision = np.asarray(model.decision_function(X))
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision])
    return "decision", decision


def is_of(kernel: str, view: str) -> bool:
    """Whether a kernel is one of a view by its name; the only kernel of a view has its name."""
    return kernel == view or kernel.startswith(f"{view}: ")


def bare(name: str, view: str) -> str:
    """The name of a column without that of its view."""
    return name.removeprefix(f"{view}: ")
