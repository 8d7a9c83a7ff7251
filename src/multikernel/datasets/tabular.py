"""NAME.csv.gz: names in row 1, the last is ``target``; columns whose name begins with an underscore are no features."""

from __future__ import annotations

import numpy as np

from multikernel.datasets.column import Column, decide
from multikernel.datasets.dataset import Content, Task
from multikernel.datasets.feature import Feature, encode
from multikernel.datasets.rows import Row, check_header, read_rows
from multikernel.datasets.source_file import SourceFile


def read_csv(file: SourceFile, task: Task | None) -> Content:
    """The rows of a CSV file without an empty cell in features and target; ValueError names a cell that is wrong."""
    rows = read_rows(file.text(), file)
    if not rows:
        raise ValueError(f"{file}: the file is empty, a header was expected in row 1")
    header, records = rows[0][1], rows[1:]
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


def _check_header(file: SourceFile, header: list[str]) -> None:
    if header[-1] != "target":
        raise ValueError(f"{file}: row 1, column {len(header)}: the last column must be 'target', not {header[-1]!r}")
    check_header(file, header)
    if all(name.startswith("_") for name in header[:-1]):
        raise ValueError(f"{file}: row 1 names no feature, only 'target' and columns that start with '_'")


def _column(file: SourceFile, header: list[str], records: list[Row], j: int) -> Column:
    return Column(str(file), header[j], [cells[j] for _, cells in records], [row for row, _ in records])


def _remark(header: list[str], used: list[int], records: list[Row], n_kept: int) -> str:
    if n_kept == len(records):
        return ""
    gaps = [header[j] for j in used if any(not cells[j] for _, cells in records)]
    dropped = len(records) - n_kept
    return f"{dropped} of {len(records)} rows dropped for an empty cell (in {', '.join(gaps)})."
