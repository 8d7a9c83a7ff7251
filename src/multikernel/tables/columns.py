"""The types of the columns of a table: the one place where cells become typed columns.

number       also a truth value, a duration, strings that read as numbers
ordinal      a declared order of categories
date         also strings that read as dates
category     strings, most of which occur more than once
text         strings, most of them different
identifier   names of rows: numbers that all differ in a column with such a name, or short strings of digits that
             almost all differ
empty        one value, or none

A missing cell, also a string of blanks, is a gap. In a column of strings most of which are numbers, the other strings
count as gaps, and so do days such as 30 February in a column of dates. A user may declare the type of a column instead.
kernels/for_columns.py turns typed columns into numbers for kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args

import numpy as np

from multikernel._rules import Rule, listed, shortened
from multikernel._typing import Array
from multikernel.tables.cells import Cells, columns_of, is_frame
from multikernel.tables.dates import (
    Order,
    check_readable,
    date_order,
    in_writing,
    is_ambiguous,
    likely_order,
    parsed,
    unreadable,
    unreadable_note,
)
from multikernel.tables.numerals import PLAIN, Numerals, Written, numbers_in, other_reading, written_in

ColumnType = Literal["number", "ordinal", "date", "category", "text", "identifier", "empty"]
Cycle = Literal["year", "week", "day"]
Declared = Literal["number", "date", "category", "text"]
_KINDS: Mapping[str, Literal["numbers", "dates"]] = {"number": "numbers", "date": "dates"}  # of cells, by type

# Conventions that distinguish the types of columns of strings and numbers. A user declares the type where they decide
# wrongly; tests/tables/test_column_types.py has their decisions on typical columns.
_ROW_NAME = re.compile(r"(^|_|\s)(id|index|uuid|key|row)$|^unnamed", re.IGNORECASE)  # of a column that names its rows
_READABLE = 0.9  # share of strings that have to be numbers, or days of the calendar, for such a column
_FEWEST_ROWS = 20  # with fewer rows no column is an identifier
_DISTINCT = 0.5  # share of different strings from which strings may be a text
_WORDS_OF_TEXT = 3.0  # mean number of words from which strings are a text, though some occur twice
_WORDS_COMPARED = 1.5  # mean number of words above which texts are compared by words, and not by characters


@dataclass(frozen=True)
class Types(Rule):
    """The types of columns, by their names."""

    words = "a dict from names of columns to " + listed([repr(kind) for kind in get_args(Declared)])

    def accepts(self, value: Any) -> bool:
        kinds = get_args(Declared)
        return isinstance(value, Mapping) and all(
            isinstance(name, str) and isinstance(kind, str) and kind in kinds for name, kind in value.items()
        )


TYPES = Types()
ColumnTypes = Annotated[Any, TYPES] | None


@dataclass(frozen=True)
class Column:
    """A column, with what the training sample shows of it.

    Parameters
    ----------
    key : its name, or its position
    type : the type of its cells
    gaps : bool, whether some cells are missing
    parsed : bool, whether it holds strings that denote numbers or dates
    order : of the day, month and year in strings of dates; "" elsewhere
    strange : tuple of str, the strings in a column of numbers or dates that are none
    levels : tuple of str, the ordered categories
    cycles : the cycles that the dates go through
    words : bool, whether texts are compared by words
    held : the kind of its cells in training; "" in models of earlier versions, which did not record it
    digits : bool, whether some strings of a category or a text are numbers in writing
    numerals : Numerals, the way in which numbers are written as strings
    doubt : str, a number that can be read in two ways, where no other cell decides between them; "" elsewhere
    units : tuple of str, the units of a column that is not one of numbers because it has several
    turned : str, a date of a column in which no cell distinguishes days from months; "" elsewhere
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
        if isinstance(self.key, str):
            return self.key
        return f"column {self.key}"

    @property
    def used(self) -> bool:
        """Whether the column can distinguish samples that were not in training."""
        return self.type not in ("identifier", "empty")

    @property
    def note(self) -> str | None:
        """A note for the user: strings that count as missing, or that could mean something else."""
        name = f"column {self.key!r}" if isinstance(self.key, str) else self.name
        sentences = []
        if self.strange:
            sentences.append(unreadable_note(name, self.strange, self.order))
        if self.doubt:
            sentences.append(
                f"{name} of X does not show whether {self.doubt!r} is {self.numerals(self.doubt):g} or "
                f"{other_reading(self.doubt):g}: it is read as the first; write decimals with a point"
            )
        if self.units:
            units = ", ".join(map(repr, self.units))
            sentences.append(
                f"{name} of X holds numbers with several units ({units}), and is taken as a column of type "
                f"{self.type}: write all of them in one unit"
            )
        if self.turned:
            sentences.append(
                f"{name} of X holds dates such as {self.turned!r}, in which nothing distinguishes days from months, "
                f"and is taken as a column of type {self.type}: write the year first, or declare it a date, with days "
                "first"
            )
        return "; ".join(sentences) or None

    def read(self, cells: Cells) -> tuple[Cells, str | None]:
        """Cells of new samples in the form of this column, and a sentence about strings that have become missing cells.

        Strings become numbers or days where the column is one of these, and numbers become strings elsewhere.

        Raises
        ------
        ValueError : where the cells are of another type than those of training
        """
        numeric = self.type in ("number", "date")
        if cells.absent.all():
            if numeric:
                return _no_numbers(cells), None
            return _as_strings(cells), None
        self._check_kind(cells)
        if not numeric:
            return _as_strings(cells), None
        if cells.kind != "strings":
            return cells, None
        order: Order = self.order
        if not order and self.type == "date":
            order = "ymd"
        values = parsed(cells.values, order, self.numerals)
        new_strings = check_readable(f"column {self.key!r}", cells.values, values, self.strange, order)
        note = replace(self, strange=new_strings, order=order, doubt="").note
        return Cells(cells.name, _KINDS[self.type], values), note

    def _check_kind(self, cells: Cells) -> None:
        """ValueError where the kind of the cells, some of which are present, does not fit that of training."""
        training_kind = self._kind_in_training
        if cells.kind == training_kind:
            return
        match self.type:
            case "number":
                fits = {cells.kind, training_kind} <= {"numbers", "strings"}
            case "date":
                fits = {cells.kind, training_kind} <= {"dates", "strings"}
            case "ordinal":
                fits = cells.kind == "numbers" and not set(_as_strings(cells).values).isdisjoint(self.levels)
            case "category" | "text":
                if training_kind == "numbers" and cells.kind == "strings":
                    fits = _some_are_numbers(cells.values)
                else:
                    fits = cells.kind == "numbers" and self.digits
            case _:
                fits = True
        if not fits:
            if self.parsed:
                expected = _KINDS.get(self.type, "")
            else:
                expected = training_kind
            raise ValueError(
                f"column {self.key!r} of X held {expected} in training, and holds {cells.kind} now: "
                f"give {expected} again"
            )

    @property
    def _kind_in_training(self) -> str:
        """The kind of the cells in training, inferred from the type in models of earlier versions."""
        if self.held:
            return self.held
        if self.parsed or self.type not in ("number", "date"):
            return "strings"
        return _KINDS[self.type]


def checked_types(types: Mapping[str, Declared] | None, names: Sequence[str]) -> Mapping[str, Declared]:
    """The declared types; ValueError where one is of a column that does not exist."""
    for name in types or {}:
        if name not in names:
            have = shortened(list(map(repr, names)), 10)
            raise ValueError(f"types names the column {name!r}, and X has none of that name; it has {have}")
    return types or {}


def typed(X: Any, types: Mapping[str, Declared] | None = None) -> Iterator[tuple[Column, Cells]]:
    """The columns of a table, with their cells.

    Parameters
    ----------
    X : data frame, array or sequence of strings
    types : the declared types, by the names of columns, or by their positions as strings

    Raises
    ------
    ValueError : where a declared column does not exist, or none of its cells can be read in this type
    """
    # scikit-learn refers to columns by position where a name is no string
    named = is_frame(X) and all(isinstance(name, str) for name in X.columns)
    columns = [(X.columns[j] if named else j, cells) for j, cells in enumerate(columns_of(X))]
    declared = checked_types(types, [str(key) for key, _ in columns])
    for key, cells in columns:
        yield type_of(key, cells, declared.get(str(key))), cells


def type_of(key: str | int, cells: Cells, declared: Declared | None = None) -> Column:
    """The type of a training column, from its cells.

    Parameters
    ----------
    key : the column's name, or its position
    cells : of the training sample
    declared : the type that the user declares; None to infer it from the cells
    """
    absent = cells.absent
    present = cells.values[~absent]
    column = Column(key, "empty", bool(absent.any()), held=cells.kind)
    if not len(present) or not (column.gaps or (present != present[0]).any()):
        return column  # a column of one value distinguishes samples only by its gaps
    if declared is not None:
        return _declared_column(column, cells, present, declared)
    if cells.kind == "dates":
        return replace(column, type="date", cycles=_cycles(present))
    if cells.kind != "strings":
        return replace(column, type=_type_of_numbers(key, present))
    if cells.categories is not None:
        kind: ColumnType = "ordinal" if cells.ordered else "category"
        return replace(column, type=kind, levels=cells.categories, digits=_some_are_numbers(present))
    return _of_strings(column, present)


def _type_of_numbers(key: Any, values: Array) -> ColumnType:
    """The type of a column of numbers: a number, or an identifier where the numbers name rows."""
    if _names_rows(key, values):
        return "identifier"
    return "number"


def _of_strings(column: Column, texts: Array) -> Column:
    """The type of a column of strings that are not declared to be categories."""
    written = written_in(texts, _READABLE)
    if written.numerals is not None:
        numbers = numbers_in(texts, written.numerals)
        strange = unreadable(texts, numbers)
        return replace(
            column,
            type=_type_of_numbers(column.key, numbers[~np.isnan(numbers)]),
            parsed=True,
            strange=strange,
            gaps=column.gaps or bool(strange),
            numerals=written.numerals,
            doubt=written.doubt,
        )
    column = replace(column, digits=_some_are_numbers(texts), units=written.units)
    order = date_order(texts)
    if order is not None:
        days = parsed(texts, order)
        if np.mean(~np.isnan(days)) >= _READABLE:
            strange = unreadable(texts, days)
            gaps = column.gaps or bool(strange)
            cycles = _cycles(days)
            return replace(column, type="date", gaps=gaps, parsed=True, order=order, strange=strange, cycles=cycles)
    if is_ambiguous(texts):
        column = replace(column, turned=str(texts[0]))
    different = len(set(texts)) / len(texts)
    words = _mean_words(texts)
    if words >= _WORDS_OF_TEXT and different >= _DISTINCT:
        return replace(column, type="text", words=True)
    if len(texts) < _FEWEST_ROWS or different < 0.95:  # identifiers differ, except for some errors
        return replace(column, type="category")
    characters = "".join(texts)
    if sum(map(str.isdigit, characters)) >= 0.2 * len(
        characters
    ):  # so many digits are in identifiers, and not in texts
        return replace(column, type="identifier")
    return replace(column, type="text", words=words > _WORDS_COMPARED)


def _declared_column(column: Column, cells: Cells, present: Array, declared: Declared) -> Column:
    """A column of the type that the user declares; cells that cannot be read in this type count as missing."""
    strings = cells.kind == "strings"
    column = replace(column, type=declared, digits=strings and _some_are_numbers(present))
    if declared == "category":
        return column
    if declared == "text":
        return replace(column, words=_mean_words(map(str, present)) > _WORDS_COMPARED)
    if not strings and declared == "number":
        return column
    if not strings:
        if cells.kind != "dates":
            raise ValueError(
                f"column {column.key!r} is declared to be a date, and holds numbers; give dates or strings"
            )
        return replace(column, cycles=_cycles(present))
    order = likely_order(present) if declared == "date" else ""
    written = written_in(present, 0.0) if declared == "number" else Written(PLAIN)
    if written.units:
        units = ", ".join(map(repr, written.units))
        raise ValueError(
            f"column {column.key!r} is declared to be a number, and its cells have several units ({units}): write all "
            "of them in one"
        )
    numerals = written.numerals or PLAIN
    values = parsed(present, order, numerals)
    if np.isnan(values).all():
        forms = "2020-03-12, 12.03.2020 or 12/03/2020" if order else "12.5 or 1e3"
        raise ValueError(
            f"column {column.key!r} is declared to be a {declared}, and none of its cells reads as one, such as {forms}"
        )
    strange = unreadable(present, values)
    return replace(
        column,
        parsed=True,
        order=order,
        strange=strange,
        gaps=column.gaps or bool(strange),
        cycles=_cycles(values) if order else (),
        numerals=numerals,
        doubt=written.doubt,
    )


def _mean_words(texts: Iterable[str]) -> float:
    """The mean number of words of texts."""
    return float(np.mean([len(text.split()) for text in texts]))


def _names_rows(key: str | int, values: Array) -> bool:
    """Whether numbers name the rows: all are integers and differ, and the column has the name of an identifier."""
    if not isinstance(key, str) or _ROW_NAME.search(key) is None or len(values) < _FEWEST_ROWS:
        return False
    return len(np.unique(values)) == len(values) and bool((values == np.round(values)).all())


def _cycles(days: Array) -> tuple[Cycle, ...]:
    """The cycles that dates go through."""
    days = days[~np.isnan(days)]
    span = float(np.ptp(days)) if len(days) else 0.0
    # only over so many days does a cycle differ from time itself
    is_cycle: dict[Cycle, bool] = {
        "year": span > 300.0,
        "week": span > 14.0,
        "day": bool((days != np.floor(days)).any()),
    }
    return tuple(cycle for cycle, is_met in is_cycle.items() if is_met)


def _some_are_numbers(texts: Array) -> bool:
    """Whether some of the strings are numbers in writing."""
    return not bool(np.isnan(numbers_in(texts)).all())


def _no_numbers(cells: Cells) -> Cells:
    """A column of numbers, all of them missing."""
    return Cells(cells.name, "numbers", np.full(len(cells.values), np.nan))


def _as_strings(cells: Cells) -> Cells:
    """Cells as strings; numbers are written as in training."""
    if cells.kind == "strings":
        return cells
    texts = [None if np.isnan(value) else in_writing(value) for value in cells.values.tolist()]
    return Cells(cells.name, "strings", np.array(texts, dtype=object))
