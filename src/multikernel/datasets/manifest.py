"""manifest.csv: the data sets of a directory, their files, and the sizes and checksums that these must have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from multikernel.datasets.dataset import Task
from multikernel.datasets.rows import read_rows
from multikernel.datasets.source_file import SourceFile, decode

MANIFEST = "manifest.csv"
_NEEDED = ("name", "file", "task", "n", "d")


@dataclass(frozen=True)
class DataFiles:
    """The files of one data set, with what the manifest says about them; None for a file that it does not list."""

    name: str
    files: tuple[SourceFile, ...]  # more than one only for idx files
    task: Task | None = None
    n: int | None = None
    d: int | None = None
    about: str = ""  # source, meaning of the target and remarks, as sentences


def read_manifest(directory: Path) -> dict[str, DataFiles]:
    """The data sets by name in the order of the manifest, none without one; ValueError names a line that is wrong."""
    path = directory / MANIFEST
    if not path.is_file():
        return {}
    records = read_rows(decode(path.read_bytes(), path), path)
    header = records[0][1] if records else []
    for column in _NEEDED:
        if column not in header:
            raise ValueError(f"{path}: row 1 has no column {column!r}")
    sources: dict[str, DataFiles] = {}
    for row, cells in records[1:]:
        source = _source(path, row, dict(zip(header, cells, strict=True)))
        if source.name in sources:
            raise ValueError(f"{path}: row {row}, column 'name': {source.name!r} occurs twice")
        sources[source.name] = source
    return sources


def _source(path: Path, row: int, line: dict[str, str]) -> DataFiles:
    task = line["task"]
    if task not in get_args(Task):
        raise ValueError(f"{path}: row {row}, column 'task': {task!r} is neither {' nor '.join(get_args(Task))}")
    d = None if line["d"] == "text" else _count(path, row, line, "d")
    files = _files(path, row, line)
    return DataFiles(line["name"], files, cast(Task, task), _count(path, row, line, "n"), d, _about(line))


def _files(path: Path, row: int, line: dict[str, str]) -> tuple[SourceFile, ...]:
    names = line["file"].split(";")
    if line.get("sha256"):
        sums = line.get("sha256", "").split(";")
    else:
        sums = [""] * len(names)
    if len(sums) != len(names):
        raise ValueError(f"{path}: row {row}, column 'sha256': {len(sums)} sums for {len(names)} files")
    for name in names:
        if not name or Path(name).name != name:  # a manifest must not point out of its directory
            raise ValueError(
                f"{path}: row {row}, column 'file': {name!r} is not the name of a file beside the manifest"
            )
    return tuple(SourceFile(path.parent / name, digest or None) for name, digest in zip(names, sums, strict=True))


def _count(path: Path, row: int, line: dict[str, str], column: str) -> int:
    if not line[column].isdecimal():
        raise ValueError(f"{path}: row {row}, column {column!r}: {line[column]!r} is not a whole number")
    return int(line[column])


def _about(line: dict[str, str]) -> str:
    sentences = []
    if line.get("source"):
        sentences.append(f"Source: {line['source']}.")
    if line.get("target"):
        sentences.append(f"Target: {line['target']}.")
    if line.get("note"):
        sentences.append(line["note"])
    return " ".join(sentences)
