"""What samples and targets may hold, and the sentence that says what they hold instead."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from multikernel._typing import Array
from multikernel.banks.checks import check_numbers
from multikernel.kernels.frames import is_frame

_INSTEAD = {
    "c": "Complex data not supported: {} holds complex numbers; give real and imaginary parts as numbers of their own",
    "M": "{} holds dates; give them as numbers, such as the days since the first one",
    "m": "{} holds durations; give them as numbers, such as their seconds",
    "S": "{} holds bytes; decode them to strings, or give numbers",
}


def check_samples(X: Any) -> None:
    """ValueError where X holds neither numbers nor strings, or a column of a data frame none of these nor dates."""
    if is_frame(X):
        for name, dtype in zip(X.columns, X.dtypes, strict=True):
            kind = getattr(dtype, "kind", "")
            _refuse("" if kind in "mM" else kind, f"column {name!r} of X")
        return
    dtype = X.dtype if hasattr(X, "dtype") else _as_array(X).dtype
    _refuse(getattr(dtype, "kind", ""), "X")
    if getattr(dtype, "kind", "") == "O" and isinstance(X, np.ndarray):
        _check_objects(X, "X")
    elif isinstance(X, list | tuple) and len(X) and isinstance(X[0], set | frozenset):
        _check_objects(_as_array(X), "X")
    elif isinstance(X, int) and abs(X) > int(np.finfo(float).max):
        raise ValueError("X is a single number; give a row of numbers for each sample")


def check_labels(y: Any) -> None:
    """ValueError where labels are complex, miss in places, or mix strings and numbers."""
    labels = _as_array(y)
    if labels.dtype.kind == "c":
        _refuse("c", "y")
    if labels.dtype.kind == "O":
        _check_objects(labels, "y")
        kinds = {isinstance(label, str) for label in labels.ravel()}
        if len(kinds) > 1:
            raise ValueError("y holds strings and other labels; give labels of one kind")


def check_target(y: Any) -> None:
    """ValueError where a target holds anything but numbers."""
    target = _as_array(y)
    if target.dtype.kind == "c":
        _refuse("c", "y")
    if target.dtype.kind == "O":
        _check_objects(target, "y")
    check_numbers(target, "y")


def _refuse(kind: str, what: str) -> None:
    if kind in _INSTEAD:
        raise ValueError(_INSTEAD[kind].format(what))


def _check_objects(values: Any, what: str) -> None:
    """ValueError with the place of a None, of a complex number or of a set in an array of objects."""
    for place, value in np.ndenumerate(values):
        where = f"row {place[0]}" + (f", column {place[1]}" if len(place) > 1 else "") if place else "its only entry"
        if value is None:
            raise ValueError(f"{what} contains NaN or None, first at {where}: fill it in, or leave the sample out")
        if isinstance(value, complex | np.complexfloating):
            _refuse("c", what)
        if isinstance(value, set | frozenset):
            raise ValueError(
                f"{what} contains a set, first at {where}: write items as a string, ', '.join(sorted(items)), for "
                "kernels.Items(','), and sets of vectors by kernels.written for kernels.VectorSets"
            )


def _as_array(values: Any) -> Any:
    """As an array, where that can be; one of objects where rows differ in length."""
    if hasattr(values, "toarray"):
        return np.empty(0, dtype=values.dtype)
    try:
        return np.asarray(values)
    except ValueError:
        return np.empty(0, dtype=object)


def check_predicted(values: Array, name: str) -> Array:
    """What an estimator of a class of this name tells of samples; a ValueError names the first where it overflows."""
    wrong = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if len(wrong):
        raise ValueError(
            f"{name}: the answer for row {wrong[0]} of X is NaN or infinite, because the numbers of that sample are "
            "too large for the kernels; give it in the units of the training samples, or leave it out"
        )
    return values


def checked_target(y: Any, n: int, **checks: Any) -> Array:
    """The target for n samples, as ``validate_data`` would check it beside an array of samples."""
    several = checks.get("multi_output") and np.ndim(y) == 2
    target: Array = check_array(y, input_name="y") if several else column_or_1d(y, warn=True)
    check_consistent_length(target, np.empty(n))
    if checks.get("y_numeric"):
        target = target.astype(float)
        if not np.isfinite(target).all():
            raise ValueError(f"y has a NaN or infinity at row {int(np.argwhere(~np.isfinite(target))[0, 0])}")
    return target
