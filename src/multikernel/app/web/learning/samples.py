"""From the cells of a table to the data frame to learn from, whose columns have the types that the recipe names."""

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

_FEWEST = 4  # rows: two to learn from and two to hold out
_FIXES = {"number": "write it with a decimal point, as 50.5", "date": "write it as the training file does"}
_OF_EACH = 3  # samples of each class at least in a subsample, where it is large enough
LARGEST = 1e100  # the largest absolute value of a target, whose errors are squared and summed


def frame(table: CsvTable, recipe: Recipe) -> pd.DataFrame:
    """The samples of a table; ValueError where a column is missing."""
    table.check_has(list(recipe.columns))
    return pd.DataFrame({name: cell_values(table.columns[name], kind) for name, kind in recipe.columns.items()})


def cell_values(column: Column, kind: Kind) -> Any:
    """The cells of a column: numbers, a categorical, or strings with None where a cell is missing.

    A word in a column of numbers counts as missing; ``refused_cells`` returns the words that did not occur in training.
    Dates stay strings, which the kernels read.
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


def unreadable_cells(column: Column, kind: Kind) -> list[int]:
    """The positions of the known cells that cannot be read as numbers or dates, where the column is of this kind."""
    if kind not in ("number", "date"):
        return []
    cells = as_strings(column)
    places = np.flatnonzero(cells != None)  # noqa: E711
    if kind == "number":
        read = cell_values(column, kind)[places]
    else:
        read = parsed(cells[places], likely_order(cells[places]))
    return [int(i) for i in places[np.isnan(read)]]


def words_of(table: CsvTable, recipe: Recipe) -> dict[str, list[str]]:
    """For each column of numbers or dates its words, which count as missing; without columns that have none."""
    columns = {name: table.columns[name] for name in recipe.columns}
    missing_words = {
        name: {column.cells[i] for i in unreadable_cells(column, recipe.columns[name])}
        for name, column in columns.items()
    }
    return {name: sorted(cells) for name, cells in missing_words.items() if cells}


def refused_cells(table: CsvTable, recipe: Recipe, typical: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, str]]:
    """For each column with an unreadable cell that did not occur in training: its position, and a sentence about it.

    Parameters
    ----------
    table : new rows
    recipe : the settings of the run that learned the model
    typical : facts about each column of the training table, including the words among its numbers or dates
    """
    words_of_columns = {
        facts["name"]: facts["words"] for facts in typical if "words" in facts
    }  # runs of earlier versions lack them
    refusals = {}
    for name, words in words_of_columns.items():
        if name not in recipe.columns:
            continue
        column = table.columns[name]
        kind = recipe.columns[name]
        unread_cells = [i for i in unreadable_cells(column, kind) if column.cells[i] not in words]
        if unread_cells:
            sentence = (
                f"{column.cells[unread_cells[0]]!r} is not a {kind}, and the model learned {kind}s from this column"
            )
            refusals[name] = unread_cells[0], f"{sentence}; {_FIXES[kind]}, or leave the cell empty"
    return refusals


def _number(cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        return np.nan
    if isfinite(value):
        return value
    return np.nan


def target_of(table: CsvTable, target: str, task: Task | None) -> tuple[Array, Task, Array]:
    """The known values of the target, its task, and the rows in which it is known.

    ValueError where there is no such column, or it has a single value or does not fit the task.
    """
    if target not in table.columns:
        raise ValueError(f"There is no column {target!r}; choose the column to predict.")
    rows, known_cells = known(table.columns[target])
    if not len(rows):
        raise ValueError(f"The column {target!r} has no value at all; choose another to predict.")
    y, decided = decide(known_cells, task)
    if len(np.unique(y)) < 2:
        raise ValueError(f"The column {target!r} has one value only, {y[0]}; choose another to predict.")
    if decided == "regression" and np.abs(y).max() > LARGEST:
        raise ValueError(
            f"The column {target!r} holds numbers up to {np.abs(y).max():.0e}, whose squares are more than a computer "
            "can hold; give it in other units."
        )
    return y, decided, rows


def targets_of(table: CsvTable, recipe: Recipe) -> tuple[Array, Task, Array]:
    """The target or the targets of a recipe, (n,) or (n, targets), the task, and the rows in which all are known.

    ValueError where a column cannot be a target, or no row has values of all targets.
    """
    if not recipe.other_targets:
        return target_of(table, recipe.target, recipe.task)
    if recipe.task != "regression":
        raise ValueError("A model of several targets predicts numbers; choose one column to predict classes.")
    targets = [target_of(table, name, "regression") for name in recipe.targets]
    rows = reduce(np.intersect1d, [target_rows for _, _, target_rows in targets])
    if not len(rows):
        raise ValueError("No row has a value of all targets; choose fewer of them.")
    Y = np.column_stack([y[np.isin(target_rows, rows)] for y, _, target_rows in targets]).astype(float)
    constant = np.flatnonzero(np.ptp(Y, axis=0) == 0.0)
    if len(constant):
        raise ValueError(
            f"In the {len(Y)} rows that have a value of all targets, {recipe.targets[constant[0]]!r} has one value "
            "only; choose other targets."
        )
    return Y, "regression", rows


def check_enough(target: str, y: Array, task: Task) -> None:
    """ValueError where the rows are too few to hold out some of them."""
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
    """ValueError where the rows are too few for outer folds and the inner folds that choose parameters."""
    possible_folds = most_folds(y, task)
    if possible_folds >= 2 * INNER_FOLDS:
        return
    if task == "classification":
        raise ValueError(
            f"A comparison needs {2 * INNER_FOLDS} rows of each class, and the smallest has {possible_folds}; give "
            "more rows."
        )
    raise ValueError(f"A comparison needs {4 * INNER_FOLDS} rows, and there are {len(y)}; give more.")


def check_distinguished(X: pd.DataFrame, recipe: Recipe, among: str) -> None:
    """ValueError where every column is constant or an identifier, so that nothing can be learned.

    Parameters
    ----------
    X : the rows
    recipe : the settings with the types of the columns
    among : how the sentence calls the rows
    """
    for name, kind in recipe.columns.items():
        if kind == "number" and X[name].nunique() > 1:  # the common case, which is checked fast
            return
    if not any(column.used for column, _ in typed(X, dict(recipe.columns))):
        raise ValueError(
            f"In {among} each column that is learned from has one value only, or names the rows: there is nothing to "
            "learn. Use other columns, or give more rows."
        )


def without_lacking_rows(table: CsvTable, views: Iterable[Sequence[str]]) -> CsvTable:
    """The samples of a table that have all views.

    ValueError where every sample lacks a view.

    Parameters
    ----------
    table : the samples
    views : the columns of each view
    """
    lacking_rows: set[int] = set()
    for names in views:
        lacking_rows |= set(lacking_samples(table, names))
    complete_rows = [i for i in range(table.n) if i not in lacking_rows]
    if not complete_rows:
        raise ValueError("Each sample lacks a view; keep samples that lack one, or match the files by another column.")
    return table.of_rows(complete_rows)


@dataclass(frozen=True, eq=False)
class TrainingSamples:
    """The samples that a run learns from.

    Parameters
    ----------
    cells : the rows of the table; without those that lack a view, where such rows are dropped
    X : data frame of the rows whose target is known
    y : array (n,), their target; (n, targets) for several targets
    task : "classification" or "regression"
    places : int array (n,), the positions of these rows in ``cells``
    """

    cells: CsvTable
    X: pd.DataFrame
    y: Array
    task: Task
    places: Array

    @classmethod
    def of(cls, table: CsvTable, recipe: Recipe) -> TrainingSamples:
        """The samples of a table; ValueError where nothing can be learned from the table by this recipe."""
        cells = table
        if recipe.views and recipe.missing == "drop":
            cells = without_lacking_rows(table, recipe.by_view.values())
        y, task, places = targets_of(cells, recipe)
        if not recipe.columns:
            raise ValueError("There is no column to learn from; use at least one beside the target.")
        return cls(cells, frame(cells, recipe).iloc[places].reset_index(drop=True), y, task, places)

    @property
    def first_target(self) -> Array:
        """The first target of the samples."""
        if self.y.ndim == 1:
            return self.y
        return self.y[:, 0]

    @property
    def numbers(self) -> Array:
        """The numbers of the samples in the table, from 1; in the file, row 1 has the names of the columns."""
        numbers: Array = np.array(next(iter(self.cells.columns.values())).rows)[self.places] - 1
        return numbers

    def subsample(self, count: int) -> Array:
        """The indices of a random subsample of ``count`` samples, in order, with a few samples of each class."""
        return subsample(self.y, self.task, count)


def subsample(y: Array, task: Task, count: int, seed: int = 0) -> Array:
    """The indices of a random subsample, in order; of classes with a few samples of each, where it is large enough.

    Parameters
    ----------
    y : array (n,) or (n, targets), the target of all samples
    task : what is learned
    count : int, the samples to draw; all n where there are no more
    seed : int
    """
    order = np.random.default_rng(seed).permutation(len(y))
    if task == "classification":
        label_counts: Counter[Any] = Counter()
        later = np.zeros(len(order), dtype=bool)
        for k, label in enumerate(y[order].tolist()):
            later[k] = label_counts[label] >= _OF_EACH
            label_counts[label] += 1
        order = order[np.argsort(later, kind="stable")]
    return np.sort(order[:count])


def lacking_samples(table: CsvTable, names: Iterable[str]) -> list[int]:
    """The indices of the samples whose cells are missing in all of these columns."""
    rows: Iterable[int] = range(table.n)
    for name in names:
        cells = table.columns[name].cells
        rows = [i for i in rows if is_missing(cells[i])]
    return list(rows)


def as_estimator_input(X: pd.DataFrame, recipe: Recipe) -> Any:
    """The samples in the form that estimators take: a dict of views where there are several, else the data frame.

    New samples may lack views. Scales are learned from one data frame with the columns of all views.
    """
    views = recipe.by_view
    if len(views) < 2 or recipe.scales:
        return X
    names_by_view = {view: [name for name in names if name in X] for view, names in views.items()}
    return {
        view: X[names].rename(columns={name: name_without_view(name, view) for name in names})
        for view, names in names_by_view.items()
        if names
    }


def as_model_input(model: Any, X: pd.DataFrame, recipe: Recipe) -> Any:
    """New samples in the form that a model takes; models of earlier versions may take one frame of all views."""
    if hasattr(model, "feature_names_in_"):
        return X
    return as_estimator_input(X, recipe)


def class_scores(model: Any, X: Any) -> tuple[str, Array]:
    """The kind of the values, and the values: probabilities where the model has them, else decision values.

    They have a column for each class.
    """
    if hasattr(model, "predict_proba"):
        return "probability", np.asarray(model.predict_proba(X))
    decision = np.asarray(model.decision_function(X))
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision])
    return "decision", decision


def belongs_to_view(kernel: str, view: str) -> bool:
    """Whether a kernel belongs to a view, by its name: "view: kernel", or "view" for the only kernel of a view."""
    return kernel == view or kernel.startswith(f"{view}: ")


def name_without_view(name: str, view: str) -> str:
    """The name of a column without the prefix of its view."""
    return name.removeprefix(f"{view}: ")
