"""Several uploaded files as views of the same samples, matched as the command line does (tables/views.py).

Samples that some file lacks are kept in the table; each run states whether they are learned from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from multikernel.app.tables.table import listed
from multikernel.app.tables.views import full_names, matched


@dataclass(frozen=True)
class UploadedPart:
    """The cells of one file.

    Parameters
    ----------
    name : str, that of the file without its ending
    columns : dict of lists of strings, "" where a cell is missing
    note : str, what was unusual about the file
    written : dict from columns of numbers to the mark before decimals and the unit
    """

    name: str
    columns: dict[str, list[str]]
    note: str = ""
    written: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class JoinedParts:
    """The table of one or several files.

    Parameters
    ----------
    columns : dict of lists of strings, "" where a cell is missing or a file lacks the sample
    views : dict from views to their columns; empty where there is one
    note : str, what was unusual about the files
    match : dict, how the rows of several files were matched; empty where there is one
    written : dict from columns of numbers to the mark before decimals and the unit
    """

    columns: dict[str, list[str]]
    views: dict[str, list[str]]
    note: str
    match: dict[str, Any]
    written: dict[str, list[str]]


@dataclass(frozen=True)
class ViewsOfModel:
    """The views that a model learned from, by which new files are recognised.

    Parameters
    ----------
    columns : dict from the views to their columns, without the names of the views
    key : str, the column that named the rows
    """

    columns: Mapping[str, Sequence[str]]
    key: str

    @classmethod
    def of(cls, views: Mapping[str, Iterable[str]], key: str) -> Self | None:
        """From the columns of each view by their full names; None where there are no several views."""
        if len(views) < 2:
            return None
        return cls({view: [name.removeprefix(f"{view}: ") for name in own] for view, own in views.items()}, key)

    def named(self, parts: Sequence[UploadedPart]) -> dict[str, UploadedPart]:
        """The files by view: by their names, or else by their columns.

        ValueError where a file is none of the views, or two are one.
        """
        found: dict[str, UploadedPart] = {}
        for part in parts:
            like = [view for view, names in self.columns.items() if set(names) <= part.columns.keys()]
            if part.name in self.columns or len(like) != 1:
                view = part.name
            else:
                view = like[0]
            if view not in self.columns:
                raise ValueError(
                    f"{part.name} is none of the views that the model learned from, {listed(list(self.columns))}; name "
                    "each file as its view, or give one with all columns of one view."
                )
            if view in found:
                raise ValueError(f"Two files hold the view {view!r}; give one file for each.")
            found[view] = part
        return found


def in_each_file(written: Mapping[str, Sequence[str]], views: Mapping[str, Iterable[str]]) -> dict[str, Sequence[str]]:
    """How the numbers of columns are written, by their full names and by those that they have in the file of a view.

    Parameters
    ----------
    written : by the full names
    views : for each view the full names of its columns
    """
    bare = {name.removeprefix(f"{view}: "): name for view, own in views.items() for name in own if name in written}
    return {name: written[full] for name, full in bare.items()} | dict(written)


def joined(parts: Sequence[UploadedPart], key: str) -> JoinedParts:
    """The columns of all files; ValueError where no column names the rows of all.

    Parameters
    ----------
    parts : the files
    key : the column that names the rows; "" to find it
    """
    if len(parts) == 1:
        return JoinedParts(parts[0].columns, {}, parts[0].note, {}, parts[0].written)
    named: dict[str, UploadedPart] = {}
    for part in parts:
        name = part.name
        if name in named:
            name = f"{name} {len(named) + 1}"
        named[name] = part
    return _matched(named, key)


def joined_as(model: ViewsOfModel, parts: Sequence[UploadedPart]) -> JoinedParts:
    """New samples, in files of some views of a model or in one table of all of them.

    ValueError where a file is none of the views, or no column names the rows of all.

    Parameters
    ----------
    model : its views
    parts : the files
    """
    first = parts[0]
    full = {f"{view}: {name}" for view, names in model.columns.items() for name in names}
    if len(parts) == 1 and full & first.columns.keys():
        return joined(parts, "")
    named = model.named(parts)
    if len(named) > 1:
        in_all = all(model.key in part.columns for part in parts)
        return _matched(named, model.key if in_all else "")
    own = full_names(next(iter(named)), first.columns, model.key)
    if model.key in first.columns:
        names = {model.key: first.columns[model.key]}
    else:
        names = {}
    columns = names | {each: first.columns[name] for each, name in own.items()}
    return JoinedParts(columns, {}, first.note, {}, {})


def _matched(named: Mapping[str, UploadedPart], key: str) -> JoinedParts:
    """Several files with all of their samples."""
    found = matched({view: part.columns for view, part in named.items()}, key, keep=True)
    columns = {found.key: list(found.names)}
    views: dict[str, list[str]] = {}
    written: dict[str, list[str]] = {}
    for view, part in named.items():
        own = full_names(view, part.columns, found.key)
        columns |= {full: found.cells(view, part.columns[name]) for full, name in own.items()}
        written |= {full: part.written[name] for full, name in own.items() if name in part.written}
        views[view] = list(own)
    files = {view: asdict(each) for view, each in found.files.items()}
    match = {"key": found.key, "samples": len(found.names), "in_all": found.in_all, "files": files}
    note = "; ".join(filter(None, (part.note for part in named.values())))
    return JoinedParts(columns, views, note, match, written)
