"""Several files of the same samples, matched by a column that names the rows: each file is a view.

The columns of a view are called "view: column". A cell of a sample that a file lacks is empty; a sample all of whose
cells of a view are missing lacks that view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multikernel.app.tables.files import read_file
from multikernel.app.tables.table import CsvTable, View, listed
from multikernel.datasets import Column
from multikernel.streams import is_missing
from multikernel.tables import Numerals
from multikernel.typing import Array

if TYPE_CHECKING:
    import pandas as pd

_ENDINGS = (".gz", ".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".parquet")
_NAMED_SAMPLES = 3  # names of samples that are not in all files, which a note or a page shows


@dataclass(frozen=True)
class MatchedFile:
    """How the rows of one file were matched with those of the other files.

    Parameters
    ----------
    rows : int, the number of rows of the file
    unnamed : int, the rows without a name, which are left out
    unmatched : int, the rows whose name is not in all files
    examples : tuple of str, some of the names that are not in all files
    lacking : int, the number of samples that the file does not contain
    """

    rows: int
    unnamed: int
    unmatched: int
    examples: tuple[str, ...]
    lacking: int


@dataclass(frozen=True)
class Matched:
    """The rows of several files that belong to the same samples.

    Parameters
    ----------
    key : str, the column that names the rows
    names : tuple of str, the cell of this column for each sample
    rows : dict, for each view the row of each sample in its file; -1 where the file does not contain the sample
    note : str, how many samples were matched and left out
    in_all : int, the number of samples that are in all files
    files : dict, for each view how its rows were matched; empty for a single file
    """

    key: str
    names: tuple[str, ...]
    rows: Mapping[str, Sequence[int]]
    note: str
    in_all: int = 0
    files: Mapping[str, MatchedFile] = field(default_factory=dict)

    def cells(self, view: str, cells: Sequence[str]) -> list[str]:
        """The cells of a column of a view, one for each sample."""
        return ["" if row < 0 else cells[row] for row in self.rows[view]]


def matched(
    files: Mapping[str, Mapping[str, Sequence[str]]],
    key: str = "",
    *,
    keep: bool = False,
    of_first: bool = False,
) -> Matched:
    """The samples of several files, in the order of the first.

    Parameters
    ----------
    files : for each view the cells of its columns
    key : the column that names the rows; "" to find it
    keep : whether samples that are not in all files are kept; otherwise they are left out
    of_first : whether samples that are not in the first file, which has the target, are left out in any case

    Raises
    ------
    ValueError : where no column names the rows of all files; or where no sample is in all files, and either ``keep`` is
        false or no sample is in two files
    """
    key = key or _key(files)
    for view, columns in files.items():
        if key not in columns:
            raise ValueError(f"{view} has no column {key!r}; name a column that every file has, which names its rows.")
    rows_by_view: dict[str, dict[str, int]] = {}
    for view, columns in files.items():
        rows_by_name = _rows_of_names(columns[key])
        if rows_by_name is None:
            repeated = next(cell for cell, count in Counter(columns[key]).items() if count > 1 and not is_missing(cell))
            raise ValueError(
                f"In {view}, cells of {key!r} occur twice, such as {repeated!r}; match by a column that names each row "
                "once."
            )
        rows_by_view[view] = rows_by_name
    all_names = list(dict.fromkeys(name for rows_by_name in rows_by_view.values() for name in rows_by_name))
    common = [name for name in all_names if all(name in rows_by_name for rows_by_name in rows_by_view.values())]
    overlap = len(all_names) < sum(map(len, rows_by_view.values()))  # some sample is in two files
    if not (common or (keep and overlap)):
        file_words = "two files" if keep and len(files) > 2 else "all files"
        raise ValueError(
            f"No cell of {key!r} occurs in {file_words}; match by another column{_correction(rows_by_view)}."
        )
    names = common
    if keep:
        names = list(next(iter(rows_by_view.values()))) if of_first else all_names
    unnamed = sum(len(columns[key]) - len(rows_by_view[view]) for view, columns in files.items())
    common_names = frozenset(common)
    return Matched(
        key,
        tuple(names),
        {view: [rows_by_name.get(name, -1) for name in names] for view, rows_by_name in rows_by_view.items()},
        _note(key, rows_by_view, common, names, all_names, unnamed),
        len(common),
        {
            view: _matched_file(len(columns[key]), rows_by_view[view], common_names, names)
            for view, columns in files.items()
        },
    )


def _correction(rows_by_view: Mapping[str, Mapping[str, int]]) -> str:
    """Advice on the one file that shares no name with any other, with examples of names; "" where there is none.

    There is no advice either where several files share no name with any other, unless there are only two files.
    """
    alone = []
    for view, names in rows_by_view.items():
        other_files = [rows_by_name for rows_by_name in rows_by_view.values() if rows_by_name is not names]
        if not any(name in rows_by_name for rows_by_name in other_files for name in names):
            alone.append(view)
    if not alone or len(alone) == len(rows_by_view) > 2:
        return ""
    view = alone[-1]
    other_view = next(name for name in rows_by_view if name != view)
    examples, other_examples = (
        ", ".join(map(repr, list(rows_by_view[file])[:2])) or "no names" for file in (view, other_view)
    )
    return f", correct the names, or leave {view} out, which has {examples} where {other_view} has {other_examples}"


def _matched_file(
    rows: int, rows_by_name: Mapping[str, int], common: frozenset[str], names: Sequence[str]
) -> MatchedFile:
    """How the rows of a file were matched.

    Parameters
    ----------
    rows : the number of its rows
    rows_by_name : its rows that have a name
    common : the names that are in all files
    names : of the samples
    """
    unmatched = [name for name in rows_by_name if name not in common]
    return MatchedFile(
        rows=rows,
        unnamed=rows - len(rows_by_name),
        unmatched=len(unmatched),
        examples=tuple(unmatched[:_NAMED_SAMPLES]),
        lacking=sum(name not in rows_by_name for name in names),
    )


def _rows_of_names(cells: Sequence[str]) -> dict[str, int] | None:
    """The row of each name; None where a name occurs twice. Rows without a name are left out."""
    named_cells = [(cell, i) for i, cell in enumerate(cells) if not is_missing(cell)]
    rows_by_name = dict(named_cells)
    if len(rows_by_name) == len(named_cells):
        return rows_by_name
    return None


def _key(files: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """The column in which no name occurs twice in any file; of several such columns the one that matches most rows.

    ValueError where there is none, or where two such columns match the rows differently.
    """
    first, *other_files = files.values()
    shared = [name for name in first if all(name in columns for columns in other_files)]
    matches: dict[str, frozenset[tuple[int, ...]]] = {}
    for name in shared:
        rows_of_files = [_rows_of_names(columns[name]) for columns in files.values()]
        usable = [rows_by_name for rows_by_name in rows_of_files if rows_by_name]
        if len(usable) < len(rows_of_files):
            continue
        rows = frozenset(
            tuple(rows_by_name[cell] for rows_by_name in usable)
            for cell in usable[0]
            if all(cell in rows_by_name for rows_by_name in usable)
        )
        if rows:
            matches[name] = rows
    if not matches and len(shared) == 1:  # ``matched`` raises the error that says what is wrong with it
        return shared[0]
    if not matches:
        without = _without_key(files)
        column = "a patient's number, to every file"
        if without:
            column = f"{without[1]!r}, to {without[0]}"
        raise ValueError(
            "The files share no column that names each of their rows once, so rows cannot be matched; add one, such as "
            f"{column}."
        )
    key = max(matches, key=lambda name: len(matches[name]))
    if not all(rows <= matches[key] for rows in matches.values()):
        raise ValueError(
            f"The columns {listed(list(map(repr, matches)))} each name the rows of all files, and match them "
            "differently; say which is the key."
        )
    return key


def _without_key(files: Mapping[str, Mapping[str, Sequence[str]]]) -> tuple[str, str] | None:
    """The file that lacks the column by which all others can be matched, and this column; None where there is none."""
    if len(files) < 3:
        return None
    for view, columns in files.items():
        other_files = [file_columns for file_columns in files.values() if file_columns is not columns]
        shared = [
            name
            for name in other_files[0]
            if name not in columns and all(name in file_columns for file_columns in other_files)
        ]
        for name in shared:
            if all(_rows_of_names(file_columns[name]) for file_columns in other_files):
                return view, name
    return None


def _note(
    key: str,
    rows_by_view: Mapping[str, Mapping[str, int]],
    common: Sequence[str],
    names: Sequence[str],
    all_names: Sequence[str],
    unnamed: int,
) -> str:
    common_names = frozenset(common)
    chosen = frozenset(names)
    note = f"matched by {key!r}: {len(common)} {_rows(len(common))} in all {len(rows_by_view)} files"
    left_out = [name for name in all_names if name not in chosen]
    if chosen - common_names:
        lacking = {view: sum(name not in rows_by_name for name in names) for view, rows_by_name in rows_by_view.items()}
        note += "".join(f", {n} of {len(names)} {_lack(n)} {view}" for view, n in lacking.items() if n)
    if left_out:
        examples = ", ".join(left_out[:_NAMED_SAMPLES])
        if len(left_out) > _NAMED_SAMPLES:
            examples += f" and {len(left_out) - _NAMED_SAMPLES} more"
        note += f", {len(left_out)} {_were(len(left_out))} left out ({examples})"
    if unnamed:
        note += f", {unnamed} without a name {_were(unnamed)} left out"
    return note


def _rows(n: int) -> str:
    if n == 1:
        return "row is"
    return "rows are"


def _were(n: int) -> str:
    if n == 1:
        return "was"
    return "were"


def _lack(n: int) -> str:
    if n == 1:
        return "lacks"
    return "lack"


def full_names(view: str, names: Iterable[str], key: str) -> dict[str, str]:
    """From the full names of the columns of a view, "view: column", to the columns; without the key."""
    return {f"{view}: {name}": name for name in names if name != key}


def split(frame: pd.DataFrame, views: Mapping[str, Mapping[str, str]]) -> dict[str, pd.DataFrame]:
    """The frame of each view, from a frame that has the columns of all views.

    Parameters
    ----------
    frame : the samples
    views : for each view its columns: from their names in the frame to their names in the view
    """
    return {view: frame[list(columns)].rename(columns=dict(columns)) for view, columns in views.items()}


def some_samples(X: Any, rows: Array) -> Any:
    """The samples ``rows`` of a data frame or of ``multikernel.views``."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows]


def view_name(file: str) -> str:
    """The name of a file without folders and endings."""
    name = file.replace("\\", "/").rpartition("/")[2]
    for ending in _ENDINGS:
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return name


def files_by_view(words: Sequence[str]) -> dict[str, Path]:
    """The file of each view.

    Parameters
    ----------
    words : NAME=FILE, or FILE, where the view has the name of the file

    Raises
    ------
    ValueError : where two views have the same name, or a view has none
    """
    files: dict[str, Path] = {}
    for word in words:
        name, sign, file = word.partition("=")
        if not sign or Path(word).exists():
            name, file = view_name(word), word
        if not name or not file:
            raise ValueError(f"{word!r} is no view; write a file, or NAME=FILE")
        if name in files:
            raise ValueError(f"the view {name!r} is given twice, by {files[name]} and {file}; write NAME=FILE for one")
        files[name] = Path(file)
    return files


@dataclass(frozen=True)
class ViewTables:
    """The tables of several files.

    Parameters
    ----------
    by_view : dict of CsvTable, by view
    key : the column that names the rows; "" to find it
    keep, of_first : as ``matched`` takes them
    """

    by_view: Mapping[str, CsvTable]
    key: str = ""
    keep: bool = False
    of_first: bool = False

    @classmethod
    def read(cls, files: Mapping[str, Path], key: str, *, keep: bool, of_first: bool, sheet: str = "") -> ViewTables:
        """From files, CSV (compressed, too), Parquet or a sheet of Excel."""
        return cls({view: read_file(path, sheet) for view, path in files.items()}, key, keep, of_first)

    def written_as(self, stored: Mapping[str, Sequence[str]]) -> ViewTables:
        """The tables where columns that can be read in two ways are read as in training."""
        tables = {}
        for view, table in self.by_view.items():
            names = full_names(view, table.columns, self.key)
            tables[view] = table.written_as({name: stored[full] for full, name in names.items() if full in stored})
        return replace(self, by_view=tables)

    def joined(self) -> CsvTable:
        """One table with the columns of all files; a single file needs no column that names its rows."""
        file = " + ".join(table.file for table in self.by_view.values())
        match = self._match()
        columns: dict[str, Column] = {}
        if match.key:
            columns[match.key] = Column(file, match.key, match.names, range(1, 1 + len(match.names)))
        numerals: dict[str, Numerals] = {}
        views: dict[str, View] = {}
        for view, table in self.by_view.items():
            rows_of_samples = match.rows[view]
            names = full_names(view, table.columns, match.key)
            for full, name in names.items():
                column = table.columns[name]
                rows = [0 if row < 0 else column.rows[row] for row in rows_of_samples]
                columns[full] = Column(table.file, full, match.cells(view, column.cells), rows)
            numerals |= {full: table.numerals[name] for full, name in names.items() if name in table.numerals}
            views[view] = View(names, frozenset(i for i, row in enumerate(rows_of_samples) if row < 0))
        hidden_columns = [
            full for view in views.values() for full, name in view.columns.items() if name.startswith("_")
        ]
        return CsvTable(
            file,
            columns,
            "\n".join(filter(None, [match.note, *(table.note for table in self.by_view.values())])),
            unused=frozenset([match.key, *hidden_columns]),
            numerals=numerals,
            views=views,
            key=match.key,
            tables=self,
        )

    def _match(self) -> Matched:
        cells = {
            view: {name: column.cells for name, column in table.columns.items()} for view, table in self.by_view.items()
        }
        if len(cells) > 1:
            return matched(cells, self.key, keep=self.keep, of_first=self.of_first)
        view, columns = next(iter(cells.items()))
        return Matched("", (), {view: range(len(next(iter(columns.values()))))}, "")


def target_of(table: CsvTable, target: str) -> str:
    """The full name of the target's column, which has to be in the first of several files.

    Parameters
    ----------
    table : the table, of one file or joined from several
    target : the name of the column, with or without the name of the view

    Raises
    ------
    ValueError : where the target is the key, or also a column of another file, from which it would be learned
    """
    if not table.views:
        return target
    if target == table.key:
        raise ValueError(f"{target!r} is the key, which names the rows; give another --target")
    first, *other_views = table.views
    column = target.removeprefix(f"{first}: ")
    duplicates = [f"{view}: {column}" for view in other_views if f"{view}: {column}" in table.columns]
    if f"{first}: {column}" not in table.columns:
        if duplicates or target in table.columns:
            view = next(
                view for view in other_views if {target, f"{view}: {column}"} & table.views[view].columns.keys()
            )
            raise ValueError(
                f"the target {target!r} is in the view {view!r}; give its file first, and others by --view"
            )
        return target
    for full in duplicates:
        if full in table.features:
            raise ValueError(
                f"the target {column!r} is learned from as {full!r}, too; leave it out by --leave-out {full!r}"
            )
    return f"{first}: {column}"
