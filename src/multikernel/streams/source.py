"""A source of samples: chunks of rows that can be read repeatedly, each with its place in the source.

A chunk takes at most 1/64 of the memory of the source; the remaining memory is for the features and sums made from it.
Rows are numbered from 0 over all files, so that a pass can continue where another one was interrupted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from multikernel._arrays import as_dense, is_null, part_of
from multikernel._memory import total_memory
from multikernel._rules import Whole
from multikernel._typing import Array
from multikernel.tables.cells import is_frame

T = TypeVar("T")
_UNITS = {
    "": 1.0,
    "b": 1.0,
    "kb": 1e3,
    "mb": 1e6,
    "gb": 1e9,
    "tb": 1e12,
    "kib": 2.0**10,
    "mib": 2.0**20,
    "gib": 2.0**30,
}
_FEWEST_BYTES = 1e8  # the least memory of a fit: libraries that read files take as much
_MOST_ROWS = 1 << 16  # of a chunk, however few its columns are: the features of a row may be thousands of numbers


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some consecutive or selected rows of a source.

    Parameters
    ----------
    X : array, CSR matrix or data frame of r samples
    y : array (r,) or (r, t); None where the source has no target
    weight : array (r,) >= 0, weights of the samples; None where all are 1
    first : int, the number of the first row in the source
    file : str, the file or the part that the rows are from; empty for arrays
    row : int, the number of the first row in this file
    numbers : sequence of int, the number of each row in this file; None where they are consecutive
    """

    X: Any
    y: Array | None
    weight: Array | None = None
    first: int = 0
    file: str = ""
    row: int = 0
    numbers: Sequence[int] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def place(self, i: int) -> str:
        """The place of row i of the chunk, as the beginning of a message."""
        number = self.row + i if self.numbers is None else self.numbers[i]
        if self.file:
            return f"{self.file}, row {number}"
        return f"row {number}"

    def after(self, rows: int) -> Chunk:
        """The chunk without its first rows."""
        return replace(self.part(slice(rows, None)), first=self.first + rows, row=self.row + rows)

    def head(self, rows: int) -> Chunk:
        """The first rows of the chunk."""
        return self.part(slice(rows))

    def part(self, rows: slice | Array) -> Chunk:
        """Some rows of the chunk, with their numbers in the source."""
        X = self._samples(rows)
        y, weight = (part_of(values, rows) for values in (self.y, self.weight))
        if self.numbers is None:
            all_numbers: Sequence[int] = range(self.row, self.row + len(self))
        else:
            all_numbers = self.numbers
        if isinstance(rows, slice):
            numbers = all_numbers[rows]
        else:
            numbers = np.asarray(all_numbers)[rows].tolist()
        return replace(self, X=X, y=y, weight=weight, numbers=numbers)

    def _samples(self, rows: slice | Array) -> Any:
        if hasattr(self.X, "iloc"):
            return self.X.iloc[rows]
        if is_frame(self.X) and not isinstance(rows, slice):  # other libraries' frames take no masks of rows
            return self.X[np.arange(len(self))[rows]]
        return self.X[rows]

    def check_lengths(self, where: str) -> None:
        """ValueError where X has no rows and columns, or y or the weights have another number of rows.

        ``where`` is the beginning of the message.
        """
        shape: tuple[int, ...] = getattr(self.X, "shape", ())
        if len(shape) != 2:
            raise ValueError(f"{where}: X must be an array or data frame with rows and columns")
        for name, values in (("y", self.y), ("weight", self.weight)):
            if values is not None and values.shape[:1] != (shape[0],):
                raise ValueError(
                    f"{where}: X has {shape[0]} rows, and {name} has the shape {values.shape}: give an entry for each "
                    "row"
                )

    def check_target(self) -> None:
        """ValueError with file and row where a target or a weight is missing or infinite, or a weight is negative."""
        for name, values in (("the target", self.y), ("the weight", self.weight)):
            if values is None:
                continue
            bad = np.argwhere(absent(values))
            if len(bad):
                raise ValueError(
                    f"{self.place(int(bad[0, 0]))}: {name} is missing or infinite; correct it, or leave the row out"
                )
        if self.weight is not None and (self.weight < 0).any():
            raise ValueError(f"{self.place(int((self.weight < 0).argmax()))}: the weight is negative")

    def first_absent(self) -> str | None:
        """The place of the first cell of X that is missing or infinite; None where there is none."""
        X = as_dense(self.X)
        names = None
        if is_frame(X):
            names = list(X.columns)
            bad = np.stack([absent(np.asarray(X[name])) for name in names], axis=1)
        elif np.asarray(X).dtype.kind in "fiub":
            bad = ~np.isfinite(np.asarray(X, dtype=float))
        else:
            bad = absent(X)
        if not bad.any():
            return None
        i, j = np.argwhere(bad.reshape(len(bad), -1))[0]
        return f"{self.place(int(i))}, column {j if names is None else repr(names[j])}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Source(ABC):
    """Chunks of rows.

    Parameters
    ----------
    memory : number of bytes, or text such as "2GB", that a fit from this source may take in addition to the memory of
        the process before; by default 2 GB, or a quarter of the machine's memory where that is less
    checkpoint : file for the state of a fit, from which an interrupted fit resumes; None for no file
    every : int, the number of rows after which the state is written again
    """

    memory: float | str | None = None
    checkpoint: str | Path | None = None
    every: int = 500_000

    def __post_init__(self) -> None:
        Whole(1).check(self.every, f"{type(self).__name__}: every")

    @property
    @abstractmethod
    def columns(self) -> int:
        """The number of features of a row."""

    @property
    @abstractmethod
    def rows(self) -> int | None:
        """The number of rows; None where only a pass can count them."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """A text that differs between sources, and before and after a change of the rows."""

    @abstractmethod
    def _chunks(self, start: int, height: int) -> Iterator[Chunk]:
        """Chunks of at most ``height`` rows, beginning with row ``start``."""

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Chunks of rows, beginning with row ``start``; each call reads them again.

        Raises
        ------
        ValueError : with file and row where a target is missing; where ``start`` is not an integer >= 0
        """
        Whole(0).check(start, "chunks: start")
        for chunk in self._chunks(start, self.height):
            if len(chunk):
                chunk.check_target()
                yield chunk

    def over(self, work: Callable[[Iterator[Chunk]], T], merge: Callable[[T, T], T]) -> T:
        """The result of ``work`` for all rows.

        Parameters
        ----------
        work : function of chunks; a source on several machines calls it for parts of the rows
        merge : function that merges the results of ``work`` for two parts into one
        """
        return work(self.chunks())

    def mapped(self, work: Callable[[Chunk], T]) -> Iterator[T]:
        """The result of ``work`` for each chunk, in order."""
        return map(work, self.chunks())

    @property
    def together(self) -> bool:
        """Whether several machines make a pass together, and report its progress themselves."""
        return False

    @property
    def budget(self) -> float:
        """The bytes that a fit from this source may take."""
        return bytes_of(self.memory)

    @property
    def height(self) -> int:
        """The largest number of rows of a chunk."""
        # a chunk takes 1/64 of the memory, because the features made from it are larger; a cell takes 32 bytes while it
        # is read
        cells = self.budget / 64 / 32
        return int(min(_MOST_ROWS, max(1.0, cells / max(1, self.columns))))


def bytes_of(memory: float | str | None) -> float:
    """The number of bytes that a user gives as a number or a text; the default without one.

    Raises
    ------
    ValueError : where it is not a number of bytes, or fewer than any fit takes
    """
    if memory is None:
        return min(2e9, 0.25 * total_memory())
    text = str(memory).strip().lower().replace(" ", "")
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        count = float(number) * _UNITS[text[len(number) :]]
    except (KeyError, ValueError):
        raise ValueError(f"memory must be a number of bytes or a text such as '2GB', got {memory!r}") from None
    if not count >= _FEWEST_BYTES:
        raise ValueError(
            f"memory must be at least 100 MB, which libraries that read files take themselves; got {memory!r}"
        )
    return count


def absent(values: Any) -> Array:
    """Which values are missing or infinite: None, NaN, NaT, the NA of pandas."""
    values = np.asarray(values)
    if values.dtype.kind in "fc":
        return ~np.isfinite(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        flat = [
            value is None or is_null(value) or (isinstance(value, float) and np.isinf(value))
            for value in values.ravel()
        ]
        return np.array(flat, dtype=bool).reshape(values.shape)
    return np.zeros(values.shape, dtype=bool)
