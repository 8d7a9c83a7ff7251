"""What a user gives, as columns: arrays, sparse matrices, data frames of pandas or polars, and views in a dict.

Columns are read as kernels read them (kernels/frames.py), but strings may stand beside numbers. A view that is a
symmetric matrix of n x n numbers, none of them larger than the roots of its diagonal allow, is a kernel matrix; new
samples then come as a matrix with a column for each training sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from multikernel._arrays import host
from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.kernels.declared import Declared
from multikernel.kernels.frames import FrameColumn, check_names, columns_of, is_frame

_FEW = 200  # columns up to which a sparse matrix is read as numbers
_SYMMETRIC = 1e-8  # of the largest entry


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, sparse matrices by name, and kernel matrices by name.

    Parameters
    ----------
    n : int, samples
    columns : dict of FrameColumn
    sparse : dict of CSR matrices (n, p)
    given : dict of kernel matrices (n, training samples)
    views : dict, the view of each column where views were given
    types : dict, what columns hold where the form of X says it
    """

    n: int
    columns: dict[str, FrameColumn]
    sparse: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Array] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    types: dict[str, Declared] = field(default_factory=dict)


def read(X: Any, given: Sequence[str] | None = None) -> Table:
    """The table of samples.

    Parameters
    ----------
    X : array, sparse matrix, data frame, or dict of these and of kernel matrices
    given : names of the views that are kernel matrices; None for training samples, which show it

    Raises
    ------
    ValueError : for what is no table of samples, and for views of different lengths
    """
    if sparse.issparse(X):
        return _sparse(X)
    if is_views(X):
        return _views(X, given)
    if is_frame(X):
        check_names(X)
        return Table(len(X), dict(zip(map(str, X.columns), columns_of(X, mixed=True), strict=True)))
    return _array(host(X))


def as_table(X: Any) -> Any:
    """What a user gives, as one of the forms that ``read`` takes.

    A bank of kernels and a list of matrices, frames or kernel matrices are views by number; a list or a column of
    strings is a column of texts.
    """
    if isinstance(X, KernelBank):
        entries = len(X) * X.shape[0] * X.shape[1]
        check_memory(
            entries, f"a bank of {len(X)} kernels as matrices", "learn from a bank by L1MKL, which stores less"
        )
        return {f"kernel {k}": X.matrix(k) for k in range(len(X))}
    if isinstance(X, list | tuple) and X and all(len(getattr(view, "shape", ())) == 2 for view in X):
        return {f"view {k}": view for k, view in enumerate(X)}
    if is_views(X) or is_frame(X) or sparse.issparse(X):
        return X
    if is_of_texts(X):
        return np.asarray(X, dtype=object).reshape(-1, 1)
    X = np.asarray(X)
    return X.astype(object) if X.dtype.kind in "US" else X


def is_views(X: Any) -> bool:
    """Whether X holds views by name; a sparse matrix by keys is a mapping, too."""
    return isinstance(X, Mapping) and not sparse.issparse(X)


def is_of_texts(X: Any) -> bool:
    """Whether X is a list or a column of strings, with a text for each sample."""
    if isinstance(X, KernelBank | Mapping) or is_frame(X) or not hasattr(X, "__len__") or getattr(X, "ndim", 1) != 1:
        return False
    return len(X) > 0 and all(isinstance(cell, str) for cell in X)


def is_table(X: Any) -> bool:
    """Whether X has to be read column by column: views, a data frame, or an array of objects."""
    return is_views(X) or is_frame(X) or getattr(getattr(X, "dtype", None), "kind", "") == "O"


def _views(X: Mapping[Any, Any], given: Sequence[str] | None) -> Table:
    if not X:
        raise ValueError("X is a dict without any view; give at least one array, data frame or kernel matrix")
    columns: dict[str, FrameColumn] = {}
    matrices: dict[str, Any] = {}
    kernels: dict[str, Array] = {}
    views: dict[str, str] = {}
    lengths: dict[str, int] = {}
    for key, value in X.items():
        name = str(key)
        if _is_kernel(value) if given is None else name in given:
            kernels[name] = np.asarray(value, dtype=float)
            lengths[name] = len(kernels[name])
            continue
        part = read(_as_table(value))
        lengths[name] = part.n
        columns |= {f"{name}: {column}": cells for column, cells in part.columns.items()}
        views |= {f"{name}: {column}": name for column in part.columns}
        matrices |= dict.fromkeys([name] * len(part.sparse), part.sparse.get("sparse"))
    if len(set(lengths.values())) > 1:
        raise ValueError(f"views must have a row for each sample, got rows: {lengths}")
    return Table(next(iter(lengths.values())), columns, matrices, kernels, views)


def _as_table(value: Any) -> Any:
    """A view as a table; one of a single column may have one axis."""
    if hasattr(value, "to_frame"):
        return value.to_frame()
    table = value if hasattr(value, "shape") else np.asarray(value)
    return table.reshape(-1, 1) if len(table.shape) == 1 else table


def _is_kernel(value: Any) -> bool:
    if is_frame(value) or sparse.issparse(value) or isinstance(value, Mapping):
        return False
    K = np.asarray(value)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.dtype.kind not in "fiu" or len(K) < 3:
        return False
    diagonal, largest = np.diagonal(K), np.abs(K).max()
    if not np.isfinite(largest) or (diagonal < 0).any() or np.abs(K - K.T).max() > _SYMMETRIC * largest:
        return False
    return bool((np.outer(diagonal, diagonal) + _SYMMETRIC * largest**2 >= K**2).all())


def _sparse(X: Any) -> Table:
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers; give their parts as numbers")
    matrix = X.tocsr().astype(float)
    if not np.isfinite(matrix.data).all():
        raise ValueError("X is sparse and has a NaN or infinity among its entries; leave these out or fill them in")
    if matrix.shape[1] <= _FEW:
        return _array(matrix.toarray())
    return Table(matrix.shape[0], {}, {"sparse": matrix})


def _array(X: Any) -> Table:
    values = np.asarray(X)
    if values.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {values.ndim}D array instead: X must have a row for each sample and a column for "
            "each feature. Reshape your data either using array.reshape(-1, 1) if it has a single feature or "
            "array.reshape(1, -1) if it is a single sample"
        )
    return Table(len(values), {f"x{j}": cells for j, cells in enumerate(columns_of(values, mixed=True))})
