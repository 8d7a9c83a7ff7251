"""Finished cells, kept in a file: a line of JSON each, written in one call, so that a run that was killed resumes."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

Line = dict[str, Any]


@dataclass(frozen=True)
class Stamp:
    """The properties that measurements of a cell must share to be interchangeable.

    Parameters
    ----------
    experiment : str
    protocol : int, the version of its protocol
    package : str, the version of this package
    tol : float, the relative certificate that fits have to reach
    """

    experiment: str
    protocol: int
    package: str
    tol: float

    @classmethod
    def of(cls, key: str, protocol: int, tol: float) -> Stamp:
        return cls(key, protocol, version("multikernel"), tol)

    def matches(self, line: Line) -> bool:
        return all(line.get(name) == value for name, value in vars(self).items())


@dataclass(frozen=True)
class Results:
    """Finished cells of one experiment: pairs of their fields and their measurement, in the order of the cells."""

    entries: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]

    def __iter__(self) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def where(self, **fields: Any) -> Results:
        """The cells with these fields."""
        return Results(tuple(e for e in self.entries if all(e[0].get(name) == v for name, v in fields.items())))

    def values(self, name: str) -> list[Any]:
        """The different values of a field, in the order of the cells."""
        return list(dict.fromkeys(fields[name] for fields, _ in self.entries if name in fields))

    @property
    def measurements(self) -> list[Mapping[str, Any]]:
        return [measurement for _, measurement in self.entries]


class Ledger:
    """The file of finished cells.

    Parameters
    ----------
    file : Path
    also : versions of the package whose cells are accepted like those of this version
    """

    def __init__(self, file: Path, also: Collection[str] = ()) -> None:
        self.file = file
        self._also = also
        self._lines = list(_complete_lines(file))

    def add(
        self, stamp: Stamp, fields: Mapping[str, Any], measurement: Mapping[str, Any], seconds: float, megabytes: float
    ) -> None:
        """Append a finished cell to the file; the line is written in one call."""
        cost = {"seconds": round(seconds, 3), "megabytes": round(megabytes)}
        line = {**vars(stamp), "fields": dict(fields), **cost, "found": dict(measurement)}
        text = json.dumps(line, default=plain) + "\n"
        if self._is_cut_off():
            text = "\n" + text
        handle = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)
        self._lines.append(line)

    def lines(self, stamp: Stamp) -> list[Line]:
        """The finished cells that are accepted for this stamp."""
        return [line for line in self._lines if self._accepts(stamp, line)]

    def stale(self, stamp: Stamp) -> int:
        """The number of cells of the experiment that were measured with another version, protocol or tolerance."""
        return sum(line["experiment"] == stamp.experiment and not self._accepts(stamp, line) for line in self._lines)

    def _accepts(self, stamp: Stamp, line: Line) -> bool:
        if line["experiment"] != stamp.experiment:
            return False
        accepted = (stamp, *(replace(stamp, package=package) for package in self._also))
        return any(candidate.matches(line) for candidate in accepted)

    def _is_cut_off(self) -> bool:
        """Whether the last line is incomplete, because the process that wrote it was killed."""
        if not self.file.exists() or not self.file.stat().st_size:
            return False
        with self.file.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"


def _complete_lines(file: Path) -> Iterator[Line]:
    """The lines that are complete."""
    if not file.exists():
        return
    for text in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and {"experiment", "fields", "found"} <= line.keys():
            yield line


def plain(value: Any) -> Any:
    """Arrays and numbers of NumPy as values that JSON can represent."""
    return value.tolist()
