"""Dates as numbers: their days, and where these vary their month and day of the week on a circle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.auto.encoders import Encoder, Numbers

_SECONDS = 86_400.0


@dataclass(frozen=True, eq=False)
class Dates(Encoder):
    """A date, by numbers that vary.

    Parameters
    ----------
    parts : tuple of Numbers, one for each of the chosen numbers
    chosen : tuple of int, which of the numbers of a date vary
    """

    parts: tuple[Numbers, ...]
    chosen: tuple[int, ...]

    @classmethod
    def of(cls, cells: Array) -> Dates:
        numbers = _of_dates(cells)
        varied = [j for j in range(numbers.shape[1]) if np.ptp(numbers[~np.isnan(numbers[:, 0]), j]) > 0]
        return cls(tuple(Numbers.of(numbers[:, j]) for j in varied), tuple(varied))

    def encode(self, cells: Array) -> tuple[Array, Array]:
        numbers = _of_dates(cells)
        pairs = [part.encode(numbers[:, j]) for part, j in zip(self.parts, self.chosen, strict=True)]
        # which cells are missing is told once
        kept = [slice(None) if i == 0 else slice(0, 1) for i in range(len(pairs))]
        plain, ranked = ([pair[i][:, k] for pair, k in zip(pairs, kept, strict=True)] for i in (0, 1))
        return np.hstack(plain), np.hstack(ranked)

    @property
    def owners(self) -> tuple[int, ...]:
        return tuple(range(len(self.parts) + self.parts[0].gaps))


def as_dates(cells: Array) -> Array:
    """Dates, or strings of them, in seconds; NaT for a missing cell and for a string that is none."""
    if cells.dtype.kind == "M":
        return cells.astype("datetime64[s]")
    return np.array([_parsed(cell) for cell in cells], dtype="datetime64[s]")


def _parsed(cell: Any) -> np.datetime64:
    try:
        return np.datetime64(str(cell).strip().replace(" ", "T")[:19], "s")
    except ValueError:
        return np.datetime64("NaT", "s")


def _of_dates(cells: Array) -> Array:
    """Days, and month and day of the week as points on a circle: shape (n, 5)."""
    dates = as_dates(cells)
    missing = np.isnat(dates)
    seconds = dates.astype("int64").astype(float)
    month = dates.astype("datetime64[M]").astype("int64") % 12 * (2.0 * np.pi / 12.0)
    week = dates.astype("datetime64[D]").astype("int64") % 7 * (2.0 * np.pi / 7.0)
    parts = np.column_stack([seconds / _SECONDS, np.sin(month), np.cos(month), np.sin(week), np.cos(week)])
    parts[missing] = np.nan
    return parts
