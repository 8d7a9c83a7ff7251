"""A survey of all rows of a source: their number, the classes of the target, and a uniform sample of rows.

Every row draws a random number, in the order of the rows; the rows with the smallest numbers are the sample. The sample
is determined by the seed and the rows, and not by the chunks or by the process that reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._arrays import is_sparse
from multikernel._rules import Whole
from multikernel._typing import Array
from multikernel.streams.source import Chunk, Source
from multikernel.tables.cells import is_frame


@dataclass(frozen=True, eq=False)
class Survey:
    """The result of a survey of all rows.

    Parameters
    ----------
    rows : int, the number of all rows
    sample : Chunk of some of the rows, in a random order
    classes : array, the values of the target in order; None for more than ``most``, or without a target
    numbers : array, the random numbers of the rows of the sample, in ascending order
    """

    rows: int
    sample: Chunk
    classes: Array | None
    numbers: Array


def survey(source: Source, count: int, seed: int = 0, most: int = 10_000) -> Survey:
    """Survey all rows.

    Parameters
    ----------
    source : Source
    count : int, the largest number of rows in the sample
    seed : int
    most : int, the largest number of classes that are listed

    Raises
    ------
    ValueError : where there is no row, or ``count`` is 0
    """
    Whole(1).check(count, "survey: count")
    summary = source.over(_RowPass(count, seed, most, _enough(count, source.rows)), _merged_summaries)
    if summary.sample is None:
        raise ValueError("the source has no row; a function must yield its chunks again in every call")
    classes = None if not summary.classes else np.array(sorted(summary.classes))
    return Survey(summary.rows, summary.sample[1], classes, summary.sample[0])


def in_order(row_survey: Survey, seed: int) -> Chunk:
    """A sample that contains all rows, in the order of the source; ``seed`` is that of the survey."""
    numbers = np.random.Generator(np.random.PCG64(seed)).random(row_survey.rows)
    return taken(row_survey.sample, np.argsort(np.argsort(numbers, kind="stable")))


def _enough(count: int, rows: int | None) -> float:
    """A bound below which at least ``count`` rows almost certainly draw: rows above it need not be stored or sent.

    Of n rows, on average c draw less than c / n, with a standard deviation of at most the root of c. With a margin of
    six standard deviations, the sample is too small about once in a billion times.
    """
    if not rows:
        return np.inf
    return (count + 6.0 * np.sqrt(count) + 40.0) / rows


def drawn(seed: int, chunk: Chunk) -> Array:
    """The random number of each row of a chunk; a survey with this seed samples the rows with the smallest numbers."""
    # each row draws one number, so the numbers of the rows before are skipped
    return np.random.Generator(np.random.PCG64(seed).advance(chunk.first)).random(len(chunk))


NumberedRows = tuple[Array, Chunk]  # random numbers, and the rows that drew them


@dataclass(frozen=True, eq=False)
class _RowSummary:
    """The survey of some rows: their number, the rows with the smallest numbers, and the values of the target."""

    rows: int
    sample: NumberedRows | None
    classes: frozenset[Any] | None
    count: int
    max_classes: int


@dataclass(frozen=True)
class _RowPass:
    """The survey of some rows, as a function of their chunks; rows that draw ``below`` or more are not sampled."""

    count: int
    seed: int
    max_classes: int
    below: float

    def __call__(self, chunks: Iterator[Chunk]) -> _RowSummary:
        rows = 0
        smallest = list[NumberedRows]()
        size = 0
        largest = self.below
        classes: set[Any] | None = set()
        for chunk in chunks:
            numbers = drawn(self.seed, chunk)
            rows += len(chunk)
            if classes is not None and chunk.y is not None and chunk.y.ndim == 1:
                classes.update(np.unique(chunk.y).tolist())
                if len(classes) > self.max_classes:
                    classes = None
            near = np.flatnonzero(numbers < largest)
            if len(near):
                smallest.append((numbers[near], taken(chunk, near)))
                size += len(near)
            if size > 2 * self.count:
                smallest = [_smallest(smallest, self.count)]
                size = self.count
                largest = float(smallest[0][0].max())
        sample = _smallest(smallest, self.count) if smallest else None
        return _RowSummary(rows, sample, None if classes is None else frozenset(classes), self.count, self.max_classes)


def _merged_summaries(first: _RowSummary, second: _RowSummary) -> _RowSummary:
    """The survey of the rows of both summaries."""
    samples = [summary.sample for summary in (first, second) if summary.sample is not None]
    sample = _smallest(samples, first.count) if samples else None
    classes = None
    if first.classes is not None and second.classes is not None:
        classes = first.classes | second.classes
        if len(classes) > first.max_classes:
            classes = None
    return _RowSummary(first.rows + second.rows, sample, classes, first.count, first.max_classes)


def _smallest(samples: list[tuple[Array, Chunk]], count: int) -> tuple[Array, Chunk]:
    numbers = np.concatenate([numbers for numbers, _ in samples])
    order = np.argsort(numbers, kind="stable")[:count]
    return numbers[order], taken(joined([chunk for _, chunk in samples]), order)


def taken(chunk: Chunk, rows: Array) -> Chunk:
    """Some rows of a chunk, without their places in the source."""
    rows_chunk = chunk.part(rows)
    return Chunk(rows_chunk.X, rows_chunk.y, rows_chunk.weight, file="a sample of the rows")


def joined(chunks: list[Chunk]) -> Chunk:
    """Several chunks as one."""
    first = chunks[0]
    if is_frame(first.X):
        X = _joined_frames([chunk.X for chunk in chunks])
    elif is_sparse(first.X):
        from scipy import sparse

        X = sparse.vstack([chunk.X for chunk in chunks], format="csr")
    else:
        X = np.concatenate([chunk.X for chunk in chunks])
    y = None
    if first.y is not None:
        y = np.concatenate([np.asarray(chunk.y) for chunk in chunks])
    weight = None
    if any(chunk.weight is not None for chunk in chunks):
        weight = np.concatenate([np.ones(len(chunk)) if chunk.weight is None else chunk.weight for chunk in chunks])
    return Chunk(X, y, weight, file=first.file)


def _joined_frames(frames: list[Any]) -> Any:
    """Data frames one below the other; declared categories stay declared, whichever of them each frame contains."""
    if not hasattr(frames[0], "iloc"):
        import narwhals as nw

        return nw.concat(list(map(nw.from_native, frames))).to_native()
    import pandas as pd

    joined_frame = pd.concat(frames, ignore_index=True)
    for name, dtype in frames[0].dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype) and joined_frame[name].dtype != dtype:
            joined_frame[name] = pd.api.types.union_categoricals([frame[name] for frame in frames])
    return joined_frame
