"""The rows of a CSV file, one after the other: compression, encoding and delimiter are inferred from the file.

Every row must have as many cells as there are names of columns; otherwise an error names the row. Lines without any
cell are not rows, and neither are rows of empty cells at the end. Rows are numbered as in a spreadsheet: the names of
the columns are row 1.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from multikernel.datasets.rows import check_header, plain_name
from multikernel.streams.encoding import WINDOWS, encoding_of
from multikernel.streams.first_row import are_numbers, is_sample

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_OPENERS: dict[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_KINDS = {
    b"PK\x03\x04": "is a spreadsheet or a zip archive; save the sheet as CSV, or give an archive the ending .zip",
    b"\x1f\x8b": "is compressed; unpack it, or give it a name that ends in .gz",
    b"BZh9": "is compressed by bzip2; unpack it, or give it a name that ends in .bz2",
    b"\xfd7zXZ\x00": "is compressed by xz; unpack it, or give it a name that ends in .xz",
    b"\x89PNG": "is a picture; give a CSV file",
    b"%PDF": "is a PDF; give a CSV file",
    b"\xd0\xcf\x11\xe0": "is an Excel file of an old kind or with a password; save the sheet as CSV",
    b"PAR1": "is a Parquet file; write it as CSV",
    b"<!DOCTYPE": "is a web page; download the table itself, which may need a login",
    b"<html": "is a web page; download the table itself, which may need a login",
    b"<?xml": "is XML; write its table as CSV",
    b'{"': "is JSON; write it as CSV",
    b"[{": "is JSON; write it as CSV",
    b"[[": "is JSON; write it as CSV",
}
_HINT = re.compile(r"sep=(.)\r?\n")  # Excel's line that names the delimiter; not a row
Record = tuple[int, list[str]]  # the number of a row, as in a spreadsheet, and its cells


@dataclass(frozen=True)
class Records:
    """The rows of a CSV file; they are read again in each pass over them.

    Parameters
    ----------
    path : the file
    delimiter : the character between cells
    names : list of str, the names of the columns
    headed : bool, whether row 1 has the names; otherwise they are generated
    notes : tuple of str, remarks about unusual contents that may be mistakes
    """

    path: Path
    delimiter: str
    names: list[str]
    headed: bool = True
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path, delimiter: str | None = None) -> Records:
        """The rows of a file.

        Parameters
        ----------
        path : the file
        delimiter : the character between cells; None to infer it from the first rows

        Raises
        ------
        ValueError : where the file is damaged, no text or no CSV, or a column has no name, the name of another column,
            or a name with a control character
        """
        with _lines(path) as lines:
            hint, text = _without_hint(lines)
            first = _first_lines(text)
            separator = delimiter or hint or _delimiter("".join(first))
            header = next(_rows(path, chain(first, text), separator), None)
        if header is None:
            raise ValueError(f"{path} is empty; a row of column names was expected")
        names = header[1]
        notes = []
        if encoding_of(path, _opened) == WINDOWS:
            notes.append(
                "the text was read as Windows-1252, since it is not UTF-8; save it as 'CSV UTF-8' if it is not"
            )
        names, headed, said = _header(names, first, separator)
        return cls(path, separator, cls.checked_names(path, names), headed, (*notes, *said))

    @staticmethod
    def checked_names(path: Path, cells: Sequence[str]) -> list[str]:
        """The names of a file's columns, without invisible characters.

        Parameters
        ----------
        path : the file
        cells : the names as they are written in the file

        Raises
        ------
        ValueError : where a column has no name, the name of another column, or a name with a control character
        """
        names = [plain_name(cell) for cell in cells]
        check_header(path, names)
        return names

    def __iter__(self) -> Iterator[Record]:
        """The number and the cells of each row after the names.

        Raises
        ------
        ValueError : where the file is damaged, is no text or no CSV, or a row is longer or shorter than the names
        """
        with _lines(self.path) as lines:
            rows = _rows(self.path, _without_hint(lines)[1], self.delimiter, self.headed)
            yield from islice(rows, 1 if self.headed else 0, None)


def _rows(path: Path, lines: Iterator[str], delimiter: str, headed: bool = True) -> Iterator[Record]:
    """The number and the cells of each row that is not blank; with ``headed`` the first has the names of columns."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    names: list[str] = []
    pending: list[Record] = []  # rows of empty cells, which do not count at the end of the file
    number = blank = 0  # the numbers of this row, and of the last line without a cell

    def where() -> str:
        return f"row {number}" + (f" (line {reader.line_num})" if reader.line_num != number else "")

    try:
        for number, cells in enumerate(reader, start=1):
            cells = [cell.strip() for cell in cells]
            if not any(cells) and len(cells) < 2:
                blank = number
                continue
            if blank and not names:
                raise ValueError(f"{path}: row 1 is blank; it has to contain the names of the columns")
            if blank and len(names) == 1:
                raise ValueError(
                    f"{path}: row {blank} is blank; write NA where the value of the one column is not known, or delete "
                    "the line"
                )
            if names and len(cells) != len(names):
                raise ValueError(
                    f"{path}: {where()} has {_count(cells)}, and row 1 has {len(names)}; "
                    + _advice(cells, names, delimiter)
                )
            if headed and cells == names and len(names) > 1:
                raise ValueError(f"{path}: {where()} repeats the names of the columns; delete the line")
            pending.append((number, cells))
            if any(cells):
                names = names or cells
                yield from pending
                pending = []
    except csv.Error as error:
        advice = "close every quoted cell, and double a quote in one"
        if "field limit" in str(error):
            advice += f", or shorten a text of more than {csv.field_size_limit():,} characters"
        raise ValueError(f"{path}: line {reader.line_num} is not CSV ({error}); {advice}") from None


def _count(cells: list[str]) -> str:
    return f"{len(cells)} cell" + ("s" if len(cells) > 1 else "")


def _advice(cells: list[str], names: list[str], delimiter: str) -> str:
    """Advice about a row that is longer or shorter than the names."""
    if len(cells) > len(names):
        return f"put a cell that holds the delimiter {delimiter!r} in double quotes"
    return f"write the delimiter {delimiter!r} also before empty cells, and a cell of several lines in double quotes"


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a file with their ends, decompressed and decoded."""
    try:
        with _opened(path) as file:
            start = file.peek(16)[:16]  # type: ignore[attr-defined]
            for sign, message in _KINDS.items():
                if start.startswith(sign):
                    raise ValueError(f"{path} {message}")
            with io.TextIOWrapper(file, encoding_of(path, _opened), newline="") as text:
                yield _checked(path, text)
    except UnicodeDecodeError as error:
        raise ValueError(_no_text(path, error)) from None
    except (EOFError, zlib.error, zipfile.BadZipFile, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the file does not exist, or may not be read
            raise
        raise ValueError(f"{path} is damaged or cut off ({error}); copy it again, or give the file inside it") from None


def _checked(path: Path, lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if "\0" in line:
            raise ValueError(f"{path} cannot be read as CSV: it holds zero bytes; save it as 'CSV UTF-8'")
        yield line


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path.suffix.lower() != ".zip":
        with _OPENERS.get(path.suffix.lower(), open)(path, "rb") as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise ValueError(f"{path} holds {len(names)} files; give an archive of one CSV file")
        if archive.getinfo(names[0]).flag_bits & 1:  # APPNOTE 4.4.4
            raise ValueError(f"{path} is encrypted; give the file inside it")
        with archive.open(names[0]) as file:
            yield file


def _no_text(path: Path, error: UnicodeDecodeError) -> str:
    """The message about a file that is not text in its encoding."""
    utf16 = error.encoding.startswith("utf-16")
    with _opened(path) as file:
        if utf16:
            lines: IO[bytes] = io.BytesIO(file.read().decode("utf-16", "replace").encode())
        else:
            lines = file
        line = next(k for k, content in enumerate(lines, start=1) if not _is_text(content))
    text = "UTF-16 text" if utf16 else "UTF-8 text, nor Windows-1252"
    return f"{path} cannot be read as CSV: line {line} is not {text}; save it as 'CSV UTF-8'"


def _is_text(line: bytes) -> bool:
    """Whether a line is UTF-8 without the replacement character of failed decoding."""
    try:
        return "\ufffd" not in line.decode()
    except UnicodeDecodeError:
        return False


def _without_hint(lines: Iterator[str]) -> tuple[str, Iterator[str]]:
    """The delimiter that Excel's first line names, empty without such a line, and the other lines."""
    first = next(lines, "")
    hint = _HINT.fullmatch(first)
    if hint and hint[1] in DELIMITERS:
        return (hint[1], lines)
    return ("", chain([first], lines))


def _first_lines(lines: Iterator[str]) -> list[str]:
    """The first lines, from which the delimiter is inferred: 50, or at least two where they exceed a megabyte."""
    first_lines: list[str] = []
    size = 0
    for line in islice(lines, 50):
        first_lines.append(line)
        size += len(line)
        if size > 1 << 20 and len(first_lines) > 1:
            break
    return first_lines


def _delimiter(text: str) -> str:
    """The delimiter that splits the most rows into as many cells as row 1, at least two; of equal ones that of more."""

    def fitness(delimiter: str) -> tuple[float, int]:
        widths = [len(cells) for cells in _readable_rows(text, delimiter)]
        if not widths or widths[0] < 2:
            return 0.0, 0
        return widths.count(widths[0]) / len(widths), widths[0]

    best = max(DELIMITERS, key=fitness)
    for other in DELIMITERS:
        rows = list(_readable_rows(text, other))
        if other != best == "," and fitness(other)[0] == 1.0 and all(map(are_numbers, rows)):
            return other  # the commas are decimal commas
    return best


def _header(names: list[str], lines: Sequence[str], delimiter: str) -> tuple[list[str], bool, list[str]]:
    """The names of the columns, whether row 1 has them, and remarks about it.

    Parameters
    ----------
    names : the cells of row 1
    lines : the first lines of the file
    delimiter : between cells
    """
    rows = [[cell.strip() for cell in row] for row in _readable_rows("".join(lines), delimiter)][1:]
    notes = []
    if len(names) == 1 and _of_spaces([names, *rows]):
        notes.append("the table has one column; if spaces separate its cells, write commas in their place")
    if _names_are_quoted(lines, delimiter):
        return names, True, notes
    if is_sample(names, [row for row in rows if any(row)]):
        column_names = [f"column_{k}" for k in range(1, 1 + len(names))]
        called = column_names[0] if len(column_names) == 1 else f"{column_names[0]} to {column_names[-1]}"
        notes.append(f"row 1 is a sample, so columns are called {called}; if it has the names, write them in words")
        return column_names, False, notes
    if are_numbers(names):
        notes.append(
            "row 1 was read as the names of the columns, which are numbers; if it is a sample, write a row of names "
            "before it"
        )
    return names, True, notes


def _names_are_quoted(lines: Sequence[str], delimiter: str) -> bool:
    """Whether all cells of row 1 are in quotes, but not those of all other rows: then they are names."""
    cell = r'"(?:[^"]|"")*"'
    row = re.compile(rf"\ufeff?{cell}(?:{re.escape(delimiter)}{cell})*\s*")
    return row.fullmatch(lines[0]) is not None and not all(row.fullmatch(line) for line in lines[1:])


def _of_spaces(rows: list[list[str]]) -> bool:
    """Whether all rows have the same number of words, and more than one, in their first cell."""
    counts = {len(row[0].split()) for row in rows if row}
    return len(counts) == 1 and counts.pop() > 1


def _readable_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """The rows of a text, up to the first that is not CSV."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        yield from (cells for cells in rows if cells)
    except csv.Error:
        return
