"""Kernels for a table of columns of several types, each by its own kind of kernel.

number     also a truth value, a duration:       Gaussians of the standardised column
ordinal    a declared order of categories:       Gaussians of the standardised ranks
date       days since 1970:                      Gaussians of the days, and of the place in year, week and day
category   strings of which few are different:   whether two samples have the same one
text       strings, most of them different:      n-grams of words, where there are several, and of characters
empty      no two values are different:          left out

Beside the kernels of single columns there are ladders of Gaussians: on all numbers together, and on all columns but
texts together, categories as zeros and ones. Widths are multiples of the median distance. Missing cells are a category
of their own, and the mean with an indicator among numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from multikernel._parameters import FLAG
from multikernel.kernels.base import Kernel
from multikernel.kernels.categories import OneHot
from multikernel.kernels.discrete import Hamming
from multikernel.kernels.distance import RBF
from multikernel.kernels.dot import Linear
from multikernel.kernels.encoding import Encoded, Encoding, Together
from multikernel.kernels.families import rbf_grid
from multikernel.kernels.family import KernelFamily, Kernels
from multikernel.kernels.frames import FrameColumn, frame_columns, is_frame
from multikernel.kernels.standardize import DateParts, Ranks, Standardize
from multikernel.kernels.text import NGrams
from multikernel.kernels.widths import Width

ColumnType = Literal["number", "ordinal", "date", "category", "text", "empty"]
_FEW_LEVELS, _LEVELS_SHARE = 20, 0.05  # strings are categories where no more than these are different, or this share
_MANY = 0.5  # share of different strings above which they are texts
_WORDS = 1.5  # words a string, on average, from which strings are texts of words
_SINGLE = 100  # columns up to which each has a kernel of its own
_YEAR, _WEEK = 300.0, 14.0  # days that dates have to span for a cycle to be told from the passing of time


def column_types(X: Any) -> dict[str, ColumnType]:
    """What ``for_columns`` takes each column of a table for.

    Parameters
    ----------
    X : data frame, array or sequence of strings

    Returns
    -------
    dict from the name of a column, or its position as a string, to "number", "ordinal", "date", "category", "text" or
    "empty" (no two values are different)

    Examples
    --------
    >>> import pandas as pd
    >>> from multikernel import kernels
    >>> frame = pd.DataFrame({"age": [31.0, None, 45.0], "sex": ["f", "m", "f"], "smoker": [True, False, False]})
    >>> kernels.column_types(frame)
    {'age': 'number', 'sex': 'category', 'smoker': 'number'}
    """
    return {str(typed.key): typed.type for typed in _typed(X)}


def for_columns(X: Any, single: bool | None = None) -> KernelFamily:
    """Kernels for a mixed table, by the types of its columns.

    Parameters
    ----------
    X : data frame of pandas, polars or another library, array, CSR matrix or sequence of strings; kernels are chosen by
        it, and learn their widths, means, categories and words from what they are fitted on
    single : bool, whether every column has kernels of its own; by default up to 100 columns, texts always

    Returns
    -------
    KernelFamily, its kernels named after their columns

    Raises
    ------
    ValueError : where no column has two different values, or a column holds neither numbers nor strings nor dates

    Examples
    --------
    >>> import pandas as pd
    >>> from multikernel import EasyMKLClassifier, kernels
    >>> frame = pd.DataFrame({"age": [31.0, None, 45.0, 22.0], "sex": ["f", "m", "f", None], "ill": [1, 0, 1, 0]})
    >>> family = kernels.for_columns(frame[["age", "sex"]])
    >>> family.names[-2:]
    ('age', 'sex')
    >>> EasyMKLClassifier(family).fit(frame[["age", "sex"]], frame["ill"]).predict(frame[["age", "sex"]])
    array([1, 0, 1, 0])
    """
    if single is not None:
        FLAG.check(single, "for_columns: single")
    if hasattr(X, "tocsr"):
        return Kernels(tuple(kernel.standardized() for kernel in rbf_grid())) + Kernels((Linear().normalized(),))
    found = [typed for typed in _typed(X) if typed.type != "empty"]
    if not found:
        raise ValueError("for_columns: no column of X has two different values, so that no kernel tells samples apart")
    each = len(found) <= _SINGLE if single is None else single
    named = [*_ladders(found), *_categories(found)]
    named += [pair for typed in found if each or typed.type == "text" for pair in _kernels(typed)]
    return Kernels(tuple(kernel for _, kernel in named), tuple(name for name, _ in named))


@dataclass(frozen=True)
class _Typed:
    """A column, its key (name or position) and its type."""

    key: str | int
    type: ColumnType
    column: FrameColumn

    @property
    def name(self) -> str:
        return self.key if isinstance(self.key, str) else f"column {self.key}"

    @property
    def cycles(self) -> tuple[Literal["year", "week", "day"], ...]:
        """The cycles that the dates of the column go through."""
        days = self.column.values[~np.isnan(self.column.values)]
        span = float(np.ptp(days))
        year: tuple[Literal["year"], ...] = ("year",) if span > _YEAR else ()
        week: tuple[Literal["week"], ...] = ("week",) if span > _WEEK else ()
        day: tuple[Literal["day"], ...] = ("day",) if (days != np.floor(days)).any() else ()
        return (*year, *week, *day)

    @property
    def encodings(self) -> list[Encoding]:
        """How the column becomes numbers beside other columns."""
        match self.type:
            case "ordinal":
                return [Ranks(self.column.categories or ())]
            case "date":
                return [DateParts("days"), *map(DateParts, self.cycles)]
            case "category":
                return [OneHot()]
        return [Standardize()]


def _typed(X: Any) -> Iterator[_Typed]:
    if is_frame(X):
        named = all(isinstance(name, str) for name in X.columns)  # scikit-learn knows columns by other names by place
        for j, (name, column) in enumerate(zip(X.columns, frame_columns(X), strict=True)):
            yield _Typed(name if named else j, _type(column), column)
        return
    values = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)
    for j, cells in enumerate(values.reshape(len(values), -1).T):
        column = FrameColumn.of_objects(str(j), cells.astype(object))
        yield _Typed(j, _type(column), column)


def _type(column: FrameColumn) -> ColumnType:
    values = column.values
    if column.kind != "strings":
        present = values[~np.isnan(values)]
        if not len(present) or (present == present[0]).all():
            return "empty"
        return "date" if column.kind == "dates" else "number"
    texts = [text for text in values if text is not None]
    different = len(set(texts)) + (len(texts) < len(values))
    if different < 2:
        return "empty"
    if column.categories is not None:
        return "ordinal" if column.ordered else "category"
    if different <= max(_FEW_LEVELS, _LEVELS_SHARE * len(texts)) and different <= len(texts) / 2 + 2:
        return "category"
    return "text" if different > _MANY * len(texts) or _words(texts) > _WORDS else "category"


def _words(texts: list[str]) -> float:
    """On average."""
    return sum(len(text.split()) for text in texts) / len(texts)


def _ladders(found: list[_Typed]) -> Iterator[tuple[str, Kernel]]:
    """Gaussians on all numbers, and on all columns but texts where there are others."""
    numbers = [t for t in found if t.type in ("number", "ordinal", "date")]
    others = [t for t in found if t.type == "category"]
    for name, columns in (("numbers", numbers), ("all columns", numbers + others)):
        if len(columns) > 1 and (columns is numbers or (numbers and others)):
            together = _together(columns)
            for kernel in rbf_grid():
                yield f"{name}: {_label(kernel)}", Encoded(kernel, together)


def _together(columns: list[_Typed]) -> Together:
    """The encodings of all columns; those of the plain numbers in one."""
    plain = tuple(t.key for t in columns if t.type == "number")
    parts: list[tuple[Encoding, tuple[str | int, ...]]] = [(Standardize(), plain)] if plain else []
    parts += [(encoding, (t.key,)) for t in columns if t.type != "number" for encoding in t.encodings]
    return Together(tuple(parts))


def _categories(found: list[_Typed]) -> Iterator[tuple[str, Kernel]]:
    columns = [t.key for t in found if t.type == "category"]
    if len(columns) > 1:
        yield "all categories", Hamming().on(columns)


def _kernels(typed: _Typed) -> Iterator[tuple[str, Kernel]]:
    """The kernels of a single column."""
    match typed.type:
        case "category":
            yield typed.name, Hamming().on(typed.key)
        case "text":
            if _words([text for text in typed.column.values if text is not None]) > _WORDS:
                yield f"{typed.name}: words", NGrams("word", (1, 2)).on(typed.key)
            yield f"{typed.name}: characters", NGrams("character", (2, 4)).on(typed.key)
        case "date":
            for encoding in typed.encodings:
                part = encoding.part if isinstance(encoding, DateParts) else ""
                yield f"{typed.name}: {part}", Encoded(RBF("median"), encoding).on(typed.key)
        case _:
            yield typed.name, Encoded(RBF("median"), *typed.encodings).on(typed.key)


def _label(kernel: Kernel) -> str:
    """How a rung of a ladder is named."""
    width = Width.of(getattr(kernel, "gamma", None))
    return f"gamma x {width.times:g}" if width is not None else repr(kernel)
