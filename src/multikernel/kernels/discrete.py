"""Kernels of categories and of binary fingerprints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._arrays import foreign, host, is_sparse, like
from multikernel._typing import Array
from multikernel.kernels.base import Fact, Kernel
from multikernel.kernels.categories import OneHot
from multikernel.kernels.dot import Linear
from multikernel.kernels.encoding import Encoded
from multikernel.kernels.facts import OnDemand
from multikernel.kernels.features import Features
from multikernel.tables.cells import check_same_columns, column_names, is_frame
from multikernel.tables.table import Table, as_samples, with_missing


@dataclass
class Hamming(Kernel):
    """k(x, z) = the share of the columns in which x and z agree, in [0, 1].

    Categories are strings, pandas categories, or numbers. Missing cells are one more category. A category that
    the training sample does not have agrees with none of its samples; a warning names it where the sample has strings
    or missing cells.

    Examples
    --------
    >>> import pandas as pd
    >>> from multikernel import kernels
    >>> kernels.Hamming()(pd.DataFrame({"sex": ["f", "m", "f"], "port": ["S", "S", None]}))
    array([[1. , 0.5, 0.5],
           [0.5, 1. , 0. ],
           [0.5, 0. , 1. ]])
    """

    def __call__(self, X: Any, Z: Any = None) -> Array:
        if is_frame(Z):
            check_same_columns(X, column_names(Z))
        X = with_missing(as_samples(X))
        Z = X if Z is None else with_missing(as_samples(Z))
        features = Features.of(Z)
        if isinstance(X, Table):  # a column without any value has the type that it has in training
            X = X.with_types(features.strings, features.times)
        if Features.of(X).strings != features.strings:
            raise ValueError(
                "Hamming() compares strings with strings: X has them in other columns than the training sample"
            )
        if features.strings or features.missing:
            return self.resolve(features)(X, Z)
        K = np.zeros((X.shape[0], Z.shape[0]))
        for j in range(X.shape[1]):
            K += _column(X, j)[:, None] == _column(Z, j)
        K /= X.shape[1]
        return K

    def diagonal(self, X: Any) -> Array:
        return np.ones(X.shape[0])

    def resolve(self, features: Features) -> Kernel:
        """Strings, and columns with missing cells, become columns of zeros and ones."""
        if not (features.strings or features.missing):
            return self
        return Encoded(Linear() if features.n == 1 else (1.0 / features.n) * Linear(), OneHot().resolve(features))


@dataclass
class Tanimoto(Kernel):
    """k(x, z) = x'z / (|x|^2 + |z|^2 - x'z), the share of common bits of two binary fingerprints.

    Two empty fingerprints have k = 0. The formula is a kernel of any real vectors: it is the sum s + s^2 + s^3 + ...
    with s = x'z / (|x|^2 + |z|^2), which is a kernel with values in [-1/2, 1/2].

    Parameters
    ----------
    packed : bool, whether samples are bits, eight in a byte, as ``np.packbits(bits, axis=1)`` returns them. Then bits
        are counted, which is exact, and several times as fast as a product of matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> bits = np.array([[1, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    >>> kernels.Tanimoto(packed=True)(np.packbits(bits, axis=1)).round(2)
    array([[1.  , 0.67, 0.25],
           [0.67, 1.  , 0.  ],
           [0.25, 0.  , 1.  ]])
    """

    packed: bool = False

    def __call__(self, X: Any, Z: Any = None) -> Array:
        if self.packed:
            return _shares(X, Z)
        dot = Linear()(X, Z)
        union = Linear().diagonal(X)[:, None] + Linear().diagonal(X if Z is None else Z)[None, :] - dot
        K = np.zeros_like(dot)
        np.divide(dot, union, out=K, where=union > 0)
        return K

    def diagonal(self, X: Any) -> Array:
        if self.packed:
            return _words(X).any(axis=1).astype(float)
        return (Linear().diagonal(X) > 0).astype(float)

    def facts(self) -> tuple[Fact, ...]:
        if self.packed:
            return (OnDemand(self),)
        return ()


def _column(X: Any, j: int) -> Array:
    """Column j, dense."""
    if is_sparse(X):
        return X[:, [j]].toarray()[:, 0]
    return X[:, j]


# -- fingerprints as words of 64 bits ----------------------------------------------------------------------------------


def _words(X: Any) -> Array:
    """Packed bits as words of 64 bits; zeros fill up the last word.

    Parameters
    ----------
    X : array (n, bytes) of whole numbers from 0 to 255, of any type

    Raises
    ------
    ValueError : where X is sparse, or holds another number
    """
    if is_sparse(X):
        raise ValueError(
            "Tanimoto(packed=True) takes bits that are packed, which are dense: np.packbits(X.toarray(), axis=1)"
        )
    values = host(X) if foreign(X) else np.asarray(X)
    n, count = values.shape
    word = np.dtype(np.uint64).itemsize
    packed = np.zeros((n, -(-count // word) * word), dtype=np.uint8)
    with np.errstate(invalid="ignore"):
        packed[:, :count] = values
    if values.dtype != np.uint8 and not np.array_equal(packed[:, :count], values):
        i, j = np.argwhere(packed[:, :count] != values)[0]
        raise ValueError(
            f"Tanimoto(packed=True) takes bytes, whole numbers from 0 to 255, and X has {values[i, j]} at row {i}, "
            f"column {j}: give np.packbits(bits, axis=1), or leave packed=True out"
        )
    return packed.view(np.uint64)


def _shares(X: Any, Z: Any = None) -> Array:
    """The share of common bits of every pair, shape (len(X), len(Z)); in single precision where X is."""
    from multikernel.kernels import _bits

    same = Z is None or Z is X
    A = _words(X)
    B = A if same else _words(Z)
    of_a = _bits.counts(A)
    K = np.empty((len(A), len(B)), dtype=np.float32 if X.dtype == np.float32 else np.float64)
    _bits.shares(A, B, of_a, of_a if same else _bits.counts(B), K, same)
    return like(X, K)
