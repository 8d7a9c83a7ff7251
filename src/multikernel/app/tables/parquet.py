"""Parquet files, read as the cells that a CSV file with the same values has.

Values are read a block of rows at a time, and their characters are counted, since a file of a few kB may refer to one
long text a million times.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from multikernel.app.tables.table import CsvTable, listed, table_of_cells, text_of
from multikernel.streams import Records

_BLOCK = 4096  # rows that are read at a time
_MOST_TEXT = 1 << 30  # characters that are read on the user's computer, as of a sheet of Excel


def read_parquet(path: Path) -> CsvTable:
    """The table of a Parquet file, as of a CSV file with the same cells; ValueError where it cannot be read."""
    file = opened(path)
    if not file.metadata.num_rows or not file.schema_arrow.names:
        raise ValueError(f"{path} has no row or no column")
    names = Records.checked_names(path, file.schema_arrow.names)
    columns: list[list[str]] = [[] for _ in names]
    try:
        for block in blocks_of(file, _MOST_TEXT):
            for column, cells in zip(columns, block, strict=True):
                column += cells
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    raw = dict(zip(names, columns, strict=True))
    return table_of_cells(path, raw, range(2, 2 + len(columns[0])), ",", [*filter(None, [note_of(file.schema_arrow)])])


def blocks_of(file: Any, limit: int) -> Iterator[list[list[str]]]:
    """The columns of each block of rows, as texts.

    Parameters
    ----------
    file : ParquetFile of pyarrow
    limit : int, characters that all cells may have together

    Raises
    ------
    ValueError : where the file is damaged, there are more characters, or Python has no type for a value
    """
    import pyarrow as pa

    names = file.schema_arrow.names
    size = 0
    batches = file.iter_batches(_BLOCK)
    while True:
        try:
            batch = next(batches, None)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"The Parquet file is damaged ({error}); write it again, or give CSV") from None
        if batch is None:
            return
        columns = [_texts(column, name) for name, column in zip(names, batch.columns, strict=True)]
        size += sum(sum(map(len, cells)) for cells in columns)
        if size > limit:
            raise ValueError(
                f"The table has more than {limit >> 20} MB of text, the most that is taken; give fewer rows, or leave "
                "columns of long texts out"
            )
        yield columns


def note_of(schema: Any) -> str:
    """A note on the columns whose cells are not numbers, dates or words; "" where there are none.

    Parameters
    ----------
    schema : of pyarrow
    """
    import pyarrow.types as types

    names = [field.name for field in schema if types.is_nested(field.type) or types.is_binary(field.type)]
    if not names:
        return ""
    return (
        f"cells of {listed(list(map(repr, names)))} are lists, records or bytes, which are read as words; if numbers "
        "in them count, give each a column of its own"
    )


def cells_of(path: Path) -> int:
    """The number of cells of a Parquet file; ValueError where it is not one."""
    about = opened(path).metadata
    return int(about.num_rows * about.num_columns)


def opened(source: Path | BinaryIO) -> Any:
    """An opened Parquet file, of which only the footer is read; ValueError where the file is not Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(source)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the file is not there, or may not be read
            raise
        name = source if isinstance(source, Path) else "The file"
        raise ValueError(f"{name} cannot be read as Parquet ({error}); write it again, or give CSV") from None


def _texts(column: Any, name: str) -> list[str]:
    try:
        return [text_of(cell) for cell in column.to_pylist()]
    except (OverflowError, ValueError) as error:  # pyarrow raises both, too
        raise ValueError(
            f"Column {name!r} has a value that cannot be read ({error}); dates have to be of the years 1 to 9999, and "
            "their time zone a known one"
        ) from None
