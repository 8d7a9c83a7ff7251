"""CSV files as tables of named columns, one of which is the target.

Rows have the numbers that a spreadsheet program shows: the header is row 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from multikernel.app.tables.held_out import RowsHeldOut, times_of
from multikernel.app.tables.number_marks import plainly
from multikernel.datasets import Column, Task, decide
from multikernel.streams import DELIMITERS, Records, is_missing
from multikernel.tables import Numerals
from multikernel.typing import Array

if TYPE_CHECKING:
    from multikernel.app.tables.views import ViewTables

_LISTED = 20  # names of columns that a sentence lists, at most


@dataclass(frozen=True)
class View:
    """The columns of one of several files.

    Parameters
    ----------
    columns : dict from their names in the joined table to their names in the file
    lacking : set of int, the samples that the file does not contain
    """

    columns: Mapping[str, str]
    lacking: frozenset[int]


@dataclass(frozen=True)
class CsvTable:
    """The cells of a CSV file, or of several files that are joined (views.py)."""

    file: str
    columns: dict[str, Column]  # by name, in the order of the file
    note: str = ""  # how cells are separated and numbers written, where that is unusual
    unused: frozenset[str] = frozenset()  # columns that the user leaves out
    numerals: Mapping[str, Numerals] = field(default_factory=dict)  # how the numbers of columns are written
    raw: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the cells of columns as they are in the file
    delimiter: str = ","
    grouped_by: str | None = None  # the column that says which rows folds hold out together
    timed_by: str | None = None  # the column of the times of rows
    views: Mapping[str, View] = field(default_factory=dict)  # of several files
    key: str = ""  # the column that names the rows of several files
    tables: ViewTables | None = None  # the tables of several files, before they were joined

    def column(self, name: str, instead: str = "") -> Column:
        """A column by name; ValueError where there is none, or where one of its cells is missing.

        ``instead`` is an alternative to filling the cell in, for the message.
        """
        column = self.present(name, instead)
        lacking = self.lacking(name)
        if lacking:
            raise ValueError(
                f"column {name!r} has to be known of all samples, and {column.file} lacks {len(lacking)} of them; "
                "leave these out by --missing drop"
            )
        return column

    def present(self, name: str, instead: str = "") -> Column:
        """A column without the samples that its file does not contain; the errors are those of ``column``."""
        self._check_exists(name)
        lacking = self.lacking(name)
        column = self.columns[name]
        if lacking:
            indices = [i for i in range(len(column.cells)) if i not in lacking]
            column = replace(column, cells=[column.cells[i] for i in indices], rows=[column.rows[i] for i in indices])
        for i, cell in enumerate(column.cells):
            if is_missing(cell):
                raise column.error(i, f"is a missing value; {instead}fill it in, or leave the row out")
        return column

    def lacking(self, name: str) -> frozenset[int]:
        """The samples that the file of a column does not contain."""
        return next((view.lacking for view in self.views.values() if name in view.columns), frozenset())

    def full_name(self, name: str) -> str:
        """The full name of a column of one of several files, whose name may be given without the name of its view.

        ValueError where several files have such a column.
        """
        full_names = [
            full for view in self.views.values() for full, short_name in view.columns.items() if short_name == name
        ]
        if name in self.columns or not full_names:
            return name
        if len(full_names) > 1:
            raise ValueError(f"column {name!r} may be {' or '.join(map(repr, full_names))}; write one of these")
        return full_names[0]

    def by_view(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        """The columns among ``names`` by view: from their full names to those in the file; empty for a single table."""
        selected = set(names)
        columns_of_views = {
            view_name: {full: name for full, name in view.columns.items() if full in selected}
            for view_name, view in self.views.items()
        }
        return {view_name: columns for view_name, columns in columns_of_views.items() if columns}

    def _check_exists(self, name: str) -> None:
        if name not in self.columns:
            close_matches = get_close_matches(name.lower(), {column.lower(): None for column in self.columns}, 1, 0.75)
            guess = next(
                (f"did you mean {column!r}? It has " for column in self.columns if column.lower() in close_matches),
                "it has ",
            )
            raise ValueError(f"{self.file} has no column {name!r}; {guess}{listed(list(self.columns))}")

    def check_types(self, types: Mapping[str, str], target: str) -> None:
        """ValueError where a type is declared for a column that is not learned from."""
        for name in types:
            self._check_exists(name)
            if name == target:
                raise ValueError(f"--type {name!r} is the target, whose kind --task says")
            if name not in self.features:
                raise ValueError(f"--type {name!r} is a column that is left out")

    def check_has(self, names: Sequence[str]) -> None:
        """ValueError where a column that a model needs is missing."""
        absent = [name for name in names if name not in self.columns]
        if not absent:
            return
        for view, table in self.tables.by_view.items() if self.tables else ():
            lacking = [name.removeprefix(f"{view}: ") for name in absent if name.startswith(f"{view}: ")]
            if lacking:
                raise ValueError(
                    f"{table.file} lacks {listed(list(map(repr, lacking)))}, which the model needs of the "
                    f"view {view!r}; add what is missing, or leave the file out, and the model predicts without it"
                )
        raise ValueError(
            f"{self.file} lacks {listed(list(map(repr, absent)))}; the model needs the columns {listed(names)}"
        )

    def without_content(self, names: Iterable[str]) -> str:
        """A sentence about the rows whose cells in these columns are all missing; "" where there is no such row."""
        columns = [self.columns[name] for name in names]
        empty = [i for i in range(self.n) if all(is_missing(column.cells[i]) for column in columns)]
        if not empty or not columns:
            return ""
        rows = "1 row is" if len(empty) == 1 else f"{len(empty)} rows are"
        return (
            f"{rows} empty in all columns that the model learned from, such as row {columns[0].rows[empty[0]]}: what "
            "is predicted there says nothing"
        )

    def as_written(self, names: Iterable[str]) -> dict[str, list[str]]:
        """The decimal mark and the unit of the columns of numbers among ``names``, to be stored with a model."""
        return {
            name: [numerals.decimal, numerals.unit]
            for name in names
            if (numerals := self.numerals.get(name)) is not None
        }

    def written_as(self, stored: Mapping[str, Sequence[str]]) -> CsvTable:
        """The table where columns that can be read in two ways are read as in training.

        ValueError where a column has another unit than in training.

        Parameters
        ----------
        stored : the result of ``as_written`` for the training file
        """
        if self.tables is not None:
            joined = self.tables.written_as(stored).joined()
            return replace(self, columns=joined.columns, numerals=joined.numerals)
        training_numerals = {name: Numerals(*marks) for name, marks in stored.items() if name in self.columns}
        for name, training in training_numerals.items():
            unit = self.numerals.get(name, training).unit
            if unit not in training.units:
                unit_now = f"{unit!r} as the unit" if unit else "no unit"
                unit_before = f"{training.unit!r}" if training.unit else "none"
                raise ValueError(
                    f"{self.file}: column {name!r} has {unit_now} of its numbers, and in training it had {unit_before}"
                )
        columns, numerals, _ = plainly(self.raw, self.delimiter, is_missing, training_numerals)
        plain_columns = {name: replace(column, cells=columns[name]) for name, column in self.columns.items()}
        return replace(self, columns=plain_columns, numerals=numerals)

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values())).cells)

    def of_rows(self, indices: Sequence[int]) -> CsvTable:
        """The table with some of the rows of a single file."""
        columns = {
            name: replace(column, cells=[column.cells[i] for i in indices], rows=[column.rows[i] for i in indices])
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns)

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that may be features: not left out, and without an underscore before their names."""
        return tuple(name for name in self.columns if not name.startswith("_") and name not in self.unused)

    def without(self, names: Sequence[str]) -> CsvTable:
        """The table where these columns are not learned from; ValueError where there is no such column."""
        for name in names:
            self._check_exists(name)
        return replace(self, unused=self.unused | frozenset(names))

    def grouped(self, name: str | None) -> CsvTable:
        """The table where rows with the same value in this column are one group; ValueError if all have one."""
        if name is None:
            return self
        values = set(self.column(name, "name its group, ").cells)
        if len(values) < 2:
            raise ValueError(f"--groups {name!r} holds one value only, and a fold holds out whole groups")
        return replace(self.without([name]), grouped_by=name)

    def timed(self, name: str | None) -> CsvTable:
        """The table where this column has the times of the rows; ValueError where all times are the same."""
        if name is None:
            return self
        if len(np.unique(times_of(self.column(name, "give its time, ")))) < 2:
            raise ValueError(f"--time {name!r} holds one time only, and a fold is later than the rows learned from")
        return replace(self, timed_by=name)

    @property
    def held_out(self) -> RowsHeldOut:
        """Which rows folds hold out together."""
        groups = times = None
        if self.grouped_by is not None:
            groups = np.array(self.columns[self.grouped_by].cells)
        if self.timed_by is not None:
            times = times_of(self.columns[self.timed_by])
        return RowsHeldOut(groups, times)


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence, which ends with the number of names beyond the first 20."""
    others_text = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + others_text


def read_table(path: Path, delimiter: str | None = None, most_rows: int | None = None) -> CsvTable:
    """Read a CSV file (compressed where it ends in .gz, .zip, .bz2 or .xz) with the names of the columns in row 1.

    Parameters
    ----------
    path : the file
    delimiter : the character between cells; None to infer it from the first rows
    most_rows : the number of rows after the names, at most; None for no limit

    Raises
    ------
    ValueError : where it is not CSV, has no row after the names or too many, or a name is empty or occurs twice
    """
    records = Records.of(path, delimiter)
    numbered = list(records if most_rows is None else islice(records, most_rows + 1))
    if most_rows is not None and len(numbered) > most_rows:
        raise ValueError(f"The table has more than {most_rows} rows, the most that there is room for; give a part.")
    if not numbered:
        raise ValueError(f"{path} has column names in row 1 and no row after it")
    rows, cells = zip(*numbered, strict=True)
    raw = dict(zip(records.names, zip(*cells, strict=True), strict=True))
    return table_of_cells(path, raw, rows, records.delimiter, records.notes)


def text_of(cell: Any) -> str:
    """A value as the text of a cell of a CSV file: dates are written as 2024-12-31, without the time at midnight."""
    if cell is None or cell != cell:
        return ""
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat()).replace("T", " ").removesuffix(" 00:00:00")
    return " ".join(str(cell).split())


def table_of_cells(
    path: Path,
    raw: Mapping[str, Sequence[str]],
    rows: Sequence[int],
    delimiter: str,
    file_notes: Sequence[str] = (),
) -> CsvTable:
    """A table from the cells of a file.

    Parameters
    ----------
    path : the file
    raw : dict from the names of the columns to their cells
    rows : the numbers of the rows, as a spreadsheet program shows them
    delimiter : the character between cells
    file_notes : remarks on the file, to which those on its numbers are added
    """
    columns, numerals, notes = plainly(raw, delimiter, is_missing)
    notes = [*file_notes, *notes]
    if delimiter != ",":
        notes = [f"cells are separated by {DELIMITERS[delimiter]}", *notes]
    return CsvTable(
        str(path),
        {name: Column(str(path), name, column, rows) for name, column in columns.items()},
        f"{path}: {'; '.join(notes)}" if notes else "",
        numerals=numerals,
        raw=raw,
        delimiter=delimiter,
    )


def read_target(table: CsvTable, target: str, task: Task | None) -> tuple[Array, Task, list[Column]]:
    """The target, its task, and the columns to learn from.

    ValueError where there is no such target or no feature, or the target has a missing cell or does not fit the task.
    """
    column = table.column(target)
    if len(column.cells) < 2:
        raise ValueError(f"{table.file} has 1 row after the names, and learning needs several")
    y, decided = decide(column, task)
    if decided == "classification" and len(np.unique(y)) < 2:
        raise ValueError(f"{table.file}: column {target!r} holds one class only, {y[0]}")
    if decided == "classification" and len(np.unique(y)) == len(y) > 2:
        raise ValueError(
            f"{table.file}: each row has a class of its own in column {target!r}; if it names the rows, give another "
            "--target, and if it holds numbers, --task regression"
        )
    if decided == "regression" and (y == y[0]).all():
        raise ValueError(f"{table.file}: column {target!r} holds one value only, {y[0]:g}; there is nothing to learn")
    columns = [table.columns[name] for name in table.features if name != target]
    if not columns:
        raise ValueError(f"{table.file} has no feature columns beside {target!r}")
    return y, decided, columns
