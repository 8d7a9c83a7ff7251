"""CSV files as a source; needs pandas.

Columns are numbers or strings as the first rows say, and stay what they are: a later cell that is no number is refused
with its row, which is counted as a spreadsheet shows it, the names of the columns being row 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.streams.parquet import FrameSource, _names, _plain, paths_of
from multikernel.streams.source import Chunk

_DELIMITERS = ",;\t|"
_HEADER = 2  # what the first row after the names is called


@dataclass(frozen=True, eq=False, kw_only=True)
class CSVSource(FrameSource):
    """Rows of CSV files.

    Parameters
    ----------
    files, target, weight, features : as in ``FrameSource``
    delimiter : character between cells
    decimal : character in numbers
    memory, checkpoint, every : as in ``Source``
    """

    delimiter: str = ","
    decimal: str = "."

    def _read(self, file: Path, **options: Any) -> Any:
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("a CSV file is read in chunks by pandas: pip install 'multikernel[streams]'") from None
        try:
            return pd.read_csv(file, sep=self.delimiter, decimal=self.decimal, **options)
        except pd.errors.EmptyDataError:
            raise ValueError(f"{file} is empty; a row of column names was expected") from None
        except UnicodeDecodeError:
            raise ValueError(f"{file} is not UTF-8 text; save it as 'CSV UTF-8'") from None

    @cached_property
    def _head(self) -> Any:
        return self._read(self.files[0], nrows=10_000)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(str, self._head.columns))

    @cached_property
    def _types(self) -> dict[str, Any]:
        """Numbers in double precision or strings, by the first rows."""
        return {
            name: np.float64 if dtype.kind in "iufb" else str
            for name, dtype in zip(self._head.columns, self._head.dtypes, strict=True)
        }

    @property
    def rows(self) -> int | None:
        return None

    def _chunks(self, start: int, height: int) -> Iterator[Chunk]:
        asked = [*self.taken, *self.targets, *([] if self.weight is None else [self.weight])]
        before = 0  # rows of earlier files, and of this one
        for file in self.files:
            row = 0
            for frame in self._frames(file, asked, height):
                first, row, before = row, row + len(frame), before + len(frame)
                if before > start:
                    skipped = max(0, start - (before - len(frame)))
                    chunk = self._chunk(frame, before - len(frame), file, first + _HEADER)
                    yield chunk.after(skipped)

    def _frames(self, file: Path, asked: list[str], height: int) -> Iterator[Any]:
        missing = set(asked) - set(map(str, self._read(file, nrows=0).columns))
        if missing:
            raise ValueError(f"{file} lacks the column {min(missing)!r}, which {self.files[0]} has")
        types, done = {name: self._types[name] for name in asked}, 0
        with self._read(file, usecols=asked, dtype=types, chunksize=height) as reader:
            while True:
                try:
                    frame = next(reader)
                except StopIteration:
                    return
                except ValueError as error:
                    raise ValueError(self._wrong(file, done, height, types) or f"{file}: {error}") from None
                yield frame
                done += len(frame)

    def _wrong(self, file: Path, done: int, height: int, types: dict[str, Any]) -> str | None:
        """Which cell of a chunk is no number."""
        import pandas as pd

        raw = self._read(file, usecols=list(types), dtype=str, skiprows=range(1, done + 1), nrows=height)
        for name in (name for name, kind in types.items() if kind is not str):
            column = raw[name] if self.decimal == "." else raw[name].str.replace(self.decimal, ".", regex=False)
            bad = np.asarray(pd.to_numeric(column, errors="coerce").isna() & column.notna())
            if bad.any():
                i = int(bad.argmax())
                return (
                    f"{file}, row {done + i + _HEADER}, column {name!r}: {raw[name].iloc[i]!r} is no number, and the "
                    "first rows of the column are; mend the cell, or leave the row out"
                )
        return None


def csv(
    files: Any,
    target: Any = None,
    weight: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    **options: Any,
) -> CSVSource:
    """CSV files as a source, for ``fit`` and ``streams.predict``; needs pandas.

    Parameters
    ----------
    files : path of a file or of a directory of ``.csv`` files, or several paths; compressed ones too
    target : name of a column, or a list of them
    weight : name of the column of weights
    delimiter : character between cells; by default told from the names of the columns
    decimal : character in numbers
    **options : features (names of columns), and memory, checkpoint, every, as in ``Source``
    """
    paths = paths_of(files, "*.csv*")
    given = {"target": _names(target), "weight": weight, "decimal": decimal} | _plain(options)
    if delimiter is None:
        head = CSVSource(files=paths, delimiter="\x1f")._read(paths[0], nrows=0)  # none
        text = str(head.columns[0]) if len(head.columns) else ""
        delimiter = max(_DELIMITERS, key=text.count)
    return CSVSource(files=paths, delimiter=delimiter, **given)
