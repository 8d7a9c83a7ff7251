"""From a CSV file to its rows: compression, encoding and delimiter are told from the file."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
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
    b"\xd0\xcf\x11\xe0": "is an old Excel file; save the sheet as CSV",
    b"PAR1": "is a Parquet file; write it as CSV",
    b"<!DOCTYPE": "is a web page; download the table itself, which may need a login",
    b"<html": "is a web page; download the table itself, which may need a login",
}
_ENCRYPTED = 1  # the flag of a member of a zip archive
_HINT = re.compile(r"sep=(.)\r?\n")  # Excel's line about the delimiter, which is no row
_SAMPLE = 50  # rows by which the delimiter is told


def rows_of(path: Path) -> tuple[list[list[str]], str]:
    """The rows of a file, all as long as the first, and its delimiter; blank lines at the end are no rows.

    ValueError where the file is damaged, is no text, is no CSV, or has a row longer than the first.
    """
    text, delimiter = _without_hint(_text(path, _content(path)))
    delimiter = delimiter or _delimiter(text)
    rows: list[list[str]] = []
    reader = _reader(text, delimiter)
    try:
        for cells in reader:
            width = len(rows[0]) if rows and rows[0] else len(cells)
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
    if not any(rows[0]):
        raise ValueError(f"{path}: row 1 is blank; the names of the columns have to stand there")
    return rows, delimiter


def _content(path: Path) -> bytes:
    try:
        if path.suffix.lower() == ".zip":
            return _only_member(path)
        with _OPENERS.get(path.suffix.lower(), open)(path, "rb") as file:
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
        if archive.getinfo(names[0]).flag_bits & _ENCRYPTED:
            raise ValueError(f"{path} is encrypted; give the file inside it")
        return archive.read(names[0])


def _text(path: Path, content: bytes) -> str:
    for start, what in _KINDS.items():
        if content.startswith(start):
            raise ValueError(f"{path} {what}")
    encoding, name = ("utf-16", "UTF-16") if content.startswith(_UTF16) else ("utf-8-sig", "UTF-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path} cannot be read as CSV: line {line} is not {name} text; save it as 'CSV UTF-8'"
            + (", or convert it with iconv -f WINDOWS-1252 -t UTF-8" if name == "UTF-8" else "")
        ) from None
    if "\0" in text:
        raise ValueError(f"{path} cannot be read as CSV: it holds zero bytes; save it as 'CSV UTF-8'")
    return text


def _without_hint(text: str) -> tuple[str, str]:
    """The text without Excel's line about its delimiter, and that delimiter; empty where there is no such line."""
    hint = _HINT.match(text)
    return (text[hint.end() :], hint[1]) if hint and hint[1] in DELIMITERS else (text, "")


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
