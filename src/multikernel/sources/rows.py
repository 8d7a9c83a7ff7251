"""Rows of samples, targets and weights are matched: by label where views were joined by label, else by position.

Where rows are matched by position, labels that contradict this are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from multikernel._arrays import host, refuse_masked
from multikernel._row_labels import check_labels_of_rows, row_labels
from multikernel._rules import shortened
from multikernel.sources.views import Views, is_views, keyed


def labels_of_samples(X: Any) -> list[tuple[str, Any]]:
    """Pairs of a name and row labels: one pair for X, or one for each of its views."""
    if isinstance(X, Views):
        if X.index is not None:
            return [("X", X.index)]
        return [(f"X[{name!r}]", X.at_rows(row_labels(source))) for name, source in zip(X.names, X.parts, strict=True)]
    if is_views(X):
        return [
            (f"X[{key!r}]", row_labels(source)) for key, source in keyed(X, X.values() if isinstance(X, Mapping) else X)
        ]
    return [("X", row_labels(X))]


def aligned(X: Any, **beside: Any) -> list[Any]:
    """Values that are given beside samples, such as a target, with their rows in the order of the samples.

    Where X is views that were joined by label, values with labels are matched by label. Otherwise row i belongs to
    sample i.

    Parameters
    ----------
    X : samples, in any form
    **beside : values with a row for each sample, by the name of their parameter; None where they are not given

    Returns
    -------
    list of the values, in the order of the parameters, as NumPy arrays where they were arrays of another library

    Raises
    ------
    ValueError : where a value is masked; where the labels contradict the order; or, beside joined views, lack a sample
        or have one twice
    TypeError : where X is an AnnData or MuData object, which ``views`` reads
    """
    is_mudata = isinstance(getattr(X, "mod", None), Mapping)  # of a data frame, ``mod`` is a method
    if is_mudata or (hasattr(X, "obs_names") and hasattr(X, "var_names")):
        reader = "from_mudata" if is_mudata else "from_anndata"
        raise TypeError(f"X is an object of type {type(X).__name__}: give multikernel.views.{reader}(X)")
    beside = {name: host(values) for name, values in beside.items()}
    for name, values in beside.items():
        refuse_masked(values, name)
    if isinstance(X, Views) and X.joined:
        return [_by_label(X.index, name, values) for name, values in beside.items()]
    check_labels_of_rows([*labels_of_samples(X), *((name, row_labels(values)) for name, values in beside.items())])
    return list(beside.values())


def _by_label(labels: Any, name: str, values: Any) -> Any:
    """Values in the order of the labels of samples; unchanged where they have no labels."""
    value_labels = row_labels(values)
    if value_labels is None or value_labels.equals(labels):
        return values
    if not value_labels.is_unique:
        raise ValueError(
            f"{name} has the label {value_labels[value_labels.duplicated()][0]!r} twice; give each sample one value"
        )
    lacking = labels.difference(value_labels, sort=False)
    if len(lacking):
        first = shortened(list(map(repr, lacking)), 3)
        raise ValueError(
            f"{name} lacks {len(lacking)} of the {len(labels)} samples of X ({first}): "
            f"give {name}.loc[X.index], or take the samples of X that have a value; or give {name}.to_numpy() where "
            "its values belong to the samples as they lie, as those do that permutation_test_score shuffles"
        )
    return values.loc[labels]
