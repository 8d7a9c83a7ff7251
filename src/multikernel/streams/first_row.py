"""Whether the first row of a CSV file has the names of its columns, or is a sample like the others.

Names of columns may also be numbers: positions, years, wavelengths. Such names are in order, and cells of a sample
mostly are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import isnan, nan

from multikernel.streams.missing import is_missing
from multikernel.tables.numerals import as_float

_LONG = 8  # so many numbers are in order by chance once in 20,000 rows: 2 / 8!
_YEARS = (1800, 2200)
_DIGITS = re.compile(r"\d+")


def is_sample(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is a sample.

    Parameters
    ----------
    first : its cells
    rows : some of the rows after it
    """
    if not rows or any(len(row) != len(first) for row in rows):
        return False
    numbers = []
    for cell, column in zip(first, zip(*rows, strict=True), strict=True):
        known_cells = [other for other in column if not is_missing(other)]
        value = _number(cell)
        if not isnan(value):
            numbers.append(value)
            if any(isnan(_number(other)) for other in known_cells):
                return False
        elif not is_missing(cell) and not _is_like(cell, known_cells):
            return False
    return bool(numbers) and not (len(numbers) == len(first) and _may_be_names(numbers))


def are_numbers(names: Sequence[str]) -> bool:
    """Whether all names of columns are numbers."""
    return not any(isnan(_number(name)) for name in names)


def _number(cell: str) -> float:
    value = as_float(cell)
    if isnan(value) and cell.count(",") == 1 and "." not in cell:
        return as_float(cell.replace(",", "."))
    return value


def _is_like(cell: str, column: Sequence[str]) -> bool:
    """Whether a word occurs in its column again, or has the same pattern of digits, as dates and codes have."""
    if cell in column:
        return True
    pattern = _DIGITS.sub("0", cell)
    return pattern != cell and bool(column) and all(_DIGITS.sub("0", other) == pattern for other in column)


def _may_be_names(numbers: Sequence[float]) -> bool:
    """Whether numbers are in an order that is usual for names of columns."""
    steps = [later - earlier for earlier, later in pairwise(numbers)] or [nan]
    ordered = all(step > 0 for step in steps) or all(step < 0 for step in steps)
    are_integers = all(number == int(number) for number in numbers)
    if not ordered or not are_integers:
        return ordered and len(numbers) >= _LONG
    if all(_YEARS[0] <= number <= _YEARS[1] for number in numbers):
        return True
    if len(numbers) == 2:
        return numbers[0] in (0, 1) and steps == [1]
    return len(set(steps)) == 1 or len(numbers) >= _LONG
