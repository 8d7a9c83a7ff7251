"""Sources joined by the labels of their rows: what pandas calls an index, and AnnData the names of observations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from multikernel._arrays import is_sparse
from multikernel._row_labels import is_numbered
from multikernel._rules import shortened
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.tables.cells import is_frame

Missing = Literal["refuse", "keep"]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Measurements with the names that AnnData gives them.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    obs_names : pandas index (n,), the names of the samples
    var_names : sequence of p names of columns
    """

    X: Any
    obs_names: Any
    var_names: Any


def joined(
    sources: Mapping[str, Any], missing: Missing, features: Sequence[str] = ()
) -> tuple[dict[str, Any], Any, dict[str, Array]]:
    """Sources whose rows are the same samples in the same order.

    The order is that of the first source; samples that it lacks follow in the order of the others.

    Parameters
    ----------
    sources : data frames, Series and AnnData-like objects by name
    missing : "refuse" raises where a source lacks samples of another one; "keep" keeps all samples
    features : names of sources that hold features, although they are symmetric

    Returns
    -------
    sources : dict, with another sample in place of each that a source lacks, or with NaN in a kernel matrix
    labels : pandas index of all samples
    present : dict from each source that lacks samples, unless it is a kernel matrix, to a bool array, which it has

    Raises
    ------
    ValueError : where a source has no labels, has one twice, or lacks samples and ``missing`` is "refuse"
    """
    sources = {name: in_memory(name, source) for name, source in sources.items()}
    labels = {name: _labels(name, source) for name, source in sources.items()}
    all_labels = next(iter(labels.values()))
    for source_labels in labels.values():
        all_labels = all_labels.append(source_labels.difference(all_labels, sort=False))
    if missing == "refuse":
        _refuse_missing(labels, all_labels)
    elif len(labels) > 1 and all(not len(one.intersection(other)) for one, other in combinations(labels.values(), 2)):
        warn_user("views: no two sources share a sample; give all of them the same names of the samples")
    _warn_of_numbered_rows(labels)
    aligned: dict[str, Any] = {}
    present: dict[str, Array] = {}
    for name, source in sources.items():
        row_positions = labels[name].get_indexer(all_labels)
        if name not in features:
            _check_names(name, source)
        if is_matrix(source) and name not in features:
            aligned[name] = source.reindex(index=all_labels, columns=all_labels)
            continue
        if (row_positions < 0).any():
            present[name] = row_positions >= 0
            row_positions = stand_ins(row_positions >= 0, row_positions)
        aligned[name] = _rows(source, row_positions)
    return aligned, all_labels, present


def in_memory(name: str, source: Any) -> Any:
    """The source itself; an AnnData object that is backed by a file is read, since rows of files cannot be reordered.

    Raises
    ------
    ValueError : where an AnnData-like source has no measurements
    """
    if hasattr(source, "obs_names") and getattr(source, "X", None) is None:
        raise ValueError(f"views: {name!r} has no X; set it, such as by adata.X = adata.layers[...]")
    if getattr(source, "isbacked", False):
        return source.to_memory()
    return source


def _labels(name: str, source: Any) -> Any:
    """The labels of the rows of a source."""
    labels = getattr(source, "obs_names", None)
    if labels is None:
        labels = getattr(source, "index", None)
    if labels is None or callable(labels) or not hasattr(labels, "get_indexer"):
        raise ValueError(
            f"views: rows='index' joins sources by the labels of their rows, and {name!r} has none: give a pandas "
            "DataFrame or Series whose index names the samples"
        )
    if not labels.is_unique:
        duplicate = labels[labels.duplicated()][0]
        raise ValueError(
            f"views: {name!r} has two rows with the label {duplicate!r}; give each sample one row in a source"
        )
    if not len(labels):
        raise ValueError(f"views: {name!r} has no row; leave it out")
    if labels.nlevels == 1 and labels.hasnans:
        raise ValueError(f"views: {name!r} has a row whose label is missing; name it, or leave the row out")
    return labels


def _warn_of_numbered_rows(labels: Mapping[str, Any]) -> None:
    """A warning where rows that nobody named, which pandas numbers 0, 1, 2, ..., are joined with other labels.

    Increasing labels of another source are taken to be rows that were selected from the same table.
    """
    for name, source_labels in labels.items():
        if not is_numbered(source_labels):
            continue
        for other, other_labels in labels.items():
            of_one_table = other_labels.is_monotonic_increasing and not is_numbered(other_labels)
            if of_one_table or other_labels.equals(source_labels):
                continue
            warn_user(
                f"views: the rows of {name!r} are numbered 0, 1, 2, ..., as pandas does by default, and joined with "
                f"the labels of {other!r} by these numbers; where they are not the names of its samples, name these "
                "by .set_index(...)"
            )
            return


def _refuse_missing(labels: Mapping[str, Any], all_labels: Any) -> None:
    """ValueError where a source lacks samples of another one."""
    first = next(iter(labels))
    for name, source_labels in labels.items():
        if len(source_labels) and not len(source_labels.intersection(labels[first])):
            raise ValueError(
                f"views: {first!r} and {name!r} share no sample: their first labels are {labels[first][0]!r} and "
                f"{source_labels[0]!r}; give both the same names of the samples"
            )
    for name, source_labels in labels.items():
        lacking = all_labels.difference(source_labels, sort=False)
        if len(lacking):
            raise ValueError(
                f"views: {name!r} lacks {len(lacking)} of {len(all_labels)} samples "
                f"({shortened(list(map(repr, lacking)), 3)}); missing='keep' keeps them, and what they lack is "
                "completed by their other sources; or give the samples that all sources have"
            )


def is_matrix(source: Any) -> bool:
    """Whether a source is a frame that holds a kernel matrix: its columns are named as its rows."""
    if not is_frame(source) or source.shape[0] != source.shape[1]:
        return False
    return set(source.columns) == set(getattr(source, "index", ()))


def _check_names(name: str, source: Any) -> None:
    """ValueError for a symmetric matrix whose columns are not named as its rows: rows alone would be reordered."""
    if not is_frame(source) or len(set(source.shape)) > 1 or is_matrix(source):
        return
    values = source.to_numpy()
    if values.dtype.kind in "fiu" and np.allclose(values, values.T, equal_nan=True):
        raise ValueError(
            f"views: {name!r} is symmetric, as a kernel matrix is, and its columns are not named as its rows: give "
            f"them the same names, or say that it holds features, by views(..., features=[{name!r}])"
        )


def _rows(source: Any, row_positions: Array) -> Any:
    """The rows of a source at these positions."""
    if hasattr(source, "obs_names"):
        return _matrix_of(source.X[row_positions], source.var_names)
    return source.iloc[row_positions]


def _matrix_of(values: Any, names: Iterable[Any]) -> Any:
    """The measurements of an AnnData-like object: a data frame, or a CSR matrix where they are sparse."""
    if is_sparse(values):
        return values.tocsr()
    import pandas as pd

    return pd.DataFrame(np.asarray(values), columns=list(map(str, names)))


def stand_ins(present: Array, row_positions: Array | None = None) -> Array:
    """Row positions in which rows that are present take the places of rows that are missing, one after the other.

    Means and spreads over these rows are then close to those over the samples that have the source.

    Parameters
    ----------
    present : bool array (n,), True at least once
    row_positions : int array (n,), the positions of the rows; 0, 1, 2, ... by default
    """
    rows = np.arange(len(present)) if row_positions is None else row_positions.copy()
    rows[~present] = np.resize(rows[present], int((~present).sum()))
    return rows
