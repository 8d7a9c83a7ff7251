"""A column of text cells and the numbers or labels it stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from multikernel.datasets.dataset import Task

_INTEGER = re.compile(r"[+-]?\d+")
_CODE = re.compile(r"[+-]?0\d+")
_INEXACT = 1e15  # larger integers are codes, as a float does not represent all integers of more than 15 digits
_MOST_CLASSES = 20  # integers with more distinct values are a quantity, such as a count of rings, and not classes


@dataclass(frozen=True)
class Column:
    """The cells of one column, none of them empty, and where they come from.

    Parameters
    ----------
    file : str, the name of the file
    name : str, the name of the column
    cells : sequence of str
    rows : sequence of int, for each cell its row in the file
    """

    file: str
    name: str
    cells: Sequence[str]
    rows: Sequence[int]

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The cells as numbers, None where half of them or more are words; ValueError for fewer words or infinity."""
        values = [_number(cell) for cell in self.cells]
        n_words = values.count(None)
        if 2 * n_words >= len(values):
            return None
        if n_words:
            # Otherwise one misprint would make a category, hundreds of 0/1 columns, of a column of numbers, unnoticed.
            raise self.error(
                self.first_word,
                "is not a number while most of the column is "
                "(a missing value is an empty cell, the values of a categorical column are words)",
            )
        numbers = np.array(values, dtype=np.float64)
        infinite = np.flatnonzero(~np.isfinite(numbers))
        if infinite.size:
            raise self.error(int(infinite[0]), "is not a finite number (a missing value is an empty cell)")
        return numbers

    @property
    def first_word(self) -> int:
        """The position of the first cell that is not a number; StopIteration where all are."""
        return next(i for i, cell in enumerate(self.cells) if _number(cell) is None)

    def error(self, i: int, what: str) -> ValueError:
        """An error that names file, row, column and value of the i-th cell and says ``what`` is wrong with it."""
        return ValueError(f"{self.file}: row {self.rows[i]}, column {self.name!r}: {self.cells[i]!r} {what}")


def decide(column: Column, task: Task | None) -> tuple[NDArray[np.generic], Task]:
    """The target in a column, and its task; ValueError where the cells do not fit the task.

    Where ``task`` is None, words and few distinct integers are classes, and all else is a quantity. Classes are
    strings or integers, quantities are floats. Codes are strings: digits after a zero, as in 007, or more of them than
    a number keeps.
    """
    numbers = column.numbers
    if numbers is None:
        if task == "regression":
            raise column.error(column.first_word, "is not a number, and the task is regression")
        return np.array(column.cells, dtype=np.str_), "classification"
    if task is None:
        few_values = len(np.unique(numbers)) <= min(_MOST_CLASSES, len(numbers) // 2)
        integral = all(_INTEGER.fullmatch(cell) for cell in column.cells)
        task = "classification" if few_values and integral else "regression"
    if task == "regression":
        return numbers, task
    if np.abs(numbers).max() >= _INEXACT or any(_CODE.fullmatch(cell) for cell in column.cells):
        return np.array(column.cells, dtype=np.str_), task
    fractional = np.flatnonzero(numbers != np.round(numbers))
    if fractional.size:
        raise column.error(int(fractional[0]), "is neither a word nor an integer, and the task is classification")
    return numbers.astype(np.int64), task


def _number(cell: str) -> float | None:
    try:
        if "_" in cell:
            return None  # float() would read 1_000, which is a code
        return float(cell)
    except ValueError:
        return None
