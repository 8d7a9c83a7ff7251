"""How a run is measured: which rows are held out from a model and scored, and by which measure.

rows     parts of all rows, drawn at random, each held out once; of classes each part has its share
groups   the same of whole groups: no group is both learned from and held out
time     the rows in the order of a column, cut in folds + 1 parts: each but the first is held out from a model of
         all rows before it; rows of one time are in one part
file     the rows of a file of its own, held out from a model of the whole table
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from multikernel.app.drawing import counted
from multikernel.app.jobs.methods import OUTER_FOLDS, most_folds, shuffled_folds
from multikernel.app.tables.held_out import later_and_later
from multikernel.datasets import Column, Task
from multikernel.selection import Fold, grouped_folds
from multikernel.streams import is_missing
from multikernel.tables import is_ambiguous, likely_order, numbers_in, parsed
from multikernel.typing import Array

How = Literal["rows", "groups", "time", "file"]
HOW: tuple[How, ...] = get_args(How)
TEST_FILE = "test.csv"  # beside an exported run
_FEWER = "give fewer folds, or hold out other rows"
_MOST_REPEATS = 100  # their mean moves by a tenth of what single rounds do
_DIGITS = 20  # of what was typed that a sentence repeats; no count of rows has as many
_MOST_SEED = 2**31  # each repeat adds 1, and scikit-learn takes numbers below 2^32


@dataclass(frozen=True)
class Measuring:
    """How a run is measured.

    Parameters
    ----------
    how : "rows", "groups", "time" or "file", which rows are held out
    column : str, that of the groups or of the time
    folds : int, how many parts are held out in turn; 0 for five, or as many as there can be
    repeats : int, how often folds are drawn anew
    file : str, the name of the test file beside the table
    name : str, what the test file is called
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
                what = "which rows belong together"
            else:
                what = "when each row was"
            raise ValueError(f"Choose the column that says {what}.")
        if not (isinstance(self.folds, int) and (self.folds == 0 or self.folds >= 2)):
            raise ValueError(f"Folds must be a whole number from 2 on, got {self.folds}.")
        if not (isinstance(self.repeats, int) and 1 <= self.repeats <= _MOST_REPEATS):
            raise ValueError(f"Repeats must be a whole number from 1 to {_MOST_REPEATS}, got {self.repeats}.")
        if self.how == "file" and self.folds:
            raise ValueError("A test file is held out once, as a whole; leave the number of folds empty.")
        if self.how in ("file", "time") and self.repeats > 1:
            what = "A test file" if self.how == "file" else "An order in time"
            raise ValueError(f"{what} leaves nothing to draw anew, so repeats must be 1, got {self.repeats}.")

    @classmethod
    def of_form(cls, typed: Mapping[str, str]) -> Measuring:
        """From the fields of a form as text; ValueError where one is not what it may be.

        Parameters
        ----------
        typed : by name; those that are not there have their defaults
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


def whole_number(what: str, text: str, empty: int) -> int:
    """A field of a form as a whole number; ValueError where it is none.

    Parameters
    ----------
    what : how a sentence calls it
    text : what was typed
    empty : its value where nothing was
    """
    if not text:
        return empty
    try:
        return int(text[:_DIGITS])
    except ValueError:
        raise ValueError(f"{what} must be a whole number, got {text[:_DIGITS]!r}.") from None


def seed_of(text: str) -> int:
    """The seed as it was typed; ValueError where it is none."""
    seed = whole_number("The seed", text, 0)
    if not 0 <= seed < _MOST_SEED:
        raise ValueError(f"The seed must be a whole number from 0 to {_MOST_SEED - 1}, got {seed}.")
    return seed


def groups_of(column: Column) -> Array:
    """The group of each row; ValueError where one is missing, or there is one only."""
    gaps = [i for i, cell in enumerate(column.cells) if is_missing(cell)]
    if gaps:
        raise ValueError(
            f"The column {column.name!r} names no group in {counted(len(gaps), 'row')}, such as row "
            f"{column.rows[gaps[0]]}; fill it in, or leave these rows out of the table."
        )
    if len(set(column.cells)) < 2:
        raise ValueError(
            f"The column {column.name!r} holds one group only, {column.cells[0]!r}, and whole groups are held out; "
            "choose another column."
        )
    return np.array(column.cells)


def times_of(column: Column) -> Array:
    """When each row was, as numbers; ValueError where a cell is missing, or neither a number nor a date."""
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
    times = numbers_in(texts)
    days = parsed(texts, likely_order(texts))
    if np.isfinite(days).sum() > np.isfinite(times).sum():
        times = days
        if is_ambiguous(texts):
            raise ValueError(
                f"The dates of {name}, such as {cells[0]!r}, can be read with the day first and with the month first; "
                "write them as 2024-12-31."
            )
    if not np.isfinite(times).all():
        wrong = int(np.flatnonzero(~np.isfinite(times))[0])
        if not np.isfinite(times).any():
            kind = "date or number"
        else:
            kind = "date as the others are"
        if np.isfinite(times).any() and times is not days:
            kind = "number as the others are"
        raise ValueError(
            f"The column {name} cannot order the rows: {cells[wrong]!r} in row {column.rows[wrong]} is no {kind}; "
            "write dates as 2024-12-31, or choose another column."
        )
    return times


def rounds(measuring: Measuring, task: Task, y: Array, column: Column | None, seed: int) -> list[list[Fold]]:
    """Training and test rows of each round of folds.

    Parameters
    ----------
    measuring : how, which is not by a file
    task : what is learned
    y : array (n,), the target
    column : that of the groups or of the time, of the same rows
    seed : int

    Raises
    ------
    ValueError : where the rows do not allow it
    """
    if measuring.how == "time":
        assert column is not None
        found = _folds_in_time(column, measuring.folds)
        _check_parts(found, y, task, measuring.measure)
        return [found]
    groups = None
    if measuring.how == "groups":
        assert column is not None
        groups = groups_of(column)
    most = most_folds(y, task) if groups is None else len(np.unique(groups))
    _check_count(measuring, most, task, y)
    folds = measuring.folds or min(OUTER_FOLDS, most)
    drawn = []
    for again in range(measuring.repeats):
        if groups is None:
            drawn.append(list(shuffled_folds(task, folds, seed + again).split(np.empty((len(y), 1)), y)))
        else:
            stratify = task == "classification"
            found = grouped_folds(y, groups, folds, stratify=stratify, random_state=seed + again)
            _check_parts(found, y, task, measuring.measure)
            drawn.append(found)
    return drawn


def _folds_in_time(column: Column, folds: int) -> list[Fold]:
    times = times_of(column)
    found = later_and_later(times, folds or min(OUTER_FOLDS, len(times) - 1))
    if not found:
        raise ValueError(f"The column {column.name!r} holds one time only, {column.cells[0]!r}; choose another column.")
    if folds and len(found) < folds:
        raise ValueError(
            f"The column {column.name!r} holds {counted(len(np.unique(times)), 'different time')} in "
            f"{counted(len(times), 'row')}, which make {counted(len(found), 'fold')} of later rows and not {folds}; "
            "give fewer folds."
        )
    return found


def _check_count(measuring: Measuring, most: int, task: Task, y: Array) -> None:
    """ValueError where there are to be more folds than there can be."""
    if measuring.folds <= most:
        return
    if measuring.how == "groups":
        have = f"there are {most} groups in {measuring.column!r}"
    elif task == "classification":
        labels, counts = np.unique(y, return_counts=True)
        have = f"the class {str(labels[counts.argmin()])!r} has {counted(most, 'row')}, one at most for each fold"
    else:
        have = f"there are {len(y)} rows, two at least for each fold"
    raise ValueError(f"{measuring.folds} folds are too many: {have}; give {most} or fewer.")


def _check_parts(folds: Sequence[Fold], y: Array, task: Task, measure: str) -> None:
    """ValueError where a part holds too little to learn from, or to score, which folds drawn at random never do."""
    for k, (train, test) in enumerate(folds, start=1):
        check_part(f"fold {k} of {len(folds)}", y[train], y[test], task, measure)


def check_part(which: str, known: Array, held: Array, task: Task, measure: str, instead: str = _FEWER) -> None:
    """ValueError where a part holds too little to learn from, or to score.

    Parameters
    ----------
    which : how a sentence calls it
    known, held : the targets that are learned from, and held out
    task : what is learned
    measure : str, of ``Measuring``
    instead : what a person may do then
    """
    if task == "classification":
        labels, counts = np.unique(known, return_counts=True)
        if len(labels) < 2:
            raise ValueError(
                f"With {which} held out, the rows to learn from have one class only, {str(labels[0])!r}; {instead}."
            )
        if counts.min() < 2:
            raise ValueError(
                f"With {which} held out, one row only is left of the class {str(labels[counts.argmin()])!r}; {instead}."
            )
        new = np.setdiff1d(held, labels)
        if measure == "log_loss" and len(new):
            raise ValueError(
                f"In {which} there is the class {str(new[0])!r}, which the rows to learn from do not have, and whose "
                f"log loss would be infinite; choose another measure, or {instead}."
            )
        if measure == "roc_auc" and len(np.intersect1d(labels, held)) < 2:
            raise ValueError(
                f"In {which} the held-out rows have one class only, for which there is no ROC curve; choose another "
                f"measure, or {instead}."
            )
        return
    if len(known) < 2 or (np.ptp(known, axis=0) == 0.0).any():
        raise ValueError(f"With {which} held out, the rows to learn from have one value of the target only; {instead}.")
    if len(held) < 2 or ((np.ptp(held, axis=0) == 0.0).any() and measure in ("", "r2")):
        raise ValueError(
            f"In {which} the held-out rows have one value of the target only, for which R² says nothing; {instead}."
        )


def sentence(
    measuring: Measuring, folds: int, n: int, held: int, groups: int = 0, seed: int = 0, known: int = 0
) -> str:
    """How a run was measured, in one sentence.

    Parameters
    ----------
    measuring : how
    folds : int, how many parts each round had
    n, held : int, the rows of the table, and those that a round held out
    groups : int, how many there are
    seed : int
    known : int, how many rows of a test file are like a row of the table
    """
    if measuring.how == "file":
        if known:
            alike = f" ({known} of them with the cells of a row of the table)"
        else:
            alike = ""
        return (
            f"Measured once, on the {counted(held, 'row')} of {measuring.name or measuring.file}{alike}, by a model of "
            f"the {counted(n, 'row')} of the table."
        )
    if measuring.how == "time":
        return (
            f"Measured in the order of {measuring.column}: {counted(folds, 'part')} of later rows, {held} of {n}, each "
            "by a model of all rows before it."
        )
    again = f", {measuring.repeats} times anew" if measuring.repeats > 1 else ""
    if measuring.how == "groups":
        return (
            f"Measured on whole groups: the {groups} groups of {measuring.column} were drawn into {folds} parts{again} "
            f"(seed {seed}), each held out from a model of the others."
        )
    return (
        f"Measured on held-out rows: all {n} were drawn into {folds} parts{again} (seed {seed}), each held out from a "
        "model of the others."
    )
