"""Samples that belong together: copies of rows, and rows of one patient, which folds tear apart.

Rows of small numbers and categories are equal by chance as well, but then there are also rows that differ in a single
column. Among rows without such a neighbour chance makes few equal ones: at most 5 % in 40 tables of the UCI repository,
where up to 41 % of all rows have an equal one. Of copies there are as many among them as anywhere.
"""

from __future__ import annotations

import re

import numpy as np

from multikernel._typing import Array
from multikernel.auto.table import GivenTable
from multikernel.tables.columns import Column

_COPIED = 0.1  # of the rows without a neighbour: twice what chance was seen to do; errors are too low by as much
_IDENTIFIER = re.compile(r"(^|_|\s)(id|uuid)$", re.IGNORECASE)


def repeated(X: Array) -> int:
    """How many rows are the same as an earlier one."""
    return len(X) - len(np.unique(X, axis=0))


def are_copies(X: Array, owner: Array) -> bool:
    """Whether many rows are the same as an earlier one, and more than chance explains.

    Parameters
    ----------
    X : array (n, p)
    owner : int array (p,), the column of the user's table that each column was made of
    """
    if repeated(X) <= _COPIED * len(X):
        return False
    _, of_owner = np.unique(owner, return_inverse=True)
    rng = np.random.default_rng(0)
    parts = np.zeros((len(X), of_owner.max(initial=-1) + 1), dtype=np.uint64)  # a random number for each cell's value
    for cells, column in zip(X.T, of_owner, strict=True):
        values, which = np.unique(cells, return_inverse=True)
        parts[:, column] += rng.integers(1, 2**63, len(values), dtype=np.uint64)[which]
    whole, first, count = np.unique(parts.sum(axis=1), return_index=True, return_counts=True)
    alone = np.ones(len(whole), dtype=bool)
    for part in parts[first].T:
        _, of, alike = np.unique(whole - part, return_inverse=True, return_counts=True)
        alone &= alike[of] == 1
    if alone.sum() < 1.0 / _COPIED:  # one of so few is more than that share
        return False
    return bool((count[alone] > 1).mean() > _COPIED)


def repeated_identifiers(columns: tuple[Column, ...], table: GivenTable) -> list[str]:
    """The columns that are called identifiers, or look like ones, and name several rows alike."""
    return [column.name for column in columns if _names_groups(column, table)]


def _names_groups(column: Column, table: GivenTable) -> bool:
    cells = table.columns[column.name]
    known = cells.values[~cells.absent]
    if column.type == "empty" or cells.kind not in ("numbers", "strings") or len(set(known.tolist())) == len(known):
        return False
    if column.type == "identifier":
        return True
    whole = cells.kind == "strings" or bool((known == np.round(known)).all())
    return whole and _IDENTIFIER.search(column.name) is not None
