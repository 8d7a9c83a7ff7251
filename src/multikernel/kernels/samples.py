"""Samples, dense or sparse, in the forms in which kernels and banks evaluate them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from multikernel._arrays import as_dense, foreign, is_sparse, like, namespace
from multikernel._typing import Array


def as_floats(X: Any) -> Any:
    """X itself where it holds floats, else as float64: integer products wrap around, and integers cannot be scaled."""
    if not hasattr(X, "dtype"):
        X = np.asarray(X)
    if foreign(X):  # converted to double precision when it was checked
        return X
    if X.dtype.kind == "f":
        return X
    return X.astype(np.float64)


def dense(X: Any) -> Array:
    """X as a dense array of floats."""
    X = as_floats(X)
    return as_dense(X)


def scaled_rows(X: Any, factors: Array) -> Any:
    """diag(factors) X, sparse where X is."""
    if foreign(X):
        return X * like(X, factors)[:, None]
    if is_sparse(X):
        return X.multiply(factors[:, None]).tocsr()
    return X * factors[:, None]


def scaled_columns(X: Any, factors: Array) -> Any:
    """X diag(factors), sparse where X is."""
    if foreign(X):
        return X * like(X, factors)
    if is_sparse(X):
        return X.multiply(factors).tocsr()
    return X * factors


def products(X: Any, Z: Any) -> Array:
    """x'z, shape (len(X), len(Z)), dense."""
    if foreign(X):
        return X @ Z.T
    return safe_sparse_dot(X, Z.T, dense_output=True)


def squared_lengths(X: Any) -> Array:
    """x'x, shape (len(X),)."""
    if foreign(X):
        return namespace(X).sum(X * X, axis=1)
    return row_norms(X, squared=True)
