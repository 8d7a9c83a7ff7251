"""Several files as views of the same samples, matched by a column that names the rows.

The columns of a view are called "view: column".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
    key = key or _key(parts)
    if any(key not in part.columns for part in parts):
        lacking = next(part.name for part in parts if key not in part.columns)
        raise ValueError(f"{lacking} has no column {key!r}; name a column that every file has, which names its rows.")
    places = [{cell: i for i, cell in enumerate(part.columns[key])} for part in parts]
    for part, place in zip(parts, places, strict=True):
        if len(place) < part.n:
            raise ValueError(
                f"In {part.name}, cells of {key!r} occur twice; match by a column that names each row once."
            )
    rows = [cell for cell in parts[0].columns[key] if cell and all(cell in place for place in places)]
    if not rows:
        raise ValueError(f"No cell of {key!r} occurs in all files; match by another column.")
    columns: dict[str, list[str]] = {key: rows}
    views: dict[str, list[str]] = {}
    for part, place in zip(parts, places, strict=True):
        view = part.name if part.name not in views else f"{part.name} {len(views) + 1}"
        own = {
            f"{view}: {name}": [cells[place[cell]] for cell in rows]
            for name, cells in part.columns.items()
            if name != key
        }
        columns |= own
        views[view] = list(own)
    lost = sum(part.n for part in parts) - len(rows) * len(parts)
    note = f"matched by {key!r}: {len(rows)} rows are in all {len(parts)} files" + (
        f", {lost} were left out" if lost else ""
    )
    return columns, views, "; ".join(filter(None, [note, *(part.note for part in parts)]))


def _key(parts: Sequence[UploadedPart]) -> str:
    """The first column of all files that names each row once."""
    for name, cells in parts[0].columns.items():
        if all(name in part.columns for part in parts) and len(set(cells)) == len(cells):
            return name
    raise ValueError(
        "The files share no column that names each of their rows once, so rows cannot be matched; add one, such as a "
        "patient's number, to every file."
    )
