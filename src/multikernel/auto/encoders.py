"""Columns as numbers, by what was learned of them on the training samples.

Numbers get mean 0 and spread 1, twice: as they are, and by normal scores of their ranks, which no outlier and no heavy
tail moves. A missing number is the median, and a further column says that it was missing. A category is a column of
zeros and ones for each level, so that two different categories are as far apart as two numbers on average; one that
training did not meet is all zeros. A date is its days, and where these vary its month and day of the week on a circle.
Text is words and pairs of words, weighed by how rare they are, and normalised.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from multikernel._typing import Array
from multikernel.auto.columns import as_numbers

_KNOTS = 257  # quantiles by which ranks are told
_MOST_WORDS = 50_000
_SECONDS = 86_400.0


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


@dataclass(frozen=True, eq=False)
class Text:
    """Words and pairs of words, as rows of norm 1.

    Parameters
    ----------
    words : array of str, the vocabulary
    rarity : array, the weight of each word
    """

    words: Array
    rarity: Array

    @classmethod
    def of(cls, cells: Array) -> Text:
        from sklearn.feature_extraction.text import TfidfVectorizer

        least = 2 if len(cells) > 100 else 1
        options: dict[str, Any] = {"ngram_range": (1, 2), "max_features": _MOST_WORDS}
        try:
            found = TfidfVectorizer(min_df=least, **options).fit(_texts(cells))
        except ValueError:  # no word occurs twice
            found = TfidfVectorizer(token_pattern=r"(?u)\S+", **options).fit(_texts(cells))
        return cls(np.array(found.get_feature_names_out(), dtype=object), np.asarray(found.idf_))

    def encode(self, cells: Array) -> Any:
        """A CSR matrix with a row for each cell; zeros where none of its words is known."""
        from sklearn.feature_extraction.text import CountVectorizer

        counts = CountVectorizer(vocabulary=list(self.words), ngram_range=(1, 2)).transform(_texts(cells)).tocsr()
        weights = sparse.csr_matrix(counts, dtype=float)
        weights.data = 1.0 + np.log(weights.data)
        return unit_rows(weights @ sparse.diags(self.rarity))


def _texts(cells: Array) -> list[str]:
    return ["" if cell is None else str(cell) for cell in cells]


def unit_rows(matrix: Any) -> Any:
    """Rows of norm 1; rows of zeros stay what they are."""
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1.0 / np.where(norms > 0, norms, 1.0)) @ matrix)


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
