"""Names, types and completeness of the columns of a data set, for kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._rules import shortened
from multikernel._typing import Columns
from multikernel.tables.cells import column_names, is_frame
from multikernel.tables.table import as_samples


@dataclass(frozen=True)
class Features:
    """The columns of a data set.

    Parameters
    ----------
    n : int, the number of columns
    names : their names, where these are known
    strings : the positions of columns of strings
    times : the positions of columns of dates or durations
    missing : the positions of columns with missing cells
    """

    n: int
    names: tuple[str, ...] | None = None
    strings: tuple[int, ...] = ()
    times: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()

    @classmethod
    def of(cls, X: Any) -> Features:
        """The columns of an array, a sparse matrix, a data frame or a table with strings."""
        if is_frame(X):
            return cls.of(as_samples(X)).named_as_in(X)
        positions = (tuple(int(j) for j in getattr(X, attribute, ())) for attribute in ("strings", "times", "missing"))
        return cls(int(X.shape[1]), None, *positions)

    def named_as_in(self, X: Any) -> Features:
        """The same columns with the names that they have in X, if X is a data frame."""
        if not is_frame(X):
            return self
        return replace(self, names=column_names(X))

    def take(self, index: tuple[int, ...]) -> Features:
        """Some of the columns, by position."""
        names = tuple(self.names[i] for i in index) if self.names else None
        kinds = (
            tuple(j for j, i in enumerate(index) if i in positions)
            for positions in (self.strings, self.times, self.missing)
        )
        return Features(len(index), names, *kinds)

    def name(self, j: int) -> str:
        """A column as messages call it."""
        if self.names:
            return f"column {self.names[j]!r}"
        return f"column {j}"

    @property
    def in_parentheses(self) -> str:
        """The names of the first columns in parentheses, for messages; an empty string where they are not known."""
        if self.names is None:
            return ""
        return f" ({shortened(self.names, 10)})"

    def check_strings(self, user: object) -> None:
        """ValueError where a column holds strings; ``user`` is the kernel or encoding that takes numbers."""
        if self.strings:
            raise ValueError(
                f"{user!r} takes numbers, but {self.name(self.strings[0])} of X holds strings: use a kernel of "
                "categories or of text such as Hamming() or NGrams(), restrict this one to columns of numbers by "
                ".on(columns), or let kernels.for_columns(X) choose"
            )

    def check_numbers(self, user: object) -> None:
        """ValueError where a column holds anything but finite numbers; ``user`` is the kernel that needs them."""
        self.check_strings(user)
        if self.times:
            raise ValueError(
                f"{user!r} takes numbers, but {self.name(self.times[0])} of X holds dates or durations: give them as "
                "numbers, such as the days since the first one, or let kernels.for_columns(X) choose"
            )
        self.check_complete(user, "make the kernel .standardized(), which takes them, ")

    def check_complete(self, user: object, instead: str = "") -> None:
        """ValueError where a cell is missing; ``user`` is the kernel that accepts none."""
        if self.missing:
            raise ValueError(
                f"{user!r} takes no missing cells, and {self.name(self.missing[0])} of X has some: fill them in, "
                f"{instead}or let kernels.for_columns(X) choose"
            )

    def index(self, columns: Columns) -> tuple[int, ...]:
        """Positions of columns that are given by index or by name; a ValueError names an unknown column."""
        position_of_name = {name: i for i, name in enumerate(self.names or ())}
        return tuple(self._position(c, position_of_name) for c in columns)

    def different(self, columns: Columns, user: object) -> tuple[int, ...]:
        """As ``index``; a ValueError names a column that is given twice, and ``user``, which takes each column once."""
        index = self.index(columns)
        if len(set(index)) < len(index):
            duplicate = next(j for k, j in enumerate(index) if j in index[:k])
            raise ValueError(f"{user!r} has {self.name(duplicate)} twice: give each column once")
        return index

    def _position(self, column: int | str, position_of_name: dict[str, int]) -> int:
        if isinstance(column, str):
            if column not in position_of_name:
                available = "no names: pass a data frame, or give columns by index"
                if position_of_name:
                    available = shortened(list(position_of_name), 10)
                raise ValueError(f"unknown column {column!r}; the data have {available}")
            return position_of_name[column]
        if isinstance(column, bool | np.bool_) or column != int(column):
            raise ValueError(f"a column is given by its position, a whole number, or by its name, got {column!r}")
        if not -self.n <= column < self.n:
            raise ValueError(f"column {column} is out of range: the data have {self.n} columns")
        return int(column) % self.n
