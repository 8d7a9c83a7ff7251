"""From an uploaded file to a table: CSV, Parquet or Excel, whose sizes are checked before and while they are unpacked.

The table is stored as plain CSV, with numbers as Python writes them and empty missing cells, so that the command line
reads the same cells.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from multikernel.app.tables.views import view_name
from multikernel.app.web.settings import Settings
from multikernel.app.web.views import UploadedFile

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Upload:
    """An uploaded file.

    Parameters
    ----------
    name : str, the name of the file, which is used as a label and never as a path
    content : the bytes
    sheet : str, which sheet of an Excel file to read; "" for the first with content
    """

    name: str
    content: BinaryIO
    sheet: str = ""


def read(
    upload: Upload, folder: Path, settings: Settings, written: Mapping[str, Sequence[str]] | None = None
) -> UploadedFile:
    """The cells of a file; ValueError where its format is not supported, or it is too large.

    Parameters
    ----------
    upload : the file
    folder : the folder in which it is unpacked
    settings : the limits
    written : how the numbers of columns were written in training, for cells that are ambiguous
    """
    start = upload.content.read(4)
    upload.content.seek(0)
    path = folder / "upload.csv"
    notes: tuple[str, ...] = ()
    delimiter: str | None = ","
    try:
        if start == b"PK\x03\x04":
            notes = _from_excel(upload, path, settings)
        elif start == b"PAR1":
            notes = _from_parquet(upload.content, path, settings)
        elif start[:2] == b"\x1f\x8b":
            delimiter = None
            _unpack(upload.content, path, settings)
        else:
            delimiter = None
            with path.open("wb") as file:
                while block := upload.content.read(_BLOCK):
                    file.write(block)
        table_file = _uploaded_file(path, delimiter, _short_name(upload.name), settings, written or {})
        return replace(table_file, note="; ".join(filter(None, (*notes, table_file.note))))
    except ValueError as error:
        raise ValueError(str(error).replace(str(path), f"{upload.name or 'the file'}")) from None
    finally:
        path.unlink(missing_ok=True)


def _short_name(name: str) -> str:
    """The name of a file without folders and endings, at most 60 characters."""
    return "".join(sign for sign in view_name(name) if sign.isprintable())[:60] or "table"


def _uploaded_file(
    path: Path, delimiter: str | None, name: str, settings: Settings, written: Mapping[str, Sequence[str]]
) -> UploadedFile:
    from multikernel.app.tables.table import read_table
    from multikernel.streams import DELIMITERS, is_missing

    with path.open("rb") as file:
        first_line = file.readline(_BLOCK)
    width = 1 + max(first_line.count(delimiter.encode()) for delimiter in DELIMITERS)
    if width > 4 * settings.most_columns:
        settings.check_columns(width)
    table = read_table(path, delimiter, settings.most_rows).written_as(written)
    settings.check_columns(len(table.columns))
    columns = {
        key: ["" if is_missing(cell) else cell for cell in column.cells] for key, column in table.columns.items()
    }
    return UploadedFile(name, columns, table.note.partition(": ")[2], table.as_written(columns))


def _unpack(content: BinaryIO, path: Path, settings: Settings) -> None:
    try:
        with gzip.open(content) as packed, path.open("wb") as file:
            size = 0
            while block := packed.read(_BLOCK):
                size += len(block)
                settings.check_unpacked(size)
                file.write(block)
    except (EOFError, zlib.error, OSError) as error:
        raise ValueError(f"The file is damaged or cut off ({error}); copy it again.") from None


def _from_excel(upload: Upload, path: Path, settings: Settings) -> tuple[str, ...]:
    """Write a sheet as CSV; returns notes about it."""
    from multikernel.app.tables.excel import sheet_as_csv

    return sheet_as_csv(upload.content, path, upload.sheet, settings, first=True)[0].notes


def _from_parquet(content: BinaryIO, path: Path, settings: Settings) -> tuple[str, ...]:
    """Write the rows as CSV; returns notes about them."""
    from multikernel.app.tables.parquet import blocks_of, note_of, opened

    file = opened(content)
    about = file.metadata
    settings.check_columns(about.num_columns)
    if about.num_rows > settings.most_rows:
        raise ValueError(f"The table has {about.num_rows} rows, and {settings.most_rows} are the most.")
    settings.check_unpacked(sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups)))
    blocks = blocks_of(file, settings.unpacked_limit)
    _write(path, (row for block in blocks for row in zip(*block, strict=True)), file.schema_arrow.names)
    return tuple(filter(None, [note_of(file.schema_arrow)]))


def _write(path: Path, rows: Any, names: Iterable[str] | None = None) -> None:
    """Write rows as CSV; names are quoted, so that they are read as names and the delimiter is found to be a comma."""
    with path.open("w", newline="", encoding="utf-8") as file:
        if names is not None:
            csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(names)
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_table(path: Path, columns: dict[str, list[str]]) -> None:
    """Write a table as CSV."""
    _write(path, zip(*columns.values(), strict=True), columns)
