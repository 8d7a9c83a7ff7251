"""Sources that are kernel matrices: their rows, their columns by label, and what they say between samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks.base import KernelBank
from multikernel.banks.precomputed import rectangular
from multikernel.sources.views import Views
from multikernel.tables.cells import is_frame


def matrices_between(view: str, X: Views, Z: Views) -> KernelBank:
    """The kernel matrices of a view between samples that have it: parts of one bank, or given between just these.

    Raises
    ------
    ValueError : where the matrices are against other samples
    """
    one, two = (each.parts[each.names.index(view)] for each in (X, Z))
    if isinstance(one, KernelBank) and one is two:
        return one.block(rows_of(X), rows_of(Z))
    given = X.part(view)
    if given.shape[-2:] == (len(X), len(Z)):
        values = stack_of(given)
        return rectangular(values, len(values), len(Z))
    raise ValueError(
        f"view {view!r} is a kernel matrix, which says nothing of other pairs of samples: give its values between "
        f"these samples, shape ({len(X)}, {len(Z)}); or both as parts of the same views(...)"
    )


def rows_of(X: Views) -> Array:
    """Which samples of the parts these are."""
    if X.rows is None:
        return np.arange(len(X))
    return X.rows


def matched_columns(view: str, given: Any, own: Any, labels: Any) -> Any:
    """Rows of a kernel matrix with its columns in the order of training; as they lie where either has no labels.

    Parameters
    ----------
    view : str
    given : what was given for the view: a frame, an array or a bank
    own : the labels of the columns of a bank, or None
    labels : array of the labels of the columns in training, or None

    Raises
    ------
    ValueError : where columns of training are missing
    """
    if is_frame(given) and hasattr(given, "reindex"):
        own = given.columns
    if labels is None or own is None or given is None:
        return given
    if len(own) == len(labels) and all(own == labels):
        return given
    if isinstance(given, KernelBank):
        places = own.get_indexer(list(labels))
        if (places < 0).any():
            raise ValueError(
                f"view {view!r} is a kernel matrix that lacks the training sample "
                f"{labels[int(np.argmin(places))]!r}: give its values with all of them"
            )
        return given.block(slice(None), places)
    known = set(labels)
    common = sum(label in known for label in own)
    if not common and type(own).__name__ == "RangeIndex" and len(own) == len(labels):
        return given
    if common == len(own) < len(labels) or common == len(labels):  # those that are left out are not known to the matrix
        return given.reindex(columns=list(labels))
    strange = next((label for label in own if label not in known), None)
    raise ValueError(
        f"view {view!r} is a kernel matrix with a column for each training sample, and its column {strange!r} is "
        f"none of these, such as {labels[0]!r}: name its columns as in training"
    )


def known_rows(given: Any) -> Array:
    """Which rows of kernel matrices are known: not those of missing values."""
    if isinstance(given, KernelBank):
        return np.ones(given.shape[0], dtype=bool)
    return np.asarray(~np.isnan(stack_of(given)).all(axis=(0, 2)))


def stack_of(given: Any) -> Array:
    """Rows of one or several kernel matrices, shape (m, r, n)."""
    if isinstance(given, KernelBank):
        return given.matrices()
    values = np.asarray(given, dtype=float)
    if values.ndim == 2:
        return values[None]
    return values
