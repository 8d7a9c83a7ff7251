"""From uploaded files to a data set: CSV, Parquet or Excel, each checked for its size before it is unpacked.

The table is kept as plain CSV: numbers as Python writes them, a missing cell empty. So the command line reads the same
cells.
"""

from __future__ import annotations

import csv
import gzip
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from multikernel.app.tables.table import text_of
from multikernel.app.tables.views import view_name
from multikernel.app.web.settings import Settings
from multikernel.app.web.views import UploadedPart

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Upload:
    """A file as it came.

    Parameters
    ----------
    name : str, the file's name; a label, never a path
    content : the bytes
    """

    name: str
    content: BinaryIO


def read(
    upload: Upload, folder: Path, settings: Settings, written: Mapping[str, Sequence[str]] | None = None
) -> UploadedPart:
    """The cells of a file; ValueError in a sentence where it is none that is taken, or too large.

    Parameters
    ----------
    upload : the file
    folder : where it may be unpacked to
    settings : the limits
    written : how the numbers of columns were written in training, for cells that can be read in two ways
    """
    start = upload.content.read(4)
    upload.content.seek(0)
    path = folder / "upload.csv"
    try:
        if start == b"PK\x03\x04":
            _from_excel(upload.content, path, settings)
        elif start == b"PAR1":
            _from_parquet(upload.content, path, settings)
        elif start[:2] == b"\x1f\x8b":
            _unpacked(upload.content, path, settings)
        else:
            with path.open("wb") as file:
                while block := upload.content.read(_BLOCK):
                    file.write(block)
        return _part(path, _short(upload.name), settings, written or {})
    except ValueError as error:
        raise ValueError(str(error).replace(str(path), f"{upload.name or 'the file'}")) from None
    finally:
        path.unlink(missing_ok=True)


def _short(name: str) -> str:
    """The name of a file without folders and endings, at most 60 characters."""
    return "".join(sign for sign in view_name(name) if sign.isprintable())[:60] or "table"


def _part(path: Path, name: str, settings: Settings, written: Mapping[str, Sequence[str]]) -> UploadedPart:
    from multikernel.app.tables.table import read_table
    from multikernel.streams import DELIMITERS, is_missing

    with path.open("rb") as file:
        first = file.readline(_BLOCK)
    width = 1 + max(first.count(delimiter.encode()) for delimiter in DELIMITERS)
    if width > 4 * settings.most_columns:
        raise ValueError(_too_wide(width, settings))
    table = read_table(path).written_as(written)
    if len(table.columns) > settings.most_columns:
        raise ValueError(_too_wide(len(table.columns), settings))
    n = len(next(iter(table.columns.values())).cells)
    if n > settings.most_rows:
        raise ValueError(f"The table has {n} rows, and {settings.most_rows} are the most; give a part of them.")
    columns = {
        key: ["" if is_missing(cell) else cell for cell in column.cells] for key, column in table.columns.items()
    }
    return UploadedPart(name, columns, table.note.partition(": ")[2], table.as_written(columns))


def _too_wide(width: int, settings: Settings) -> str:
    return (
        f"The table has {width} columns, and {settings.most_columns} are the most that a page can show; leave some "
        "out, or learn with the command line."
    )


def _unpacked(content: BinaryIO, path: Path, settings: Settings) -> None:
    try:
        with gzip.open(content) as packed, path.open("wb") as file:
            size = 0
            while block := packed.read(_BLOCK):
                size += len(block)
                _check_size(size, settings)
                file.write(block)
    except (EOFError, zlib.error, OSError) as error:
        raise ValueError(f"The file is damaged or cut off ({error}); copy it again.") from None


def _check_size(size: int, settings: Settings) -> None:
    if size > settings.unpacked_limit:
        raise ValueError(
            f"The file unpacks to more than {settings.unpacked_limit >> 20} MB, the most that is taken; give fewer "
            "rows."
        )


def _from_excel(content: BinaryIO, path: Path, settings: Settings) -> None:
    """The first sheet that has cells."""
    try:
        with zipfile.ZipFile(content) as archive:
            members = archive.infolist()
            _check_size(sum(member.file_size for member in members), settings)  # unpacking never goes beyond these
            if not any(member.filename == "xl/workbook.xml" for member in members):
                raise ValueError("The file is a zip archive and no spreadsheet; give the CSV file inside it.")
    except zipfile.BadZipFile as error:
        raise ValueError(f"The file is damaged or cut off ({error}); copy it again.") from None
    from openpyxl import load_workbook

    content.seek(0)
    try:
        book = load_workbook(content, read_only=True, data_only=True)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # what a file says of its size may be wrong by millions of cells
        _write(path, _rows(sheet, settings))
    except ValueError:
        raise
    except Exception as error:  # openpyxl raises whatever a damaged file runs into
        raise ValueError(f"The spreadsheet cannot be read ({error}); save its sheet as CSV.") from None


def _rows(sheet: Any, settings: Settings) -> Any:
    width = 0
    for k, row in enumerate(sheet.iter_rows(values_only=True)):
        cells = list(row)
        while cells and cells[-1] is None:
            cells.pop()
        if k == 0:
            width = len(cells)
        if len(cells) > settings.most_columns:
            raise ValueError(_too_wide(len(cells), settings))
        if k > settings.most_rows:
            raise ValueError(f"The sheet has more than {settings.most_rows} rows; give a part of them.")
        if any(cell is not None for cell in cells):
            yield [text_of(cell) for cell in cells] + [""] * (width - len(cells))


def _from_parquet(content: BinaryIO, path: Path, settings: Settings) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(content)
        about = file.metadata
        if about.num_columns > settings.most_columns:
            raise ValueError(_too_wide(about.num_columns, settings))
        if about.num_rows > settings.most_rows:
            raise ValueError(f"The table has {about.num_rows} rows, and {settings.most_rows} are the most.")
        _check_size(sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups)), settings)
        names = file.schema_arrow.names

        def rows() -> Any:
            yield names
            for batch in file.iter_batches(4096):
                columns = [column.to_pylist() for column in batch.columns]
                yield from ([text_of(cell) for cell in row] for row in zip(*columns, strict=True))

        _write(path, rows())
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"The Parquet file cannot be read ({error}); write it again, or give CSV.") from None


def _write(path: Path, rows: Any) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_table(path: Path, columns: dict[str, list[str]]) -> None:
    """The table as CSV; names in quotes, so that whatever they hold, commas are what separates."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(columns)
        csv.writer(file, lineterminator="\n").writerows(zip(*columns.values(), strict=True))
