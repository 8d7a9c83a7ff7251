"""Kernels of categories and of binary fingerprints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.kernels.base import Fact, Kernel
from multikernel.kernels.bits import shares, words
from multikernel.kernels.categories import OneHot
from multikernel.kernels.dot import Linear
from multikernel.kernels.encoding import Encoded
from multikernel.kernels.facts import OnDemand
from multikernel.kernels.features import Features
from multikernel.tables.table import as_samples


@dataclass
class Hamming(Kernel):
    """k(x, z) = the share of the columns in which x and z agree, in [0, 1].

    Categories are strings, pandas categories, or numbers. Missing cells are a category of their own. A category that
    the training sample does not have agrees with none, and is said in a warning.

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
        X, Z = as_samples(X), as_samples(X if Z is None else Z)
        features = Features.of(Z)
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
            return shares(X, Z)
        dot: Array = Linear()(X, Z).astype(float)
        union = Linear().diagonal(X)[:, None] + Linear().diagonal(X if Z is None else Z)[None, :] - dot
        K = np.zeros_like(dot)
        np.divide(dot, union, out=K, where=union > 0)
        return K

    def diagonal(self, X: Any) -> Array:
        if self.packed:
            return words(X).any(axis=1).astype(float)
        return (Linear().diagonal(X) > 0).astype(float)

    def facts(self) -> tuple[Fact, ...]:
        return (OnDemand(self),) if self.packed else ()


def _column(X: Any, j: int) -> Array:
    """Column j, dense."""
    if hasattr(X, "tocsr"):
        return X[:, [j]].toarray()[:, 0]
    return X[:, j]
