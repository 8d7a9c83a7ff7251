"""Columns of numbers as people write them, with their numbers as Python writes them: see tables/numerals.py.

Where the cells of a column can be read in two ways, other columns of the file decide; where none does, files with
semicolons have decimal commas, as programs write semicolons where the comma is taken; points of cells between commas
stand before decimals; and else, at predictions, the training file decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan

from multikernel.tables import PLAIN, Numerals, as_float, in_writing, other_reading, written_in

NAMED_COLUMNS = 5  # names that a sentence lists


def plainly(
    columns: Mapping[str, Sequence[str]],
    delimiter: str,
    missing: Callable[[str], bool],
    before: Mapping[str, Numerals] | None = None,
) -> tuple[dict[str, Sequence[str]], dict[str, Numerals], list[str]]:
    """Columns with their numbers as Python writes them, how these are written, and sentences about those that changed.

    Parameters
    ----------
    columns : the cells of each column
    delimiter : between cells
    missing : whether a cell says that its value is not known
    before : how the numbers of columns were written in training
    """
    known = {name: [cell for cell in cells if not missing(cell)] for name, cells in columns.items()}
    found = {name: written_in(cells) for name, cells in known.items() if cells}
    sure = {own.only for own in found.values()} - {""}
    changed: dict[str, Sequence[str]] = {}
    numerals: dict[str, Numerals] = {}
    notes: dict[str, list[tuple[str, str]]] = {}
    for name, own in found.items():
        if own.units:
            notes.setdefault("numbers with several units", []).append((name, " and ".join(map(repr, own.units))))
        if own.twofold:
            own = written_in(known[name], comma=_comma(sure, delimiter, known[name], (before or {}).get(name)))
        if own.numerals is None:
            continue
        numerals[name] = own.numerals
        if own.numerals == PLAIN and not any(map(isnan, map(as_float, known[name]))):
            continue
        cells = [cell if missing(cell) else _plain(cell, own.numerals) for cell in columns[name]]
        pairs = [(old, new) for old, new in zip(columns[name], cells, strict=True) if old != new]
        if pairs:
            changed[name] = cells
            what, (old, new) = _what(own.numerals, pairs)
            notes.setdefault(what, []).append((name, f"{old!r} is {new}"))
        if own.doubt:
            other = f"{own.doubt!r} might be {other_reading(own.doubt):g}"
            notes.setdefault("numbers that can be read in two ways", []).append((name, other))
    return dict(columns) | changed, numerals, [_sentence(what, pairs) for what, pairs in notes.items()]


def in_plain(cell: str, written: Sequence[str]) -> str:
    """A cell that a person types, as Python writes it: plain already, or written as in training.

    Parameters
    ----------
    cell : what is typed; a cell that is no number in either way is returned as it is
    written : the mark before decimals and the unit in training
    """
    if not isnan(as_float(cell)):
        return cell
    value = Numerals(*written)(cell)
    if isnan(value):
        return cell
    return in_writing(value)


def _comma(sure: set[str], delimiter: str, cells: Sequence[str], before: Numerals | None) -> bool | None:
    """Whether the comma stands before decimals in a column that can be read in two ways; None where it is not known."""
    if len(sure) == 1:
        return sure == {","}
    if delimiter == ";" and any("," in cell for cell in cells):
        return True
    if delimiter == "," and not any("," in cell for cell in cells):
        return None  # as programs write that put points before decimals
    if before is None:
        return None
    return before.decimal == ","


def _plain(cell: str, numerals: Numerals) -> str:
    """A number as Python writes it, with the digits of its cell."""
    value = numerals(cell)
    if as_float(cell) == value:
        return cell
    return in_writing(value)


def _what(numerals: Numerals, pairs: Sequence[tuple[str, str]]) -> tuple[str, tuple[str, str]]:
    """What is unusual about the numbers of a column, and a cell that shows it."""
    if numerals.unit:
        return f"the unit {numerals.unit!r}", pairs[0]
    if numerals.decimal == ".,":
        return "decimal commas beside decimal points", next(pair for pair in pairs if "," in pair[0])
    decimal = [pair for pair in pairs if numerals.decimal == "," and "," in pair[0]]
    if decimal:
        return ("a decimal comma", decimal[0])
    return ("marks between thousands", pairs[0])


def _sentence(what: str, found: Sequence[tuple[str, str]]) -> str:
    names = ", ".join(repr(name) for name, _ in found[:NAMED_COLUMNS])
    more = ""
    if len(found) > NAMED_COLUMNS:
        more = f" and {len(found) - NAMED_COLUMNS} more"
    return f"{what} in {names}{more} ({found[0][1]})"
