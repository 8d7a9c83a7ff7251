"""From a file of any kind that is taken to a table: CSV, compressed or not, Parquet, or a sheet of Excel."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from multikernel.app.tables.excel import sheet_as_csv
from multikernel.app.tables.parquet import cells_of, read_parquet
from multikernel.app.tables.table import CsvTable, read_table
from multikernel.streams import Records, available_memory

_EXCEL = (".xlsx", ".xlsm")  # files of Office Open XML, which openpyxl reads
_GZIP = b"\x1f\x8b"  # with which a file of gzip begins
_ZIP = b"PK"  # and one of Excel
_SMALL = 1 << 26  # bytes, of which a table is read without a look at the memory
_BYTES = 100.0  # that a cell takes while it is read, of those with six characters on average: 70 of one digit


@dataclass(frozen=True)
class SheetLimits:
    """How large a sheet may be that is read on a person's own computer: what Excel can hold, as far as memory goes.

    Parameters
    ----------
    unpacked_limit : int, bytes of text
    most_rows, most_columns, most_cells : int
    """

    unpacked_limit: int = 1 << 30
    most_rows: int = 1_048_576  # that a sheet of Excel can have, as the columns
    most_columns: int = 16_384
    most_cells: int = 20_000_000  # 2.5 minutes, at 38 s for each five millions

    def check_columns(self, count: int) -> None:
        """ValueError where a table has too many columns."""
        if count > self.most_columns:
            raise ValueError(f"The table has {count} columns, and {self.most_columns} are the most; save it as CSV.")

    def check_unpacked(self, size: int) -> None:
        """ValueError where a file of so many bytes is too large."""
        if size > self.unpacked_limit:
            raise ValueError(
                f"The file unpacks to more than {self.unpacked_limit >> 20} MB, the most that is taken; save its sheet "
                "as CSV."
            )


def is_excel(path: Path) -> bool:
    """Whether a file is one of Excel by its name."""
    return path.suffix.lower() in _EXCEL


def read_file(path: Path, sheet: str = "") -> CsvTable:
    """The table of a file.

    Parameters
    ----------
    path : CSV, Parquet or Excel, which is seen by its ending
    sheet : of an Excel file; "" where it has one with content

    Raises
    ------
    ValueError : where it cannot be read, is changed meanwhile, or there are several sheets and none is named
    """
    if path.is_fifo():  # which is read once, and a table from its first lines on, and again
        return read_bytes(path.read_bytes(), str(path))
    before = _state(path)
    if is_excel(path) and _begins(path) == _ZIP:  # else it is read, or refused, as what it is instead
        table = _read_excel(path, sheet)
    elif path.suffix.lower() == ".parquet":
        _check_room(path, cells_of(path))
        table = read_parquet(path)
    else:
        table = read_table(path, most_rows=_room(path))
    if _state(path) != before:
        raise ValueError(f"{path} was changed while it was read; run this again when it is complete")
    return table


def unpacked_size(path: Path) -> int:
    """The bytes of a CSV file once it is unpacked, where an archive or the end of a file of gzip says so; else its own.

    Parameters
    ----------
    path : the file
    """
    size = path.stat().st_size
    start = _begins(path)
    if start == _GZIP and size > 4:
        with path.open("rb") as file:
            file.seek(-4, os.SEEK_END)
            return max(size, int.from_bytes(file.read(4), "little"))
    if start == _ZIP and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    return size


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(2)


def _room(path: Path) -> int | None:
    """How many rows of a CSV file half of the available memory has room for; None where the file is small."""
    if unpacked_size(path) < _SMALL:
        return None
    return max(1, int(0.5 * available_memory() / (_BYTES * len(Records.of(path).names))))


def _check_room(path: Path, cells: int) -> None:
    """ValueError where that many cells take more than half of the available memory."""
    if _BYTES * cells > _SMALL and _BYTES * cells > 0.5 * available_memory():
        raise ValueError(
            f"{path} has {cells:,} cells, which take about {_BYTES * cells / 1e9:.2g} GB; give fewer rows or columns"
        )


def _state(path: Path) -> tuple[int, int, int]:
    """What differs where a file was written to, or another has taken its name."""
    known = path.stat()
    return known.st_ino, known.st_size, known.st_mtime_ns


def read_bytes(given: bytes, name: str) -> CsvTable:
    """The table of a CSV file, compressed or not, from its content.

    Parameters
    ----------
    given : the content
    name : str, how sentences call the file

    Raises
    ------
    ValueError : where it cannot be read
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("input.gz" if given.startswith(_GZIP) else "input")
        path.write_bytes(given)
        try:
            table = read_table(path)
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), name)) from None
    columns = {key: replace(column, file=name) for key, column in table.columns.items()}
    return replace(table, file=name, columns=columns, note=table.note.replace(str(path), name))


def check_sheet(sheet: str, paths: Iterable[Path]) -> None:
    """ValueError where a sheet is named and no file is one of Excel."""
    if sheet and not any(map(is_excel, paths)):
        raise ValueError(
            f"--sheet {sheet!r} names a sheet of an Excel file, and none is given that ends in .xlsx; leave it out"
        )


def _read_excel(path: Path, sheet: str) -> CsvTable:
    """A sheet, its rows counted as Excel shows them."""
    with tempfile.TemporaryDirectory() as folder, path.open("rb") as content:
        kept = Path(folder) / "sheet.csv"
        try:
            found, places = sheet_as_csv(content, kept, sheet, SheetLimits(), first=False)
            if not places:
                raise ValueError("The sheet is empty; a row of column names was expected.")
            table = read_table(kept, ",")
        except ValueError as error:
            text = str(error).replace(str(kept), str(path))
            raise ValueError(text if str(path) in text else f"{path}: {text.removesuffix('.')}") from None
    said = [*found.notes, *filter(None, [table.note.partition(": ")[2]])]
    columns = {
        name: replace(column, file=str(path), rows=[places[row - 1] + 1 for row in column.rows])
        for name, column in table.columns.items()
    }
    return replace(table, file=str(path), columns=columns, note=f"{path}: {'; '.join(said)}" if said else "")
