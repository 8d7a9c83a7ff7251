"""Files whose rows are data frames with a column for the target: the common part of Parquet and CSV files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from multikernel._rules import abbreviated, repeated, shortened
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
    weight : name of a column; None where all rows have the same weight
    features : names of columns; by default all others whose name does not begin with an underscore
    memory, checkpoint, every : as in ``Source``
    """

    files: tuple[Path, ...]
    target: str | tuple[str, ...] | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the columns in the first file."""

    @cached_property
    def taken(self) -> list[str]:
        """The names of the features.

        Raises
        ------
        ValueError : where a named column does not exist or was named twice
        """
        names = self.names
        named = [*self._beside, *(self.features or ())]
        existing = set(names)
        for name in named:
            if name not in existing:
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
        """The names of the columns that are no features: targets and weight."""
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

    def chunk_of(self, frame: Any, first: int, file: Path, row: int) -> Chunk:
        """The chunk of a data frame."""
        targets: Array | None = None
        if self.target is not None:
            targets = np.asarray(frame[self.target if isinstance(self.target, str) else self.targets])
        weight = None
        if self.weight is not None:
            try:
                weight = np.asarray(frame[self.weight], dtype=float)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{file}: the column {self.weight!r} holds no weights ({error})") from None
        return Chunk(frame[self.taken], targets, weight, first, str(file), row)


def paths_of(files: Any, pattern: str) -> tuple[Path, ...]:
    """The existing files of a path, a directory or several paths.

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
    paths: list[Path] = []
    for path in (path_of(file, "streams: files") for file in several):
        paths += sorted(path.glob(pattern)) if path.is_dir() else [path]
    absent = [path for path in paths if not path.is_file()]
    if absent:
        raise FileNotFoundError(f"there is no file {absent[0]}")
    if not paths:
        folder = Path(str(several[0])) if several else Path()
        raise FileNotFoundError(f"there is no file {folder / pattern}")
    return tuple(paths)


def names_of(column_names: Any, argument: str = "target") -> Any:
    """The names of columns as a user gives them, None, one name or several; several as a tuple.

    Raises
    ------
    TypeError : where it is neither a name nor a list
    ValueError : for an empty list
    """
    if column_names is None or isinstance(column_names, str):
        return column_names
    if not isinstance(column_names, Iterable):
        raise TypeError(f"{argument} must be the name of a column or a list of names, got {abbreviated(column_names)}")
    names = tuple(column_names)
    if not names:
        raise ValueError(f"{argument} is an empty list: name a column, or leave {argument} out")
    return names


def plain_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a source, with the names of features as a tuple."""
    features = names_of(options.get("features"), "features")
    return options | {"features": (features,) if isinstance(features, str) else features}
