"""A source of samples: chunks of rows that can be read again and again, each of which knows its place.

A chunk is never larger than 1/64 of the memory that the source is given; the rest is left to what reads it. Rows have
numbers, counted from 0 over all files, so that a pass can begin where another one was cut off.
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
_FEWEST_BYTES = 1e8  # that a fit takes: libraries that read files take as much
_MOST_ROWS = 1 << 16  # of a chunk, however few its columns are: what is made of a row may have thousands of numbers


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows.

    Parameters
    ----------
    X : array, CSR matrix or data frame of r samples
    y : array (r,) or (r, t); None where the source has no target
    weight : array (r,) >= 0, weights of the samples; None where all are 1
    first : int, the number of the first row in the source
    file : str, the file or the part that it is from; empty for arrays
    row : int, what the first row is called there
    numbers : sequence of int, what each row is called there; None where they follow on the first one
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
        """Where row i of the chunk is, as a sentence begins."""
        number = self.row + i if self.numbers is None else self.numbers[i]
        if self.file:
            return f"{self.file}, row {number}"
        return f"row {number}"

    def after(self, rows: int) -> Chunk:
        """Without its first rows."""
        return replace(self.part(slice(rows, None)), first=self.first + rows, row=self.row + rows)

    def head(self, rows: int) -> Chunk:
        """Its first rows."""
        return self.part(slice(rows))

    def part(self, kept: slice | Array) -> Chunk:
        """Some of its rows, whose numbers in the source are not changed."""
        X = self.X.iloc[kept] if hasattr(self.X, "iloc") else self.X[kept]
        y, weight = (part_of(each, kept) for each in (self.y, self.weight))
        if self.numbers is None:
            every: Sequence[int] = range(self.row, self.row + len(self))
        else:
            every = self.numbers
        if isinstance(kept, slice):
            numbers = every[kept]
        else:
            numbers = np.asarray(every)[kept].tolist()
        return replace(self, X=X, y=y, weight=weight, numbers=numbers)

    def check_lengths(self, where: str) -> None:
        """ValueError where X has no rows and columns, or what stands beside it has another number of rows.

        ``where`` is the beginning of the sentence.
        """
        shape: tuple[int, ...] = getattr(self.X, "shape", ())
        if len(shape) != 2:
            raise ValueError(f"{where}: X must be an array or data frame with rows and columns")
        for what, values in (("y", self.y), ("weight", self.weight)):
            if values is not None and values.shape[:1] != (shape[0],):
                raise ValueError(
                    f"{where}: X has {shape[0]} rows, and {what} has the shape {values.shape}: give an entry for each "
                    "row"
                )

    def check_target(self) -> None:
        """ValueError with file and row where a target or a weight is missing or infinite, or a weight is negative."""
        for what, values in (("the target", self.y), ("the weight", self.weight)):
            if values is None:
                continue
            bad = np.argwhere(absent(values))
            if len(bad):
                raise ValueError(
                    f"{self.place(int(bad[0, 0]))}: {what} is missing or infinite; correct it, or leave the row out"
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
    memory : number of bytes, or text such as "2GB", that a fit from this source may take beside what the process holds
        before; by default 2 GB, or a quarter of the machine's memory where that is less
    checkpoint : file that keeps the state of a fit, so that one that was interrupted resumes from there; None for none
    every : int, after how many rows the state is written
    """

    memory: float | str | None = None
    checkpoint: str | Path | None = None
    every: int = 500_000

    def __post_init__(self) -> None:
        Whole(1).check(self.every, f"{type(self).__name__}: every")

    @property
    @abstractmethod
    def columns(self) -> int:
        """How many features a row has."""

    @property
    @abstractmethod
    def rows(self) -> int | None:
        """How many rows there are; None where only a pass would show it."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """A text that differs from that of every other source, and from its own after a change."""

    @abstractmethod
    def _chunks(self, start: int, height: int) -> Iterator[Chunk]:
        """Chunks of at most so many rows, from the row with this number on."""

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Chunks of rows, from the row with this number on; each call reads them again.

        Raises
        ------
        ValueError : with file and row where a target is missing; where ``start`` is no number of a row
        """
        Whole(0).check(start, "chunks: start")
        for chunk in self._chunks(start, self.height):
            if len(chunk):
                chunk.check_target()
                yield chunk

    def over(self, work: Callable[[Iterator[Chunk]], T], merge: Callable[[T, T], T]) -> T:
        """What ``work`` returns for all rows.

        Parameters
        ----------
        work : function of chunks; a source on several machines calls it for parts of the rows
        merge : function that makes one of what it returned for two parts
        """
        return work(self.chunks())

    def mapped(self, work: Callable[[Chunk], T]) -> Iterator[T]:
        """What ``work`` returns for each chunk, in order."""
        return map(work, self.chunks())

    @property
    def together(self) -> bool:
        """Whether a pass is made by several machines, which know how far it is."""
        return False

    @property
    def budget(self) -> float:
        """The bytes that a fit from this source may take."""
        return bytes_of(self.memory)

    @property
    def height(self) -> int:
        """How many rows a chunk has at most."""
        # a chunk takes 1/64 of the memory, since what is made of it, features above all, is larger than it; one of its
        # cells takes 32 bytes while it is read
        cells = self.budget / 64 / 32
        return int(min(_MOST_ROWS, max(1.0, cells / max(1, self.columns))))


def bytes_of(memory: float | str | None) -> float:
    """A number of bytes from what a user gives.

    Raises
    ------
    ValueError : where it says no number of bytes, or fewer than any fit takes
    """
    if memory is None:
        return min(2e9, 0.25 * total_memory())
    text = str(memory).strip().lower().replace(" ", "")
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        found = float(number) * _UNITS[text[len(number) :]]
    except (KeyError, ValueError):
        raise ValueError(f"memory must be a number of bytes or a text such as '2GB', got {memory!r}") from None
    if not found >= _FEWEST_BYTES:
        raise ValueError(
            f"memory must be at least 100 MB, which libraries that read files take themselves; got {memory!r}"
        )
    return found


def absent(values: Any) -> Array:
    """Which values are missing or infinite: None, NaN, NaT, the NA of pandas."""
    values = np.asarray(values)
    if values.dtype.kind in "fc":
        return ~np.isfinite(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        flat = [value is None or is_null(value) for value in values.ravel()]
        return np.array(flat, dtype=bool).reshape(values.shape)
    return np.zeros(values.shape, dtype=bool)
