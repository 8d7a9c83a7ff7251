"""The rows of a CSV text with names in its first row."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from unicodedata import category

Row = tuple[int, list[str]]  # its number in the file, counted from 1, and its cells


def read_rows(text: str, file: object) -> list[Row]:
    """All rows that are not blank; ValueError where the text is not CSV or a row is not as long as the first."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    try:
        for number, cells in enumerate(reader, start=1):
            if cells:
                rows.append((number, [cell.strip() for cell in cells]))
                if len(cells) != len(rows[0][1]):
                    raise ValueError(f"{file}: row {number} has {len(cells)} cells, the header has {len(rows[0][1])}")
    except csv.Error as error:
        raise ValueError(f"{file}: line {reader.line_num} is not CSV ({error})") from None
    return rows


def plain_name(cell: str) -> str:
    """The name of a column without invisible characters: line breaks and runs of spaces become one space, and byte
    order marks, which programs write where they join files, are removed.
    """
    return " ".join(cell.replace("\ufeff", "").split())


def check_header(file: object, header: Sequence[str]) -> None:
    """ValueError where the name of a column is empty, occurs twice, or has a character that controls a terminal."""
    names_before: set[str] = set()
    for j, name in enumerate(header):
        location = f"{file}: row 1, column {j + 1}"
        if not name:
            raise ValueError(f"{location}: the column has no name; write one, or delete the column")
        if name in names_before:
            raise ValueError(f"{location}: the name {name!r:.60} occurs twice; give each column a name of its own")
        if any(category(letter) == "Cc" for letter in name):
            raise ValueError(f"{location}: the name {name!r:.60} has a control character; write it without")
        names_before.add(name)
