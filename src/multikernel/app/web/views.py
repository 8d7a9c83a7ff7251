"""Several uploaded files as views of the same samples, matched as by the command line (tables/views.py).

Samples that are missing in some file are kept in the table; each run decides whether it learns from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from multikernel.app.tables.table import listed
from multikernel.app.tables.views import full_names, matched


@dataclass(frozen=True)
class UploadedFile:
    """The cells of one file.

    Parameters
    ----------
    name : str, the name of the file without its ending
    columns : dict of lists of strings, "" where a cell is missing
    note : str, remarks about the file
    written : dict from columns of numbers to the decimal mark and the unit
    """

    name: str
    columns: dict[str, list[str]]
    note: str = ""
    written: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class JoinedFiles:
    """The table of one or several files.

    Parameters
    ----------
    columns : dict of lists of strings, "" where a cell is missing or a file lacks the sample
    views : dict from views to their columns; empty where there is a single file
    note : str, remarks about the files
    match : dict, how the rows of several files were matched; empty where there is a single file
    written : dict from columns of numbers to the decimal mark and the unit
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
        """From the full names of the columns of each view; None where there are fewer than two views."""
        if len(views) < 2:
            return None
        return cls(
            {view: [name.removeprefix(f"{view}: ") for name in view_columns] for view, view_columns in views.items()},
            key,
        )

    def by_view(self, files: Sequence[UploadedFile]) -> dict[str, UploadedFile]:
        """The files by view, recognised by their names, or else by their columns.

        ValueError where a file belongs to no view, or two files to the same view.
        """
        files_by_view: dict[str, UploadedFile] = {}
        for file in files:
            matching_views = [view for view, names in self.columns.items() if set(names) <= file.columns.keys()]
            if file.name in self.columns or len(matching_views) != 1:
                view = file.name
            else:
                view = matching_views[0]
            if view not in self.columns:
                raise ValueError(
                    f"{file.name} is none of the views that the model learned from, {listed(list(self.columns))}; name "
                    "each file as its view, or give one with all columns of one view."
                )
            if view in files_by_view:
                raise ValueError(f"Two files hold the view {view!r}; give one file for each.")
            files_by_view[view] = file
        return files_by_view


def in_each_file(written: Mapping[str, Sequence[str]], views: Mapping[str, Iterable[str]]) -> dict[str, Sequence[str]]:
    """How the numbers of columns are written, by the full names of the columns and by their names in files of views.

    Parameters
    ----------
    written : the same by the full names
    views : for each view the full names of its columns
    """
    full_name_of = {
        name.removeprefix(f"{view}: "): name
        for view, view_columns in views.items()
        for name in view_columns
        if name in written
    }
    return {name: written[full] for name, full in full_name_of.items()} | dict(written)


def join_files(files: Sequence[UploadedFile], key: str) -> JoinedFiles:
    """The table of all files; ValueError where no column names the rows of all files.

    Parameters
    ----------
    files : the files
    key : the column that names the rows; "" to find it
    """
    if len(files) == 1:
        return JoinedFiles(files[0].columns, {}, files[0].note, {}, files[0].written)
    named: dict[str, UploadedFile] = {}
    for file in files:
        name = file.name
        if name in named:
            name = f"{name} {len(named) + 1}"
        named[name] = file
    return _join_by_key(named, key)


def join_by_model(model: ViewsOfModel, files: Sequence[UploadedFile]) -> JoinedFiles:
    """New samples, from files of some views of a model or from one table of all views.

    ValueError where a file belongs to no view, or no column names the rows of all files.

    Parameters
    ----------
    model : the views of the model
    files : the files
    """
    first = files[0]
    model_columns = {f"{view}: {name}" for view, names in model.columns.items() for name in names}
    if len(files) == 1 and model_columns & first.columns.keys():
        return join_files(files, "")
    named = model.by_view(files)
    if len(named) > 1:
        in_all = all(model.key in file.columns for file in files)
        return _join_by_key(named, model.key if in_all else "")
    names_in_file = full_names(next(iter(named)), first.columns, model.key)
    if model.key in first.columns:
        names = {model.key: first.columns[model.key]}
    else:
        names = {}
    columns = names | {full_name: first.columns[name] for full_name, name in names_in_file.items()}
    return JoinedFiles(columns, {}, first.note, {}, {})


def _join_by_key(named: Mapping[str, UploadedFile], key: str) -> JoinedFiles:
    """The table of several files, with the samples of all of them."""
    matched_files = matched({view: file.columns for view, file in named.items()}, key, keep=True)
    columns = {matched_files.key: list(matched_files.names)}
    views: dict[str, list[str]] = {}
    written: dict[str, list[str]] = {}
    for view, file in named.items():
        names_in_file = full_names(view, file.columns, matched_files.key)
        columns |= {
            full_name: matched_files.cells(view, file.columns[name]) for full_name, name in names_in_file.items()
        }
        written |= {full_name: file.written[name] for full_name, name in names_in_file.items() if name in file.written}
        views[view] = list(names_in_file)
    file_reports = {view: asdict(matched_file) for view, matched_file in matched_files.files.items()}
    match = {
        "key": matched_files.key,
        "samples": len(matched_files.names),
        "in_all": matched_files.in_all,
        "files": file_reports,
    }
    note = "; ".join(filter(None, (file.note for file in named.values())))
    return JoinedFiles(columns, views, note, match, written)
