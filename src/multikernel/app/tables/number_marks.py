"""Columns of numbers with units, thousands marks or decimal commas, rewritten as Python writes numbers.

Single cells are read by ``multikernel.tables.Numerals``. Where the cells of a column can be read in two ways, a column
of the file that can be read in one way only decides. Where there is none, or such columns disagree: in files with
semicolons between cells, commas are decimal marks, as programs write semicolons where the comma is the decimal mark; in
files with commas between cells, points are decimal marks; otherwise the training file decides, when predictions are
made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan

from multikernel.tables import PLAIN, Numerals, as_float, in_writing, other_reading, written_in

NAMED_COLUMNS = 5  # names of columns that a sentence lists, at most


def plainly(
    columns: Mapping[str, Sequence[str]],
    delimiter: str,
    is_missing: Callable[[str], bool],
    training_numerals: Mapping[str, Numerals] | None = None,
) -> tuple[dict[str, Sequence[str]], dict[str, Numerals], list[str]]:
    """Columns with numbers as Python writes them, how the numbers were written, and sentences about changed columns.

    Parameters
    ----------
    columns : the cells of each column
    delimiter : between cells
    is_missing : whether a cell is a missing value
    training_numerals : how the numbers of columns were written in training
    """
    known_cells = {name: [cell for cell in cells if not is_missing(cell)] for name, cells in columns.items()}
    readings = {name: written_in(cells) for name, cells in known_cells.items() if cells}
    certain_decimals = {reading.only for reading in readings.values()} - {""}
    changed_columns: dict[str, Sequence[str]] = {}
    numerals: dict[str, Numerals] = {}
    notes: dict[str, list[tuple[str, str]]] = {}
    for name, reading in readings.items():
        if reading.units:
            notes.setdefault("numbers with several units", []).append((name, " and ".join(map(repr, reading.units))))
        if reading.twofold:
            reading = written_in(
                known_cells[name],
                comma=_comma(certain_decimals, delimiter, known_cells[name], (training_numerals or {}).get(name)),
            )
        if reading.numerals is None:
            continue
        numerals[name] = reading.numerals
        if reading.numerals == PLAIN and not any(map(isnan, map(as_float, known_cells[name]))):
            continue
        cells = [cell if is_missing(cell) else _plain_number(cell, reading.numerals) for cell in columns[name]]
        pairs = [(original, plain) for original, plain in zip(columns[name], cells, strict=True) if original != plain]
        if pairs:
            changed_columns[name] = cells
            peculiarity, (original, plain) = _peculiarity(reading.numerals, pairs)
            notes.setdefault(peculiarity, []).append((name, f"{original!r} is {plain}"))
        if reading.doubt:
            alternative = f"{reading.doubt!r} might be {other_reading(reading.doubt):g}"
            notes.setdefault("numbers that can be read in two ways", []).append((name, alternative))
    return (
        dict(columns) | changed_columns,
        numerals,
        [_sentence(peculiarity, pairs) for peculiarity, pairs in notes.items()],
    )


def in_plain(cell: str, marks: Sequence[str]) -> str:
    """A typed cell as Python writes its number, whether it is written like this already or as in training.

    Parameters
    ----------
    cell : what the user typed; a cell that is not a number in either way is returned unchanged
    marks : the decimal mark and the unit in training
    """
    if not isnan(as_float(cell)):
        return cell
    value = Numerals(*marks)(cell)
    if isnan(value):
        return cell
    return in_writing(value)


def _comma(
    certain_decimals: set[str], delimiter: str, cells: Sequence[str], training_numerals: Numerals | None
) -> bool | None:
    """Whether the comma is the decimal mark in a column that can be read in two ways; None where it is unknown."""
    if len(certain_decimals) == 1:
        return certain_decimals == {","}
    if delimiter == ";" and any("," in cell for cell in cells):
        return True
    if delimiter == "," and not any("," in cell for cell in cells):
        return None  # programs that write points as decimal marks write such files
    if training_numerals is None:
        return None
    return training_numerals.decimal == ","


def _plain_number(cell: str, numerals: Numerals) -> str:
    """A number as Python writes it; a cell that Python reads as the same number is unchanged."""
    value = numerals(cell)
    if as_float(cell) == value:
        return cell
    return in_writing(value)


def _peculiarity(numerals: Numerals, pairs: Sequence[tuple[str, str]]) -> tuple[str, tuple[str, str]]:
    """What is unusual about the numbers of a column, and a cell with this peculiarity, before and after."""
    if numerals.unit:
        return f"the unit {numerals.unit!r}", pairs[0]
    if numerals.decimal == ".,":
        return "decimal commas beside decimal points", next(pair for pair in pairs if "," in pair[0])
    decimal = [pair for pair in pairs if numerals.decimal == "," and "," in pair[0]]
    if decimal:
        return ("a decimal comma", decimal[0])
    return ("marks between thousands", pairs[0])


def _sentence(peculiarity: str, examples: Sequence[tuple[str, str]]) -> str:
    names = ", ".join(repr(name) for name, _ in examples[:NAMED_COLUMNS])
    others_text = ""
    if len(examples) > NAMED_COLUMNS:
        others_text = f" and {len(examples) - NAMED_COLUMNS} more"
    return f"{peculiarity} in {names}{others_text} ({examples[0][1]})"
