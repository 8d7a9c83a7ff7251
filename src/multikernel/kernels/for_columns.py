"""Kernels for a table of columns of several types (tables/columns.py), each by its own kind of kernel.

number, ordinal    Gaussians of the standardised column
date               Gaussians of the days, and of the place in year, week and day
category           whether two samples have the same one
text               n-grams of words, where there are several, and of characters
identifier, empty  left out

Beside the kernels of single columns there are ladders of Gaussians: on all numbers together, and on all columns but
texts together, categories as zeros and ones. Widths are multiples of the median distance. Missing cells are a category
of their own, and the mean with an indicator among numbers.

More than a hundred columns have no kernel each, and no ladder. Distances between samples of many columns are almost
equal, so that a Gaussian whose width is a part of them is almost the identity: it separates any training sample with a
wide margin and says nothing of new ones, and learned weights prefer it. In the place of the ladder there are a linear
kernel of rows of norm 1, Gaussians of the median width and twice that, and one of the ranks. All kernels have
self-values 1, so that sources of different size and in different units are comparable.

``for_each_column`` has the same kernels on each column, which becomes numbers in the same way. It leaves texts out:
their words are many columns, and a kernel on each text is what ``for_columns`` has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from multikernel._arrays import is_sparse
from multikernel._parameters import FLAG
from multikernel._rules import Choice
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.kernels.base import Kernel
from multikernel.kernels.categories import OneHot
from multikernel.kernels.discrete import Hamming
from multikernel.kernels.distance import RBF
from multikernel.kernels.dot import Linear
from multikernel.kernels.encoding import Encoded, Encoding, Together
from multikernel.kernels.encodings import DateParts, NormalScores, Parsed, Ranks, Standardize
from multikernel.kernels.families import rbf_grid, rls2_kernels
from multikernel.kernels.family import KernelFamily, Kernels
from multikernel.kernels.text import Grams, NGrams
from multikernel.kernels.widths import Width
from multikernel.tables.columns import TYPES, Column, ColumnType, Declared, typed

_STANDARD = Standardize()  # how numbers are encoded by default
SINGLE = 100  # columns up to which each has a kernel or a scale of its own, and all together a ladder of widths
_BASIS = Choice(("rls2", "linear"))
_WIDE = (0.25, 1.0)  # of the widths in the ladder, those for more columns


def column_types(X: Any) -> dict[str, ColumnType]:
    """What ``for_columns`` takes each column of a table for.

    Parameters
    ----------
    X : data frame, array or sequence of strings

    Returns
    -------
    dict from the name of a column, or its position as a string, to "number", "ordinal", "date", "category", "text",
    "identifier" (it names its row) or "empty" (no two values are different)

    Examples
    --------
    >>> import pandas as pd
    >>> from multikernel import kernels
    >>> frame = pd.DataFrame({"age": [31.0, None, 45.0], "sex": ["f", "m", "f"], "smoker": [True, False, False]})
    >>> kernels.column_types(frame)
    {'age': 'number', 'sex': 'category', 'smoker': 'number'}
    """
    return {str(column.key): column.type for column, _ in typed(X)}


def for_columns(X: Any, single: bool | None = None, types: Mapping[str, Declared] | None = None) -> KernelFamily:
    """Kernels for a mixed table, by the types of its columns.

    Parameters
    ----------
    X : data frame of pandas, polars or another library, array, CSR matrix or sequence of strings; kernels are chosen by
        it, and learn their widths, means, categories and words from what they are fitted on
    single : bool, whether every column has kernels of its own; by default up to 100 columns, texts always. Beyond 100
        columns the ladder of Gaussians on all of them is a linear kernel, two Gaussians and one of the ranks
    types : dict from names of columns to "number", "date", "category" or "text", for those whose type is not to be
        inferred from their cells; a cell that cannot be read so counts as missing

    Returns
    -------
    KernelFamily, its kernels named after their columns

    Raises
    ------
    ValueError : where no column has two different values, or a column holds neither numbers nor strings nor dates, or
        not what it is declared to be

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
    if types is not None:
        TYPES.check(types, "for_columns: types")
    if is_sparse(X):
        gaussians = rbf_grid() if X.shape[1] <= SINGLE else _gaussians()
        return Kernels(tuple(kernel.standardized() for kernel in gaussians)) + Kernels((Linear().normalized(),))
    every = [column for column, _ in typed(X, types)]
    for column in every:
        if column.note:
            warn_user(column.note, PredictionWarning)
    found = [column for column in every if column.used]
    if not found:
        raise ValueError(
            "for_columns: no column of X has two different values without naming its row, so that no kernel "
            "distinguishes samples"
        )
    each = len(found) <= SINGLE if single is None else single
    named = [*_ladders(found), *_categories(found)]
    named += [pair for column in found if each or column.type == "text" for pair in _kernels(column)]
    return Kernels(tuple(kernel for _, kernel in named), tuple(name for name, _ in named))


def for_each_column(
    X: Any, basis: Literal["rls2", "linear"] = "rls2", types: Mapping[str, Declared] | None = None
) -> KernelFamily:
    """The same kernels on every single column of a mixed table.

    Parameters
    ----------
    X : data frame, array or sequence of strings; kernels learn means, deviations and categories from what they are
        fitted on
    basis : "rls2", the 13 kernels (1 + x'z)^n for n = 1, 2, 3 and exp(-gamma |x - z|^2) for ten gammas from 1e-3 to
        1e3 of Dinuzzo (RLS2, section 5.2), on each column and on all together, 13 (p + 1) for p columns; or "linear",
        x'z on each column: with ``RLS2Regressor`` a sparse linear model
    types : dict from names of columns to "number", "date" or "category", where their cells do not show it

    Returns
    -------
    KernelFamily, its kernels named after their columns

    Raises
    ------
    ValueError : where no column distinguishes samples, or all that do are texts

    Examples
    --------
    >>> import pandas as pd
    >>> from multikernel import kernels
    >>> frame = pd.DataFrame({"age": [31.0, None, 45.0, 22.0], "sex": ["f", "m", "f", None]})
    >>> len(kernels.for_each_column(frame))
    39
    >>> kernels.for_each_column(frame, "linear").names
    ('age', 'sex')
    """
    _BASIS.check(basis, "for_each_column: basis")
    if types is not None:
        TYPES.check(types, "for_each_column: types")
    columns = [column for column, _ in typed(X, types) if column.used and column.type != "text"]
    if not columns:
        raise ValueError(
            "for_each_column: X has no column of numbers, categories or dates with two different values; use "
            "kernels.for_columns for texts"
        )
    if basis == "linear":
        linear = [(column.name, Encoded(Linear(), beside_each_other([column]))) for column in columns]
        return Kernels(tuple(kernel for _, kernel in linear), tuple(name for name, _ in linear))
    pairs: list[tuple[str, Kernel]] = []
    for name, own in [*((column.name, [column]) for column in columns), ("all columns", columns)]:
        encoding = beside_each_other(own)
        pairs += [(f"{name}: {kernel!r}", Encoded(kernel, encoding)) for kernel in rls2_kernels()]
    return Kernels(tuple(kernel for _, kernel in pairs), tuple(name for name, _ in pairs))


def _ladders(found: Sequence[Column]) -> Iterator[tuple[str, Kernel]]:
    """Kernels on all numbers, and on all columns but texts where there are others."""
    numbers = [column for column in found if column.type in ("number", "ordinal", "date")]
    others = [column for column in found if column.type == "category"]
    for name, columns in (("numbers", numbers), ("all columns", numbers + others)):
        if len(columns) > 1 and (columns is numbers or (numbers and others)):
            together = beside_each_other(columns)
            if len(columns) <= SINGLE:
                yield from ((f"{name}: {_label(kernel)}", Encoded(kernel, together)) for kernel in rbf_grid())
                continue
            yield f"{name}: linear", Encoded(Linear().normalized(), together)
            yield from ((f"{name}: {_label(kernel)}", Encoded(kernel, together)) for kernel in _gaussians())
            yield f"{name}: by ranks", Encoded(RBF("median"), beside_each_other(columns, NormalScores()))


def _gaussians() -> list[Kernel]:
    """Those for wide samples."""
    return [RBF(Width("median", times)) for times in _WIDE]


def beside_each_other(columns: Sequence[Column], numbers: Encoding = _STANDARD) -> Together:
    """The encodings of all columns; those of the plain numbers in one."""
    plain = tuple(column.key for column in columns if column.type == "number" and not column.parsed)
    parts: list[tuple[Encoding, tuple[str | int, ...]]] = [(numbers, plain)] if plain else []
    for column in columns:
        if column.key not in plain:
            parts += [(encoding, (column.key,)) for encoding in encodings_of(column, numbers)]
    return Together(tuple(parts))


def encodings_of(column: Column, numbers: Encoding) -> tuple[Encoding, ...]:
    """How a column becomes numbers beside other columns.

    Parameters
    ----------
    column : of a type that is used
    numbers : how numbers, ranks and days are encoded
    """
    encodings: tuple[Encoding, ...]
    match column.type:
        case "ordinal":
            return (Ranks(column.levels, numbers),)
        case "text":
            return (Grams("word", (1, 2)) if column.words else Grams("character", (2, 4)),)
        case "number":
            encodings = (numbers,)
        case "date":
            encodings = (DateParts("days", numbers), *map(DateParts, column.cycles))
        case _:
            return (OneHot(),)
    if not column.parsed:
        return encodings
    return tuple(Parsed(each, column.order, column.strange, column.numerals) for each in encodings)


def _categories(found: Sequence[Column]) -> Iterator[tuple[str, Kernel]]:
    columns = [column.key for column in found if column.type == "category"]
    if len(columns) > 1:
        yield "all categories", Hamming().on(columns)


def _kernels(column: Column) -> Iterator[tuple[str, Kernel]]:
    """The kernels of a single column."""
    match column.type:
        case "category":
            yield column.name, Hamming().on(column.key)
        case "text":
            if column.words:
                yield f"{column.name}: words", NGrams("word", (1, 2)).on(column.key)
            yield f"{column.name}: characters", NGrams("character", (2, 4)).on(column.key)
        case _:
            for encoding in encodings_of(column, Standardize()):
                yield f"{column.name}{_part(encoding)}", Encoded(RBF("median"), encoding).on(column.key)


def _part(encoding: Encoding) -> str:
    """What a kernel's name has in addition for a part of a date."""
    inner = encoding.numbers if isinstance(encoding, Parsed) else encoding
    if isinstance(inner, DateParts):
        return f": {inner.part}"
    return ""


def _label(kernel: Kernel) -> str:
    """How a rung of a ladder is named."""
    width = Width.of(getattr(kernel, "gamma", None))
    if width is not None:
        return f"gamma x {width.times:g}"
    return repr(kernel)
