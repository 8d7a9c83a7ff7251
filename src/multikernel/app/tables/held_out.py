"""Which rows folds hold out together: those of one group, or of one stretch of time.

Rows of one patient, or of one day, are not independent. Where rows have an order of time, scores are those of the
future: each test fold is later than all rows that were learned from. The inner folds, which choose parameters on the
training rows, hold out whole stretches of time instead, since many methods need folds that together hold out all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from multikernel.datasets import Column, Task
from multikernel.tables import is_ambiguous, likely_order, numbers_in, parsed
from multikernel.typing import Array

if TYPE_CHECKING:
    from multikernel.selection import Fold

_STRETCHES = 10  # of the training rows: enough that a season is among the training rows of two of three inner folds
_WITHIN = 3  # stretches within each fold, which permutations keep together


@dataclass(frozen=True, eq=False)
class RowsHeldOut:
    """The groups or the times of rows, which decide what folds hold out together.

    Parameters
    ----------
    groups : array (n,), the group of each row; None where there are none
    times : array (n,), the time of each row; None where there is none
    """

    groups: Array | None = None
    times: Array | None = None

    @property
    def decided(self) -> bool:
        """Whether groups or times are known; without both, rows are held out one by one."""
        return self.groups is not None or self.times is not None

    def together(self, rows: Array | slice = slice(None)) -> Array | None:
        """The group or the stretch of time of each of ``rows``, for folds of these; None where there are none."""
        if self.times is not None:
            stretches = _stretches(self.times[rows], _STRETCHES)
            if stretches.any():
                return stretches
            return None
        if self.groups is None:
            return None
        return self.groups[rows]

    def within_folds(self, count: int) -> Array | None:
        """The group of each row, where each group is within one of ``count`` folds."""
        if self.times is None:
            return self.groups
        return _stretches(self.times, _WITHIN * (count + 1))

    def possible_folds(self, y: Array, task: Task) -> int:
        """The largest possible number of folds.

        Each fold needs a sample of every class, or two samples where the target is a number; it consists of whole
        groups; and where rows have an order of time, training rows come before it.
        """
        if task == "classification":
            limit = int(np.unique(y, return_counts=True)[1].min())
        else:
            limit = len(y) // 2
        if self.groups is not None:
            return min(limit, len(np.unique(self.groups)))
        if self.times is None:
            return limit
        return min(limit, len(np.unique(self.times)) - 1)

    def folds(self, y: Array, task: Task, count: int, seed: int) -> list[Fold]:
        """Training and test rows of folds of whole groups, or, where there are times, of later and later rows.

        Parameters
        ----------
        y : array (n,), the target
        task : what it is
        count : int, the number of folds
        seed : int, of the random order of groups

        Raises
        ------
        ValueError : where the rows before a fold are of one class
        """
        if self.times is None:
            from multikernel.selection import (
                grouped_folds,
            )  # imported here, as it loads scikit-learn, which reading a table does not need

            return grouped_folds(y, self.groups, count, stratify=task == "classification", random_state=seed)
        folds = later_and_later(self.times, count)
        for k, (train, _) in enumerate(folds, start=1):
            if task == "classification" and len(np.unique(y[train])) < 2:
                raise ValueError(
                    f"the {len(train)} rows before fold {k} of --time are all of the class {y[train][0]}, from which "
                    "nothing can be learned; ask for fewer --folds, or leave --time out"
                )
        return folds


def times_of(column: Column) -> Array:
    """The time of each row as a number; ValueError where a cell is neither a number nor a date."""
    cells = np.array(column.cells, dtype=object)
    if is_ambiguous(cells):
        raise ValueError(
            f"{column.file}: --time {column.name!r} holds dates such as {cells[0]!r}, in which nothing distinguishes "
            "days from months; write the year first"
        )
    times = numbers_or_days(cells)
    unreadable = np.flatnonzero(~np.isfinite(times))
    if len(unreadable):
        raise column.error(
            int(unreadable[0]),
            "is neither a number nor a date as the others are, by which --time puts rows in an order",
        )
    return times


def numbers_or_days(cells: Array) -> Array:
    """The cells of a column as numbers or as days since 1970, by which more of them can be read; NaN for the others.

    Parameters
    ----------
    cells : array (n,) of str, none of them missing
    """
    numbers = numbers_in(cells)
    days = parsed(cells, likely_order(cells))
    return days if np.isfinite(days).sum() > np.isfinite(numbers).sum() else numbers


def _stretches(times: Array, count: int) -> Array:
    """The stretch of time of each row, counted from 0; rows of one time are in one stretch, sizes are about equal.

    With t in [0, 1) the share of the rows before the middle of those of one time, they are in stretch floor(count t).
    Each of ``a b`` stretches is within one of ``a`` stretches, since floor(floor(a b t) / b) = floor(a t).
    """
    _, index_of_time, sizes = np.unique(times, return_inverse=True, return_counts=True)
    middle = (np.cumsum(sizes) - sizes / 2.0) / len(times)
    return np.unique(np.floor(middle * count), return_inverse=True)[1][index_of_time]


def later_and_later(times: Array, count: int) -> list[Fold]:
    """Folds that train on all rows before a stretch of time and test on this stretch.

    Parameters
    ----------
    times : array (n,), the time of each row
    count : int, the number of folds; there are fewer where too few times are different
    """
    stretch = _stretches(times, count + 1)
    return [(np.flatnonzero(stretch < k), np.flatnonzero(stretch == k)) for k in range(1, int(stretch.max()) + 1)]
