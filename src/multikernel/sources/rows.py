"""Rows of samples, targets and weights belong together as they lie; labels that contradict this are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from multikernel._row_labels import check_labels_of_rows, row_labels
from multikernel.sources.views import Views, is_views, keyed


def labels_of_samples(X: Any) -> list[tuple[str, Any]]:
    """The labels of the rows of samples, each with a name: those of X, or of each of its views."""
    if isinstance(X, Views):
        every = [(f"X[{name!r}]", row_labels(part)) for name, part in zip(X.names, X.parts, strict=True)]
        return [(name, labels if labels is None or X.rows is None else labels[X.rows]) for name, labels in every]
    if is_views(X):
        return [
            (f"X[{key!r}]", row_labels(part)) for key, part in keyed(X, X.values() if isinstance(X, Mapping) else X)
        ]
    return [("X", row_labels(X))]


def check_samples_rows(X: Any, **beside: Any) -> None:
    """ValueError where what is given beside samples, such as y, labels their rows in another order.

    Parameters
    ----------
    X : samples, in any form
    **beside : what has a row for each sample, by the name of the parameter; None for what is not given
    """
    check_labels_of_rows([*labels_of_samples(X), *((name, row_labels(each)) for name, each in beside.items())])
