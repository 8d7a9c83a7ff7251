"""Several uploaded files as views of the same samples, matched as the command line does (tables/views.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from multikernel.app.tables.views import full_names, matched


@dataclass(frozen=True)
class UploadedPart:
    """The cells of one file.

    Parameters
    ----------
    name : str, that of the file without its ending
    columns : dict of lists of strings, "" where a cell is missing
    note : str, what was unusual about the file
    """

    name: str
    columns: dict[str, list[str]]
    note: str = ""

    @property
    def n(self) -> int:
        """Rows."""
        return len(next(iter(self.columns.values())))


def joined(parts: Sequence[UploadedPart], key: str) -> tuple[dict[str, list[str]], dict[str, list[str]], str]:
    """The columns of all files, those of each view, and a note; ValueError where no column names the rows of all.

    Parameters
    ----------
    parts : the files
    key : the column that names the rows; "" to find it
    """
    if len(parts) == 1:
        return parts[0].columns, {}, parts[0].note
    named: dict[str, UploadedPart] = {}
    for part in parts:
        named[part.name if part.name not in named else f"{part.name} {len(named) + 1}"] = part
    found = matched({view: part.columns for view, part in named.items()}, key)
    columns = {found.key: list(found.names)}
    views: dict[str, list[str]] = {}
    for view, part in named.items():
        own = full_names(view, part.columns, found.key)
        columns |= {full: found.cells(view, part.columns[name]) for full, name in own.items()}
        views[view] = list(own)
    return columns, views, "; ".join(filter(None, [found.note, *(part.note for part in parts)]))
