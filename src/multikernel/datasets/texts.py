"""NAME.jsonl.gz: one JSON object per line with ``text``, ``target`` and, if the set is split, ``split``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from multikernel.datasets.column import Column, decide
from multikernel.datasets.dataset import Content, Task
from multikernel.datasets.source_file import SourceFile


def read_jsonl(file: SourceFile, task: Task | None) -> Content:
    """Documents as strings, of which the user makes features; ValueError names the row and field that is wrong."""
    # splitlines would also cut at the line separators of Unicode, which may stand inside a JSON string.
    lines = enumerate(file.text().split("\n"), start=1)
    records = [(row, _record(file, row, line)) for row, line in lines if line.strip()]
    if not records:
        raise ValueError(f"{file}: the file holds no document")
    rows = [row for row, _ in records]
    X = np.empty(len(records), dtype=object)
    X[:] = [_field(file, row, record, "text", (str,)) for row, record in records]
    targets = [str(_field(file, row, record, "target", (str, int, float))) for row, record in records]
    y, task = decide(Column(str(file), "target", targets, rows), task)
    split = None
    if any("split" in record for _, record in records):
        split = np.array([_field(file, row, record, "split", (str,)) for row, record in records], dtype=np.str_)
    return Content(X, y, task, (), split, len(X), None)


def _record(file: SourceFile, row: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{file}: row {row}, column {error.colno}: not JSON ({error.msg})") from None
    if not isinstance(record, dict):
        raise ValueError(f"{file}: row {row} is a JSON {type(record).__name__}, an object was expected")
    return record


def _field(file: SourceFile, row: int, record: dict[str, Any], name: str, types: tuple[type, ...]) -> Any:
    if name not in record:
        raise ValueError(f"{file}: row {row}: the object has no field {name!r}")
    value = record[name]
    if not isinstance(value, types) or isinstance(value, bool):
        wanted = "a string" if types == (str,) else "a string or a number"
        raise ValueError(f"{file}: row {row}, field {name!r}: {value!r} is not {wanted}")
    if name == "target" and value == "":
        raise ValueError(f"{file}: row {row}, field 'target' is empty")
    return value
