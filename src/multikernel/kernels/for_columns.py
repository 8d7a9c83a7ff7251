"""Kernels for a table whose columns have several types (tables/columns.py), with a kind of kernel for each type.

number, ordinal    Gaussians of the standardised column
date               Gaussians of the days, and of the time of year, week and day
category           whether two samples have the same category
text               n-grams of words, where texts have several words, and of characters
identifier, empty  left out

Beside the kernels of single columns there are ladders, which are Gaussians of several widths: one ladder on all
numbers, and one on all columns except texts, with categories as zeros and ones. Widths are multiples of the median
distance. Missing cells are one more category, or among numbers the mean with an indicator.

With more than a hundred columns there are neither kernels of single columns nor ladders. Distances between samples with
many columns are almost equal, so a Gaussian of a smaller width is almost the identity matrix: it separates any training
sample with a wide margin but does not predict new samples, and learned weights prefer it. The ladder is replaced by a
linear kernel of rows of norm 1, Gaussians of the median width and twice that, and a Gaussian of the ranks. All kernels
have self-values 1, so that sources of different sizes and units are comparable.

``for_each_column`` has the same kernels on each single column, with the same encodings. It leaves texts out, since the
words of a text are many columns; ``for_columns`` has kernels on texts.
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
SINGLE = 100  # the most columns for which each has a separate kernel or scale, and all together a ladder of widths
_BASIS = Choice(("rls2", "linear"))
_WIDE = (0.25, 1.0)  # the multiples of the median rule's gamma that are used for more columns


def column_types(X: Any) -> dict[str, ColumnType]:
    """The types that ``for_columns`` infers for the columns of a table.

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
    X : data frame of pandas, polars or another library, array, CSR matrix or sequence of strings, by which kernels are
        chosen; they learn their widths, means, categories and words from the samples on which they are fitted
    single : bool, whether every column has separate kernels; by default this is so up to 100 columns, and for texts
        always. Beyond 100 columns the ladder of Gaussians is replaced by a linear kernel, two Gaussians and one of the
        ranks
    types : dict from names of columns to "number", "date", "category" or "text", for columns whose type is not to be
        inferred from their cells; a cell that cannot be read as this type counts as missing

    Returns
    -------
    KernelFamily, whose kernels are named after their columns

    Raises
    ------
    ValueError : where no column has two different values, or a column holds neither numbers nor strings nor dates, or
        contradicts its declared type

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
    columns = [column for column, _ in typed(X, types)]
    for column in columns:
        if column.note:
            warn_user(column.note, PredictionWarning)
    used_columns = [column for column in columns if column.used]
    if not used_columns:
        raise ValueError(
            "for_columns: no column of X has two different values without naming its row, so that no kernel "
            "distinguishes samples"
        )
    with_single = len(used_columns) <= SINGLE if single is None else single
    pairs = [*_ladders(used_columns), *_categories(used_columns)]
    pairs += [pair for column in used_columns if with_single or column.type == "text" for pair in _kernels(column)]
    return Kernels(tuple(kernel for _, kernel in pairs), tuple(name for name, _ in pairs))


def for_each_column(
    X: Any, basis: Literal["rls2", "linear"] = "rls2", types: Mapping[str, Declared] | None = None
) -> KernelFamily:
    """The same kernels on every single column of a mixed table.

    Parameters
    ----------
    X : data frame, array or sequence of strings; kernels learn means, deviations and categories from the samples on
        which they are fitted
    basis : "rls2", the 13 kernels (1 + x'z)^n for n = 1, 2, 3 and exp(-gamma |x - z|^2) for ten gammas from 1e-3 to
        1e3 of Dinuzzo (RLS2, section 5.2), on each column and on all together, 13 (p + 1) for p columns; or "linear",
        x'z on each column: with ``RLS2Regressor`` a sparse linear model
    types : dict from names of columns to "number", "date" or "category", where their cells do not show it

    Returns
    -------
    KernelFamily, whose kernels are named after their columns

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
    for name, encoded_columns in [*((column.name, [column]) for column in columns), ("all columns", columns)]:
        encoding = beside_each_other(encoded_columns)
        pairs += [(f"{name}: {kernel!r}", Encoded(kernel, encoding)) for kernel in rls2_kernels()]
    return Kernels(tuple(kernel for _, kernel in pairs), tuple(name for name, _ in pairs))


def _ladders(used_columns: Sequence[Column]) -> Iterator[tuple[str, Kernel]]:
    """Kernels on all numbers, and on all columns except texts where there are numbers and categories."""
    numbers = [column for column in used_columns if column.type in ("number", "ordinal", "date")]
    categories = [column for column in used_columns if column.type == "category"]
    for name, columns in (("numbers", numbers), ("all columns", numbers + categories)):
        if len(columns) > 1 and (columns is numbers or (numbers and categories)):
            encoding = beside_each_other(columns)
            if len(columns) <= SINGLE:
                yield from ((f"{name}: {_label(kernel)}", Encoded(kernel, encoding)) for kernel in rbf_grid())
                continue
            yield f"{name}: linear", Encoded(Linear().normalized(), encoding)
            yield from ((f"{name}: {_label(kernel)}", Encoded(kernel, encoding)) for kernel in _gaussians())
            yield f"{name}: by ranks", Encoded(RBF("median"), beside_each_other(columns, NormalScores()))


def _gaussians() -> list[Kernel]:
    """The Gaussians for samples with many columns."""
    return [RBF(Width("median", times)) for times in _WIDE]


def beside_each_other(columns: Sequence[Column], numbers: Encoding = _STANDARD) -> Together:
    """The encodings of all columns side by side, with a single encoding for all columns of plain numbers."""
    number_keys = tuple(column.key for column in columns if column.type == "number" and not column.parsed)
    pairs: list[tuple[Encoding, tuple[str | int, ...]]] = [(numbers, number_keys)] if number_keys else []
    for column in columns:
        if column.key not in number_keys:
            pairs += [(encoding, (column.key,)) for encoding in encodings_of(column, numbers)]
    return Together(tuple(pairs))


def encodings_of(column: Column, numbers: Encoding) -> tuple[Encoding, ...]:
    """The encodings by which a column becomes numbers beside other columns.

    Parameters
    ----------
    column : a column that is used
    numbers : the encoding of numbers, ranks and days
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
    return tuple(Parsed(encoding, column.order, column.strange, column.numerals) for encoding in encodings)


def _categories(used_columns: Sequence[Column]) -> Iterator[tuple[str, Kernel]]:
    columns = [column.key for column in used_columns if column.type == "category"]
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
                yield f"{column.name}{_date_suffix(encoding)}", Encoded(RBF("median"), encoding).on(column.key)


def _date_suffix(encoding: Encoding) -> str:
    """The ending of a kernel's name that says which part of a date it compares; empty for other encodings."""
    inner = encoding.numbers if isinstance(encoding, Parsed) else encoding
    if isinstance(inner, DateParts):
        return f": {inner.part}"
    return ""


def _label(kernel: Kernel) -> str:
    """The name of a Gaussian within a ladder."""
    width = Width.of(getattr(kernel, "gamma", None))
    if width is not None:
        return f"gamma x {width.times:g}"
    return repr(kernel)
