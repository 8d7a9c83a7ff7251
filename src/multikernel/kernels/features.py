"""The columns of a data set, as far as kernels have to know them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from multikernel._typing import Columns


@dataclass(frozen=True)
class Features:
    """The columns of a data set.

    Parameters
    ----------
    n : int, how many there are
    names : their names, where these are known
    strings : the positions of those that hold strings
    """

    n: int
    names: tuple[str, ...] | None = None
    strings: tuple[int, ...] = ()

    @classmethod
    def of(cls, X: Any) -> Features:
        """Those of an array, a sparse matrix, a data frame or a table with strings."""
        if hasattr(X, "columns"):
            return cls(int(X.shape[1]), tuple(str(c) for c in X.columns))
        return cls(int(X.shape[1]), None, tuple(int(j) for j in getattr(X, "strings", ())))

    def take(self, index: tuple[int, ...]) -> Features:
        """Some of the columns, by position."""
        names = tuple(self.names[i] for i in index) if self.names else None
        return Features(len(index), names, tuple(j for j, i in enumerate(index) if i in self.strings))

    def check_numbers(self, user: object) -> None:
        """ValueError where a column holds strings; ``user`` is the kernel or family that takes numbers."""
        if self.strings:
            which = f"column {self.names[self.strings[0]]!r}" if self.names else f"column {self.strings[0]}"
            raise ValueError(
                f"{user!r} takes numbers, but {which} of X holds strings: use a kernel of strings such as "
                "Spectrum(3), or restrict this one to columns of numbers by .on(columns)"
            )

    def index(self, columns: Columns) -> tuple[int, ...]:
        """Positions of columns that are given by index or by name; a ValueError names the one that is unknown."""
        known = {name: i for i, name in enumerate(self.names or ())}
        return tuple(self._position(c, known) for c in columns)

    def _position(self, column: int | str, known: dict[str, int]) -> int:
        if isinstance(column, str):
            if column not in known:
                have = ", ".join(known) if known else "no names: pass a data frame, or give columns by index"
                raise ValueError(f"unknown column {column!r}; the data have {have}")
            return known[column]
        if not -self.n <= column < self.n:
            raise ValueError(f"column {column} is out of range: the data have {self.n} columns")
        return int(column) % self.n
