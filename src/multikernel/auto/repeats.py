"""Samples that belong together: copies of rows, and rows of one patient, which folds tear apart.

Rows of small numbers and categories are equal by chance as well, but then there are also rows that differ in a single
column. Among rows without such a neighbour, few are equal by chance: at most 5 % in 40 tables of the UCI repository,
where up to 41 % of all rows have an equal one. Copies are as frequent among these rows as among all.
"""

from __future__ import annotations

import re

import numpy as np

from multikernel._typing import Array
from multikernel.auto.table import GivenTable
from multikernel.tables.columns import Column

_COPIED = 0.1  # of the rows without a neighbour: twice the largest share by chance; errors are too low by as much
_IDENTIFIER = re.compile(r"(^|_|\s)(id|uuid)$", re.IGNORECASE)


def repeated(X: Array) -> int:
    """The number of rows that equal an earlier one."""
    return len(X) - len(np.unique(X, axis=0))


def are_copies(X: Array, owner: Array) -> bool:
    """Whether many rows are the same as an earlier one, and more than chance explains.

    Parameters
    ----------
    X : array (n, p)
    owner : int array (p,), the column of the user's table that each column comes from
    """
    if repeated(X) <= _COPIED * len(X):
        return False
    _, of_owner = np.unique(owner, return_inverse=True)
    rng = np.random.default_rng(0)
    # a random number for each value of a column: rows are equal where the sums of these numbers are
    cell_numbers = np.zeros((len(X), of_owner.max(initial=-1) + 1), dtype=np.uint64)
    for cells, column in zip(X.T, of_owner, strict=True):
        values, which = np.unique(cells, return_inverse=True)
        cell_numbers[:, column] += rng.integers(1, 2**63, len(values), dtype=np.uint64)[which]
    row_numbers, first, count = np.unique(cell_numbers.sum(axis=1), return_index=True, return_counts=True)
    without_neighbour = np.ones(len(row_numbers), dtype=bool)
    for column_numbers in cell_numbers[first].T:
        _, neighbour_group, group_size = np.unique(
            row_numbers - column_numbers, return_inverse=True, return_counts=True
        )
        without_neighbour &= group_size[neighbour_group] == 1
    if without_neighbour.sum() < 1.0 / _COPIED:  # one of so few is more than that share
        return False
    return bool((count[without_neighbour] > 1).mean() > _COPIED)


def repeated_identifiers(columns: tuple[Column, ...], table: GivenTable) -> list[str]:
    """The columns that are identifiers, by their type or their name, and have the same value in several rows."""
    return [column.name for column in columns if _names_groups(column, table)]


def _names_groups(column: Column, table: GivenTable) -> bool:
    cells = table.columns[column.name]
    values = cells.values[~cells.absent]
    if column.type == "empty" or cells.kind not in ("numbers", "strings") or len(set(values.tolist())) == len(values):
        return False
    if column.type == "identifier":
        return True
    are_names = cells.kind == "strings" or bool((values == np.round(values)).all())
    return are_names and _IDENTIFIER.search(column.name) is not None
