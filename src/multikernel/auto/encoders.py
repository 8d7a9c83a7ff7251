"""Columns as numbers, by what was learned of them on the training samples.

Numbers get mean 0 and spread 1, twice: as they are, and by normal scores of their ranks, which no outlier and no heavy
tail moves. A missing number is the median, and a further column says that it was missing. A category is a column of
zeros and ones for each level, so that two different categories are as far apart as two numbers on average; one that
training did not meet is all zeros.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from multikernel._typing import Array
from multikernel.auto.columns import as_numbers

_KNOTS = 257  # quantiles by which ranks are told


class Encoder(ABC):
    """How one column becomes numbers."""

    @abstractmethod
    def encode(self, cells: Array) -> tuple[Array, Array]:
        """The columns as they are, and by ranks: two arrays (n, q)."""

    @property
    @abstractmethod
    def owners(self) -> tuple[int, ...]:
        """For each of the q columns the group it belongs to, from 0: columns of a group share a scale."""


@dataclass(frozen=True, eq=False)
class Numbers(Encoder):
    """A number.

    Parameters
    ----------
    median, mean, spread : float, of the training sample
    knots, scores : arrays, quantiles in increasing order, and the normal scores of their ranks with spread 1
    gaps : bool, whether some training samples miss it
    """

    median: float
    mean: float
    spread: float
    knots: Array
    scores: Array
    gaps: bool

    @classmethod
    def of(cls, cells: Array) -> Numbers:
        missing = np.isnan(cells)
        median = float(np.median(cells[~missing]))
        filled = np.where(missing, median, cells)
        unit = float(np.abs(filled).max()) or 1.0  # squares of very large and very small numbers are none
        mean, spread = float(filled.mean()), float((filled / unit).std()) * unit
        knots, scores = _scores(filled)
        return cls(median, mean, spread if spread > 0 else 1.0, knots, scores, bool(missing.any()))

    def encode(self, cells: Array) -> tuple[Array, Array]:
        missing = np.isnan(cells)
        filled = np.where(missing, self.median, cells)
        plain, ranked = (filled - self.mean) / self.spread, np.interp(filled, self.knots, self.scores)
        if not self.gaps:
            return plain[:, None], ranked[:, None]
        return np.column_stack([plain, missing]), np.column_stack([ranked, missing])

    @property
    def owners(self) -> tuple[int, ...]:
        return (0, 1) if self.gaps else (0,)


def _scores(x: Array) -> tuple[Array, Array]:
    """Quantiles, and the normal scores of the middle of the ranks that have them."""
    order, n = np.sort(x), len(x)
    values = np.unique(x)
    if len(values) > _KNOTS:
        values = np.unique(np.quantile(x, np.linspace(0.0, 1.0, _KNOTS)))
    ranks = 0.5 * (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")) / n
    scores = ndtri(np.clip(ranks, 0.5 / n, 1.0 - 0.5 / n))
    on_samples = np.interp(x, values, scores)
    spread = float(on_samples.std())
    return values, (scores - on_samples.mean()) / (spread if spread > 0 else 1.0)


@dataclass(frozen=True, eq=False)
class Categories(Encoder):
    """A category.

    Parameters
    ----------
    levels : array of str, sorted; a missing cell is a level of its own where training has one
    gaps : bool, whether it has
    """

    levels: Array
    gaps: bool

    @classmethod
    def of(cls, cells: Array) -> Categories:
        known = sorted({cell for cell in cells if cell is not None})
        return cls(np.array(known, dtype=object), any(cell is None for cell in cells))

    def encode(self, cells: Array) -> tuple[Array, Array]:
        place = {level: i for i, level in enumerate(self.levels)}
        q = len(self.levels) + self.gaps
        if self.gaps:
            place[None] = q - 1
        index = np.array([place.get(cell, q) for cell in cells], dtype=int)
        columns = np.eye(q + 1)[index][:, :q]
        return columns, columns

    def unknown(self, cells: Array) -> set[str]:
        """Levels that training did not meet."""
        return {cell for cell in cells if cell is not None} - set(self.levels)

    @property
    def owners(self) -> tuple[int, ...]:
        return (0,) * (len(self.levels) + self.gaps)


def number_cells(cells: Array) -> Array:
    """Cells of a column of numbers, which may be strings; a string that is none counts as missing."""
    if cells.dtype.kind == "f":
        return cells
    numbers = as_numbers(cells)
    return np.array([_number(cell) for cell in cells]) if numbers is None else numbers


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return float("nan")
