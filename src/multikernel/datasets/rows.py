"""The rows of a CSV text with names in its first row."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

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


def check_header(file: object, header: Sequence[str]) -> None:
    """ValueError where the name of a column is empty or occurs twice."""
    seen: set[str] = set()
    for j, name in enumerate(header):
        if not name:
            raise ValueError(f"{file}: row 1, column {j + 1}: the column has no name")
        if name in seen:
            raise ValueError(f"{file}: row 1, column {j + 1}: the name {name!r} occurs twice")
        seen.add(name)
