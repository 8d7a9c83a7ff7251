"""Sources that are kernel matrices: their rows, their columns by label, and their values between samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks.base import KernelBank
from multikernel.banks.precomputed import rectangular
from multikernel.sources.views import Views
from multikernel.tables.cells import is_frame


def matrices_between(view: str, X: Views, Z: Views) -> KernelBank:
    """The kernel matrices of a view between samples that have it: blocks of one bank, or matrices of just this shape.

    Raises
    ------
    ValueError : where the matrices of X are between X and samples other than Z
    """
    source_of_X, source_of_Z = (samples.parts[samples.names.index(view)] for samples in (X, Z))
    if isinstance(source_of_X, KernelBank) and source_of_X is source_of_Z:
        return source_of_X.block(rows_of(X), rows_of(Z))
    rows = X.part(view)
    if rows.shape[-2:] == (len(X), len(Z)):
        values = stack_of(rows)
        return rectangular(values, len(values), len(Z))
    raise ValueError(
        f"view {view!r} is a kernel matrix, which says nothing of other pairs of samples: give its values between "
        f"these samples, shape ({len(X)}, {len(Z)}); or both as parts of the same views(...)"
    )


def rows_of(X: Views) -> Array:
    """The positions of these samples among all samples of the views."""
    if X.rows is None:
        return np.arange(len(X))
    return X.rows


def matched_columns(view: str, source: Any, column_labels: Any, training_labels: Any) -> Any:
    """Rows of a kernel matrix with its columns in the order of training; unchanged where either has no labels.

    Parameters
    ----------
    view : str, its name
    source : the rows, a frame, an array or a bank; or None
    column_labels : the labels of the columns where the source is a bank, or None
    training_labels : array of the labels of the columns in training, or None

    Raises
    ------
    ValueError : where columns of training are missing
    """
    if is_frame(source) and hasattr(source, "reindex"):
        column_labels = source.columns
    if training_labels is None or column_labels is None or source is None:
        return source
    if len(column_labels) == len(training_labels) and all(column_labels == training_labels):
        return source
    if isinstance(source, KernelBank):
        column_positions = column_labels.get_indexer(list(training_labels))
        if (column_positions < 0).any():
            raise ValueError(
                f"view {view!r} is a kernel matrix that lacks the training sample "
                f"{training_labels[int(np.argmin(column_positions))]!r}: give its values with all of them"
            )
        return source.block(slice(None), column_positions)
    label_set = set(training_labels)
    common = sum(label in label_set for label in column_labels)
    if not common and type(column_labels).__name__ == "RangeIndex" and len(column_labels) == len(training_labels):
        return source
    lacks_columns = common == len(column_labels) < len(training_labels)
    if lacks_columns or common == len(training_labels):  # reindex fills columns that the matrix lacks with NaN
        return source.reindex(columns=list(training_labels))
    unknown_label = next((label for label in column_labels if label not in label_set), None)
    raise ValueError(
        f"view {view!r} is a kernel matrix with a column for each training sample, and its column {unknown_label!r} is "
        f"none of these, such as {training_labels[0]!r}: name its columns as in training"
    )


def known_rows(source: Any) -> Array:
    """Which rows of kernel matrices have any value that is not missing, a bool array."""
    if isinstance(source, KernelBank):
        return np.ones(source.shape[0], dtype=bool)
    return np.asarray(~np.isnan(stack_of(source)).all(axis=(0, 2)))


def stack_of(source: Any) -> Array:
    """Rows of one or several kernel matrices, shape (m, r, n)."""
    if isinstance(source, KernelBank):
        return source.matrices()
    values = np.asarray(source, dtype=float)
    if values.ndim == 2:
        return values[None]
    return values
