"""What a column of a table holds, and how it becomes numbers.

number       also a truth value, a duration, strings that read as numbers    standardised, or by normal scores
ordinal      a declared order of categories                                  its ranks, in the same way
date         also strings that read as dates                                 days, in the same way, and their cycles
category     strings, most of which occur more than once                     zeros and ones
text         strings, most of them different                                 n-grams of words, or of characters
identifier   what names its row: numbers so called that all differ, or       left out
             short strings of digits that almost all differ
empty        one value, or none                                              left out

A missing cell, also a string of blanks, is the mean with an indicator among numbers, and a category of its own.
Strings of which few are no numbers are numbers; those few count as missing. Whoever knows better declares the type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from multikernel._typing import Array
from multikernel.kernels.categories import OneHot
from multikernel.kernels.declared import Declared, checked_types
from multikernel.kernels.encoding import Encoding
from multikernel.kernels.frames import FrameColumn, columns_of, is_frame
from multikernel.kernels.numerals import PLAIN, Numerals, Written, numbers_in, other_reading, written_in
from multikernel.kernels.parsed import (
    Order,
    Parsed,
    check_readable,
    date_order,
    in_writing,
    likely_order,
    parsed,
    said_of,
    strangers,
    tells_no_order,
)
from multikernel.kernels.standardize import DateParts, Ranks
from multikernel.kernels.text import Grams

ColumnType = Literal["number", "ordinal", "date", "category", "text", "identifier", "empty"]
Cycle = Literal["year", "week", "day"]

_NAME = re.compile(r"(^|_|\s)(id|index|uuid|key|row)$|^unnamed", re.IGNORECASE)  # of a column that names its rows
_FEW = 20  # samples below which nothing is called an identifier
_UNIQUE = 0.95  # share of different strings from which they may name their rows
_DIGITS = 0.2  # share of digits among the characters of strings that do
_DISTINCT = 0.5  # share of different strings from which they may be text
_WORDS = 3.0  # mean words of strings from which they are text, though some occur twice
_SEVERAL = 1.5  # mean words of a text from which it is compared by words
_STRANGE = 0.1  # share of strings in a column of numbers that need not be any
_YEAR, _WEEK = 300.0, 14.0  # days that dates have to span for a cycle to be told from the passing of time


@dataclass(frozen=True)
class Column:
    """A column, and what the training sample tells of it.

    Parameters
    ----------
    key : its name, or its position
    type : what it holds
    gaps : bool, whether some cells are missing
    parsed : bool, whether it holds strings that say numbers or dates
    order : of the day, month and year in strings of dates; "" elsewhere
    strange : tuple of str, the strings in a column of numbers that are none
    levels : tuple of str, the ordered categories
    cycles : those that the dates go through
    words : bool, whether texts are compared by words
    held : the kind of its cells in training; "" in models of earlier versions, which do not know it
    digits : bool, whether some strings of a category or a text are numbers in writing
    numerals : Numerals, how strings that say numbers are written
    doubt : str, one of these that can be read in two ways, where no other cell tells in which
    units : tuple of str, the units of a column that is none of numbers since it has several
    turned : str, one of the dates in a column where no cell tells days from months; "" elsewhere
    """

    key: str | int
    type: ColumnType
    gaps: bool = False
    parsed: bool = False
    order: Order = ""
    strange: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    cycles: tuple[Cycle, ...] = ()
    words: bool = False
    held: Literal["", "numbers", "strings", "dates", "durations"] = ""
    digits: bool = False
    numerals: Numerals = PLAIN
    doubt: str = ""
    units: tuple[str, ...] = ()
    turned: str = ""

    @property
    def name(self) -> str:
        return self.key if isinstance(self.key, str) else f"column {self.key}"

    @property
    def used(self) -> bool:
        """Whether it can tell samples apart that training did not meet."""
        return self.type not in ("identifier", "empty")

    @property
    def said(self) -> str | None:
        """A sentence about strings that count as missing, or that could mean something else."""
        name = f"column {self.key!r}" if isinstance(self.key, str) else self.name
        said = []
        if self.strange:
            said.append(said_of(name, self.strange, self.order))
        if self.doubt:
            said.append(
                f"{name} of X tells nowhere whether {self.doubt!r} is {self.numerals(self.doubt):g} or "
                f"{other_reading(self.doubt):g}: it is read as the first; write decimals with a point"
            )
        if self.units:
            units = ", ".join(map(repr, self.units))
            said.append(
                f"{name} of X holds numbers with several units ({units}), and is taken as a column of type "
                f"{self.type}: write all of them in one unit"
            )
        if self.turned:
            said.append(
                f"{name} of X holds dates such as {self.turned!r}, in which no cell tells days from months, and is "
                f"taken as a column of type {self.type}: write the year first, or declare it a date, with days first"
            )
        return "; ".join(said) or None

    def encodings(self, numbers: Encoding) -> tuple[Encoding, ...]:
        """How it becomes numbers beside other columns.

        Parameters
        ----------
        numbers : of numbers, of ranks and of days
        """
        found: tuple[Encoding, ...]
        match self.type:
            case "ordinal":
                return (Ranks(self.levels, numbers),)
            case "date":
                found = (DateParts("days", numbers), *map(DateParts, self.cycles))
            case "number":
                found = (numbers,)
            case "text":
                return (Grams("word", (1, 2)) if self.words else Grams("character", (2, 4)),)
            case _:
                return (OneHot(),)
        return tuple(Parsed(each, self.order, self.strange, self.numerals) for each in found) if self.parsed else found

    def read(self, cells: FrameColumn) -> tuple[FrameColumn, str | None]:
        """Cells of new samples as this column has them, and a sentence about strings that have become missing cells.

        Strings become numbers or days where the column is one of these, and numbers become strings elsewhere.

        Raises
        ------
        ValueError : where the cells are of another type than those of training
        """
        if cells.absent.all():
            return (_nothing(cells) if self.type in ("number", "date") else _written(cells)), None
        self._check_kind(cells)
        if self.type not in ("number", "date"):
            return (cells if cells.kind == "strings" else _written(cells)), None
        if cells.kind != "strings":
            return cells, None
        order: Order = self.order or ("ymd" if self.type == "date" else "")
        values = parsed(cells.values, order, self.numerals)
        new = check_readable(f"column {self.key!r}", cells.values, values, self.strange, order)
        said = replace(self, strange=new, order=order, doubt="").said
        return FrameColumn(cells.name, "numbers" if self.type == "number" else "dates", values), said

    def _check_kind(self, cells: FrameColumn) -> None:
        """ValueError where cells, some of them known, are of a kind that does not fit what training held."""
        if cells.kind == self._held:
            return
        fits = {
            "number": {cells.kind, self._held} <= {"numbers", "strings"},
            "date": {cells.kind, self._held} <= {"dates", "strings"},
            "ordinal": cells.kind == "numbers" and not set(_written(cells).values).isdisjoint(self.levels),
            "category": cells.kind == "numbers" and self.digits,
            "text": cells.kind == "numbers" and self.digits,
        }
        if self._held == "numbers" and cells.kind == "strings":
            fits["category"] = fits["text"] = not np.isnan(numbers_in(cells.values)).all()
        if not fits.get(self.type, True):
            was = {"number": "numbers", "date": "dates"}.get(self.type, "") if self.parsed else self._held
            raise ValueError(
                f"column {self.key!r} of X held {was} in training, and holds {cells.kind} now: give {was} again"
            )

    @property
    def _held(self) -> str:
        """The kind of the cells in training, as far as it can be told."""
        usual = {"number": "strings" if self.parsed else "numbers", "date": "strings" if self.parsed else "dates"}
        return self.held or usual.get(self.type, "strings")


def typed(X: Any, types: Mapping[str, Declared] | None = None) -> Iterator[tuple[Column, FrameColumn]]:
    """The columns of a table, with their cells.

    Parameters
    ----------
    X : data frame, array or sequence of strings
    types : what columns are declared to be, by their names, or by their positions as strings

    Raises
    ------
    ValueError : where a declared column is not there, or none of its cells can be read so
    """
    # scikit-learn knows columns by their places where a name is no string
    named = is_frame(X) and all(isinstance(name, str) for name in X.columns)
    found = [(X.columns[j] if named else j, cells) for j, cells in enumerate(columns_of(X))]
    declared = checked_types(types, [str(key) for key, _ in found])
    for key, cells in found:
        yield type_of(key, cells, declared.get(str(key))), cells


def type_of(key: str | int, cells: FrameColumn, declared: Declared | None = None) -> Column:
    """What the cells of a training column are.

    Parameters
    ----------
    key : the column's name, or its position
    cells : of the training sample
    declared : what they are said to be; None to tell from the cells
    """
    absent = cells.absent
    known, column = cells.values[~absent], Column(key, "empty", bool(absent.any()), held=cells.kind)
    if not len(known) or not (column.gaps or (known != known[0]).any()):
        return column  # of one value, unless it is the gaps that tell
    if declared is not None:
        return _declared(column, cells, known, declared)
    if cells.kind == "dates":
        return replace(column, type="date", cycles=_cycles(known))
    if cells.kind != "strings":
        return replace(column, type="identifier" if _counts_rows(key, known) else "number")
    if cells.categories is not None:
        kind: ColumnType = "ordinal" if cells.ordered else "category"
        return replace(column, type=kind, levels=cells.categories, digits=_has_number(known))
    return _of_strings(column, known)


def _of_strings(column: Column, known: Array) -> Column:
    """Strings that are not declared to be categories."""
    written = written_in(known, 1.0 - _STRANGE)
    if written.numerals is not None:
        numbers = numbers_in(known, written.numerals)
        kind: ColumnType = "identifier" if _counts_rows(column.key, numbers[~np.isnan(numbers)]) else "number"
        strange, gaps = strangers(known, numbers), column.gaps or bool(np.isnan(numbers).any())
        column = replace(column, type=kind, parsed=True, strange=strange, gaps=gaps)
        return replace(column, numerals=written.numerals, doubt=written.doubt)
    column = replace(column, digits=_has_number(known), units=written.units)
    order = date_order(known)
    if order is None and tells_no_order(known):
        column = replace(column, turned=str(known[0]))
    if order is not None:
        return replace(column, type="date", parsed=True, order=order, cycles=_cycles(parsed(known, order)))
    different, words = len(set(known)) / len(known), float(np.mean([len(text.split()) for text in known]))
    if words >= _WORDS and different >= _DISTINCT:
        return replace(column, type="text", words=True)
    if len(known) < _FEW or different < _UNIQUE:
        return replace(column, type="category")
    characters = "".join(known)
    if sum(map(str.isdigit, characters)) >= _DIGITS * len(characters):
        return replace(column, type="identifier")
    return replace(column, type="text", words=words > _SEVERAL)


def _declared(column: Column, cells: FrameColumn, known: Array, declared: Declared) -> Column:
    """A column of the type that it is said to be; cells that cannot be read so count as missing."""
    strings = cells.kind == "strings"
    column = replace(column, digits=strings and _has_number(known))
    if declared == "category":
        return replace(column, type="category")
    if declared == "text":
        words = float(np.mean([len(str(cell).split()) for cell in known]))
        return replace(column, type="text", words=words > _SEVERAL)
    if not strings and declared == "date" and cells.kind != "dates":
        raise ValueError(f"column {column.key!r} is declared to be a date, and holds numbers; give dates or strings")
    if not strings:
        return replace(column, type=declared, cycles=_cycles(known) if declared == "date" else ())
    order = likely_order(known) if declared == "date" else ""
    written = written_in(known, 0.0) if declared == "number" else Written(PLAIN)
    if written.units:
        units = ", ".join(map(repr, written.units))
        raise ValueError(
            f"column {column.key!r} is declared to be a number, and its cells have several units ({units}): write all "
            "of them in one"
        )
    numerals = written.numerals or PLAIN
    values = parsed(known, order, numerals)
    told = values[~np.isnan(values)]
    if not len(told):
        forms = "2020-03-12, 12.03.2020 or 12/03/2020" if order else "12.5 or 1e3"
        raise ValueError(
            f"column {column.key!r} is declared to be a {declared}, and none of its cells reads as one, such as {forms}"
        )
    strange = strangers(known, values)
    cycles = _cycles(told) if order else ()
    gaps = column.gaps or bool(strange)
    column = replace(column, type=declared, parsed=True, order=order, strange=strange, gaps=gaps, cycles=cycles)
    return replace(column, numerals=numerals, doubt=written.doubt)


def _counts_rows(key: str | int, known: Array) -> bool:
    """Whether whole numbers name the rows: all differ, and the column is called so."""
    named = isinstance(key, str) and _NAME.search(key) is not None and len(known) >= _FEW
    return named and len(np.unique(known)) == len(known) and bool((known == np.round(known)).all())


def _cycles(days: Array) -> tuple[Cycle, ...]:
    """The cycles that dates go through."""
    days = days[~np.isnan(days)]
    span = float(np.ptp(days)) if len(days) else 0.0
    found: dict[Cycle, bool] = {"year": span > _YEAR, "week": span > _WEEK, "day": bool((days != np.floor(days)).any())}
    return tuple(cycle for cycle, met in found.items() if met)


def _has_number(texts: Array) -> bool:
    """Whether some of the strings are numbers in writing."""
    return not bool(np.isnan(numbers_in(texts)).all())


def _nothing(cells: FrameColumn) -> FrameColumn:
    """A column of numbers without a known cell."""
    return FrameColumn(cells.name, "numbers", np.full(len(cells.values), np.nan))


def _written(cells: FrameColumn) -> FrameColumn:
    """Cells as strings, numbers as training wrote them."""
    if cells.kind == "strings":
        return cells
    texts = [None if value != value else in_writing(value) for value in cells.values.tolist()]
    return FrameColumn(cells.name, "strings", np.array(texts, dtype=object))
