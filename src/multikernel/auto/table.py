"""The user's samples as columns: arrays, sparse matrices, data frames of pandas or polars, and views in a dict.

Columns are read as kernels read them (tables/cells.py), but may mix strings and numbers. Which views are kernel
matrices is decided as for all estimators (sources/views.py); new samples then come as a matrix with a column for each
training sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from multikernel._arrays import host, is_sparse, unmasked
from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.checks import as_array, numbers, refuse_fields
from multikernel.banks.rows import BankRows
from multikernel.sources.joined import stand_ins
from multikernel.sources.matrices import matched_columns
from multikernel.sources.views import Views, views
from multikernel.sources.views import is_views as is_several
from multikernel.tables.cells import Cells, check_names, columns_of, is_frame
from multikernel.tables.columns import Declared
from multikernel.tables.objects import Objects, holds_cells


@dataclass(frozen=True, eq=False)
class GivenTable:
    """Columns by name, sparse matrices by name, and kernel matrices by name.

    Parameters
    ----------
    n : int, samples
    columns : dict of Cells
    sparse : dict of CSR matrices (n, p)
    given : dict of kernel matrices (n, training samples)
    views : dict, the view of each column where X consists of views
    types : dict, the types of columns where the form of X determines them
    rows : array (n,), the positions of these samples in the views' banks; None for all of them
    present : dict, from names of views and of ``given`` to bool arrays (n,), where some samples lack one; values of
        another sample fill these in
    column_labels : dict, from names of views that are kernel matrices to the labels of their columns
    nameless : the views whose columns have no names, but numbers in their place; "" where there are no views
    """

    n: int
    columns: dict[str, Cells]
    sparse: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Array] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    types: dict[str, Declared] = field(default_factory=dict)
    rows: Array | None = None
    present: dict[str, Array] = field(default_factory=dict)
    column_labels: dict[str, Array] = field(default_factory=dict)
    nameless: frozenset[str] = frozenset()

    def has(self, name: str) -> Array:
        """Which samples have a view, or entries in a kernel matrix, bool array (n,)."""
        return self.present.get(name, np.ones(self.n, dtype=bool))


def read(
    X: Any,
    matrix_views: Sequence[str] | None = None,
    training: Array | None = None,
    column_labels: Mapping[str, Any] | None = None,
) -> GivenTable:
    """The table of samples.

    Parameters
    ----------
    X : array, sparse matrix, data frame, or views: a dict of these and of kernel matrices
    matrix_views : names of the views that are kernel matrices; None for training samples, where X shows them
    training : for new samples, the training samples among those of a view's bank; None for all of them
    column_labels : for new samples the labels that the columns of kernel matrices had in training, by view

    Raises
    ------
    ValueError : where X is no table of samples, or has views of different lengths
    """
    if is_sparse(X):
        return _sparse_table(X)
    if is_views(X):
        if matrix_views is not None:
            return _new_views(Views.of(X), matrix_views, training, column_labels or {})
        return _training_views(X)
    if is_frame(X):
        check_names(X)
        return GivenTable(len(X), dict(zip(map(str, X.columns), columns_of(X, mixed=True), strict=True)))
    return _array_table(host(X))


def as_table(X: Any, new_samples: bool = False) -> Any:
    """The user's samples in one of the forms that ``read`` takes.

    A bank of kernels, a stack of matrices and a list of matrices, frames or kernel matrices are views by number; a list
    or a column of strings is a column of texts.

    Parameters
    ----------
    X : as ``fit`` or ``predict`` took it
    new_samples : whether these are new samples of a model that has learned from kernel matrices
    """
    X = unmasked(X)
    if isinstance(X, BankRows):
        return _by_kernel(X.bank, X.rows)
    if isinstance(X, KernelBank):
        if not new_samples:
            return _by_kernel(X)
        return dict(_named_matrices("", X))
    if new_samples and isinstance(X, np.ndarray) and X.ndim == 3:
        X = list(X)
    if isinstance(X, list | tuple) and X and all(len(getattr(view, "shape", ())) == 2 for view in X):
        return {f"view {k}": view for k, view in enumerate(X)}
    if isinstance(X, np.ndarray) and is_several(X):
        return {f"view {k}": view for k, view in enumerate(X)}
    if is_views(X) or is_frame(X) or is_sparse(X):
        return X
    if is_of_texts(X):
        return np.asarray(X, dtype=object).reshape(-1, 1)
    listed, X = X, as_array(X, "X")
    refuse_fields(X, "X", "pandas.DataFrame(X) is a table with them as columns")
    if X.dtype.kind == "O" and (X.ndim == 1 or isinstance(listed, list | tuple)) and not holds_cells(listed):
        _refuse_objects("X", listed[0])
    if X.dtype.kind in "US":
        return X.astype(object)
    return X


def is_views(X: Any) -> bool:
    """Whether X holds views by name; a sparse matrix of keys is a mapping, but not one of views."""
    return isinstance(X, Views) or (isinstance(X, Mapping) and not is_sparse(X))


def is_of_texts(X: Any) -> bool:
    """Whether X is a list or a column of strings, with a text for each sample."""
    if isinstance(X, KernelBank | Mapping | type) or is_frame(X) or not hasattr(X, "__len__"):
        return False
    if getattr(X, "ndim", 1) != 1:
        return False
    return len(X) > 0 and all(isinstance(cell, str) for cell in X)


def is_table(X: Any) -> bool:
    """Whether X has to be read column by column: views, a data frame, or an array of objects."""
    return is_views(X) or is_frame(X) or getattr(getattr(X, "dtype", None), "kind", "") == "O"


def _by_kernel(bank: KernelBank, rows: Array | None = None) -> Views:
    """A view for each kernel of a bank."""
    return Views(_names(bank), tuple(bank.select([k]) for k in range(len(bank))), rows)


def _training_views(X: Views | Mapping[Any, Any]) -> GivenTable:
    """The table of training samples in views."""
    sources = views(X)
    all_views = _by_kernel(sources) if isinstance(sources, KernelBank) else sources
    all_views.check_matrices()
    return _of_views(all_views, all_views.items())


def _new_views(
    X: Views, matrix_views: Sequence[str], training: Array | None, column_labels: Mapping[str, Any]
) -> GivenTable:
    """The table of new samples in views; see ``read``."""
    against = slice(None) if training is None else training
    views_by_name = (
        (name, matched_columns(name, X.part(name), X.columns.get(name), column_labels.get(name))) for name in X.names
    )
    of_training = (
        (name, view.block(slice(None), against) if isinstance(view, KernelBank) else view)
        for name, view in views_by_name
    )
    return _of_views(X, of_training, matrix_views)


def _of_views(X: Views, views_by_name: Iterable[tuple[str, Any]], matrix_views: Sequence[str] = ()) -> GivenTable:
    """The table of views; those that are banks, or are named by ``matrix_views``, are kernel matrices."""
    columns: dict[str, Cells] = {}
    matrices: dict[str, Any] = {}
    kernels: dict[str, Array] = {}
    view_of: dict[str, str] = {}
    present: dict[str, Array] = {}
    nameless = set[str]()
    for name, view in views_by_name:
        if isinstance(view, KernelBank):
            matrices_by_name = dict(_named_matrices(name, view))
            kernels |= matrices_by_name
            present |= {} if X.has(name).all() else dict.fromkeys(matrices_by_name, X.has(name))
            continue
        if name in matrix_views:
            kernels[name] = numbers(view, f"view {name!r}")
            is_known = X.has(name) & ~np.isnan(kernels[name]).all(axis=-1)
            present |= {} if is_known.all() else {name: is_known}
            continue
        if isinstance(view, Objects):
            as_array(list(view.values), f"view {name!r}")  # raises a more precise error for a table with a mistake
            _refuse_objects(f"view {name!r}", view.values[0])
        try:
            table = read(_table_of_view(view))
            if not (table.columns or table.sparse):
                raise ValueError("it has no columns")
        except (TypeError, ValueError) as error:
            raise ValueError(f"view {name!r}: {error}") from None
        if table.nameless:
            nameless.add(name)
        has = X.has(name) & ~_samples_without_cells(table)
        if not has.all():
            present[name] = has
            if has.any():
                table = replace(table, columns=_with_stand_ins(table.columns, has))
        cells_by_name = {f"{name}: {column}": cells for column, cells in table.columns.items()}
        duplicate = next((column for column in cells_by_name if column in columns), None)
        if duplicate is not None:
            raise ValueError(
                f"views {view_of[duplicate]!r} and {name!r} both have a column {duplicate!r}: rename one of them"
            )
        columns |= cells_by_name
        view_of |= dict.fromkeys(cells_by_name, name)
        matrices |= dict.fromkeys([name] * len(table.sparse), table.sparse.get("sparse"))
    labels = {name: np.array(list(column_labels), dtype=object) for name, column_labels in X.columns.items()}
    return GivenTable(
        n=len(X),
        columns=columns,
        sparse=matrices,
        given=kernels,
        views=view_of,
        rows=X.rows,
        present=present,
        column_labels=labels,
        nameless=frozenset(nameless),
    )


def _samples_without_cells(table: GivenTable) -> Array:
    """Which samples of a view have no cell; none of a sparse one, whose zeros are values."""
    if table.sparse:
        return np.zeros(table.n, dtype=bool)
    return np.all([cells.absent for cells in table.columns.values()], axis=0)


def _with_stand_ins(columns: dict[str, Cells], has: Array) -> dict[str, Cells]:
    """The columns of a view, with cells of other samples for those that lack it."""
    rows = stand_ins(has)
    return {name: replace(cells, values=cells.values[rows]) for name, cells in columns.items()}


def _refuse_objects(holder: str, first: Any) -> NoReturn:
    """ValueError for a list of objects, for which only the user has kernels."""
    raise ValueError(
        f"{holder} holds objects of type {type(first).__name__}, and the automatic estimator takes numbers, strings, "
        "dates and kernel matrices: take another estimator with kernels.external(...), or give the matrix as a view"
    )


def _named_matrices(view: str, bank: KernelBank) -> Iterator[tuple[str, Array]]:
    """The matrices of a bank and their names; MemoryError where they are larger than the memory."""
    check_memory(
        len(bank) * bank.shape[0] * bank.shape[1],
        f"a bank of {len(bank)} kernels as matrices",
        "learn from a bank by L1MKL, which stores less",
    )
    if view and len(bank) == 1:
        yield view, bank.matrix(0)
        return
    for k, name in enumerate(_names(bank)):
        yield f"{view}: {name}" if view else name, bank.matrix(k)


def _names(bank: KernelBank) -> tuple[str, ...]:
    return bank.names or tuple(f"kernel {k}" for k in range(len(bank)))


def _table_of_view(value: Any) -> Any:
    """A view as a table; a single column may have one axis."""
    if hasattr(value, "to_frame"):
        return value.to_frame()
    table = value if hasattr(value, "shape") else np.asarray(value)
    if len(table.shape) == 1:
        return table.reshape(-1, 1)
    return table


def _sparse_table(X: Any) -> GivenTable:
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers; give their parts as numbers")
    matrix = X.tocsr().astype(float)
    if not np.isfinite(matrix.data).all():
        raise ValueError("X is sparse and has a NaN or infinity among its entries; leave these out or fill them in")
    if matrix.shape[1] <= 200:  # so few columns are typed one by one, as those of an array
        return _array_table(matrix.toarray())
    return GivenTable(matrix.shape[0], {}, {"sparse": matrix})


def _array_table(X: Any) -> GivenTable:
    values = np.asarray(X)
    if values.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {values.ndim}D array instead: X must have a row for each sample and a column for "
            "each feature. Reshape your data either using array.reshape(-1, 1) if it has a single feature or "
            "array.reshape(1, -1) if it is a single sample"
        )
    columns = {f"x{j}": cells for j, cells in enumerate(columns_of(values, mixed=True))}
    return GivenTable(len(values), columns, nameless=frozenset({""}))
