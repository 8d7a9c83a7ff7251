"""Checks of what samples and targets hold, with one sentence for everything that is refused."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from multikernel._arrays import is_null, is_sparse
from multikernel._floats import all_finite
from multikernel._typing import Array
from multikernel.banks.checks import as_array, check_numbers, refuse_fields
from multikernel.tables.cells import check_names, is_frame
from multikernel.tables.objects import holds_cells

_LARGEST = int(np.finfo(float).max)
_INSTEAD = {
    "c": "Complex data not supported: {} holds complex numbers; give real and imaginary parts as separate numbers",
    "M": "{} holds dates; give them as numbers, such as the days since the first one",
    "m": "{} holds durations; give them as numbers, such as their seconds",
    "S": "{} holds bytes; decode them to strings, or give numbers",
}


def check_samples(X: Any) -> None:
    """ValueError where X holds anything but numbers and strings, or a data frame anything but these and dates."""
    if is_frame(X):
        check_names(X)
        for name, dtype in zip(X.columns, X.dtypes, strict=True):
            kind = getattr(dtype, "kind", "")
            _refuse("" if kind in "mM" else kind, f"column {name!r} of X")
        return
    values = X if hasattr(X, "dtype") else as_array(X, "X")
    refuse_fields(values, "X", "pandas.DataFrame(X) is a table with them as columns")
    kind = getattr(values.dtype, "kind", "")
    _refuse(kind, "X")
    if kind == "O" and isinstance(values, np.ndarray):
        _check_objects(values, "X", strict=isinstance(X, np.ndarray))
    elif isinstance(X, int) and abs(X) > _LARGEST:
        raise ValueError("X is a single number; give a row of numbers for each sample")


def check_labels(y: Any) -> None:
    """ValueError where labels are complex, partly missing, in several columns, or both strings and numbers."""
    labels = _entries(y, _target(y))
    if labels.ndim == 2 and labels.shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array of labels, got an array of shape {labels.shape}: give one column of it, or "
            "y.argmax(axis=1) where columns say with 0 and 1 which class a sample has"
        )
    if labels.dtype.kind == "O":
        kinds = {isinstance(label, str) for label in labels.ravel()}
        if len(kinds) > 1:
            raise ValueError("y holds strings and other labels; give labels of one kind")


def check_target(y: Any) -> None:
    """ValueError where a target holds anything but numbers."""
    check_numbers(_target(y), "y")


def check_finite_target(target: Array) -> None:
    """ValueError, which names the row, where a target of numbers is not finite."""
    if not all_finite(target):
        row = int(np.argwhere(~np.isfinite(target))[0, 0])
        raise ValueError(f"y has a NaN or infinity at row {row}: fill it in, or leave the sample out")


def _target(y: Any) -> Any:
    """The target as an array that is not complex; if its entries are objects or dates, none is missing."""
    if is_sparse(y):
        target = np.empty(0, dtype=y.dtype)
    else:
        target = as_array(y, "y")
    refuse_fields(target, "y", "give one of them, such as y[field]")
    if target.dtype.kind == "c":
        _refuse("c", "y")
    if target.dtype.kind in "mM" and np.isnat(target).any():
        _refuse_missing("y", f"row {np.argwhere(np.isnat(target))[0, 0]}")
    entries = _entries(y, target)
    if entries.dtype.kind == "O":
        _check_objects(entries, "y", missing=True)
    return target


def _entries(y: Any, target: Any) -> Any:
    """The entries of a target as the user gave them: in a list with strings, NumPy turns numbers and NaN to strings."""
    if target.dtype.kind == "U" and isinstance(y, list | tuple):
        return np.asarray(y, dtype=object)
    return target


def _refuse(kind: str, name: str) -> None:
    if kind in _INSTEAD:
        raise ValueError(_INSTEAD[kind].format(name))


def _refuse_missing(name: str, where: str) -> NoReturn:
    raise ValueError(f"{name} contains NaN or None, first at {where}: fill it in, or leave the sample out")


def _where(index: tuple[int, ...]) -> str:
    """The position of an entry in words."""
    if not index:
        return "its only entry"
    if len(index) == 1:
        return f"row {index[0]}"
    return f"row {index[0]}, column {index[1]}"


def _check_objects(values: Any, name: str, strict: bool = True, missing: bool = False) -> None:
    """ValueError, which names its position, where an object cannot be used for learning.

    Parameters
    ----------
    values : array of objects
    name : str, of the array, for messages
    strict : bool, whether None is refused in any case
    missing : bool, whether missing entries are refused even if there are strings
    """
    missing = missing or not any(isinstance(value, str) for value in values.flat)
    for index, value in np.ndenumerate(values):
        where = _where(index)
        if (value is None and (strict or missing)) or (missing and is_null(value)):
            _refuse_missing(name, where)
        if isinstance(value, complex | np.complexfloating):
            _refuse("c", name)
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise ValueError(f"{name} contains a number above 1e308, first at {where}: give it in larger units")
        if isinstance(value, set | frozenset):
            raise ValueError(
                f"{name} contains a set, first at {where}: write items as a string, ', '.join(sorted(items)), for "
                "kernels.Items(','), and sets of vectors by kernels.written for kernels.VectorSets"
            )
        if values.ndim == 1 and not holds_cells([value]):
            raise ValueError(
                f"{name} contains an object of type {type(value).__name__}, first at {where}: kernels of objects are "
                "made by kernels.external(...), and all kernels have to be of that kind"
            )


def check_predicted(values: Array, name: str) -> Array:
    """The predictions of an estimator with this class name; ValueError names the first sample where they overflow."""
    wrong = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if len(wrong):
        raise ValueError(
            f"{name}: the answer for row {wrong[0]} of X is NaN or infinite, because the numbers of that sample are "
            "too large for the kernels; give it in the units of the training samples, or leave it out"
        )
    return values


def checked_target(y: Any, n: int, **checks: Any) -> Array:
    """The target for n samples, checked as ``validate_data`` checks it together with an array of samples."""
    several = checks.get("multi_output") and np.ndim(y) == 2
    if several:
        target: Array = check_array(y, input_name="y")
    else:
        target = column_or_1d(y, warn=True)
    check_consistent_length(target, np.empty(n))
    if checks.get("y_numeric"):
        target = target.astype(float, copy=not several)  # many targets are large, and are never written to: no copy
        check_finite_target(target)
    return target
