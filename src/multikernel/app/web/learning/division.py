"""How a run divides the rows of a table: the rows to learn from, and the held-out rows that are scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multikernel.app.jobs.methods import INNER_FOLDS, most_folds, needed_by_folds
from multikernel.app.tables.columns import known
from multikernel.app.tables.table import CsvTable, listed, read_table
from multikernel.app.web.learning.measuring import check_part, rounds, sentence
from multikernel.app.web.learning.recipe import COMPARISON, Recipe
from multikernel.app.web.learning.samples import (
    LARGEST,
    check_comparable,
    check_enough,
    frame,
    refused_cells,
    targets_of,
    without_lacking_rows,
    words_of,
)
from multikernel.datasets import Column, Task
from multikernel.selection import Fold
from multikernel.tables import numbers_in
from multikernel.typing import Array


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Rows whose target is known.

    Parameters
    ----------
    X : data frame (n, columns)
    y : array (n,), the target; (n, targets) for several targets
    numbers : int array (n,), the numbers of the rows in their table
    groups : array (n,), the group of each row; None where there are none
    """

    X: pd.DataFrame
    y: Array
    numbers: Array
    groups: Array | None = None

    def part(self, rows: Array) -> KnownRows:
        """The rows of these positions."""
        groups = None if self.groups is None else self.groups[rows]
        return KnownRows(self.X.iloc[rows].reset_index(drop=True), self.y[rows], self.numbers[rows], groups)

    @property
    def inner_groups(self) -> dict[str, Array]:
        """The argument ``groups`` of a fit, whose inner folds hold out whole groups; empty for a single group."""
        if self.groups is None or len(np.unique(self.groups)) < 2:
            return {}
        return {"groups": self.groups}


@dataclass(frozen=True, eq=False)
class HeldOutFile:
    """The rows of a test file whose target is known.

    Parameters
    ----------
    table : all rows of the file
    rows : int array (n,), the rows whose targets are known
    y : array (n,) or (n, targets), the targets of these rows
    duplicates : int, how many of them have the same cells as a row of the table
    """

    table: CsvTable
    rows: Array
    y: Array
    duplicates: int


@dataclass(frozen=True, eq=False)
class Layout:
    """Which rows a run learns from, and which it holds out.

    Parameters
    ----------
    recipe : the settings of the run
    cells : the samples of the table, including those whose target is unknown
    rows : int array (n,), the samples whose target is known
    y : array (n,) or (n, targets), the targets of these samples
    rounds : list of lists of training and test rows, numbers from 0 to n - 1; empty where there is a test file
    groups : array (n,), the group of each row; None where there are none
    test : the test file, None where there is none
    """

    recipe: Recipe
    cells: CsvTable
    rows: Array
    y: Array
    rounds: list[list[Fold]]
    groups: Array | None = None
    test: HeldOutFile | None = None

    @property
    def first_round(self) -> int:
        """The parts of the first round, in which no row is held out twice."""
        if self.rounds:
            return len(self.rounds[0])
        return 1

    @property
    def count(self) -> int:
        """How many parts there are."""
        if self.rounds:
            return sum(map(len, self.rounds))
        return 1

    def name(self, k: int) -> str:
        """The name of part k."""
        if not self.rounds:
            return "The test file"
        round_index, fold = divmod(k, self.first_round)
        name = f"Fold {fold + 1} of {self.first_round}"
        if len(self.rounds) > 1:
            name += f", round {round_index + 1} of {len(self.rounds)}"
        return name

    @property
    def description(self) -> str:
        """How rows are held out, in a sentence."""
        groups = 0 if self.groups is None else len(np.unique(self.groups))
        if self.test:
            held_out_count = len(self.test.y)
            duplicate_count = self.test.duplicates
        else:
            held_out_count = sum(len(test) for _, test in self.rounds[0])
            duplicate_count = 0
        return sentence(
            self.recipe.measured,
            self.first_round,
            len(self.y),
            held_out_count,
            groups,
            self.recipe.seed,
            duplicate_count,
        )


@dataclass(frozen=True, eq=False)
class Division:
    """The rows of a layout, with the columns to learn from.

    Parameters
    ----------
    layout : which rows are learned from and held out
    all_rows : the rows of the table, from which the model is learned
    test : the rows of the test file, None where there is none
    """

    layout: Layout
    all_rows: KnownRows
    test: KnownRows | None = None

    @classmethod
    def of(cls, layout: Layout) -> Division:
        """The rows of a layout."""
        recipe = layout.recipe
        numbers = np.array(layout.cells.columns[recipe.target].rows)[layout.rows] - 1  # names of columns are row 1
        X = frame(layout.cells, recipe).iloc[layout.rows].reset_index(drop=True)
        all_rows = KnownRows(X, layout.y, numbers, layout.groups)
        if layout.test is None:
            return cls(layout, all_rows)
        test_file = layout.test
        numbers = np.array(test_file.table.columns[recipe.target].rows)[test_file.rows] - 1
        X = frame(test_file.table, recipe).iloc[test_file.rows].reset_index(drop=True)
        return cls(layout, all_rows, KnownRows(X, test_file.y, numbers))

    def parts(self) -> Iterator[tuple[KnownRows, KnownRows]]:
        """The training and the test rows of each part."""
        if self.test is not None:
            yield self.all_rows, self.test
        for train, test in chain.from_iterable(self.layout.rounds):
            yield self.all_rows.part(train), self.all_rows.part(test)


def layout_of(recipe: Recipe, table: CsvTable, folder: Path) -> Layout:
    """The rows of a table as a recipe divides them.

    Parameters
    ----------
    recipe : the settings of the run
    table : the table
    folder : the folder of a test file

    Raises
    ------
    ValueError : where the table, the recipe or the test file does not allow it
    """
    cells = table
    if recipe.views and recipe.missing == "drop":
        cells = without_lacking_rows(table, recipe.by_view.values())
    y, task, rows = targets_of(cells, recipe)
    measured = recipe.measured
    if not recipe.columns:
        raise ValueError("There is no column to learn from; use at least one beside the target.")
    if recipe.method == COMPARISON:
        check_comparable(y, task)
    else:
        check_enough(recipe.target, y, task)
    if recipe.worth:
        _check_worth(recipe)
    _check_probabilities(recipe)
    _check_scales(recipe)
    if measured.how == "file":
        return Layout(recipe, cells, rows, y, [], test=_test_file(recipe, table, y, folder))
    column = _column(recipe, cells, rows)
    drawn_rounds = rounds(measured, task, y, column, recipe.seed)
    if column is not None and measured.how == "groups":
        groups = np.array(column.cells)
    else:
        groups = None
    if recipe.method == COMPARISON and column is not None:
        _check_inner(drawn_rounds[0], y, task, groups)
    return Layout(recipe, cells, rows, y, drawn_rounds, groups)


def _check_worth(recipe: Recipe) -> None:
    if len(recipe.by_view) < 2:
        raise ValueError("There is one view only; load several files, each of which is a view.")
    if recipe.measured.how == "file":
        raise ValueError(
            "What each view is worth is measured on rows of the table, not on a test file; hold out rows in another "
            "way."
        )


def _check_scales(recipe: Recipe) -> None:
    """ValueError where a column is of a type for which no scale can be learned."""
    unscaled = [name for name, kind in recipe.columns.items() if kind not in ("number", "category")]
    if recipe.scales and unscaled:
        raise ValueError(
            f"{recipe.method} learns a scale for each column of numbers or categories, and {listed(unscaled[:5])} "
            f"{'holds' if len(unscaled) == 1 else 'hold'} dates or texts; untick what it cannot use on the page of the "
            "data set, or choose another method."
        )


def _check_probabilities(recipe: Recipe) -> None:
    """ValueError where a measure needs class probabilities and the method returns none."""
    path_measure = recipe.chosen_by if recipe.path else ""
    needed = "log_loss" in (recipe.measured.measure, path_measure)
    if needed and recipe.named and recipe.parameters.get("probability") is None:
        raise ValueError(
            f"Log loss needs probabilities, which {recipe.method} gives where its parameter probability is platt or "
            "isotonic; set it, or choose another measure."
        )


def _check_inner(folds: Sequence[Fold], y: Array, task: Task, groups: Array | None) -> None:
    """ValueError where the training rows are too few for the inner folds, by which methods choose parameters."""
    for k, (train, _) in enumerate(folds, start=1):
        if groups is not None and len(np.unique(groups[train])) < INNER_FOLDS:
            raise ValueError(
                f"A comparison chooses on {INNER_FOLDS} inner folds of whole groups, and with fold {k} held out the "
                "rows to learn from have fewer groups; hold out rows by another column, or learn with one method."
            )
        fewest = most_folds(y[train], task)
        if fewest < INNER_FOLDS:
            raise ValueError(
                f"A comparison chooses on {INNER_FOLDS} inner folds, each of which needs {needed_by_folds(task)}, and "
                f"with fold {k} held out there is enough for {fewest}; give fewer folds, or learn with one method."
            )


def _column(recipe: Recipe, cells: CsvTable, rows: Array) -> Column | None:
    """The column of the groups or the time, restricted to these rows; ValueError where there is no such column."""
    name = recipe.measured.column
    if not name:
        return None
    if name not in cells.columns:
        raise ValueError(f"There is no column {name!r} to hold out rows by; choose another.")
    if name in recipe.targets:
        raise ValueError(f"The column {name!r} is the target, by which no rows can be held out; choose another.")
    column = cells.columns[name]
    row_numbers = rows.tolist()
    return replace(column, cells=[column.cells[i] for i in row_numbers], rows=[column.rows[i] for i in row_numbers])


def _test_file(recipe: Recipe, training_table: CsvTable, y: Array, folder: Path) -> HeldOutFile:
    """The test file, whose columns are matched by their names.

    ValueError where a column or the target is missing, a cell cannot be read as in the table, or a class does not occur
    in the table.
    """
    measured = recipe.measured
    path = folder / measured.file
    if not path.is_file():
        raise ValueError(f"The test file {measured.name or measured.file} is not there any more; choose it again.")
    table = replace(read_table(path), file=measured.name or measured.file)
    for target in recipe.targets:
        if target not in table.columns:
            raise ValueError(
                f"{table.file} has no column {target!r}, the target, and so cannot test a model; give a file that has "
                "it, with its values filled in."
            )
    lacking = [repr(name) for name in recipe.columns if name not in table.columns]
    if lacking:
        raise ValueError(
            f"{table.file} lacks {listed(lacking)}, from which is learned; give a file that has all columns of the "
            "table, or untick what it lacks."
        )
    if recipe.views and recipe.missing == "drop":
        table = without_lacking_rows(table, recipe.by_view.values())
    words = [{"name": name, "words": missing_words} for name, missing_words in _words(recipe, training_table).items()]
    for name, (i, reason) in refused_cells(table, recipe, words).items():
        raise ValueError(f"{table.file}: row {table.columns[name].rows[i]}, column {name!r}: {reason}.")
    rows, truth = _truth(recipe, table, y)
    check_part("the test file", y, truth, recipe.task, measured.measure, "give a file with other rows")
    names = [*recipe.targets, *recipe.columns]
    training_cells = set(zip(*(training_table.columns[name].cells for name in names), strict=True))
    test_cells = list(zip(*(table.columns[name].cells for name in names), strict=True))
    return HeldOutFile(table, rows, truth, sum(test_cells[i] in training_cells for i in rows.tolist()))


def _truth(recipe: Recipe, table: CsvTable, y: Array) -> tuple[Array, Array]:
    """The rows of a test file in which each target is known, and their targets."""
    rows = reduce(np.intersect1d, [known(table.columns[name])[0] for name in recipe.targets])
    if not len(rows):
        raise ValueError(f"In {table.file} the target {recipe.target!r} has no value at all; fill it in.")
    targets = []
    for name in recipe.targets:
        column = table.columns[name]
        row_numbers = rows.tolist()
        known_cells = Column(
            table.file, name, [column.cells[i] for i in row_numbers], [column.rows[i] for i in row_numbers]
        )
        targets.append(_numbers(known_cells) if recipe.task == "regression" else _labels(known_cells, y))
    return rows, np.column_stack(targets) if recipe.other_targets else targets[0]


def _words(recipe: Recipe, table: CsvTable) -> dict[str, list[str]]:
    """For each column of numbers or dates the words that count as missing."""
    missing_words = words_of(table, recipe)
    return {name: missing_words.get(name, []) for name, kind in recipe.columns.items() if kind in ("number", "date")}


def _numbers(column: Column) -> Array:
    values = numbers_in(column.cells)
    wrong = np.flatnonzero(~(np.abs(values) <= LARGEST))
    if len(wrong):
        row = column.rows[wrong[0]]
        raise ValueError(
            f"{column.file}: row {row}, the target {column.name!r}: {column.cells[wrong[0]]!r} is no number up to "
            f"{LARGEST:g}; correct it, or leave it empty."
        )
    return values


def _labels(column: Column, y: Array) -> Array:
    """The classes of a test file in the type of those of the table; numbers are equal however they are written."""
    if y.dtype.kind in "iuf":
        labels: Any = numbers_in(column.cells)
    else:
        labels = np.array(column.cells, dtype=object)
    wrong = np.flatnonzero(~np.isin(labels, y))
    if len(wrong):
        raise ValueError(
            f"{column.file}: row {column.rows[wrong[0]]} has the class {column.cells[wrong[0]]!r}, which no row of the "
            "table has; correct it, or leave such rows out of the file."
        )
    return np.asarray(labels).astype(y.dtype)
