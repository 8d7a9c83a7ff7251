"""A column of text cells and the numbers or labels it stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multikernel.datasets.dataset import Task

_INTEGER = re.compile(r"[+-]?\d+")
_FEW = 20  # more distinct integers than this are a quantity (rings, counts), not classes


@dataclass(frozen=True)
class Column:
    """Cells without gaps, each with the row of the file it comes from."""

    file: str
    name: str
    cells: Sequence[str]
    rows: Sequence[int]

    def numbers(self) -> NDArray[np.float64] | None:
        """The cells as finite numbers, None where they are words."""
        values = [_number(cell) for cell in self.cells]
        words = [i for i, value in enumerate(values) if value is None]
        if 2 * len(words) >= len(values):
            return None
        if words:
            # Spreading a numeric column over its values because of one misprint would go unnoticed.
            raise self.error(
                words[0],
                "is not a number while most of the column is "
                "(a missing value is an empty cell, the values of a categorical column are words)",
            )
        numbers = np.array(values, dtype=np.float64)
        infinite = np.flatnonzero(~np.isfinite(numbers))
        if infinite.size:
            raise self.error(int(infinite[0]), "is not a finite number (a missing value is an empty cell)")
        return numbers

    def error(self, i: int, what: str) -> ValueError:
        """The sentence for the i-th cell."""
        return ValueError(f"{self.file}: row {self.rows[i]}, column {self.name!r}: {self.cells[i]!r} {what}")


def encode(columns: Sequence[Column]) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Numeric columns as they are, a categorical one as one 0/1 column per value in sorted order."""
    blocks: list[NDArray[np.float64]] = []
    names: list[str] = []
    for column in columns:
        numbers = column.numbers()
        if numbers is not None:
            blocks.append(numbers[:, None])
            names.append(column.name)
        else:
            levels, codes = np.unique(np.array(column.cells), return_inverse=True)
            blocks.append(indicators(codes, len(levels)))
            names.extend(f"{column.name}={level}" for level in levels)
    return np.hstack(blocks), tuple(names)


def indicators(codes: NDArray[np.intp], n_levels: int) -> NDArray[np.float64]:
    """Row i is 1 in column ``codes[i]`` and 0 elsewhere."""
    block = np.zeros((len(codes), n_levels))
    block[np.arange(len(codes)), codes] = 1.0
    return block


def decide(column: Column, task: Task | None) -> tuple[NDArray[np.generic], Task]:
    """The target, and the task it implies where none is given.

    Words and few distinct integers are classes; all else is a quantity.
    """
    numbers = column.numbers()
    if numbers is None:
        if task == "regression":
            first = next(i for i, cell in enumerate(column.cells) if _number(cell) is None)
            raise column.error(first, "is not a number, and the task is regression")
        return np.array(column.cells, dtype=np.str_), "classification"
    if task is None:
        few = len(np.unique(numbers)) <= min(_FEW, len(numbers) // 2)
        integral = all(_INTEGER.fullmatch(cell) for cell in column.cells)
        task = "classification" if few and integral else "regression"
    if task == "regression":
        return numbers, task
    broken = np.flatnonzero(numbers != np.round(numbers))
    if broken.size:
        raise column.error(int(broken[0]), "is neither a word nor an integer, and the task is classification")
    return numbers.astype(np.int64), task


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)  # float() would read 1_000, which is a code
    except ValueError:
        return None
