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
from multikernel.tables.cells import column_names, is_frame
from multikernel.tables.objects import Objects, as_objects
from multikernel.tables.table import Table, as_table


def samples_of_view(view: str, source: Any, objects: bool = False) -> tuple[Any, Array]:
    """Samples of a view as kernels take them, and which of them have it.

    Parameters
    ----------
    view : str, its name
    source : the data of the view, as the user gave it
    objects : whether the kernels take samples that are objects

    Raises
    ------
    ValueError : where the view does not hold samples; the message names the view
    """
    if objects and (sample_objects := as_objects(source)) is not None:
        return sample_objects, ~sample_objects.absent
    is_list = isinstance(source, Objects)
    if is_list:
        source = as_array(list(source.values), f"view {view!r}")
    try:
        return _samples_of(source)
    except OverflowError:
        raise ValueError(f"view {view!r} holds a number above 1e308: give it in larger units") from None
    except (TypeError, ValueError) as error:
        if is_list:
            hint = "; kernels of objects are made by kernels.external(...)"
        else:
            hint = ""
        raise ValueError(f"view {view!r}: {error}{hint}") from None


def _samples_of(source: Any) -> tuple[Any, Array]:
    """Samples as kernels take them and which are present, with errors that do not name the view."""
    check_form(source)
    if getattr(getattr(source, "dtype", None), "kind", "") == "c":
        raise ValueError("Complex data not supported: it holds complex numbers; give their parts as numbers")
    if isinstance(source, np.ndarray) and source.ndim == 1:
        source = source.reshape(-1, 1)
    table = as_table(source)
    if table is not None:
        return table, ~table.absent
    X = check_array(source, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False)
    if is_sparse(X) and not np.isfinite(X.data).all():
        raise ValueError("it is sparse and has a NaN or infinity among its entries; leave these out or fill them in")
    if not is_sparse(X):
        _refuse_infinity(X, source)
    if is_sparse(X) or not np.isnan(X).any():
        return X, np.ones(X.shape[0], dtype=bool)
    table = Table.of_numbers(X)
    return table, ~table.absent


def check_form(source: Any) -> None:
    """ValueError where samples have no columns, have more than two dimensions, or are a structured array."""
    if len(source.shape) > 1 and source.shape[1] == 0:
        raise ValueError("it has no columns")
    if len(source.shape) > 2:
        raise ValueError(
            f"it has {len(source.shape)} dimensions, {source.shape}: give each sample one row, such as by "
            "X.reshape(len(X), -1), or a list of objects with kernels that take them"
        )
    if getattr(getattr(source, "dtype", None), "names", None):
        raise ValueError("it is a structured array: give its fields as the columns of a data frame")


def _refuse_infinity(X: Array, source: Any) -> None:
    """ValueError where a number is infinite; the message names its column and row."""
    if not np.isinf(X).any():
        return
    row, j = np.argwhere(np.isinf(X))[0]
    column = repr(column_names(source)[j]) if is_frame(source) else j
    raise ValueError(
        f"column {column} of X holds {X[row, j]} in row {row}, where a finite number is needed, or NaN where it is not "
        "known"
    )


def stacked(first: Any, second: Any) -> Any:
    """Two sets of samples of the same kind, one below the other."""
    if isinstance(first, Objects):
        return Objects(np.concatenate([first.values, second.values]))
    if isinstance(first, Table) or isinstance(second, Table):
        upper, lower = (
            samples if isinstance(samples, Table) else Table.of_numbers(samples) for samples in (first, second)
        )
        return replace(
            upper, numbers=np.vstack([upper.numbers, lower.numbers]), texts=np.vstack([upper.texts, lower.texts])
        )
    if is_sparse(first):
        return sparse.vstack([first, second], format="csr")
    return np.concatenate([first, second])
