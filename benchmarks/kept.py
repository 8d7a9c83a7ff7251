"""Results of long studies, a JSON line each, kept in a file so that a study that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class Kept:
    """The lines of a file; ``key`` names the fields that tell one result from another."""

    def __init__(self, file: Path, key: tuple[str, ...]) -> None:
        self.file, self.key = file, key
        self.lines: list[dict[str, Any]] = (
            [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        )
        self._done = {self._of(line) for line in self.lines}

    def _of(self, line: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(line.get(name) for name in self.key)

    def has(self, **fields: Any) -> bool:
        return self._of(fields) in self._done

    def add(self, lines: Iterable[dict[str, Any]]) -> None:
        new = list(lines)
        with self.file.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in new)
        self.lines += new
        self._done |= {self._of(line) for line in new}

    def where(self, **fields: Any) -> list[dict[str, Any]]:
        return [line for line in self.lines if all(line.get(name) == value for name, value in fields.items())]
