"""How a run is measured: which rows are held out from a model and scored, and by which measure.

rows     all rows are divided at random into parts, each of which is held out once; stratified by class
groups   the same for whole groups: no group is both learned from and held out
time     the rows are sorted by a column and divided into folds + 1 parts: each part except the first is predicted by a
         model of all earlier rows; rows of the same time are in the same part
file     the rows of a separate file are predicted by a model of the whole table
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from multikernel.app.drawing import counted
from multikernel.app.jobs.methods import OUTER_FOLDS, most_folds, shuffled_folds
from multikernel.app.tables.held_out import later_and_later, numbers_or_days
from multikernel.datasets import Column, Task
from multikernel.selection import Fold, grouped_folds
from multikernel.streams import is_missing
from multikernel.tables import is_ambiguous
from multikernel.typing import Array

How = Literal["rows", "groups", "time", "file"]
HOW: tuple[How, ...] = get_args(How)
TEST_FILE = "test.csv"  # the name of the test file beside an exported run
_FEWER = "give fewer folds, or hold out other rows"
_MOST_REPEATS = 100  # with 100 rounds, the mean varies by a tenth of the deviation of single rounds
_DIGITS = 20  # characters of the input that a sentence repeats; no count of rows has as many digits
_MOST_SEED = 2**31  # each repeat adds 1, and scikit-learn takes numbers below 2^32


@dataclass(frozen=True)
class Measuring:
    """How a run is measured.

    Parameters
    ----------
    how : "rows", "groups", "time" or "file", which rows are held out
    column : str, the column of the groups or of the time
    folds : int, how many parts are held out in turn; 0 for five, or as many as are possible
    repeats : int, how many times folds are drawn
    file : str, the name of the stored test file beside the table
    name : str, the name of the test file on pages
    measure : str, one of ``MEASURES`` of the task; "" for the first of them
    """

    how: How = "rows"
    column: str = ""
    folds: int = 0
    repeats: int = 1
    file: str = ""
    name: str = ""
    measure: str = ""

    def __post_init__(self) -> None:
        if self.how not in HOW:
            raise ValueError(f"How rows are held out must be one of {', '.join(HOW)}, got {self.how!r:.60}.")
        if self.how in ("groups", "time") and not self.column:
            if self.how == "groups":
                meaning = "which rows belong together"
            else:
                meaning = "when each row was"
            raise ValueError(f"Choose the column that says {meaning}.")
        if not (isinstance(self.folds, int) and (self.folds == 0 or self.folds >= 2)):
            raise ValueError(f"Folds must be a whole number from 2 on, got {self.folds}.")
        if not (isinstance(self.repeats, int) and 1 <= self.repeats <= _MOST_REPEATS):
            raise ValueError(f"Repeats must be a whole number from 1 to {_MOST_REPEATS}, got {self.repeats}.")
        if self.how == "file" and self.folds:
            raise ValueError("A test file is held out once, as a whole; leave the number of folds empty.")
        if self.how in ("file", "time") and self.repeats > 1:
            meaning = "A test file" if self.how == "file" else "An order in time"
            raise ValueError(f"{meaning} leaves nothing to draw anew, so repeats must be 1, got {self.repeats}.")

    @classmethod
    def of_form(cls, typed: Mapping[str, str]) -> Measuring:
        """From the fields of a form as text; ValueError where a field has a value that is not allowed.

        Parameters
        ----------
        typed : the fields by name; missing fields have their defaults
        """
        how: Any = typed.get("how") or "rows"
        column = ""
        if how in ("groups", "time"):
            if how == "groups":
                column = typed.get("group", "")
            else:
                column = typed.get("time", "")
        file = typed.get("file", "") if how == "file" else ""
        if how == "file" and not file:
            raise ValueError("No test file was chosen. Choose one with the columns of the table and its target.")
        folds = whole_number("Folds", typed.get("folds", ""), 0)
        if typed.get("folds", "") and not folds:
            raise ValueError("Folds must be a whole number from 2 on, got 0.")
        repeats = whole_number("Repeats", typed.get("repeats", ""), 1)
        name = typed.get("name", "") if how == "file" else ""
        return cls(how, column, folds, repeats, file, name, typed.get("measure", ""))


def whole_number(field_name: str, text: str, default: int) -> int:
    """A field of a form as a whole number; ValueError where it is not a whole number.

    Parameters
    ----------
    field_name : the name of the field in sentences
    text : the input
    default : the value of an empty field
    """
    if not text:
        return default
    try:
        return int(text[:_DIGITS])
    except ValueError:
        raise ValueError(f"{field_name} must be a whole number, got {text[:_DIGITS]!r}.") from None


def seed_of(text: str) -> int:
    """The seed of a form; ValueError where it is not allowed."""
    seed = whole_number("The seed", text, 0)
    if not 0 <= seed < _MOST_SEED:
        raise ValueError(f"The seed must be a whole number from 0 to {_MOST_SEED - 1}, got {seed}.")
    return seed


def groups_of(column: Column) -> Array:
    """The group of each row; ValueError where a cell is missing, or there is a single group."""
    missing_rows = [i for i, cell in enumerate(column.cells) if is_missing(cell)]
    if missing_rows:
        raise ValueError(
            f"The column {column.name!r} names no group in {counted(len(missing_rows), 'row')}, such as row "
            f"{column.rows[missing_rows[0]]}; fill it in, or leave these rows out of the table."
        )
    if len(set(column.cells)) < 2:
        raise ValueError(
            f"The column {column.name!r} holds one group only, {column.cells[0]!r}, and whole groups are held out; "
            "choose another column."
        )
    return np.array(column.cells)


def times_of(column: Column) -> Array:
    """The time of each row as a number; ValueError where a cell is missing, or neither a number nor a date."""
    cells = [None if is_missing(cell) else cell for cell in column.cells]
    name = repr(column.name)
    if None in cells:
        gaps = cells.count(None)
        row = column.rows[cells.index(None)]
        raise ValueError(
            f"The column {name} has no time in {counted(gaps, 'row')}, such as row {row}; fill it in, or leave these "
            "rows out of the table."
        )
    texts = np.array(cells, dtype=object)
    if is_ambiguous(texts):
        raise ValueError(
            f"The dates of {name}, such as {cells[0]!r}, can be read with the day first and with the month first; "
            "write them as 2024-12-31."
        )
    times = numbers_or_days(texts)
    readable = np.isfinite(times)
    if not readable.all():
        i = int(np.flatnonzero(~readable)[0])
        raise ValueError(
            f"The column {name} cannot order the rows: {cells[i]!r} in row {column.rows[i]} is no number or date"
            f"{' as the others are' if readable.any() else ''}; write dates as 2024-12-31, or choose another column."
        )
    return times


def rounds(measuring: Measuring, task: Task, y: Array, column: Column | None, seed: int) -> list[list[Fold]]:
    """Training and test rows of each round of folds.

    Parameters
    ----------
    measuring : how rows are held out, except by a file
    task : what is learned
    y : array (n,), the target
    column : the column of the groups or of the time, for the same rows
    seed : int

    Raises
    ------
    ValueError : where the rows do not allow it
    """
    if measuring.how == "time":
        assert column is not None
        fold_rows = _folds_in_time(column, measuring.folds)
        _check_parts(fold_rows, y, task, measuring.measure)
        return [fold_rows]
    groups = None
    if measuring.how == "groups":
        assert column is not None
        groups = groups_of(column)
    most_possible = most_folds(y, task) if groups is None else len(np.unique(groups))
    _check_count(measuring, most_possible, task, y)
    folds = measuring.folds or min(OUTER_FOLDS, most_possible)
    drawn_rounds = []
    for repeat in range(measuring.repeats):
        if groups is None:
            drawn_rounds.append(list(shuffled_folds(task, folds, seed + repeat).split(np.empty((len(y), 1)), y)))
        else:
            stratify = task == "classification"
            fold_rows = grouped_folds(y, groups, folds, stratify=stratify, random_state=seed + repeat)
            _check_parts(fold_rows, y, task, measuring.measure)
            drawn_rounds.append(fold_rows)
    return drawn_rounds


def _folds_in_time(column: Column, folds: int) -> list[Fold]:
    times = times_of(column)
    fold_rows = later_and_later(times, folds or min(OUTER_FOLDS, len(times) - 1))
    if not fold_rows:
        raise ValueError(f"The column {column.name!r} holds one time only, {column.cells[0]!r}; choose another column.")
    if folds and len(fold_rows) < folds:
        raise ValueError(
            f"The column {column.name!r} holds {counted(len(np.unique(times)), 'different time')} in "
            f"{counted(len(times), 'row')}, which make {counted(len(fold_rows), 'fold')} of later rows and not "
            f"{folds}; give fewer folds."
        )
    return fold_rows


def _check_count(measuring: Measuring, largest_count: int, task: Task, y: Array) -> None:
    """ValueError where more folds are requested than are possible."""
    if measuring.folds <= largest_count:
        return
    if measuring.how == "groups":
        limit = f"there are {largest_count} groups in {measuring.column!r}"
    elif task == "classification":
        labels, counts = np.unique(y, return_counts=True)
        limit = (
            f"the class {str(labels[counts.argmin()])!r} has {counted(largest_count, 'row')}, one at most for each fold"
        )
    else:
        limit = f"there are {len(y)} rows, two at least for each fold"
    raise ValueError(f"{measuring.folds} folds are too many: {limit}; give {largest_count} or fewer.")


def _check_parts(folds: Sequence[Fold], y: Array, task: Task, measure: str) -> None:
    """ValueError where the rows of a part cannot be learned from or scored; stratified random folds need no check."""
    for k, (train, test) in enumerate(folds, start=1):
        check_part(f"fold {k} of {len(folds)}", y[train], y[test], task, measure)


def check_part(
    part_name: str, training_targets: Array, test_targets: Array, task: Task, measure: str, remedy: str = _FEWER
) -> None:
    """ValueError where the training rows of a part cannot be learned from, or its test rows cannot be scored.

    Parameters
    ----------
    part_name : the name of the part in sentences
    training_targets, test_targets : the targets of the rows to learn from, and of the held-out rows
    task : what is learned
    measure : str, of ``Measuring``
    remedy : what a person can do about it
    """
    if task == "classification":
        labels, counts = np.unique(training_targets, return_counts=True)
        if len(labels) < 2:
            raise ValueError(
                f"With {part_name} held out, the rows to learn from have one class only, {str(labels[0])!r}; {remedy}."
            )
        if counts.min() < 2:
            raise ValueError(
                f"With {part_name} held out, one row only is left of the class {str(labels[counts.argmin()])!r}; "
                f"{remedy}."
            )
        unseen = np.setdiff1d(test_targets, labels)
        if measure == "log_loss" and len(unseen):
            raise ValueError(
                f"In {part_name} there is the class {str(unseen[0])!r}, which the rows to learn from do not have, and "
                f"whose log loss would be infinite; choose another measure, or {remedy}."
            )
        if measure == "roc_auc" and len(np.intersect1d(labels, test_targets)) < 2:
            raise ValueError(
                f"In {part_name} the held-out rows have one class only, for which there is no ROC curve; choose "
                f"another measure, or {remedy}."
            )
        return
    if len(training_targets) < 2 or (np.ptp(training_targets, axis=0) == 0.0).any():
        raise ValueError(
            f"With {part_name} held out, the rows to learn from have one value of the target only; {remedy}."
        )
    if len(test_targets) < 2 or ((np.ptp(test_targets, axis=0) == 0.0).any() and measure in ("", "r2")):
        raise ValueError(
            f"In {part_name} the held-out rows have one value of the target only, for which R² says nothing; {remedy}."
        )


def sentence(
    measuring: Measuring,
    folds: int,
    n: int,
    held_out_count: int,
    groups: int = 0,
    seed: int = 0,
    duplicate_count: int = 0,
) -> str:
    """How a run was measured, in one sentence.

    Parameters
    ----------
    measuring : the settings
    folds : int, the number of parts in each round
    n, held_out_count : int, the numbers of rows of the table, and of held-out rows in a round
    groups : int, the number of groups
    seed : int
    duplicate_count : int, how many rows of a test file have the same cells as a row of the table
    """
    if measuring.how == "file":
        if duplicate_count:
            alike = f" ({duplicate_count} of them with the cells of a row of the table)"
        else:
            alike = ""
        return (
            f"Measured once, on the {counted(held_out_count, 'row')} of {measuring.name or measuring.file}{alike}, "
            f"by a model of the {counted(n, 'row')} of the table."
        )
    if measuring.how == "time":
        return (
            f"Measured in the order of {measuring.column}: {counted(folds, 'part')} of later rows, {held_out_count} of "
            f"{n}, each by a model of all rows before it."
        )
    repetition = f", {measuring.repeats} times anew" if measuring.repeats > 1 else ""
    if measuring.how == "groups":
        return (
            f"Measured on whole groups: the {groups} groups of {measuring.column} were drawn into {folds} "
            f"parts{repetition} (seed {seed}), each held out from a model of the others."
        )
    return (
        f"Measured on held-out rows: all {n} were drawn into {folds} parts{repetition} (seed {seed}), each held out "
        "from a model of the others."
    )
