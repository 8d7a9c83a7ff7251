"""Tables from files of all supported formats: CSV, compressed or not, Parquet, and sheets of Excel."""

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
_GZIP = b"\x1f\x8b"  # the first bytes of a gzip file
_ZIP = b"PK"  # the first bytes of a zip archive, and thus of an Excel file
_SMALL = 1 << 26  # bytes up to which a table is read without a check of the memory
_BYTES = 100.0  # memory for each cell while a table is read, of six characters on average: 70 for a single digit


@dataclass(frozen=True)
class SheetLimits:
    """How large a sheet may be that is read on the user's computer: the limits of Excel, and fewer cells.

    Parameters
    ----------
    unpacked_limit : int, bytes of text
    most_rows, most_columns, most_cells : int
    """

    unpacked_limit: int = 1 << 30
    most_rows: int = 1_048_576  # the limits of Excel for rows and columns
    most_columns: int = 16_384
    most_cells: int = 20_000_000  # read in 2.5 minutes, at 38 s for five million

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
    path : CSV, Parquet or Excel, recognised by its ending
    sheet : of an Excel file; "" for the only one with content

    Raises
    ------
    ValueError : where it cannot be read, is changed meanwhile, or there are several sheets and none is named
    """
    if path.is_fifo():  # it can be read only once, and a table is read twice: its first lines, and then all
        return read_bytes(path.read_bytes(), str(path))
    before = _state(path)
    if is_excel(path) and _first_bytes(path) == _ZIP:  # a file with a wrong ending is read, or refused, as CSV
        table = _read_excel(path, sheet)
    elif path.suffix.lower() == ".parquet":
        _check_memory(path, cells_of(path))
        table = read_parquet(path)
    else:
        table = read_table(path, most_rows=_row_limit(path))
    if _state(path) != before:
        raise ValueError(f"{path} was changed while it was read; run this again when it is complete")
    return table


def unpacked_size(path: Path) -> int:
    """The size of a CSV file in bytes, unpacked where it is a zip archive or a gzip file, which record this size.

    Parameters
    ----------
    path : the file
    """
    size = path.stat().st_size
    start = _first_bytes(path)
    if start == _GZIP and size > 4:
        with path.open("rb") as file:
            file.seek(-4, os.SEEK_END)
            return max(size, int.from_bytes(file.read(4), "little"))
    if start == _ZIP and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    return size


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(2)


def _row_limit(path: Path) -> int | None:
    """The number of rows of a CSV file that fit into half of the available memory; None where the file is small."""
    if unpacked_size(path) < _SMALL:
        return None
    return max(1, int(0.5 * available_memory() / (_BYTES * len(Records.of(path).names))))


def _check_memory(path: Path, cells: int) -> None:
    """ValueError where so many cells take more than half of the available memory."""
    if _BYTES * cells > _SMALL and _BYTES * cells > 0.5 * available_memory():
        raise ValueError(
            f"{path} has {cells:,} cells, which take about {_BYTES * cells / 1e9:.2g} GB; give fewer rows or columns"
        )


def _state(path: Path) -> tuple[int, int, int]:
    """Numbers that change where the file is written to, or replaced by another one."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def read_bytes(content: bytes, name: str) -> CsvTable:
    """The table of a CSV file, compressed or not, from its content.

    Parameters
    ----------
    content : of the file
    name : str, the name of the file in messages

    Raises
    ------
    ValueError : where it cannot be read
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("input.gz" if content.startswith(_GZIP) else "input")
        path.write_bytes(content)
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
    """The table of a sheet, with the row numbers that Excel shows."""
    with tempfile.TemporaryDirectory() as folder, path.open("rb") as content:
        csv_path = Path(folder) / "sheet.csv"
        try:
            excel_sheet, positions = sheet_as_csv(content, csv_path, sheet, SheetLimits(), first=False)
            if not positions:
                raise ValueError("The sheet is empty; a row of column names was expected.")
            table = read_table(csv_path, ",")
        except ValueError as error:
            text = str(error).replace(str(csv_path), str(path))
            raise ValueError(text if str(path) in text else f"{path}: {text.removesuffix('.')}") from None
    notes = [*excel_sheet.notes, *filter(None, [table.note.partition(": ")[2]])]
    columns = {
        name: replace(column, file=str(path), rows=[positions[row - 1] + 1 for row in column.rows])
        for name, column in table.columns.items()
    }
    return replace(table, file=str(path), columns=columns, note=f"{path}: {'; '.join(notes)}" if notes else "")
