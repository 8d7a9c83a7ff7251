"""Parquet files as a source: rows in batches, the types of columns kept, categories too; needs pyarrow and pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from multikernel._rules import repeated, shortened
from multikernel._typing import Array
from multikernel.files import path_of
from multikernel.streams.source import Chunk, Source


@dataclass(frozen=True, eq=False, kw_only=True)
class FrameSource(Source):
    """Files whose rows are data frames with a column for the target.

    Parameters
    ----------
    files : the files, one after the other; or a directory
    target : name of a column, or several; None where there is none
    weight : name of a column; None where all rows count alike
    features : names of columns; by default all others whose name does not begin with an underscore
    memory, checkpoint, every : as in ``Source``
    """

    files: tuple[Path, ...]
    target: str | tuple[str, ...] | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns in the first file."""
        raise NotImplementedError

    @cached_property
    def taken(self) -> list[str]:
        """The names of the features.

        Raises
        ------
        ValueError : where a column that was named is not there or was named twice
        """
        names = self.names
        named = [*self._beside, *(self.features or ())]
        known = set(names)
        for name in named:
            if name not in known:
                raise ValueError(f"{self.files[0]} has no column {name!r}; it has {shortened(names, 20)}")
        twice = repeated(named)
        if twice is not None:
            raise ValueError(
                f"the column {twice!r} was named twice: a column is the target, the weight or one of the features"
            )
        if self.features is not None:
            return list(self.features)
        return [name for name in names if name not in named and not name.startswith("_")]

    @property
    def read(self) -> list[str]:
        """The names of all columns that are read."""
        return [*self.taken, *self._beside]

    @property
    def _beside(self) -> list[str]:
        """The names of the columns beside the features: targets and weight."""
        if self.weight is None:
            return self.targets
        return [*self.targets, self.weight]

    @property
    def targets(self) -> list[str]:
        """The names of the targets."""
        if self.target is None:
            return []
        if isinstance(self.target, str):
            return [self.target]
        return list(self.target)

    @property
    def columns(self) -> int:
        return len(self.taken)

    @property
    def identity(self) -> str:
        files = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in self.files]
        return repr((files, self.target, self.weight, self.taken))

    def _chunk(self, frame: Any, first: int, file: Path, row: int) -> Chunk:
        """The chunk of a data frame."""
        targets: Array | None = None
        if self.target is not None:
            targets = np.asarray(frame[self.target if isinstance(self.target, str) else self.targets])
        weight = None
        if self.weight is not None:
            weight = np.asarray(frame[self.weight], dtype=float)
        return Chunk(frame[self.taken], targets, weight, first, str(file), row)


@dataclass(frozen=True, eq=False, kw_only=True)
class ParquetSource(FrameSource):
    """Rows of Parquet files; they are counted from 0, as libraries do."""

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
        own = opened.schema_arrow
        for name in self.read:
            if name not in own.names or _kind(own.field(name).type) != _kind(self._schema.field(name).type):
                found = "is missing"
                if name in own.names:
                    found = f"is of type {own.field(name).type}"
                raise ValueError(
                    f"{file}: column {name!r} {found}, and in {self.files[0]} it is of type "
                    f"{self._schema.field(name).type}: write all files with the same types"
                )
        sizes = [opened.metadata.row_group(g).num_rows for g in range(opened.num_row_groups)]
        ends = np.cumsum(sizes)
        groups = [g for g, end in enumerate(ends) if end > start]
        row = int(ends[groups[0]] - sizes[groups[0]]) if groups else 0
        batches = opened.iter_batches(batch_size=height, row_groups=groups, columns=self.read, use_threads=False)
        for batch in _readable(batches, opened, file, self.read):
            chunk = self._chunk(batch.to_pandas(), before + row, file, row)
            row += len(chunk)
            if row > start:
                yield chunk.after(max(0, start - (row - len(chunk))))


def _kind(of: Any) -> Any:
    """What a column of a type holds: numbers of any width are the same, and so are strings."""
    import pyarrow as pa

    if pa.types.is_integer(of) or pa.types.is_floating(of):
        return "numbers"
    if pa.types.is_string(of) or pa.types.is_large_string(of):
        return "strings"
    return of


def _readable(batches: Iterator[Any], opened: Any, file: Path, names: list[str]) -> Iterator[Any]:
    """The batches; ValueError with the row group and the column that cannot be read."""
    try:
        yield from batches
    except (OSError, ValueError) as error:  # those of pyarrow are among them
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
    return ParquetSource(files=paths_of(files, "*.parquet"), target=_names(target), weight=weight, **_plain(options))


def paths_of(files: Any, pattern: str) -> tuple[Path, ...]:
    """The files that a user means.

    Raises
    ------
    FileNotFoundError : where there is none
    TypeError : where a file is named by neither a string nor a path
    ValueError : where no file can have such a name
    """
    if isinstance(files, Iterable) and not isinstance(files, str | bytes):
        several = list(files)
    else:
        several = [files]
    found: list[Path] = []
    for each in (path_of(file, "streams: files") for file in several):
        found += sorted(each.glob(pattern)) if each.is_dir() else [each]
    absent = [each for each in found if not each.is_file()]
    if absent:
        raise FileNotFoundError(f"there is no file {absent[0]}")
    if not found:
        folder = Path(str(several[0])) if several else Path()
        raise FileNotFoundError(f"there is no file {folder / pattern}")
    return tuple(found)


def _names(given: Any, what: str = "target") -> Any:
    """The names of columns that a user gives: None, one name or several; ValueError for an empty list."""
    if given is None or isinstance(given, str):
        return given
    names = tuple(given)
    if not names:
        raise ValueError(f"{what} is an empty list: name a column, or leave {what} out")
    return names


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    features = _names(options.get("features"), "features")
    return options | {"features": (features,) if isinstance(features, str) else features}


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
        return pq.ParquetFile(file, pre_buffer=False)  # which would keep all that was read until the file is closed
    except pa.ArrowInvalid as error:
        raise ValueError(f"{file} is no Parquet file, or is cut off ({str(error).splitlines()[0]})") from None
