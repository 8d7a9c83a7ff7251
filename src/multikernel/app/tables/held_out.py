"""Which rows folds hold out together: those of one group, or of one stretch of time.

Rows of one patient, or of one day, know of each other. Of rows in an order of time a score is one of the future: each
test fold is later than all rows that were learned from. Folds inside the training rows, which choose parameters, hold
out whole stretches of time, since many methods need folds that together hold out every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from multikernel.datasets import Column, Task
from multikernel.streams import is_missing
from multikernel.tables import Cells, likely_order, parsed, type_of
from multikernel.typing import Array

if TYPE_CHECKING:
    from multikernel.selection import Fold

_STRETCHES = 10  # of the training rows: enough that a season is in two of three folds that learn
_WITHIN = 3  # stretches in each fold of rows that are permuted whole


@dataclass(frozen=True, eq=False)
class RowsHeldOut:
    """What is known of rows that belong together.

    Parameters
    ----------
    groups : array (n,), the group of each row; None where there are none
    times : array (n,), when each row was; None where that is not said
    """

    groups: Array | None = None
    times: Array | None = None

    @property
    def decided(self) -> bool:
        """Whether rows belong together."""
        return self.groups is not None or self.times is not None

    def together(self, rows: Array | slice = slice(None)) -> Array | None:
        """The group of each of some rows, for folds among them; None where each row is one by itself."""
        if self.times is not None:
            found = _stretches(self.times[rows], _STRETCHES)
            if found.any():
                return found
            return None
        if self.groups is None:
            return None
        return self.groups[rows]

    def within_folds(self, count: int) -> Array | None:
        """The group of each row, each within one of ``count`` folds."""
        if self.times is None:
            return self.groups
        return _stretches(self.times, _WITHIN * (count + 1))

    def most(self, y: Array, task: Task) -> int:
        """How many folds there can be.

        Each needs a sample of every class or two samples where the target is a number, whole groups, and of rows in an
        order of time training rows before it.
        """
        if task == "classification":
            most = int(np.unique(y, return_counts=True)[1].min())
        else:
            most = len(y) // 2
        if self.groups is not None:
            return min(most, len(np.unique(self.groups)))
        if self.times is None:
            return most
        return min(most, len(np.unique(self.times)) - 1)

    def folds(self, y: Array, task: Task, count: int, seed: int) -> list[Fold]:
        """Training and test rows of folds of whole groups, or of later and later rows; without either ValueError.

        Parameters
        ----------
        y : array (n,), the target
        task : what it is
        count : int, how many
        seed : int, which mixes groups

        Raises
        ------
        ValueError : where the rows before a fold are of one class
        """
        if self.times is None:
            from multikernel.selection import grouped_folds  # which loads scikit-learn; a table is read without it

            return grouped_folds(y, self.groups, count, stratify=task == "classification", random_state=seed)
        found = later_and_later(self.times, count)
        for k, (train, _) in enumerate(found, start=1):
            if task == "classification" and len(np.unique(y[train])) < 2:
                raise ValueError(
                    f"the {len(train)} rows before fold {k} of --time are all of the class {y[train][0]}, from which "
                    "nothing can be learned; ask for fewer --folds, or leave --time out"
                )
        return found


def times_of(column: Column) -> Array:
    """When each row was, as a number that rises; ValueError where a cell is neither a number nor a date."""
    if column.numbers is not None:
        return column.numbers
    cells = np.array([None if is_missing(cell) else cell for cell in column.cells], dtype=object)
    turned = type_of(column.name, Cells(column.name, "strings", cells)).turned
    if turned:
        raise ValueError(
            f"{column.file}: --time {column.name!r} holds dates such as {turned!r}, in which nothing distinguishes "
            "days from months; write the year first"
        )
    times = parsed(cells, likely_order(cells[cells != None]))  # noqa: E711
    for i, time in enumerate(times):
        if np.isnan(time):
            raise column.error(i, "is neither a number nor a date, by which --time puts rows in an order")
    return times


def _stretches(times: Array, count: int) -> Array:
    """The stretch of each row, from 0 on: of equal numbers of rows as far as rows of one time stay together.

    A stretch of ``a b`` is within one of ``a``, since floor(floor(a b t) / b) = floor(a t).
    """
    _, of, sizes = np.unique(times, return_inverse=True, return_counts=True)
    middle = (np.cumsum(sizes) - sizes / 2.0) / len(times)
    return np.unique(np.floor(middle * count), return_inverse=True)[1][of]


def later_and_later(times: Array, count: int) -> list[Fold]:
    """Folds each of which tests on the stretch after all rows that it trains on; fewer where too few times differ.

    Parameters
    ----------
    times : array (n,), when each row was
    count : int, how many folds there are to be
    """
    stretch = _stretches(times, count + 1)
    return [(np.flatnonzero(stretch < k), np.flatnonzero(stretch == k)) for k in range(1, int(stretch.max()) + 1)]
