"""From a CSV file to its rows: compression, encoding and delimiter are told from the file."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_OPENERS: dict[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_KINDS = {
    b"PK\x03\x04": "is a spreadsheet or a zip archive; save the sheet as CSV, or give an archive the ending .zip",
    b"\x1f\x8b": "is compressed; give it a name that ends in .gz",
    b"\x89PNG": "is a picture; give a CSV file",
    b"%PDF": "is a PDF; give a CSV file",
}
_SAMPLE = 50  # rows by which the delimiter is told


def rows_of(path: Path) -> tuple[list[list[str]], str]:
    """The rows of a file, all as long as the first, and its delimiter; blank lines at the end are no rows.

    ValueError where the file is damaged, is no text, is no CSV, or has a row longer than the first.
    """
    text = _text(path, _content(path))
    delimiter = _delimiter(text)
    rows: list[list[str]] = []
    reader = _reader(text, delimiter)
    try:
        for cells in reader:
            width = len(rows[0]) if rows else len(cells)
            if len(cells) > width:
                raise ValueError(
                    f"{path}: row {len(rows) + 1} has {len(cells)} cells, and row 1 has {width}; put a cell that holds "
                    f"the delimiter {delimiter!r} in double quotes"
                )
            rows.append([cell.strip() for cell in cells] + [""] * (width - len(cells)))
    except csv.Error as error:
        raise ValueError(
            f"{path}: line {reader.line_num} is not CSV ({error}); close every quoted cell, and double a quote in one"
        ) from None
    while rows and not any(rows[-1]):
        rows.pop()
    if not rows:
        raise ValueError(f"{path} is empty; a row of column names was expected")
    return rows, delimiter


def _content(path: Path) -> bytes:
    try:
        if path.suffix == ".zip":
            return _only_member(path)
        with _OPENERS.get(path.suffix, open)(path, "rb") as file:
            content: bytes = file.read()
            return content
    except (EOFError, zlib.error, zipfile.BadZipFile, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the file is not there, or may not be read
            raise
        raise ValueError(f"{path} is damaged or cut off ({error}); copy it again, or give the file inside it") from None


def _only_member(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise ValueError(f"{path} holds {len(names)} files; give an archive of one CSV file")
        return archive.read(names[0])


def _text(path: Path, content: bytes) -> str:
    for start, what in _KINDS.items():
        if content.startswith(start):
            raise ValueError(f"{path} {what}")
    encoding = "utf-16" if content.startswith(_UTF16) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path} cannot be read as CSV: line {line} is not UTF-8 text; save it as 'CSV UTF-8', or convert it with "
            "iconv -f WINDOWS-1252 -t UTF-8"
        ) from None
    if "\0" in text:
        raise ValueError(f"{path} cannot be read as CSV: it holds zero bytes; save it as 'CSV UTF-8'")
    return text


def _reader(text: str, delimiter: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _delimiter(text: str) -> str:
    """The delimiter that splits row 1 and splits the most rows alike; the more cells the better."""

    def fitness(delimiter: str) -> tuple[float, int]:
        widths = [len(cells) for cells in _first(text, delimiter)]
        if not widths or widths[0] < 2:
            return 0.0, 0
        return widths.count(widths[0]) / len(widths), widths[0]

    return max(DELIMITERS, key=fitness)


def _first(text: str, delimiter: str) -> Iterator[list[str]]:
    """Some rows, up to the first that is not CSV."""
    try:
        yield from (cells for cells in islice(_reader(text, delimiter), _SAMPLE) if cells)
    except csv.Error:
        return
