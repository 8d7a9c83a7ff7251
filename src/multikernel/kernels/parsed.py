"""The encoding of strings that denote numbers or dates (tables/numerals.py, tables/dates.py)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from multikernel._warnings import PredictionWarning, warn_user
from multikernel.kernels.encoding import Encoding
from multikernel.kernels.features import Features
from multikernel.kernels.standardize import Numbers, Standardize
from multikernel.tables.dates import Order, check_readable, parsed, unreadable_note
from multikernel.tables.numerals import PLAIN, Numerals
from multikernel.tables.table import Table


@dataclass(repr=False)
class Parsed(Encoding):
    """A column of strings, encoded as the numbers or dates that they denote.

    Parameters
    ----------
    numbers : Encoding, of the numbers, or of the days since 1970
    order : "" for numbers; "ymd", "dmy" or "mdy" for dates in this order
    known : tuple of str, strings of the training sample that denote none
    numerals : Numerals, how the numbers are written
    name : str, how a sentence calls the column
    """

    numbers: Numbers = field(default_factory=Standardize)
    order: Order = ""
    known: tuple[str, ...] = ()
    numerals: Numerals = PLAIN
    name: str = "a column"

    def resolve(self, features: Features) -> Parsed:
        if features.n != 1:
            raise ValueError(f"Parsed takes one column of strings, got {features.n} columns")
        return replace(self, name=features.name(0))

    def learned(self, X: Any) -> Parsed:
        numbers = self.numbers.learned(self._values(X))
        return self if numbers is self.numbers else replace(self, numbers=numbers)

    def __call__(self, X: Any) -> Any:
        values = self._values(X)
        if _has_strings(X):
            new = check_readable(self.name, X.texts[:, 0], values[:, 0], self.known, self.order)
            if new:
                warn_user(unreadable_note(self.name, new, self.order), PredictionWarning)
        return self.numbers(values)

    @property
    def sources(self) -> tuple[int, ...]:
        return self.numbers.sources

    def _values(self, X: Any) -> Any:
        """The numbers or days of a column, shape (n, 1)."""
        if not _has_strings(X):
            return X
        return parsed(X.texts[:, 0], self.order, self.numerals)[:, None]


def _has_strings(X: Any) -> bool:
    return isinstance(X, Table) and len(X.strings) > 0
