"""Arrays, data frames, CSR matrices and .npy files as a source.

A file is mapped into memory again for every chunk, and its rows are copied, so that pages of earlier chunks are freed.
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
from multikernel.tables.cells import is_frame

Given = Any  # an array, or the path of a .npy file


@dataclass(frozen=True, eq=False, kw_only=True)
class ArraySource(Source):
    """Rows of arrays.

    Parameters
    ----------
    X : array, CSR matrix, data frame, or path of a .npy file, (n, p)
    y : array or path, (n,) or (n, t); None where there is no target
    weight : array or path, (n,); None where all rows have the same weight
    memory, checkpoint, every : as in ``Source``
    """

    X: Given
    y: Given = None
    weight: Given = None

    def __post_init__(self) -> None:
        super().__post_init__()
        shapes = {name: _shape(name, values) for name, values in {"X": self.X, **self._named_values}.items()}
        if len(shapes["X"]) != 2:
            raise ValueError(f"streams.arrays: X must have rows and columns, got {_description(self.X)}")
        flat = next((name for name, shape in shapes.items() if not shape), None)
        if flat is not None:
            description = _description(getattr(self, flat))
            raise ValueError(f"streams.arrays: {flat} must have an entry for each row of X, got {description}")
        lengths = {name: shape[0] for name, shape in shapes.items()}
        check_rows(*self._named_values.items())
        if len(set(lengths.values())) > 1:
            raise ValueError(f"rows do not fit: {', '.join(f'{name} has {n}' for name, n in lengths.items())}")

    @property
    def _named_values(self) -> dict[str, Given]:
        return {name: values for name in ("X", "y", "weight") if (values := getattr(self, name)) is not None}

    @property
    def columns(self) -> int:
        return int(_shape("X", self.X)[1])

    @property
    def rows(self) -> int:
        return int(_shape("X", self.X)[0])

    @property
    def identity(self) -> str:
        return "; ".join(_identity(values) for values in self._named_values.values())

    def _chunks(self, start: int, height: int) -> Iterator[Chunk]:
        file = str(self.X) if isinstance(self.X, str | Path) else ""
        for first in range(start, self.rows, height):
            rows = slice(first, first + height)
            yield Chunk(
                _rows(self.X, rows), _optional_rows(self.y, rows), _optional_rows(self.weight, rows), first, file, first
            )


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
        X = X.tocsr()  # rows of CSR matrices can be sliced
    return ArraySource(X=X, y=y, weight=weight, **options)


def _open(array_or_path: Given) -> Any:
    if isinstance(array_or_path, str | Path):
        return np.load(array_or_path, mmap_mode="r")
    return array_or_path


def _shape(name: str, array_or_path: Given) -> tuple[int, ...]:
    try:
        opened = _open(array_or_path)
    except (EOFError, ValueError) as error:
        raise ValueError(
            f"streams.arrays: {name} is the file {array_or_path}, which is no .npy file ({error})"
        ) from None
    return tuple(opened.shape if hasattr(opened, "shape") else np.shape(opened))


def _description(array_or_path: Given) -> str:
    shape = _shape("X", array_or_path)
    if shape:
        return f"shape {shape}"
    return f"{abbreviated(array_or_path)} of type {type(array_or_path).__name__}"


def _rows(array_or_path: Given, rows: slice) -> Any:
    opened = _open(array_or_path)
    if hasattr(opened, "iloc"):
        return opened.iloc[rows]
    if is_sparse(opened) or is_frame(opened):
        return opened[rows]
    return np.array(opened[rows])


def _optional_rows(array_or_path: Given, rows: slice) -> Array | None:
    if array_or_path is None:
        return None
    return np.asarray(_rows(array_or_path, rows))


def _identity(array_or_path: Given) -> str:
    if isinstance(array_or_path, str | Path):
        about = Path(array_or_path).stat()
        return f"{Path(array_or_path).resolve()} {about.st_size} {about.st_mtime_ns}"
    from multikernel.persistence.digest import digest  # imports scikit-learn, which sources of files do not need

    return digest(array_or_path)
