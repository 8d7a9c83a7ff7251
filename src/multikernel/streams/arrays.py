"""Arrays, data frames, CSR matrices and .npy files as a source.

A file is mapped into memory again for every chunk, and its rows are copied: pages of earlier chunks do not stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from multikernel._arrays import is_sparse
from multikernel._row_labels import check_rows
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.streams.source import Chunk, Source

Given = Any  # an array, or the path of a .npy file


@dataclass(frozen=True, eq=False, kw_only=True)
class ArraySource(Source):
    """Rows of arrays.

    Parameters
    ----------
    X : array, CSR matrix, data frame, or path of a .npy file, (n, p)
    y : array or path, (n,) or (n, t); None where there is no target
    weight : array or path, (n,); None where all rows count alike
    memory, checkpoint, every : as in ``Source``
    """

    X: Given
    y: Given = None
    weight: Given = None

    def __post_init__(self) -> None:
        super().__post_init__()
        shapes = {name: _shape(name, each) for name, each in {"X": self.X, **self._given}.items()}
        if len(shapes["X"]) != 2:
            raise ValueError(f"streams.arrays: X must have rows and columns, got {_described(self.X)}")
        flat = next((name for name, shape in shapes.items() if not shape), None)
        if flat is not None:
            given = _described(getattr(self, flat))
            raise ValueError(f"streams.arrays: {flat} must have an entry for each row of X, got {given}")
        lengths = {name: shape[0] for name, shape in shapes.items()}
        check_rows(*self._given.items())
        if len(set(lengths.values())) > 1:
            raise ValueError(f"rows do not fit: {', '.join(f'{name} has {n}' for name, n in lengths.items())}")

    @property
    def _given(self) -> dict[str, Given]:
        return {name: each for name in ("X", "y", "weight") if (each := getattr(self, name)) is not None}

    @property
    def columns(self) -> int:
        return int(_shape("X", self.X)[1])

    @property
    def rows(self) -> int:
        return int(_shape("X", self.X)[0])

    @property
    def identity(self) -> str:
        return "; ".join(_identity(each) for each in self._given.values())

    def _chunks(self, start: int, height: int) -> Iterator[Chunk]:
        file = str(self.X) if isinstance(self.X, str | Path) else ""
        for first in range(start, self.rows, height):
            part = slice(first, first + height)
            yield Chunk(_rows(self.X, part), _some(self.y, part), _some(self.weight, part), first, file, first)


def arrays(X: Given, y: Given = None, weight: Given = None, **options: Any) -> ArraySource:
    """Arrays or .npy files as a source, for ``fit`` and ``streams.predict``.

    Parameters
    ----------
    X : array, sparse matrix, data frame, or path of a .npy file, (n, p)
    y : array or path of a .npy file, (n,) or (n, t)
    weight : array or path of a .npy file, (n,)
    **options : memory, checkpoint, every, as in ``Source``

    Raises
    ------
    ValueError : where X has no rows and columns, y or weight has another number of rows, or a file is no .npy file

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import streams
    >>> source = streams.arrays(np.zeros((2000, 3)), np.arange(2000))
    >>> sum(len(chunk) for chunk in source.chunks(start=500))
    1500
    """
    if is_sparse(X):
        X = X.tocsr()  # of which rows are taken
    return ArraySource(X=X, y=y, weight=weight, **options)


def _open(given: Given) -> Any:
    if isinstance(given, str | Path):
        return np.load(given, mmap_mode="r")
    return given


def _shape(name: str, given: Given) -> tuple[int, ...]:
    try:
        opened = _open(given)
    except (EOFError, ValueError) as error:
        raise ValueError(f"streams.arrays: {name} is the file {given}, which is no .npy file ({error})") from None
    return tuple(opened.shape if hasattr(opened, "shape") else np.shape(opened))


def _described(given: Given) -> str:
    shape = _shape("X", given)
    if shape:
        return f"shape {shape}"
    return f"{abbreviated(given)} of type {type(given).__name__}"


def _rows(given: Given, part: slice) -> Any:
    opened = _open(given)
    if hasattr(opened, "iloc"):
        return opened.iloc[part]
    if is_sparse(opened):
        return opened[part]
    return np.array(opened[part])


def _some(given: Given, part: slice) -> Array | None:
    if given is None:
        return None
    return np.asarray(_rows(given, part))


def _identity(given: Given) -> str:
    if isinstance(given, str | Path):
        about = Path(given).stat()
        return f"{Path(given).resolve()} {about.st_size} {about.st_mtime_ns}"
    from multikernel.persistence.digest import digest  # imports scikit-learn, which files do without

    return digest(given)
