"""Numbers as people write them: with a unit, with marks between thousands, with a decimal comma.

    1,234.56    1 234,56    1'234.56    marks between thousands; the last mark is before the decimals
    $1,234.56   3 kg   12.3%            a unit before or after, the same in the whole column; 12.3% is 12.3
    (1,234.56)                          -1234.56

'1,234' may be 1234 or 1.234. A cell that can be read in only one way decides for all cells of the column. Without such
a cell, a comma before three digits is a mark between thousands, and a note says so. A column whose cells have several
units is not one of numbers: '3 kg' and '5 g' are not compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, isnan, nan

import numpy as np

from multikernel._typing import Array

_SPACES = "' \u00a0\u202f\u2019"
_SYMBOLS = "$€£¥₹₽₩₪₫₴₺₦¢"
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RUB|BRL|MXN|ZAR|KRW|TRY|SGD|HKD"
_SHARES = "%‰"  # units without which the number would be a different one
_BODY = rf"(?:\d[\d.,{_SPACES}]*\d|\d|[.,]\d+)\.?(?:[eE][+-]?\d+)?"
_CELL = re.compile(
    rf"([+\-−]?)\s*([{_SYMBOLS}]|(?:{_CODES})(?=[\s\d+\-]))?\s*([+\-−]?)({_BODY})\s*"
    rf"([{_SYMBOLS}{_SHARES}]|°?[^\W\d_][^\s\d,;:_]*[²³\d]?)?"
)
_POINT = re.compile(
    rf"[1-9]\d{{0,2}}(?:([,{_SPACES}])\d{{3}})(?:\1\d{{3}})*(?:\.\d+)?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
)
_COMMA = re.compile(
    rf"[1-9]\d{{0,2}}(?:([.{_SPACES}])\d{{3}})(?:\1\d{{3}})*(?:,\d+)?|(?:\d+,?\d*|,\d+)(?:[eE][+-]?\d+)?"
)


@dataclass(frozen=True)
class Numerals:
    """The way in which the numbers of a column are written.

    Parameters
    ----------
    decimal : "." or ",", the mark before decimals; ".," where some cells have one and some the other
    unit : str, the unit before or after the numbers; "" for none
    """

    decimal: str = "."
    unit: str = ""

    def __call__(self, text: str | None) -> float:
        """The number that a cell denotes, NaN where it is none."""
        if text is None:
            return nan
        if not self.unit and self.decimal == ".":
            plain = as_float(text)
            if not isnan(plain):
                return plain
        unit_and_number = _split(text)
        if unit_and_number is None or unit_and_number[0] not in self.units:
            return nan
        readings = {_value(unit_and_number[1], mark) for mark in self.decimal}
        readings = {value for value in readings if not isnan(value)}
        if len(readings) == 1:
            return readings.pop()
        return nan  # no number, or a cell that both marks before decimals read differently

    @property
    def units(self) -> tuple[str, ...]:
        """The units that a cell may have: also none, unless the number would be another one without it."""
        if self.unit in _SHARES:
            return (self.unit,)
        return self.unit, ""


@dataclass(frozen=True)
class Written:
    """What the cells of a column show about the way in which its numbers are written.

    Parameters
    ----------
    numerals : Numerals; None where it is not a column of numbers
    doubt : a cell that can be read in two ways, where no other cell decides between them; "" elsewhere
    units : the units of a column that has several; empty elsewhere
    only : the single mark before decimals with which all cells can be read; "" where this holds for both or none
    twofold : bool, whether all cells can be read with either mark, some of them as two different numbers
    """

    numerals: Numerals | None
    doubt: str = ""
    units: tuple[str, ...] = ()
    only: str = ""
    twofold: bool = False


def written_in(texts: Iterable[str], share: float = 1.0, comma: bool | None = None) -> Written:
    """The way in which the numbers of a column are written.

    Parameters
    ----------
    texts : the cells that are not missing
    share : the share of the cells that have to be numbers
    comma : whether a comma is the mark before decimals, where the cells do not show it; None where it is not known
    """
    texts = list(texts)
    if not comma and not any(map(isnan, map(as_float, texts))):
        if any(isnan(_value(text.strip(), ",")) for text in texts):
            return Written(Numerals(), only=".")
        return Written(Numerals(), twofold=any("." in text for text in texts))
    texts_with_units = [(text, *unit_and_number) for text in texts if (unit_and_number := _split(text)) is not None]
    if not texts_with_units or len(texts_with_units) < share * len(texts):
        return Written(None)
    counts = Counter(unit for _, unit, _ in texts_with_units)
    unit = counts.most_common(1)[0][0]
    cells = [(text, body) for text, cell_unit, body in texts_with_units if cell_unit in Numerals(unit=unit).units]
    bodies = [body for _, body in cells]
    if len(bodies) < share * len(texts) or (share == 0.0 and unit and len(counts.keys() - {unit, ""}) > 0):
        if len(texts_with_units) == len(texts) and len(counts) <= 5 and min(counts.values()) > 1:
            return Written(None, units=tuple(sorted(counts)))
        return Written(None)
    with_point = np.array([_value(body, ".") for body in bodies])
    with_comma = np.array([_value(body, ",") for body in bodies])
    by_point = ~np.isnan(with_point)
    by_comma = ~np.isnan(with_comma)
    twofold = by_point & by_comma & (with_point != with_comma)
    if by_point.all() and by_comma.all():
        doubtful = np.flatnonzero(twofold & np.array(["," in body for body in bodies]))
        doubt = ""
        if comma is None and len(doubtful):
            doubt = cells[int(doubtful[0])][0]
        return Written(Numerals("," if comma else ".", unit), doubt, twofold=bool(twofold.any()))
    only = ""
    if by_point.all():
        only = decimal = "."
    elif by_comma.all():
        only = decimal = ","
    elif by_comma.any() and not twofold.any() and (by_point | by_comma).all():
        decimal = ".,"
    else:
        decimal = "." if by_point.sum() >= by_comma.sum() else ","
    numerals = Numerals(decimal, unit)
    n_read = int((~np.isnan(numbers_in(texts, numerals))).sum())
    if not n_read or n_read < share * len(texts):
        return Written(None, only=only)
    return Written(numerals, only=only)


PLAIN = Numerals()


def numbers_in(texts: Iterable[str | None], numerals: Numerals = PLAIN) -> Array:
    """The numbers that strings denote, NaN for a string that is no number."""
    return np.array([numerals(text) for text in texts], dtype=float)


def other_reading(text: str) -> float:
    """The number of a cell with its comma as the mark before decimals."""
    unit_and_number = _split(text)
    if unit_and_number is None:
        return nan
    return _value(unit_and_number[1], ",")


def as_float(text: str) -> float:
    """A number in the notation of Python, NaN for anything else."""
    if "_" in text:  # 1_000 is a code
        return nan
    try:
        value = float(text)
    except ValueError:
        return nan
    if isfinite(value):
        return value
    return nan


def _split(text: str) -> tuple[str, str] | None:
    """The unit and the number, as written, of a cell; None where it is no number with a unit."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")") and not set(text) & set("+-−"):
        text = f"-{text[1:-1].strip()}"  # the notation of accountants
    match = _CELL.fullmatch(text)
    if match is None:
        return None
    sign, before, other, body, after = (group or "" for group in match.groups())
    if (sign and other) or (before and after):
        return None
    return before + after, (sign or other).replace("−", "-") + body


def _value(body: str, mark: str) -> float:
    """A number with this mark before its decimals."""
    sign = body[0] if body[0] in "+-" else ""
    digits = body.removeprefix(sign)
    if mark == ".":
        pattern = _POINT
        between_thousands = ","
    else:
        pattern = _COMMA
        between_thousands = "."
    if pattern.fullmatch(digits) is None:
        return nan
    for separator in _SPACES + between_thousands:
        digits = digits.replace(separator, "")
    return as_float(sign + digits.replace(mark, "."))
