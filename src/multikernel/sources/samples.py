"""The samples of one view as kernels take them, and which of them have the view."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from multikernel._arrays import is_sparse
from multikernel._typing import Array
from multikernel.banks.checks import as_array
from multikernel.kernels.features import Features
from multikernel.tables.cells import column_names, is_frame
from multikernel.tables.objects import Objects, as_objects
from multikernel.tables.table import Table, as_table


def samples_of_view(view: str, part: Any, objects: bool = False) -> tuple[Any, Array]:
    """Samples of a view as kernels take them, and which of them have it.

    Parameters
    ----------
    view : str, its name
    part : as the user gave it
    objects : whether the kernels take samples that are objects

    Raises
    ------
    ValueError : that names the view, where it holds no samples
    """
    if objects and (found := as_objects(part)) is not None:
        return found, ~found.absent
    listed = isinstance(part, Objects)
    if listed:
        part = as_array(list(part.values), f"view {view!r}")
    try:
        return _samples_of(part)
    except OverflowError:
        raise ValueError(f"view {view!r} holds a number above 1e308: give it in larger units") from None
    except (TypeError, ValueError) as error:
        if listed:
            more = "; kernels of objects are made by kernels.external(...)"
        else:
            more = ""
        raise ValueError(f"view {view!r}: {error}{more}") from None


def _samples_of(part: Any) -> tuple[Any, Array]:
    """The same for a view without a name."""
    check_form(part)
    if getattr(getattr(part, "dtype", None), "kind", "") == "c":
        raise ValueError("Complex data not supported: it holds complex numbers; give their parts as numbers")
    if isinstance(part, np.ndarray) and part.ndim == 1:
        part = part.reshape(-1, 1)
    table = as_table(part)
    if table is not None:
        return table, ~table.absent
    X = check_array(part, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False)
    if is_sparse(X) and not np.isfinite(X.data).all():
        raise ValueError("it is sparse and has a NaN or infinity among its entries; leave these out or fill them in")
    if not is_sparse(X):
        _refuse_infinity(X, part)
    if is_sparse(X) or not np.isnan(X).any():
        return X, np.ones(X.shape[0], dtype=bool)
    table = Table.of_numbers(X)
    return table, ~table.absent


def check_form(part: Any) -> None:
    """ValueError where samples have no columns, or more than rows and columns, or hold fields."""
    if len(part.shape) > 1 and part.shape[1] == 0:
        raise ValueError("it has no columns")
    if len(part.shape) > 2:
        raise ValueError(
            f"it has {len(part.shape)} dimensions, {part.shape}: give each sample one row, such as by "
            "X.reshape(len(X), -1), or a list of objects with kernels of their own"
        )
    if getattr(getattr(part, "dtype", None), "names", None):
        raise ValueError("it is a structured array: give its fields as the columns of a data frame")


def _refuse_infinity(X: Array, part: Any) -> None:
    """ValueError where a number is infinite, with its column and row."""
    if not np.isinf(X).any():
        return
    row, j = np.argwhere(np.isinf(X))[0]
    column = repr(column_names(part)[j]) if is_frame(part) else j
    raise ValueError(
        f"column {column} of X holds {X[row, j]} in row {row}, where a finite number is needed, or NaN where it is not "
        "known"
    )


def features_of(part: Any, samples: Any) -> Features:
    """The columns of a view, by name where it is a frame."""
    return replace(Features.of(samples), names=column_names(part) if is_frame(part) else None)


def stacked(first: Any, then: Any) -> Any:
    """Samples of two parts in the same form, one after the other."""
    if isinstance(first, Objects):
        return Objects(np.concatenate([first.values, then.values]))
    if isinstance(first, Table) or isinstance(then, Table):
        one, two = (each if isinstance(each, Table) else Table.of_numbers(each) for each in (first, then))
        return replace(one, numbers=np.vstack([one.numbers, two.numbers]), texts=np.vstack([one.texts, two.texts]))
    if is_sparse(first):
        return sparse.vstack([first, then], format="csr")
    return np.concatenate([first, then])
