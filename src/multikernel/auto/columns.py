"""What a column holds: numbers, categories, dates or text; or nothing that could help.

Numbers stay numbers, booleans among them. Strings that all read as numbers or as dates are such. Other strings are text
where most cells differ and have several words, an identifier where almost every cell differs, and categories otherwise.
A column with one value, and one that names its rows, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from multikernel._typing import Array

Kind = Literal["number", "category", "date", "text", "constant", "missing", "identifier"]
_IDENTIFIER = re.compile(r"(^|_|\s)(id|index|uuid|key|row)$|^unnamed", re.IGNORECASE)
_WORDS = 3.0  # mean words of a cell from which strings may be text
_DISTINCT = 0.5  # share of different cells from which strings may be text
_UNIQUE = 0.95  # share of different cells from which strings of few words name their rows
_FEW = 20  # samples below which nothing is called an identifier
_DATE = re.compile(r"^\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2})?.*)?$")


@dataclass(frozen=True)
class Column:
    """A column and what it holds.

    Parameters
    ----------
    name : str
    kind : what it holds
    view : str, the view that it belongs to; "" where there are none
    """

    name: str
    kind: Kind
    view: str = ""


def typed(columns: Mapping[str, Array], views: Mapping[str, str]) -> tuple[Column, ...]:
    """The kind of every column of a training table."""
    return tuple(Column(name, kind_of(name, cells), views.get(name, "")) for name, cells in columns.items())


def kind_of(name: str, cells: Array) -> Kind:
    """What the cells of a training column are."""
    if cells.dtype.kind == "M":
        return _or_constant(cells[~np.isnat(cells)], "date")
    if cells.dtype.kind == "f":
        known = cells[~np.isnan(cells)]
        return "identifier" if _counts_rows(name, known) else _or_constant(known, "number", len(known) < len(cells))
    known = np.array([cell for cell in cells if cell is not None], dtype=object)
    return _or_constant(known, _of_strings(known), len(known) < len(cells))


def _or_constant(known: Array, kind: Kind, gaps: bool = False) -> Kind:
    """A column of one value is constant, unless it is the gaps that tell."""
    if len(known) == 0:
        return "missing"
    return kind if gaps or (len(known) > 1 and (known != known[0]).any()) else "constant"


def _counts_rows(name: str, known: Array) -> bool:
    """Whether whole numbers name the rows: all differ, and the column is called so."""
    named = _IDENTIFIER.search(name) is not None and len(known) >= _FEW
    return named and len(np.unique(known)) == len(known) and bool((known == np.round(known)).all())


def _of_strings(known: Array) -> Kind:
    if len(known) == 0:
        return "missing"
    if as_numbers(known) is not None:
        return "number"
    if all(_DATE.match(cell) for cell in known):
        return "date"
    distinct = len(set(known)) / len(known)
    words = float(np.mean([len(cell.split()) for cell in known]))
    if words >= _WORDS and distinct >= _DISTINCT:
        return "text"
    return "identifier" if len(known) >= _FEW and distinct >= _UNIQUE else "category"


def as_numbers(cells: Array) -> Array | None:
    """Strings as numbers, NaN for a cell that is missing; None where one is no number."""
    try:
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    except ValueError:
        return None
