"""Labels of rows, the index of pandas objects, by which samples, targets and weights may be in different orders.

Rows are never aligned by labels: the rows at the same position belong together. Labels that contradict this are
refused: the same labels in another order, and labels other than integers of which only some are the same. Row numbers
0, 1, 2, ... contradict nothing, since a table has these after its labels were dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def row_labels(values: Any) -> Any:
    """The index of a pandas object; None for other objects, and for an index that numbers the rows from 0."""
    index: Any = getattr(values, "index", None)
    if callable(index) or not hasattr(index, "equals"):  # a list has a method of this name
        return None
    if is_numbered(index):
        return None
    return index


def is_numbered(index: Any) -> bool:
    """Whether the labels of rows are 0, 1, 2, ..., which pandas gives to rows without labels."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def check_rows(*named_values: tuple[str, Any]) -> None:
    """ValueError where the rows of values that belong together are labelled in different orders.

    Parameters
    ----------
    *named_values : pairs of a name, as a user would write it, and values with a row for each sample, or None
    """
    check_labels_of_rows((name, row_labels(values)) for name, values in named_values)


def check_labels_of_rows(named_labels: Iterable[tuple[str, Any]]) -> None:
    """The same for pairs of a name and the labels of the rows, None without labels."""
    orders: list[tuple[str, Any]] = []  # the different ones so far
    for name, labels in named_labels:
        if labels is None or any(labels is other or labels.equals(other) for _, other in orders):
            continue
        for first, other in orders:
            _check_pair(first, other, name, labels)
        orders.append((name, labels))


def _check_pair(first: str, other: Any, name: str, labels: Any) -> None:
    """ValueError where two indices that are not equal contradict each other."""
    if len(labels) != len(other):  # refused by checks of lengths
        return
    strange = ~labels.isin(other)
    as_they_lie = f"{name}.reset_index(drop=True) where rows belong together as they lie"
    if not strange.any():
        row = next((i for i, (a, b) in enumerate(zip(other, labels, strict=True)) if a != b), None)
        if row is None:
            return
        ordered = "sort both alike"
        if labels.is_unique and other.is_unique:
            ordered = f"give {name}.loc[{first}.index]"
        raise ValueError(
            f"the rows of {name} have the labels of {first} in another order: row {row} is {other[row]!r} in {first} "
            f"and {labels[row]!r} in {name}; {ordered}, or {as_they_lie}"
        )
    numbers = all(getattr(index.dtype, "kind", "") in "iu" for index in (labels, other))
    if not strange.all() and not numbers:
        raise ValueError(
            f"the rows of {name} and of {first} have different labels: {int(strange.sum())} of {len(labels)} labels of "
            f"{name} are not among those of {first}, {labels[int(strange.argmax())]!r} first; give the same rows of "
            f"both, or {as_they_lie}"
        )
