"""Rules of what a value may be, and the words in which a sentence refuses everything else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np

_MOST_THREADS = 1024  # a larger number is a slip: no machine of today has so many cores


class Rule(ABC):
    """What a value may be."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it must be, to follow "must be" in a sentence."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Whether the value is such a one."""

    def check(self, value: Any, what: str) -> Any:
        """The value.

        Parameters
        ----------
        value : as the user gave it
        what : how a sentence calls it, such as "RBF: gamma"

        Raises
        ------
        ValueError : where the rule does not accept the value
        """
        if not self.accepts(value):
            raise ValueError(f"{what} must be {self.words}, got {abbreviated(value)}")
        return value


@dataclass(frozen=True)
class Number(Rule):
    """A finite real number between two limits.

    Parameters
    ----------
    least, most : limits that belong to the range
    above, below : limits that do not
    why : what else the sentence says, after the range
    """

    least: float = -inf
    most: float = inf
    above: float = -inf
    below: float = inf
    why: str = ""

    @property
    def words(self) -> str:
        low = max(self.least, self.above)
        high = min(self.most, self.below)
        open_low = self.above == low
        if high < inf:
            left = "(" if open_low else "["
            right = ")" if self.below == high else "]"
            span = f"a number in {left}{low:g}, {high:g}{right}"
        elif low > -inf:
            sign = ">" if open_low else ">="
            span = f"a finite number {sign} {low:g}"
        else:
            span = "a finite number"
        return _with_reason(span, self.why)

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer of more than 308 digits
            return False
        return isfinite(number) and self.least <= number <= self.most and self.above < number < self.below


@dataclass(frozen=True)
class Whole(Rule):
    """An integer from ``least`` to ``most``, where there is such a limit."""

    least: int
    most: int | None = None

    @property
    def words(self) -> str:
        if self.most is None:
            return f"an integer >= {self.least}"
        return f"an integer in [{self.least}, {self.most}]"

    def accepts(self, value: Any) -> bool:
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        return whole and self.least <= value and (self.most is None or value <= self.most)


@dataclass(frozen=True)
class Vector(Rule):
    """One or more finite numbers >= ``least``, in an array, a list or a tuple."""

    least: float = 0.0

    @property
    def words(self) -> str:
        return f"a vector of finite numbers >= {self.least:g}"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, list | tuple):
            if all(np.ndim(number) == 0 for number in value):
                value = np.array(value)
            else:
                value = None
        if not isinstance(value, np.ndarray) or value.ndim != 1:
            return False
        real = value.dtype.kind in "fiu" and len(value) > 0
        return real and bool((np.isfinite(value) & (value >= self.least)).all())


@dataclass(frozen=True)
class Choice(Rule):
    """One of several names or numbers."""

    values: tuple[Any, ...]
    why: str = ""

    @property
    def words(self) -> str:
        return _with_reason(listed([repr(value) for value in self.values]), self.why)

    def accepts(self, value: Any) -> bool:
        kind = str if isinstance(value, str) else Real
        return isinstance(value, kind) and not isinstance(value, bool) and value in self.values


@dataclass(frozen=True)
class Instance(Rule):
    """An instance of a class.

    Parameters
    ----------
    kind : type
    name : what such an instance is called, with an example
    """

    kind: type
    name: str

    @property
    def words(self) -> str:
        return self.name

    def accepts(self, value: Any) -> bool:
        return isinstance(value, self.kind)


@dataclass(frozen=True)
class Flag(Rule):
    """True or False, also those of NumPy."""

    words = "True or False"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)


@dataclass(frozen=True)
class Nothing(Rule):
    """None."""

    words = "None"

    def accepts(self, value: Any) -> bool:
        return value is None


@dataclass(frozen=True)
class Jobs(Rule):
    """How many threads, as joblib counts them: -1 is all cores, -2 all but one."""

    words = f"an integer in [{-_MOST_THREADS}, {_MOST_THREADS}] other than 0"

    def accepts(self, value: Any) -> bool:
        return Whole(-_MOST_THREADS, _MOST_THREADS).accepts(value) and value != 0


@dataclass(frozen=True)
class Generator(Rule):
    """A source of random numbers as NumPy and scikit-learn know it."""

    words = "a RandomState"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, np.random.RandomState)


@dataclass(frozen=True)
class Folder(Rule):
    """What a directory is named by."""

    words = "the name of a directory"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str | PathLike) and bool(str(value))


@dataclass(frozen=True)
class AnyOf(Rule):
    """What one of several rules accepts."""

    rules: tuple[Rule, ...]

    @property
    def words(self) -> str:
        return listed([rule.words for rule in self.rules])

    def accepts(self, value: Any) -> bool:
        return any(rule.accepts(value) for rule in self.rules)


def listed(words: Sequence[str]) -> str:
    """The words as a sentence lists alternatives: a, b or c."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def repeated(names: Iterable[str]) -> str | None:
    """The first of several names that stands there twice; None where there is none."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _with_reason(words: str, why: str) -> str:
    if why:
        return f"{words} ({why})"
    return words


def shortened(names: Sequence[str], most: int = 5) -> str:
    """The first of several names, and how many more there are."""
    words = ", ".join(names[:most])
    rest = len(names) - most
    if rest > 0:
        return f"{words} and {rest} more"
    return words


def abbreviated(value: Any, most: int = 60) -> str:
    """The value that a user gave, or an error, as text in one line for a message; cut after so many characters."""
    text = repr(value) if isinstance(value, str) else str(value)
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    return f"{text[:most]}..."
