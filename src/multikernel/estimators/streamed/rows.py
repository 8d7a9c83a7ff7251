"""Sums over the features of chunks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._arrays import host, taken
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks.low_rank import LowRankBank
from multikernel.banks.threads import n_threads, one_blas_thread, over_rows, slices
from multikernel.estimators.protocol import Model
from multikernel.estimators.samples import samples_of
from multikernel.estimators.streamed.row_folds import fold_of_rows
from multikernel.estimators.targets import signs_of_classes
from multikernel.statistics import Moments, Summing
from multikernel.streams import Chunk

_BYTES, _ROWS = 1 << 26, 4096  # bytes of features, and rows, at a time; kernel values of the same rows are held, too
_MANY = 256  # the number of features from which on sums are divided among threads
_LARGEST = 1e140  # the largest target or feature: sums of squares of larger ones may overflow


@dataclass(frozen=True, eq=False)
class Pass:
    """Adds up rows; can be sent to other processes.

    Parameters
    ----------
    model : the estimator, which checks the columns
    bank : LowRankBank without rows and columns, which computes features
    classes : array of the labels; None where targets are numbers
    targets : int, how many columns targets have
    folds : int, the number of folds, each of which has separate sums
    shift : array (t,), subtracted from the targets before they are summed, or None
    """

    model: Model
    bank: LowRankBank
    classes: Array | None
    targets: int
    folds: int = 1
    shift: Array | None = None

    @property
    def q(self) -> int:
        """How many features there are."""
        return int(self.bank.n_features)

    def nothing(self) -> list[Summing]:
        """The sums over no rows, one for each fold."""
        return [Summing(self.q, self.targets) for _ in range(self.folds)]

    def add(self, sums: list[Summing], chunk: Chunk) -> None:
        """Add the rows of a chunk to the sums.

        Raises
        ------
        ValueError : where a cell is missing or a label is not known; it names the position
        """
        X, Y = self.samples(chunk), self.numbers(chunk)
        weight = self.weight(chunk)
        fold = fold_of_rows(X, Y, self.folds)
        if self.shift is not None:
            Y = Y - self.shift
        shared = over_rows if self.q >= _MANY and n_threads() > 1 else None
        with one_blas_thread(0):  # idle BLAS threads would compete with the threads of these products
            for rows in slices(len(Y), max(1, min(_ROWS, _BYTES // (8 * max(1, self.q))))):
                with np.errstate(over="ignore", invalid="ignore"):
                    F = self.bank.cross(taken(X, rows)).bank.F
                _check_features(F, chunk, rows)
                for f, fold_sums in enumerate(sums):
                    members = slice(None) if self.folds == 1 else np.flatnonzero(fold[rows] == f)
                    if self.folds == 1 or len(members):  # type: ignore[arg-type]
                        weight_of_members = None if weight is None else weight[rows][members]
                        fold_sums.add(taken(F, members), Y[rows][members], weight_of_members, shared)

    def of(self, chunk: Chunk) -> tuple[Moments, ...]:
        """The sums over the rows of a chunk, one for each fold."""
        sums = self.nothing()
        self.add(sums, chunk)
        return tuple(fold_sums.moments() for fold_sums in sums)

    def samples(self, chunk: Chunk) -> Any:
        """The checked samples of a chunk."""
        try:
            return samples_of(self.model, chunk.X)
        except ValueError as error:
            bad = chunk.first_absent()
            if bad is None:
                raise
            raise absent_cell(bad) from error

    def weight(self, chunk: Chunk) -> Array | None:
        """The weight of the loss of each row; None where all are 1."""
        return weights_of(self.model, chunk)

    def numbers(self, chunk: Chunk) -> Array:
        """The targets as numbers, shape (n, t)."""
        return numbers_of(self.model, chunk, self.classes, self.targets)


def weights_of(model: Model, chunk: Chunk) -> Array | None:
    """The weight of the loss of each row; None where all are 1."""
    of_class = getattr(model, "class_weight", None)
    if of_class is None:
        return chunk.weight
    weight = np.array([float(of_class.get(label, 1.0)) for label in np.asarray(chunk.y).tolist()])
    if chunk.weight is None:
        return weight
    return weight * chunk.weight


def numbers_of(model: Model, chunk: Chunk, classes: Array | None, targets: int) -> Array:
    """The targets of rows as numbers, shape (n, t); -1 and +1 for classes.

    Parameters
    ----------
    model : the estimator
    chunk : Chunk
    classes : array of the labels; None where targets are numbers
    targets : int, how many columns targets have

    Raises
    ------
    ValueError : where a target is not a number, too large, or an unknown label; it names the position
    """
    y = chunk.y
    if y is None:
        raise ValueError(f"{type(model).__name__}: the rows have no target; name it where the source is made")
    if classes is None:
        try:
            Y = as_columns(np.asarray(y, dtype=float))
        except (TypeError, ValueError):
            raise ValueError(f"{chunk.place(0)}: the target holds {y[0]!r}, which is not a number") from None
        if Y.shape[1] != targets:
            raise ValueError(f"{chunk.place(0)}: {Y.shape[1]} targets, and there were {targets} before")
        large = np.abs(Y).max(axis=1, initial=0.0) > _LARGEST
        if large.any():
            raise ValueError(
                f"{chunk.place(int(np.argmax(large)))}: the target is beyond {_LARGEST:g}, and sums of such "
                "squares overflow; give targets in another unit"
            )
        return Y
    label = np.searchsorted(classes, y)
    label = np.minimum(label, len(classes) - 1)
    unknown = classes[label] != y
    if unknown.any():
        i = int(np.argmax(unknown))
        raise ValueError(
            f"{chunk.place(i)}: the label {y[i:].tolist()[0]!r} is none of those known before; give all of them "
            "to the first partial_fit, classes=[...]"
        )
    return as_columns(signs_of_classes(label, len(classes)))


def _check_features(F: Any, chunk: Chunk, rows: slice) -> None:
    """ValueError, which names the position, where the features of a sample are too large for sums of squares."""
    fits = np.abs(host(F)).max(axis=1, initial=0.0) <= _LARGEST
    if not fits.all():
        raise ValueError(
            f"{chunk.place(rows.start + int(np.argmin(fits)))}: the features that kernels make of this sample are "
            f"beyond {_LARGEST:g}, and sums of their squares overflow; give the columns in another unit"
        )


def merged(sums: tuple[Moments, ...], others: tuple[Moments, ...]) -> tuple[Moments, ...]:
    """The sums over the rows of both, fold by fold."""
    return tuple(a.merge(b) for a, b in zip(sums, others, strict=True))


def without_rows(sums: tuple[Moments, ...], others: tuple[Moments, ...]) -> tuple[Moments, ...]:
    """The sums without the rows of the others, fold by fold."""
    return tuple(a.less(b) for a, b in zip(sums, others, strict=True))


def over(rows: Pass, chunks: Iterator[Chunk]) -> tuple[Moments, ...]:
    """The sums over all rows of some chunks, one for each fold."""
    sums = rows.nothing()
    for chunk in chunks:
        rows.add(sums, chunk)
    return tuple(fold_sums.moments() for fold_sums in sums)


def absent_cell(position: str | None) -> ValueError:
    """The error for a missing cell at this position."""
    return ValueError(
        f"{position}: the cell is missing or infinite, which the kernels do not take; fill it in, or leave the row out"
    )


def first_absent(chunks: Iterator[Chunk]) -> str | None:
    """The position of the first missing cell; None where there is none."""
    return next((position for chunk in chunks if (position := chunk.first_absent())), None)


def earlier(first: str | None, second: str | None) -> str | None:
    """The first position in two consecutive parts; None where neither has one."""
    if first is not None:
        return first
    return second
