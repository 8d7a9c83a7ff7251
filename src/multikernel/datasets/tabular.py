"""NAME.csv.gz: names in row 1, the last is ``target``; columns whose name begins with an underscore are no features."""

from __future__ import annotations

import csv
import io

import numpy as np

from multikernel.datasets.column import Column, check_header, decide
from multikernel.datasets.dataset import Content, Task
from multikernel.datasets.feature import Feature, encode
from multikernel.datasets.source_file import SourceFile

Record = tuple[int, list[str]]  # the row in the file, counted from 1 with the header, and its cells


def read_csv(file: SourceFile, task: Task | None) -> Content:
    """The rows of a CSV file without an empty cell in features and target; ValueError names a cell that is wrong."""
    header, records = _records(file)
    _check_header(file, header)
    used = [j for j, name in enumerate(header) if not name.startswith("_")]
    kept = [record for record in records if all(record[1][j] for j in used)]
    if not kept:
        raise ValueError(f"{file}: no row without an empty cell among {len(records)} rows after the header")
    *features, target = (_column(file, header, kept, j) for j in used)
    X, names = encode([Feature.learn(column) for column in features], features)
    y, task = decide(target, task)
    split = None
    if "_split" in header:
        split = np.array(_column(file, header, kept, header.index("_split")).cells, dtype=np.str_)
    remark = _remark(header, used, records, len(kept))
    return Content(X, y, task, names, split, len(records), len(features), remark)


def _records(file: SourceFile) -> tuple[list[str], list[Record]]:
    reader = csv.reader(io.StringIO(file.text(), newline=""), strict=True)
    header: list[str] | None = None
    records: list[Record] = []
    row = 0
    try:
        for row, cells in enumerate(reader, start=1):
            if not cells:  # a blank line holds no data
                continue
            stripped = [cell.strip() for cell in cells]
            if header is None:
                header = stripped
            elif len(stripped) != len(header):
                raise ValueError(f"{file}: row {row} has {len(cells)} cells, the header has {len(header)}")
            else:
                records.append((row, stripped))
    except csv.Error as error:
        raise ValueError(f"{file}: row {row + 1} is not CSV ({error})") from None
    if header is None:
        raise ValueError(f"{file}: the file is empty, a header was expected in row 1")
    return header, records


def _check_header(file: SourceFile, header: list[str]) -> None:
    if header[-1] != "target":
        raise ValueError(f"{file}: row 1, column {len(header)}: the last column must be 'target', not {header[-1]!r}")
    check_header(file, header)
    if all(name.startswith("_") for name in header[:-1]):
        raise ValueError(f"{file}: row 1 names no feature, only 'target' and columns that start with '_'")


def _column(file: SourceFile, header: list[str], records: list[Record], j: int) -> Column:
    return Column(str(file), header[j], [cells[j] for _, cells in records], [row for row, _ in records])


def _remark(header: list[str], used: list[int], records: list[Record], n_kept: int) -> str:
    if n_kept == len(records):
        return ""
    gaps = [header[j] for j in used if any(not cells[j] for _, cells in records)]
    dropped = len(records) - n_kept
    return f"{dropped} of {len(records)} rows dropped for an empty cell (in {', '.join(gaps)})."
