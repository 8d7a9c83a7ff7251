"""Writers of small files in the formats that the room reads."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def _no_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests say which directory they mean."""
    monkeypatch.delenv("MULTIKERNEL_DATA", raising=False)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """``write("name.csv.gz", line, ...)`` puts the lines, gzipped where the name says so, into a directory."""

    def writer(name: str, *lines: str) -> Path:
        content = "".join(f"{line}\n" for line in lines).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return writer


@pytest.fixture
def manifest(write: Write) -> Callable[[Sequence[str]], Path]:
    """``manifest([line, ...])`` with the columns that are needed and the sum and note."""

    def writer(lines: Sequence[str]) -> Path:
        return write("manifest.csv", "name,file,task,n,d,target,source,sha256,note", *lines)

    return writer
