"""From chunks of rows to sums over their features."""

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
from multikernel.estimators.streamed.parts import parts
from multikernel.estimators.targets import signs_of_classes
from multikernel.statistics import Moments, Summing
from multikernel.streams import Chunk

_BYTES, _ROWS = 1 << 26, 4096  # of features, and of rows, at a time: kernel values of these stand beside them
_MANY = 256  # features, from which on their sums are shared out among threads
_LARGEST = 1e140  # target or feature: sums of squares of larger ones may be beyond all numbers


@dataclass(frozen=True, eq=False)
class Pass:
    """What turns rows into sums; a value that other processes can be given.

    Parameters
    ----------
    model : the estimator, which knows the columns
    bank : LowRankBank without rows and columns, which makes features
    classes : array of the labels; None where targets are numbers
    targets : int, how many columns targets have
    folds : int, how many sums there are
    shift : array (t,), taken off the targets before they are summed; None for nothing
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
        """Sums over no row."""
        return [Summing(self.q, self.targets) for _ in range(self.folds)]

    def add(self, sums: list[Summing], chunk: Chunk) -> None:
        """Add the rows of a chunk to the sums.

        Raises
        ------
        ValueError : with the place of a cell that is missing, of a label that is not known
        """
        X, Y = self.samples(chunk), self.numbers(chunk)
        weight = self.weight(chunk)
        fold = parts(X, Y, self.folds)
        if self.shift is not None:
            Y = Y - self.shift
        shared = over_rows if self.q >= _MANY and n_threads() > 1 else None
        with one_blas_thread(0):  # its idle threads would spin beside the products of another library's
            for rows in slices(len(Y), max(1, min(_ROWS, _BYTES // (8 * max(1, self.q))))):
                with np.errstate(over="ignore", invalid="ignore"):
                    F = self.bank.cross(taken(X, rows)).bank.F
                _check_features(F, chunk, rows)
                for f, sum in enumerate(sums):
                    own = slice(None) if self.folds == 1 else np.flatnonzero(fold[rows] == f)
                    if self.folds == 1 or len(own):  # type: ignore[arg-type]
                        sum.add(taken(F, own), Y[rows][own], None if weight is None else weight[rows][own], shared)

    def of(self, chunk: Chunk) -> tuple[Moments, ...]:
        """The sums over the rows of a chunk, one for each fold."""
        sums = self.nothing()
        self.add(sums, chunk)
        return tuple(each.moments() for each in sums)

    def samples(self, chunk: Chunk) -> Any:
        """The rows as kernels take them."""
        try:
            return samples_of(self.model, chunk.X)
        except ValueError as error:
            bad = chunk.first_absent()
            if bad is None:
                raise
            raise absent_cell(bad) from error

    def weight(self, chunk: Chunk) -> Array | None:
        """What the loss of each row is multiplied with."""
        return weights_of(self.model, chunk)

    def numbers(self, chunk: Chunk) -> Array:
        """The targets as numbers, shape (n, t)."""
        return numbers_of(self.model, chunk, self.classes, self.targets)


def weights_of(model: Model, chunk: Chunk) -> Array | None:
    """What the loss of each row is multiplied with; None where all are 1."""
    of_class = getattr(model, "class_weight", None)
    if of_class is None:
        return chunk.weight
    weight = np.array([float(of_class.get(label, 1.0)) for label in np.asarray(chunk.y).tolist()])
    if chunk.weight is None:
        return weight
    return weight * chunk.weight


def numbers_of(model: Model, chunk: Chunk, classes: Array | None, targets: int) -> Array:
    """The targets of rows as numbers, shape (n, t): of classes -1 and +1.

    Parameters
    ----------
    model : the estimator
    chunk : Chunk
    classes : array of the labels; None where targets are numbers
    targets : int, how many columns targets have

    Raises
    ------
    ValueError : with its place for a target that is no number, too large, or no label that is known
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
    new = classes[label] != y
    if new.any():
        i = int(np.argmax(new))
        raise ValueError(
            f"{chunk.place(i)}: the label {y[i:].tolist()[0]!r} is none of those known before; give all of them "
            "to the first partial_fit, classes=[...]"
        )
    return as_columns(signs_of_classes(label, len(classes)))


def _check_features(F: Any, chunk: Chunk, rows: slice) -> None:
    """ValueError with the place of a sample whose features are too large for sums of their squares."""
    fits = np.abs(host(F)).max(axis=1, initial=0.0) <= _LARGEST
    if not fits.all():
        raise ValueError(
            f"{chunk.place(rows.start + int(np.argmin(fits)))}: the features that kernels make of this sample are "
            f"beyond {_LARGEST:g}, and sums of their squares overflow; give the columns in another unit"
        )


def merged(one: tuple[Moments, ...], other: tuple[Moments, ...]) -> tuple[Moments, ...]:
    """The sums over the rows of both."""
    return tuple(a.merge(b) for a, b in zip(one, other, strict=True))


def less(one: tuple[Moments, ...], other: tuple[Moments, ...]) -> tuple[Moments, ...]:
    """The sums over the rows that are not in the other."""
    return tuple(a.less(b) for a, b in zip(one, other, strict=True))


def over(rows: Pass, chunks: Iterator[Chunk]) -> tuple[Moments, ...]:
    """The sums over all rows of some chunks."""
    sums = rows.nothing()
    for chunk in chunks:
        rows.add(sums, chunk)
    return tuple(each.moments() for each in sums)


def absent_cell(place: str | None) -> ValueError:
    """That a cell is missing, and where."""
    return ValueError(
        f"{place}: the cell is missing or infinite, which the kernels do not take; fill it in, or leave the row out"
    )


def first_absent(chunks: Iterator[Chunk]) -> str | None:
    """The place of the first cell that is missing; None where there is none."""
    return next((place for chunk in chunks if (place := chunk.first_absent())), None)


def earlier(one: str | None, other: str | None) -> str | None:
    """The first place of two parts, of which the first one comes before."""
    if one is not None:
        return one
    return other
