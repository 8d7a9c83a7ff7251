"""Samples, dense or sparse, in the forms in which kernels and banks evaluate them."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._typing import Array


def as_floats(X: Any) -> Any:
    """X itself where it holds floats, else as float64: integer products wrap around, and integers cannot be scaled."""
    X = X if hasattr(X, "dtype") else np.asarray(X)
    return X if X.dtype.kind == "f" else X.astype(np.float64)


def in_double(X: Any) -> Any:
    """Samples in double precision; X itself where it is."""
    return X if X.dtype == np.float64 else X.astype(np.float64)


def dense(X: Any) -> Array:
    """Floats, not sparse."""
    X = as_floats(X)
    return X.toarray() if hasattr(X, "toarray") else X


def scaled_rows(X: Any, factors: Array) -> Any:
    """diag(factors) X, sparse where X is."""
    return X.multiply(factors[:, None]).tocsr() if hasattr(X, "multiply") else X * factors[:, None]


def scaled_columns(X: Any, factors: Array) -> Any:
    """X diag(factors), sparse where X is."""
    return X.multiply(factors).tocsr() if hasattr(X, "multiply") else X * factors
