"""Parquet files as a source: rows in batches, the types of columns kept, categories too; needs pyarrow and pandas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.streams.frames import FrameSource, names_of, paths_of, plain_options
from multikernel.streams.source import Chunk


@dataclass(frozen=True, eq=False, kw_only=True)
class ParquetSource(FrameSource):
    """Rows of Parquet files, numbered from 0 as in libraries."""

    @cached_property
    def _schema(self) -> Any:
        return _opened(self.files[0]).schema_arrow

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._schema.names)

    @cached_property
    def _rows(self) -> list[int]:
        return [int(_opened(file).metadata.num_rows) for file in self.files]

    @property
    def rows(self) -> int:
        return sum(self._rows)

    def _chunks(self, start: int, height: int) -> Iterator[Chunk]:
        before = 0
        for file, rows in zip(self.files, self._rows, strict=True):
            if before + rows > start:
                yield from self._of_file(file, before, max(0, start - before), height)
            before += rows

    def _of_file(self, file: Path, before: int, start: int, height: int) -> Iterator[Chunk]:
        opened = _opened(file)
        schema = opened.schema_arrow
        for name in self.read:
            if name not in schema.names or _kind(schema.field(name).type) != _kind(self._schema.field(name).type):
                fault = "is missing"
                if name in schema.names:
                    fault = f"is of type {schema.field(name).type}"
                raise ValueError(
                    f"{file}: column {name!r} {fault}, and in {self.files[0]} it is of type "
                    f"{self._schema.field(name).type}: write all files with the same types"
                )
        sizes = [opened.metadata.row_group(g).num_rows for g in range(opened.num_row_groups)]
        ends = np.cumsum(sizes)
        groups = [g for g, end in enumerate(ends) if end > start]
        row = int(ends[groups[0]] - sizes[groups[0]]) if groups else 0
        batches = opened.iter_batches(batch_size=height, row_groups=groups, columns=self.read, use_threads=False)
        for batch in _readable(batches, opened, file, self.read):
            chunk = self.chunk_of(batch.to_pandas(), before + row, file, row)
            row += len(chunk)
            if row > start:
                yield chunk.after(max(0, start - (row - len(chunk))))


def _kind(data_type: Any) -> Any:
    """The kind of a column's type: numbers of any width are one kind, and so are strings."""
    import pyarrow as pa

    if pa.types.is_integer(data_type) or pa.types.is_floating(data_type):
        return "numbers"
    if pa.types.is_string(data_type) or pa.types.is_large_string(data_type):
        return "strings"
    return data_type


def _readable(batches: Iterator[Any], opened: Any, file: Path, names: list[str]) -> Iterator[Any]:
    """The batches; ValueError with the row group and the column that cannot be read."""
    try:
        yield from batches
    except (OSError, ValueError) as error:  # base classes of pyarrow's errors
        bad = next(
            (
                f"row group {group}, column {name!r}"
                for group in range(opened.num_row_groups)
                for name in names
                if not _reads(opened, group, name)
            ),
            "its rows",
        )
        raise ValueError(f"{file}: {bad} cannot be read ({str(error).splitlines()[0]}); write the file again") from None


def _reads(opened: Any, group: int, name: str) -> bool:
    try:
        opened.read_row_group(group, columns=[name], use_threads=False)
    except (OSError, ValueError):
        return False
    return True


def parquet(files: Any, target: Any = None, weight: str | None = None, **options: Any) -> ParquetSource:
    """Parquet files as a source, for ``fit`` and ``streams.predict``; needs pyarrow and pandas.

    Columns keep their types: declared categories stay categories, dates dates. Rows are counted from 0.

    Parameters
    ----------
    files : path of a file or of a directory of ``.parquet`` files, or several paths
    target : name of a column, or a list of them
    weight : name of the column of weights
    **options : features (names of columns), and memory, checkpoint, every, as in ``Source``
    """
    return ParquetSource(
        files=paths_of(files, "*.parquet"), target=names_of(target), weight=weight, **plain_options(options)
    )


def _opened(file: Path) -> Any:
    try:
        import pandas  # noqa: F401 - batches become data frames
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError(
            f"a Parquet file is read by pyarrow and pandas, and {error.name} is not installed: "
            "pip install 'multikernel[streams]'"
        ) from None
    try:
        return pq.ParquetFile(file, pre_buffer=False)  # buffers would be kept until the file is closed
    except pa.ArrowInvalid as error:
        raise ValueError(f"{file} is no Parquet file, or is cut off ({str(error).splitlines()[0]})") from None
