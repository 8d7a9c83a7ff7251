"""Rows on a cluster of Dask: arrays, data frames or delayed pieces, which workers read and sum up where they are.

Dask's scheduler runs everything: each part is a task, results are merged as a tree, and the parts of a worker that is
lost are computed again by another. The function of the chunks is sent to each worker once; the results that return are
as large as the sums, for any number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np

from multikernel.streams.source import Chunk, Source

T = TypeVar("T")
_BRANCHES = 4  # results that are merged by a task, as in Dask's own reductions (split_every)
_WARNED = "1GB"  # Dask warns where a task is larger; features of many kernels take some ten megabytes


@dataclass(frozen=True, eq=False, kw_only=True)
class DaskSource(Source):
    """Rows in parts, each of which is the result of a task.

    Parameters
    ----------
    parts : delayed objects of Dask, each the X of some rows, or a piece (X, y) or (X, y, weight)
    targets, weights : delayed objects of the same rows; None where pieces contain them, or there are none
    target : name of the column, or names of the columns, that are the target of data frames; None for none
    known : the number of rows of each part; None where they have to be counted
    width : the number of features of a row; None to take it from the first part
    client : dask.distributed.Client; by default the connected one, or threads of this process without one
    memory : as in ``Source``, for each task
    """

    parts: tuple[Any, ...]
    targets: tuple[Any, ...] | None = None
    weights: tuple[Any, ...] | None = None
    target: Any = None
    known: tuple[int, ...] | None = None
    width: int | None = None
    client: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checkpoint is not None:
            raise ValueError("streams.dask: the state of a fit on a cluster is kept in no checkpoint: leave it out")

    # -- the members of a source ------------------------------------------------------------------------------------

    @cached_property
    def _pieces(self) -> list[Any]:
        """A delayed Chunk of each part."""
        from dask import delayed

        none = (None,) * len(self.parts)
        parts_with_targets = zip(self.parts, self.targets or none, self.weights or none, strict=True)
        piece_task = delayed(_piece, pure=False)
        return [
            piece_task(part, y, weight, self.target, f"part {k}")
            for k, (part, y, weight) in enumerate(parts_with_targets)
        ]

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        if self.known is not None:
            return self.known
        from dask import delayed

        return tuple(self._computed([delayed(len, pure=False)(piece) for piece in self._pieces]))

    @property
    def rows(self) -> int:
        return sum(self._sizes)

    @cached_property
    def columns(self) -> int:
        if self.width is not None:
            return self.width
        from dask import delayed

        return int(self._computed([delayed(_width, pure=False)(self._pieces[0])])[0])

    @property
    def identity(self) -> str:
        from dask.base import tokenize

        return str(tokenize(self.parts, self.targets, self.weights))

    def _chunks(self, start: int, height: int) -> Iterator[Chunk]:
        """Chunks of one part after the other, each of which is transferred to this process."""
        first = 0
        for piece, size in zip(self._pieces, self._sizes, strict=True):
            if first + size > start:
                chunk = replace(self._computed([piece])[0], first=first)
                yield from _blocks(chunk.after(max(0, start - first)), height)
            first += size

    @property
    def together(self) -> bool:
        return True

    # -- work on the cluster -------------------------------------------------------------------------------------------

    def over(self, work: Callable[[Iterator[Chunk]], T], merge: Callable[[T, T], T]) -> T:
        """The result of ``work`` for all rows: computed for each part where it is, and merged as a tree."""
        from dask import delayed

        if not self.parts:
            raise ValueError("streams.dask: there is no part of rows")
        merge_task = delayed(_merged, pure=False)
        tasks = self._of_parts(_applied, work)
        while len(tasks) > 1:
            tasks = [merge_task(merge, tasks[k : k + _BRANCHES]) for k in range(0, len(tasks), _BRANCHES)]
        result: T = self._computed(tasks)[0]
        return result

    def mapped(self, work: Callable[[Chunk], T]) -> Iterator[T]:
        """The result of ``work`` for each chunk, in order; only results are transferred to this process."""
        for results in self._computed(self._of_parts(_mapped_blocks, work)):
            yield from results

    def _of_parts(self, function: Callable[..., Any], shared_argument: Any) -> list[Any]:
        """A task for each part: ``function`` of the shared argument, the part, its first row and the chunks' height."""
        from dask import delayed

        # one object of the graph, which is sent to each worker once
        shared = delayed(shared_argument, traverse=False, pure=False)
        task = delayed(function, pure=False)
        firsts = np.cumsum([0, *self._sizes]).tolist()
        height = self.height
        return [task(shared, piece, first, height) for piece, first in zip(self._pieces, firsts, strict=False)]

    def _computed(self, tasks: list[Any]) -> list[Any]:
        import dask

        client = self.client or _connected()
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": _WARNED}):
            if client is None:
                return list(dask.compute(*tasks, scheduler="threads"))
            return list(client.gather(client.compute(tasks)))


def dask(X: Any, y: Any = None, weight: Any = None, **options: Any) -> DaskSource:
    """Rows of Dask as a source for ``fit`` and ``streams.predict``.

    Parameters
    ----------
    X : Dask array (n, p) in blocks of rows; Dask data frame; or a list of delayed objects, each (X, y), (X, y, weight)
        or a data frame
    y : Dask array (n,) or (n, t), or an array; for data frames the name of the target's column, names of several, or a
        Dask series of the same partitions
    weight : Dask array (n,), or an array, of weights >= 0; for data frames a Dask series; 1 by default
    **options : ``client``, a dask.distributed.Client, by default the connected one; and ``memory``, as in ``Source``,
        for each task

    Raises
    ------
    TypeError : where X is none of these

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from multikernel import RLS2Regressor, streams
    >>> X = da.random.default_rng(0).normal(size=(1000, 3), chunks=(300, 3))
    >>> source = streams.dask(X, X[:, 0] ** 2)
    >>> source.rows, source.columns
    (1000, 3)
    """
    if hasattr(X, "npartitions") and hasattr(X, "columns"):
        named = y is None or isinstance(y, str) or (isinstance(y, list) and all(isinstance(name, str) for name in y))
        parts = _partitions(X, X.npartitions, "X")
        if weight is None:
            weights = None
        else:
            weights = _partitions(weight, X.npartitions, "the weights")
        if named:
            return DaskSource(parts=parts, target=y, weights=weights, **options)
        target_parts = _partitions(y, X.npartitions, "the target")
        return DaskSource(parts=parts, targets=target_parts, weights=weights, **options)
    if hasattr(X, "chunks") and hasattr(X, "to_delayed"):
        if X.ndim != 2:
            raise ValueError(f"streams.dask: X must have the shape (n, p), got {X.ndim} axes; use X.reshape(-1, 1)")
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        sizes = X.chunks[0]
        known_sizes = None
        if not any(np.isnan(size) for size in sizes):
            known_sizes = tuple(map(int, sizes))
        parts = tuple(X.to_delayed()[:, 0])
        targets = None if y is None else _beside(y, X, "y")
        weights = None if weight is None else _beside(weight, X, "weight")
        return DaskSource(
            parts=parts, targets=targets, weights=weights, known=known_sizes, width=int(X.shape[1]), **options
        )
    if isinstance(X, list | tuple) and X and all(hasattr(part, "dask") and hasattr(part, "key") for part in X):
        if weight is not None:
            raise ValueError("streams.dask: delayed pieces hold their weights themselves, (X, y, weight)")
        return DaskSource(parts=tuple(X), target=y, **options)
    raise TypeError(
        f"streams.dask takes a Dask array, a Dask data frame or a list of delayed pieces, got {type(X).__name__}: "
        "streams.arrays takes arrays, streams.parquet and streams.csv files"
    )


def as_source(X: Any, y: Any = None, weight: Any = None) -> tuple[Any, Any]:
    """X and y for a fit: an array or a data frame of Dask becomes a source, which contains its target."""
    is_dask = type(X).__module__.startswith(("dask.", "dask_expr.")) and hasattr(X, "to_delayed")
    if is_dask:
        return dask(X, y, weight), None
    return X, y


def _partitions(collection: Any, count: int, name: str) -> tuple[Any, ...]:
    """The partitions of a data frame, or of a collection with the same partitions.

    The graph is not optimised: this might merge partitions, and different ones for a target than for its data frame.
    Columns that are not needed are nevertheless not read, because the expression is simplified.
    """
    partition_count = getattr(collection, "npartitions", None)
    if partition_count != count:
        description = f"it is of type {type(collection).__name__}"
        if partition_count:
            description = f"it has {partition_count}"
        raise ValueError(f"streams.dask: {name} must have the {count} partitions of the data frame; {description}")
    needed = collection.simplify() if hasattr(collection, "simplify") else collection
    delayed = needed.to_delayed(optimize_graph=False)
    return tuple(delayed if isinstance(delayed, list) else delayed.ravel())  # of a series, or of an array


def _beside(values: Any, X: Any, name: str) -> tuple[Any, ...]:
    """The blocks of a vector, or of a matrix of targets, with the same rows as the blocks of X."""
    import dask.array as da

    values = da.asarray(values)
    sizes = X.chunks[0]
    unknown = any(np.isnan(size) for size in (*sizes, *values.chunks[0]))
    if unknown and len(values.chunks[0]) != len(sizes):
        raise ValueError(
            f"streams.dask: X and {name} have blocks of unknown sizes, {len(sizes)} and {len(values.chunks[0])}"
        )
    if not unknown and values.shape[0] != X.shape[0]:
        raise ValueError(f"streams.dask: X has {X.shape[0]} rows, and {name} has {values.shape[0]}")
    if not unknown:
        chunks = {0: sizes}
        if values.ndim == 2:
            chunks[1] = -1
        values = values.rechunk(chunks)
    return tuple(values.to_delayed().reshape(len(sizes), -1)[:, 0])


def _connected() -> Any:
    """The client by which this process is connected to a cluster; None without one."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


# -- functions that workers call ---------------------------------------------------------------------------------------


def _piece(part: Any, y: Any, weight: Any, target: Any, name: str) -> Chunk:
    """A part as a chunk."""
    if isinstance(part, Chunk):
        part.check_lengths(f"streams.dask: {name}")
        return part
    if isinstance(part, tuple):
        part, y, *weights = part
        weight = weights[0] if weights else None
    if hasattr(part, "columns") and target is not None:
        several = not isinstance(target, str)
        names = list(target) if several else [target]
        missing = [name for name in names if name not in part.columns]
        if missing:
            raise ValueError(f"streams.dask: the data frame has no column {missing[0]!r}")
        y = part[names if several else target]
        part = part.drop(columns=names)
    if hasattr(part, "reset_index"):
        part = part.reset_index(drop=True)
    if y is not None:
        y = np.asarray(y)
    if weight is not None:
        weight = np.asarray(weight, dtype=float)
    chunk = Chunk(part, y, weight, file=name)
    chunk.check_lengths(f"streams.dask: {name}")
    return chunk


def _width(chunk: Chunk) -> int:
    return int(chunk.X.shape[1])


def _blocks(chunk: Chunk, height: int) -> Iterator[Chunk]:
    """Blocks of a chunk's rows."""
    for start in range(0, len(chunk), height):
        block = chunk.after(start).head(height)
        block.check_target()
        yield block


def _applied(work: Callable[[Iterator[Chunk]], T], chunk: Chunk, first: int, height: int) -> T:
    return work(_blocks(replace(chunk, first=first), height))


def _mapped_blocks(work: Callable[[Chunk], T], chunk: Chunk, first: int, height: int) -> list[T]:
    return [work(block) for block in _blocks(replace(chunk, first=first), height)]


def _merged(merge: Callable[[T, T], T], results: list[T]) -> T:
    return reduce(merge, results)


__all__ = ["DaskSource", "as_source", "dask"]
