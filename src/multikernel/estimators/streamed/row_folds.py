"""The fold in which a row is held out: a hash of its cells, which does not depend on when and where it is read.

So a row that is removed again is removed from the fold that it was in, the parts of a pass may be computed in any order
and on any machine, and equal rows are held out together.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from multikernel._arrays import host, is_sparse
from multikernel._typing import Array
from multikernel.tables.table import Table

_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of the generator SplitMix64
_STEP = np.uint64(0x9E3779B97F4A7C15)


def fold_of_rows(X: Any, Y: Array, count: int) -> Array:
    """The fold of each row, 0..count - 1.

    Parameters
    ----------
    X : array, CSR matrix or table of n checked samples
    Y : array (n, t), targets
    count : int, how many folds
    """
    if count == 1:
        return np.zeros(len(Y), dtype=np.intp)
    code, X = _of_numbers(Y, np.uint64(0)), host(X)
    if isinstance(X, Table):
        code = _of_numbers(np.where(np.isnan(X.numbers), 0.0, X.numbers), code)
        for column in X.texts.T:
            texts, where = np.unique([str(text) for text in column], return_inverse=True)
            values = np.array([zlib.crc32(text.encode()) for text in texts], dtype=np.uint64)
            code = _mixed(code + _STEP + values[where])
    elif is_sparse(X):
        code = _mixed(code + _of_sparse(X))
    else:
        code = _of_numbers(X, code)
    return (code % np.uint64(count)).astype(np.intp)


def _of_numbers(X: Array, code: Any) -> Array:
    X = np.ascontiguousarray(X, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
    total = np.full(len(X), code, dtype=np.uint64)
    for column in X.T:
        total = _mixed(total + _STEP + np.ascontiguousarray(column).view(np.uint64))
    return total


def _of_sparse(X: Any) -> Array:
    """A hash of each row: a sum over its entries, so that their order does not matter."""
    X = X.tocsr()
    total = np.zeros(X.shape[0], dtype=np.uint64)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    entries = np.ascontiguousarray(X.data, dtype=np.float64).view(np.uint64)
    np.add.at(total, rows, _mixed(entries + _STEP * (X.indices.astype(np.uint64) + np.uint64(1))))
    return total


def _mixed(code: Array) -> Array:
    code = (code ^ (code >> np.uint64(30))) * _MIX[0]
    code = (code ^ (code >> np.uint64(27))) * _MIX[1]
    return np.asarray(code ^ (code >> np.uint64(31)))
