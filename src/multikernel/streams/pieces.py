"""Chunks that a function yields, as a source: those of a generator, a data base or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from multikernel.streams.source import Chunk, Source


@dataclass(frozen=True, eq=False, kw_only=True)
class PieceSource(Source):
    """Rows that a function yields.

    Parameters
    ----------
    make : function without arguments that yields (X, y) or (X, y, weight) from the beginning, each time it is called
    name : str, which distinguishes these rows from others
    memory, checkpoint, every : as in ``Source``
    """

    make: Callable[[], Iterable[Any]]
    name: str = ""

    @cached_property
    def _first(self) -> Chunk:
        for chunk in self._pieces():
            return chunk
        raise ValueError("streams.pieces: the function yields nothing")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.make):
            raise TypeError(
                f"streams.pieces takes a function that yields the chunks again in every call, got a "
                f"{type(self.make).__name__}: give lambda: chunks, or streams.arrays(X, y)"
            )

    def _pieces(self) -> Iterator[Chunk]:
        first = 0
        first_form = ""
        for k, piece in enumerate(self.make()):
            name = f"{self.name or 'piece'} {k}"
            if isinstance(piece, Chunk):
                chunk = replace(piece, first=first)
            else:
                chunk = _chunk(piece, first, name)
            chunk.check_lengths(f"streams.pieces: {name}")
            form = _form(chunk)
            if first_form and form != first_form:
                raise ValueError(f"streams.pieces: {name} has {form}, and the pieces before have {first_form}")
            first_form = form
            yield chunk
            first += len(chunk)

    @property
    def columns(self) -> int:
        return int(self._first.X.shape[1])

    @property
    def rows(self) -> int | None:
        return None

    @property
    def identity(self) -> str:
        from multikernel.persistence.digest import digest  # imports scikit-learn, which sources of files do not need

        return f"{self.name} {self.columns} {digest(self._first.X, self._first.y, self._first.weight)}"

    def _chunks(self, start: int, height: int) -> Iterator[Chunk]:
        """Chunks as the function yields them, of any height."""
        for chunk in self._pieces():
            if chunk.first + len(chunk) > start:
                yield chunk.after(max(0, start - chunk.first))


def _form(chunk: Chunk) -> str:
    """The properties that all pieces must share, in words."""
    target = "no target"
    if chunk.y is not None:
        target = "one target" if chunk.y.ndim == 1 else f"a matrix of {chunk.y.shape[1]} targets"
    return f"X of width {chunk.X.shape[1]} and {target}"


def _chunk(piece: Any, first: int, name: str) -> Chunk:
    """The rows of a piece (X, y) or (X, y, weight)."""
    description = type(piece).__name__
    if isinstance(piece, tuple | list):
        if len(piece) in (2, 3):
            X, y, *weights = piece
            weight = weights[0] if weights else None
            weight_array = None if weight is None else np.asarray(weight, dtype=float)
            return Chunk(X, None if y is None else np.asarray(y), weight_array, first, name)
        description += f" of {len(piece)}"
    raise ValueError(
        f"streams.pieces: {name} must be (X, y) or (X, y, weight), with y=None where there is no target; "
        f"got a {description}"
    )


def pieces(make: Callable[[], Iterable[Any]], name: str = "", **options: Any) -> PieceSource:
    """Chunks that a function yields, as a source for ``fit`` and ``streams.predict``.

    Parameters
    ----------
    make : function without arguments that yields (X, y) or (X, y, weight) from the beginning, each time it is called
    name : str, which distinguishes these rows from others where a checkpoint is kept
    **options : memory, checkpoint, every, as in ``Source``

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import streams
    >>> source = streams.pieces(lambda: ((np.full((2, 3), k), np.arange(2)) for k in range(4)))
    >>> sum(len(chunk) for chunk in source.chunks())
    8
    """
    return PieceSource(make=make, name=name, **options)
