"""Rules for the values of parameters, and the messages that refuse other values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np

_MOST_THREADS = 1024  # a larger number is a mistake: no machine of today has so many cores


class Rule(ABC):
    """A condition on a value."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The words after "must be" in a message."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Whether the value fulfils the rule."""

    def check(self, value: Any, name: str) -> Any:
        """The value, if the rule accepts it.

        Parameters
        ----------
        value : as the user gave it
        name : the name of the value in a message, such as "RBF: gamma"

        Raises
        ------
        ValueError : where the rule does not accept the value
        """
        if not self.accepts(value):
            raise ValueError(f"{name} must be {self.words}, got {abbreviated(value)}")
        return value


@dataclass(frozen=True)
class Number(Rule):
    """A finite real number between two limits.

    Parameters
    ----------
    least, most : limits that belong to the range
    above, below : limits that do not belong to it
    why : the reason, which the message adds after the range
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
            opening = "(" if open_low else "["
            closing = ")" if self.below == high else "]"
            span = f"a number in {opening}{low:g}, {high:g}{closing}"
        elif low > -inf:
            sign = ">" if open_low else ">="
            span = f"a finite number {sign} {low:g}"
        else:
            span = "a finite number"
        return _with_reason(span, self.why)

    def accepts(self, value: Any) -> bool:
        # compiled code and arrays compute with these types, and not with fractions or long doubles
        if not isinstance(value, int | float | np.integer | np.float32 | np.float16) or isinstance(value, bool):
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
        is_integer = isinstance(value, Integral) and not isinstance(value, bool)
        return is_integer and self.least <= value and (self.most is None or value <= self.most)


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
    name : the words for such an instance, with an example
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
    """A random generator of NumPy that scikit-learn accepts."""

    words = "a RandomState"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, np.random.RandomState)


@dataclass(frozen=True)
class Folder(Rule):
    """The name of a directory, a string or a path."""

    words = "the name of a directory"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str | PathLike) and bool(str(value))


@dataclass(frozen=True)
class AnyOf(Rule):
    """A value that at least one of several rules accepts."""

    rules: tuple[Rule, ...]

    @property
    def words(self) -> str:
        return listed([rule.words for rule in self.rules])

    def accepts(self, value: Any) -> bool:
        return any(rule.accepts(value) for rule in self.rules)


def listed(words: Sequence[str]) -> str:
    """The words as a list of alternatives: a, b or c."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs twice; None where there is none."""
    earlier_names: set[str] = set()
    for name in names:
        if name in earlier_names:
            return name
        earlier_names.add(name)
    return None


def _with_reason(words: str, why: str) -> str:
    if why:
        return f"{words} ({why})"
    return words


def shortened(names: Sequence[str], most: int = 5) -> str:
    """The first names, and the number of the others."""
    words = ", ".join(names[:most])
    remaining = len(names) - most
    if remaining > 0:
        return f"{words} and {remaining} more"
    return words


def abbreviated(value: Any, most: int = 60) -> str:
    """A user's value, or an error, as one line of text for a message; cut after ``most`` characters."""
    text = repr(value) if isinstance(value, str) else str(value)
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    return f"{text[:most]}..."
