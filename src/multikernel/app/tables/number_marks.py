"""Columns of numbers as people write them: with a decimal comma, or with marks between thousands.

'1,234' may be 1234 or 1.234. A column with a cell that can be read in one way only tells for the whole file; where no
column tells, files with semicolons have decimal commas, as programs write semicolons where the comma is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

_SPACES = "' \u00a0\u202f\u2019"
_MARKS = frozenset(",." + _SPACES)
_POINT = re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:([,{_SPACES}])\d{{3}})(?:\1\d{{3}})*(?:\.\d+)?")
_COMMA = re.compile(rf"[+-]?(?:\d*|[1-9]\d{{0,2}}(?:([.{_SPACES}])\d{{3}})(?:\1\d{{3}})*)(?:,\d+)?(?:[eE][+-]?\d+)?")
_SHOWN = 5  # names that a sentence lists


def plainly(
    columns: Mapping[str, Sequence[str]], delimiter: str, missing: Callable[[str], bool]
) -> tuple[dict[str, Sequence[str]], list[str]]:
    """Columns with their numbers as Python writes them, and sentences about those that changed."""
    known = {name: [cell for cell in cells if not missing(cell)] for name, cells in columns.items()}
    marked = {name: cells for name, cells in known.items() if not _MARKS.isdisjoint("".join(cells))}
    points = {name for name, cells in marked.items() if all(map(_has_point, cells))}
    commas = {name for name, cells in marked.items() if all(map(_has_comma, cells))}
    evidence = bool(commas - points) - bool(points - commas)
    either = {
        name
        for name in points & commas
        if evidence > 0 or (evidence == 0 and delimiter == ";" and "," in "".join(known[name]))
    }
    changed: dict[str, Sequence[str]] = {}
    said: dict[str, list[tuple[str, str]]] = {"a decimal comma": [], "marks between thousands": []}
    numbers = points | commas
    for name in (name for name in columns if name in numbers):
        comma = name in either or name not in points
        cells = [cell if missing(cell) else _plain(cell, comma) for cell in columns[name]]
        pairs = [(old, new) for old, new in zip(columns[name], cells, strict=True) if old != new]
        if pairs:
            changed[name] = cells
            decimal = [pair for pair in pairs if comma and "," in pair[0]]
            what = "a decimal comma" if decimal else "marks between thousands"
            said[what].append((name, "{!r} is {}".format(*(decimal or pairs)[0])))
    return dict(columns) | changed, [_sentence(what, found) for what, found in said.items() if found]


def _sentence(what: str, found: Sequence[tuple[str, str]]) -> str:
    names = ", ".join(repr(name) for name, _ in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"{what} in {names}{more} ({found[0][1]})"


def _has_point(cell: str) -> bool:
    return _POINT.fullmatch(cell) is not None or _is_plain(cell)


def _has_comma(cell: str) -> bool:
    return any(map(str.isdigit, cell)) and _COMMA.fullmatch(cell) is not None


def _is_plain(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _plain(cell: str, comma: bool) -> str:
    """The number as Python writes it."""
    for mark in _SPACES + (".," if comma else ",."):
        if mark == ("," if comma else "."):
            return cell.replace(mark, ".")
        cell = cell.replace(mark, "")
    return cell
