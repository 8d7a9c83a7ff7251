"""Data frames of pandas, polars and other libraries, read column by column.

A column contains numbers (also truth values), strings (also declared categories of any type), dates, as days since
1970, or durations, as days. Frames are read through narwhals, which scikit-learn depends on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

import numpy as np

from multikernel._arrays import is_null
from multikernel._rules import shortened
from multikernel._typing import Array

_DAY = np.timedelta64(1, "D")
_PLAIN = re.compile(
    r"(u?int|float)\d+|bool", re.IGNORECASE
)  # types of columns whose values are numbers without conversion


@dataclass(frozen=True, eq=False)
class Cells:
    """A column of samples.

    Parameters
    ----------
    name : str
    kind : the kind of its values
    values : floats, NaN where a cell is missing; for strings objects, None where a cell is missing
    categories : the values that ordered categories may have, in their order; empty for other declared categories,
        None for strings that are not declared to be categories
    ordered : bool, whether the order of the categories has a meaning
    """

    name: str
    kind: Literal["numbers", "strings", "dates", "durations"]
    values: Array
    categories: tuple[str, ...] | None = None
    ordered: bool = False

    @property
    def absent(self) -> Array:
        """Which cells are missing; a string of blanks counts as missing."""
        if self.kind != "strings":
            return np.isnan(self.values)
        return np.array([text is None or not text.strip() for text in self.values], dtype=bool)

    @classmethod
    def of_cells(cls, name: str, values: Array, mixed: bool = False) -> Cells:
        """A column of an array, of any type; see ``of_objects``."""
        if values.dtype.kind in "OUST":
            return cls.of_objects(name, values.astype(object), mixed)
        if values.dtype.kind in "mM":
            return cls(name, "dates" if values.dtype.kind == "M" else "durations", _days(values))
        return cls(name, "numbers", _floats(values, name))

    @classmethod
    def of_objects(cls, name: str, values: Array, mixed: bool = False) -> Cells:
        """A column of objects: strings, numbers or dates of Python, None or NaN where a cell is missing.

        Parameters
        ----------
        name : str
        values : object array
        mixed : bool, whether a column may mix strings and other values, which then become strings

        Raises
        ------
        ValueError : where it holds strings in some rows and other values in others, or neither strings nor numbers
        TypeError : where a mixed column holds a container
        """
        absent = np.array([value is None or is_null(value) for value in values], dtype=bool)
        is_string = np.array([isinstance(value, str) for value in values], dtype=bool)
        if not absent.all() and all(isinstance(value, date) for value in values[~absent]):
            days = np.full(len(values), np.nan)
            days[~absent] = [(_moment(value) - np.datetime64(0, "us")) / _DAY for value in values[~absent]]
            return cls(name, "dates", days)
        if mixed:
            _refuse_containers(name, values)
        if not is_string.any():
            return cls(name, "numbers", _floats(_with_replacement(values, absent, np.nan), name))
        if mixed:
            values = np.array([str(value) for value in values], dtype=object)
        elif not (is_string | absent).all():
            row = int(np.argmin(is_string | absent))
            first = int(np.argmax(is_string))
            raise ValueError(
                f"column {name} of X holds strings, but {values[row]!r} in row {row}, and {values[first]!r} in row "
                f"{first}: give the column strings alone (an empty string is a string), or numbers alone"
            )
        return cls(name, "strings", _with_replacement(values, absent, None))


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of any library."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def columns_of(X: Any, mixed: bool = False) -> Iterator[Cells]:
    """The columns of a data frame, of an array, or of a sequence of strings or rows.

    Parameters
    ----------
    X : n samples
    mixed : bool, whether a column may mix strings and other values, which then become strings
    """
    if is_frame(X) and not (X.shape[0] and is_plain(X)):
        yield from frame_columns(X, mixed)
        return
    if is_frame(X):
        check_names(X)
    names = [repr(name) for name in X.columns] if is_frame(X) else None
    values = np.asarray(X, dtype=None if hasattr(X, "dtype") or names else object)
    for j, cells in enumerate(values.reshape(len(values), -1).T):
        yield Cells.of_cells(str(j) if names is None else names[j], cells, mixed)


def is_plain(X: Any) -> bool:
    """Whether all columns of a frame are numbers by their types."""
    return all(_PLAIN.fullmatch(str(dtype)) for dtype in X.dtypes)


def column_names(X: Any) -> tuple[str, ...]:
    """The names of a frame's columns."""
    return tuple(str(name) for name in X.columns)


def check_names(X: Any) -> None:
    """ValueError where two columns of a frame have one name."""
    names = column_names(X)
    if len(set(names)) < len(names):
        duplicate = next(name for j, name in enumerate(names) if name in names[:j])
        raise ValueError(f"two columns of X are named {duplicate!r}: rename one of them")


def check_same_columns(X: Any, training: tuple[str, ...]) -> None:
    """ValueError where X is a frame whose columns are not those of the training sample, in the same order."""
    if is_frame(X) and column_names(X) != training:
        raise ValueError(
            f"X has the columns {shortened(column_names(X), 10)}, and the training sample has "
            f"{shortened(training, 10)}: give the same columns in the same order"
        )


def frame_columns(X: Any, mixed: bool = False) -> Iterator[Cells]:
    """The columns of a data frame.

    Parameters
    ----------
    X : data frame
    mixed : bool, whether a column may mix strings and other values, which then become strings

    Raises
    ------
    ImportError : where narwhals is not installed
    ValueError : where a column holds other values than numbers, strings and dates; the message names it
    """
    try:
        import narwhals as nw
    except ImportError:
        raise ImportError(
            "data frames with columns of strings, categories or dates are read by narwhals: "
            "pip install 'multikernel[frames]'"
        ) from None
    check_names(X)
    for name, series in zip(X.columns, nw.from_native(X, eager_only=True).iter_columns(), strict=True):
        yield _column(repr(name), series, nw, mixed)


def _column(name: str, series: Any, nw: Any, mixed: bool) -> Cells:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        if series.null_count():
            values = series.cast(nw.Float64).to_numpy()
        else:
            values = series.to_numpy()
        return Cells(name, "numbers", _floats(values, name))
    if dtype in (nw.Date, nw.Datetime, nw.Duration):
        return Cells(name, "durations" if dtype == nw.Duration else "dates", _days(np.asarray(series.to_numpy())))
    if dtype in (nw.Categorical, nw.Enum):
        categories_of_rows = series.to_list()
        values = np.array(
            [None if category is None or is_null(category) else str(category) for category in categories_of_rows],
            dtype=object,
        )
        ordered = dtype == nw.Enum
        categories = tuple(map(str, dtype.categories)) if ordered else ()
        return Cells(name, "strings", values, categories, ordered)
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return Cells.of_objects(name, values, mixed)


def _days(values: Array) -> Array:
    """Days since 1970 in universal time, or days of a duration; NaN where a cell is missing."""
    kind = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
    values = values.astype(kind)
    days = (values - np.zeros(1, dtype=kind)) / _DAY
    return np.where(np.isnat(values), np.nan, days)


def _moment(value: date) -> np.datetime64:
    """A date or a time; in universal time where it has a time zone, as for strings (dates.py)."""
    if isinstance(value, datetime) and (offset := value.utcoffset()) is not None:
        return np.datetime64(value.replace(tzinfo=None), "us") - np.timedelta64(offset, "us")
    return np.datetime64(value, "us")


def _with_replacement(values: Array, absent: Array, replacement: Any) -> Array:
    """A copy with the missing cells replaced."""
    filled = values.copy()
    filled[absent] = replacement
    return filled


def _refuse_containers(name: str, values: Array) -> None:
    """TypeError where a cell holds several values."""
    for value in values:
        if isinstance(value, Mapping | list | tuple | set | np.ndarray):
            raise TypeError(
                f"column {name} of X: argument must be a string or a number, got {type(value).__name__} in a cell"
            )


def _floats(values: Array, name: str) -> Array:
    """A column of numbers, none of them infinite."""
    if values.dtype.kind == "c" or (values.dtype.kind == "O" and any(isinstance(v, complex) for v in values)):
        raise ValueError(
            f"Complex data not supported: column {name} of X holds complex numbers; give their parts as numbers"
        )
    try:
        numbers: Array = values.astype(float)
    except OverflowError:
        raise ValueError(f"column {name} of X holds a number above 1e308: give it in larger units") from None
    except (TypeError, ValueError):
        kind = next((type(value).__name__ for value in values if not isinstance(value, str | float | int)), "objects")
        raise ValueError(
            f"column {name} of X holds neither strings nor numbers but {kind}: convert it, or leave it out"
        ) from None
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise ValueError(
            f"column {name} of X holds {numbers[row]} in row {row}, where a finite number is needed, or NaN "
            "where it is not known"
        )
    return numbers
