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
_NAMED_SAMPLES = 3  # samples that are not in all files, of which a note or a page names so many


@dataclass(frozen=True)
class MatchedFile:
    """How the rows of one file were matched with those of the others.

    Parameters
    ----------
    rows : int, that the file has
    unnamed : int, of these without a name, which are left out
    unmatched : int, of these that are not in all files
    examples : tuple of str, the names of some of these
    lacking : int, the samples that the file lacks
    """

    rows: int
    unnamed: int
    unmatched: int
    examples: tuple[str, ...]
    lacking: int


@dataclass(frozen=True)
class Matched:
    """Which rows of several files are of the same samples.

    Parameters
    ----------
    key : str, the column that names the rows
    names : tuple of str, its cells, one for each sample
    places : dict, for each view the row of each sample in its file; -1 where the file lacks it
    note : str, how many were matched and left out
    in_all : int, the samples that are in all files
    files : dict, for each view what became of its rows; empty for a single file
    """

    key: str
    names: tuple[str, ...]
    places: Mapping[str, Sequence[int]]
    note: str
    in_all: int = 0
    files: Mapping[str, MatchedFile] = field(default_factory=dict)

    def cells(self, view: str, cells: Sequence[str]) -> list[str]:
        """The cells of a column of a view, one for each sample."""
        return ["" if place < 0 else cells[place] for place in self.places[view]]


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
    keep : whether samples that some file lacks are kept, else they are left out
    of_first : whether samples that the first file lacks are left out in any case, since it has the target

    Raises
    ------
    ValueError : where no column names the rows of all files, or none of its cells is in all of them; where samples are
        kept, none is in two of them
    """
    key = key or _key(files)
    for view, columns in files.items():
        if key not in columns:
            raise ValueError(f"{view} has no column {key!r}; name a column that every file has, which names its rows.")
    places: dict[str, dict[str, int]] = {}
    for view, columns in files.items():
        found = _places(columns[key])
        if found is None:
            twice = next(cell for cell, count in Counter(columns[key]).items() if count > 1 and not is_missing(cell))
            raise ValueError(
                f"In {view}, cells of {key!r} occur twice, such as {twice!r}; match by a column that names each row "
                "once."
            )
        places[view] = found
    every = list(dict.fromkeys(name for own in places.values() for name in own))
    common = [name for name in every if all(name in own for own in places.values())]
    met = len(every) < sum(map(len, places.values()))  # some sample is in two files
    if not (common or (keep and met)):
        where = "two files" if keep and len(files) > 2 else "all files"
        raise ValueError(f"No cell of {key!r} occurs in {where}; match by another column{_apart(places)}.")
    names = common
    if keep:
        names = list(next(iter(places.values()))) if of_first else every
    unnamed = sum(len(columns[key]) - len(places[view]) for view, columns in files.items())
    kept = frozenset(common)
    return Matched(
        key,
        tuple(names),
        {view: [own.get(name, -1) for name in names] for view, own in places.items()},
        _note(key, places, common, names, every, unnamed),
        len(common),
        {view: _matched_file(len(columns[key]), places[view], kept, names) for view, columns in files.items()},
    )


def _apart(places: Mapping[str, Mapping[str, int]]) -> str:
    """Which file has no row of any other, and what its rows are called; "" where there is none, or several."""
    alone = []
    for view, names in places.items():
        others = [each for each in places.values() if each is not names]
        if not any(name in other for other in others for name in names):
            alone.append(view)
    if not alone or len(alone) == len(places) > 2:
        return ""
    view = alone[-1]
    other = next(each for each in places if each != view)
    here, there = (", ".join(map(repr, list(places[each])[:2])) or "no names" for each in (view, other))
    return f", correct the names, or leave {view} out, which has {here} where {other} has {there}"


def _matched_file(rows: int, own: Mapping[str, int], common: frozenset[str], names: Sequence[str]) -> MatchedFile:
    """What became of the rows of a file.

    Parameters
    ----------
    rows : how many it has
    own : its named rows
    common : the names that are in all files
    names : the samples
    """
    unmatched = [name for name in own if name not in common]
    return MatchedFile(
        rows=rows,
        unnamed=rows - len(own),
        unmatched=len(unmatched),
        examples=tuple(unmatched[:_NAMED_SAMPLES]),
        lacking=sum(name not in own for name in names),
    )


def _places(cells: Sequence[str]) -> dict[str, int] | None:
    """The row of each name; None where one occurs twice. Rows without a name are left out."""
    named = [(cell, i) for i, cell in enumerate(cells) if not is_missing(cell)]
    found = dict(named)
    if len(found) == len(named):
        return found
    return None


def _key(files: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """The column that names each row of all files once, of several the one that matches most rows.

    ValueError where there is none, or two match different rows.
    """
    first, *others = files.values()
    shared = [name for name in first if all(name in columns for columns in others)]
    matches: dict[str, frozenset[tuple[int, ...]]] = {}
    for name in shared:
        places = [_places(columns[name]) for columns in files.values()]
        known = [own for own in places if own]
        if len(known) < len(places):
            continue
        rows = frozenset(tuple(own[cell] for own in known) for cell in known[0] if all(cell in own for own in known))
        if rows:
            matches[name] = rows
    if not matches and len(shared) == 1:  # ``matched`` says what is wrong with it
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
    """The one file that lacks the column by which the others are matched, and this column; None where others do."""
    if len(files) < 3:
        return None
    for view, columns in files.items():
        others = [each for each in files.values() if each is not columns]
        shared = [name for name in others[0] if name not in columns and all(name in each for each in others)]
        for name in shared:
            if all(_places(each[name]) for each in others):
                return view, name
    return None


def _note(
    key: str,
    places: Mapping[str, Mapping[str, int]],
    common: Sequence[str],
    names: Sequence[str],
    every: Sequence[str],
    unnamed: int,
) -> str:
    kept = frozenset(common)
    chosen = frozenset(names)
    note = f"matched by {key!r}: {len(common)} {_rows(len(common))} in all {len(places)} files"
    lost = [name for name in every if name not in chosen]
    if chosen - kept:
        lacking = {view: sum(name not in own for name in names) for view, own in places.items()}
        note += "".join(f", {n} of {len(names)} {_lack(n)} {view}" for view, n in lacking.items() if n)
    if lost:
        some = ", ".join(lost[:_NAMED_SAMPLES])
        if len(lost) > _NAMED_SAMPLES:
            some += f" and {len(lost) - _NAMED_SAMPLES} more"
        note += f", {len(lost)} {_were(len(lost))} left out ({some})"
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
    """The columns of a view by their names beside those of other views; the column that names the rows is left out."""
    return {f"{view}: {name}": name for name in names if name != key}


def split(frame: pd.DataFrame, views: Mapping[str, Mapping[str, str]]) -> dict[str, pd.DataFrame]:
    """The views of a frame of all of them.

    Parameters
    ----------
    frame : the samples
    views : for each view its columns in the frame, and their names in the view
    """
    return {view: frame[list(own)].rename(columns=dict(own)) for view, own in views.items()}


def some_samples(X: Any, rows: Array) -> Any:
    """Some samples of a frame, or of ``multikernel.views``."""
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
    words : files, whose views have their names, or NAME=FILE

    Raises
    ------
    ValueError : where two views have one name, or one has none
    """
    found: dict[str, Path] = {}
    for word in words:
        name, sign, file = word.partition("=")
        if not sign or Path(word).exists():
            name, file = view_name(word), word
        if not name or not file:
            raise ValueError(f"{word!r} is no view; write a file, or NAME=FILE")
        if name in found:
            raise ValueError(f"the view {name!r} is given twice, by {found[name]} and {file}; write NAME=FILE for one")
        found[name] = Path(file)
    return found


@dataclass(frozen=True)
class ViewTables:
    """The tables of several files.

    Parameters
    ----------
    parts : dict of CsvTable, by view
    key : the column that names the rows; "" to find it
    keep, of_first : as ``matched`` takes them
    """

    parts: Mapping[str, CsvTable]
    key: str = ""
    keep: bool = False
    of_first: bool = False

    @classmethod
    def read(cls, files: Mapping[str, Path], key: str, *, keep: bool, of_first: bool, sheet: str = "") -> ViewTables:
        """From files, CSV (compressed, too), Parquet or a sheet of Excel."""
        return cls({view: read_file(path, sheet) for view, path in files.items()}, key, keep, of_first)

    def written_as(self, stored: Mapping[str, Sequence[str]]) -> ViewTables:
        """The tables with columns that can be read in two ways read as those of training were."""
        parts = {}
        for view, part in self.parts.items():
            own = full_names(view, part.columns, self.key)
            parts[view] = part.written_as({name: stored[full] for full, name in own.items() if full in stored})
        return replace(self, parts=parts)

    def joined(self) -> CsvTable:
        """One table of all columns; a single file needs no column that names its rows."""
        file = " + ".join(part.file for part in self.parts.values())
        match = self._match()
        columns: dict[str, Column] = {}
        if match.key:
            columns[match.key] = Column(file, match.key, match.names, range(1, 1 + len(match.names)))
        numerals: dict[str, Numerals] = {}
        views: dict[str, View] = {}
        for view, part in self.parts.items():
            places = match.places[view]
            own = full_names(view, part.columns, match.key)
            for full, name in own.items():
                column = part.columns[name]
                rows = [0 if place < 0 else column.rows[place] for place in places]
                columns[full] = Column(part.file, full, match.cells(view, column.cells), rows)
            numerals |= {full: part.numerals[name] for full, name in own.items() if name in part.numerals}
            views[view] = View(own, frozenset(i for i, place in enumerate(places) if place < 0))
        hidden = [full for view in views.values() for full, name in view.columns.items() if name.startswith("_")]
        return CsvTable(
            file,
            columns,
            "\n".join(filter(None, [match.note, *(part.note for part in self.parts.values())])),
            unused=frozenset([match.key, *hidden]),
            numerals=numerals,
            views=views,
            key=match.key,
            tables=self,
        )

    def _match(self) -> Matched:
        cells = {view: {name: c.cells for name, c in part.columns.items()} for view, part in self.parts.items()}
        if len(cells) > 1:
            return matched(cells, self.key, keep=self.keep, of_first=self.of_first)
        view, columns = next(iter(cells.items()))
        return Matched("", (), {view: range(len(next(iter(columns.values()))))}, "")


def target_of(table: CsvTable, target: str) -> str:
    """The name of the target's column, which the first of several files has.

    Parameters
    ----------
    table : the table, or the joined one
    target : the name, with that of the view or without

    Raises
    ------
    ValueError : where the target is the key, or is in another file, from which it would be learned
    """
    if not table.views:
        return target
    if target == table.key:
        raise ValueError(f"{target!r} is the key, which names the rows; give another --target")
    first, *others = table.views
    bare = target.removeprefix(f"{first}: ")
    elsewhere = [f"{view}: {bare}" for view in others if f"{view}: {bare}" in table.columns]
    if f"{first}: {bare}" not in table.columns:
        if elsewhere or target in table.columns:
            view = next(view for view in others if {target, f"{view}: {bare}"} & table.views[view].columns.keys())
            raise ValueError(
                f"the target {target!r} is in the view {view!r}; give its file first, and others by --view"
            )
        return target
    for full in elsewhere:
        if full in table.features:
            raise ValueError(
                f"the target {bare!r} is learned from as {full!r}, too; leave it out by --leave-out {full!r}"
            )
    return f"{first}: {bare}"
