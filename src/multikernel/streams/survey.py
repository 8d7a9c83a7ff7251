"""One look at all rows of a source: how many there are, which classes, and a uniform sample of them.

Every row draws a number, in the order of the rows; those of the smallest numbers are the sample. It follows from the
seed and the rows alone, and not from the chunks, or from who looks at which of them.
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


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of all rows.

    Parameters
    ----------
    rows : int, how many there are
    sample : Chunk of some of them, in a random order
    classes : array, the values of the target in order; None where they are more than ``most``, or there is no target
    numbers : array, what the rows of the sample drew, in their order, which is that of these
    """

    rows: int
    sample: Chunk
    classes: Array | None
    numbers: Array


def survey(source: Source, count: int, seed: int = 0, most: int = 10_000) -> Survey:
    """Look at all rows.

    Parameters
    ----------
    source : Source
    count : int, how many rows are sampled, at most
    seed : int
    most : int, classes at most that are listed

    Raises
    ------
    ValueError : where there is no row, or none is to be sampled
    """
    Whole(1).check(count, "survey: count")
    found = source.over(_Look(count, seed, most, _enough(count, source.rows)), _both)
    if found.sample is None:
        raise ValueError("the source has no row; a function must yield its chunks again in every call")
    known = None if not found.classes else np.array(sorted(found.classes))
    return Survey(found.rows, found.sample[1], known, found.sample[0])


def in_order(seen: Survey, seed: int) -> Chunk:
    """A sample that holds all rows, in the order of the rows; ``seed`` is that of the survey."""
    numbers = np.random.Generator(np.random.PCG64(seed)).random(seen.rows)
    return taken(seen.sample, np.argsort(np.argsort(numbers, kind="stable")))


def _enough(count: int, rows: int | None) -> float:
    """A number below which so many of the rows draw, as good as surely: those above need not be kept, or be sent.

    Of n rows c in the mean draw less than c / n, with a standard deviation of at most the root of c. By six of these,
    the sample is a little smaller once in a billion times.
    """
    if not rows:
        return np.inf
    return (count + 6.0 * np.sqrt(count) + 40.0) / rows


def drawn(seed: int, chunk: Chunk) -> Array:
    """The number that each row of a chunk draws; those of the sample of a survey with this seed are the smallest."""
    # a row draws one number; as many as there are rows before are left out
    return np.random.Generator(np.random.PCG64(seed).advance(chunk.first)).random(len(chunk))


Kept = tuple[Array, Chunk]  # rows and the numbers that they drew


@dataclass(frozen=True, eq=False)
class _Seen:
    """What is known of some of the rows: how many, those of the smallest numbers, and the values of the target."""

    rows: int
    sample: Kept | None
    classes: frozenset[Any] | None
    count: int
    most: int


@dataclass(frozen=True)
class _Look:
    """A look at some of the rows, of which those that draw less than ``below`` may be in the sample."""

    count: int
    seed: int
    most: int
    below: float

    def __call__(self, chunks: Iterator[Chunk]) -> _Seen:
        rows = 0
        kept = list[Kept]()
        size = 0
        largest = self.below
        classes: set[Any] | None = set()
        for chunk in chunks:
            keys = drawn(self.seed, chunk)
            rows += len(chunk)
            if classes is not None and chunk.y is not None and chunk.y.ndim == 1:
                classes.update(np.unique(chunk.y).tolist())
                if len(classes) > self.most:
                    classes = None
            near = np.flatnonzero(keys < largest)
            if len(near):
                kept.append((keys[near], taken(chunk, near)))
                size += len(near)
            if size > 2 * self.count:
                kept = [_smallest(kept, self.count)]
                size = self.count
                largest = float(kept[0][0].max())
        sample = _smallest(kept, self.count) if kept else None
        return _Seen(rows, sample, None if classes is None else frozenset(classes), self.count, self.most)


def _both(one: _Seen, other: _Seen) -> _Seen:
    """What is known of the rows of both."""
    kept = [each.sample for each in (one, other) if each.sample is not None]
    sample = _smallest(kept, one.count) if kept else None
    classes = None
    if one.classes is not None and other.classes is not None:
        classes = one.classes | other.classes
        if len(classes) > one.most:
            classes = None
    return _Seen(one.rows + other.rows, sample, classes, one.count, one.most)


def _smallest(kept: list[tuple[Array, Chunk]], count: int) -> tuple[Array, Chunk]:
    keys = np.concatenate([each for each, _ in kept])
    order = np.argsort(keys, kind="stable")[:count]
    return keys[order], taken(joined([chunk for _, chunk in kept]), order)


def taken(chunk: Chunk, rows: Array) -> Chunk:
    """Some rows of a chunk, whose places are not known any more."""
    some = chunk.part(rows)
    return Chunk(some.X, some.y, some.weight, file="a sample of the rows")


def joined(chunks: list[Chunk]) -> Chunk:
    """Several chunks as one."""
    first = chunks[0]
    if hasattr(first.X, "iloc"):
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
    """Data frames one below the other; declared categories stay declared, whatever each part has seen of them."""
    import pandas as pd

    whole = pd.concat(frames, ignore_index=True)
    for name, dtype in frames[0].dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype) and whole[name].dtype != dtype:
            whole[name] = pd.api.types.union_categoricals([frame[name] for frame in frames])
    return whole
