"""From a file of any kind that is taken to a table: CSV, compressed or not, Parquet, or a sheet of Excel."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from multikernel.app.tables.excel import sheet_as_csv
from multikernel.app.tables.table import CsvTable, read_parquet, read_table

_EXCEL = (".xlsx", ".xlsm")  # files of Office Open XML, which openpyxl reads


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
    ValueError : where it cannot be read, or there are several sheets and none is named
    """
    if is_excel(path):
        return _read_excel(path, sheet)
    return read_parquet(path) if path.suffix.lower() == ".parquet" else read_table(path)


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
