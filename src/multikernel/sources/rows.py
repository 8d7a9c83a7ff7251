"""Rows of samples, targets and weights belong together: by their labels where views were joined by these, else as they
lie, and labels that contradict this are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from multikernel._arrays import host, refuse_masked
from multikernel._row_labels import check_labels_of_rows, row_labels
from multikernel._rules import shortened
from multikernel.sources.views import Views, is_views, keyed


def labels_of_samples(X: Any) -> list[tuple[str, Any]]:
    """The labels of the rows of samples, each with a name: those of X, or of each of its views."""
    if isinstance(X, Views):
        if X.index is not None:
            return [("X", X.index)]
        return [(f"X[{name!r}]", X.at_rows(row_labels(part))) for name, part in zip(X.names, X.parts, strict=True)]
    if is_views(X):
        return [
            (f"X[{key!r}]", row_labels(part)) for key, part in keyed(X, X.values() if isinstance(X, Mapping) else X)
        ]
    return [("X", row_labels(X))]


def aligned(X: Any, **beside: Any) -> list[Any]:
    """What is given beside samples, such as a target, with its rows in their order.

    Beside views that were joined by labels, values with labels are taken by these. Else they belong to the samples as
    they lie.

    Parameters
    ----------
    X : samples, in any form
    **beside : what has a row for each sample, by the name of the parameter; None for what is not given

    Returns
    -------
    list of the values, in the order of the parameters, as NumPy arrays where they were arrays of another library

    Raises
    ------
    ValueError : where a value is masked; where the labels contradict the order; or, beside joined views, lack a sample
        or have one twice
    TypeError : where X is an AnnData or MuData object, which ``views`` reads
    """
    several = isinstance(getattr(X, "mod", None), Mapping)  # of a data frame, ``mod`` is a method
    if several or (hasattr(X, "obs_names") and hasattr(X, "var_names")):
        reader = "from_mudata" if several else "from_anndata"
        raise TypeError(f"X is an object of type {type(X).__name__}: give multikernel.views.{reader}(X)")
    beside = {name: host(values) for name, values in beside.items()}
    for name, values in beside.items():
        refuse_masked(values, name)
    if isinstance(X, Views) and X.joined:
        return [_by_label(X.index, name, values) for name, values in beside.items()]
    check_labels_of_rows([*labels_of_samples(X), *((name, row_labels(each)) for name, each in beside.items())])
    return list(beside.values())


def _by_label(labels: Any, name: str, values: Any) -> Any:
    """Values in the order of the labels of samples; as they lie where they have none."""
    own = row_labels(values)
    if own is None or own.equals(labels):
        return values
    if not own.is_unique:
        raise ValueError(f"{name} has the label {own[own.duplicated()][0]!r} twice; give each sample one value")
    lacking = labels.difference(own, sort=False)
    if len(lacking):
        first = shortened(list(map(repr, lacking)), 3)
        raise ValueError(
            f"{name} lacks {len(lacking)} of the {len(labels)} samples of X ({first}): "
            f"give {name}.loc[X.index], or take the samples of X that have a value; or give {name}.to_numpy() where "
            "its values belong to the samples as they lie, as those do that permutation_test_score shuffles"
        )
    return values.loc[labels]
