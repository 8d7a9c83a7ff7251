"""Which features a kernel takes that do not look at the samples, by what it states of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._arrays import host
from multikernel._arrays import taken as columns_of
from multikernel._linalg import inverse_root
from multikernel._typing import Array, Columns
from multikernel.banks.low_rank.feature_map import EncodedMap, OneKernel
from multikernel.banks.low_rank.fourier import fourier
from multikernel.banks.low_rank.polynomial import polynomial
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import OfDistance
from multikernel.kernels.dot import Linear, Polynomial
from multikernel.kernels.facts import Encodes, ExplicitFeatures, PowerOf, Wrapped
from multikernel.kernels.samples import dense, scaled_rows
from multikernel.kernels.views import Normalized, Restricted


@dataclass(frozen=True, eq=False)
class Taken(OneKernel):
    """Some columns as they are: the features of x'z.

    Parameters
    ----------
    columns : int array
    """

    columns: Array

    @property
    def size(self) -> int:
        return len(self.columns)

    def _features(self, X: Any) -> Array:
        return dense(columns_of(X, self.columns, axis=1))


@dataclass(frozen=True, eq=False)
class Multiplied(OneKernel):
    """The features of ``kernel`` times a number, or divided by the root of its self-values.

    Parameters
    ----------
    map : feature map of the kernel
    kernel : Kernel whose cosine it is; None where the features are multiplied
    factor : float >= 0
    """

    map: OneKernel
    kernel: Kernel | None
    factor: float = 1.0

    @property
    def size(self) -> int:
        return self.map.size

    def _features(self, X: Any) -> Array:
        F = self.map._features(X)
        if self.kernel is None:
            return F * self.factor
        return scaled_rows(F, inverse_root(host(self.kernel.diagonal(X))))


def random_map(kernel: Kernel, X: Any, rank: int, rng: np.random.Generator) -> OneKernel | None:
    """At most ``rank`` features of a resolved kernel that has learned; None where none are known.

    Parameters
    ----------
    kernel : Kernel, not centred
    X : samples, of which only the columns matter
    rank : how many features at most; those of x'z are as many as columns
    rng : source of random numbers
    """
    for fact in kernel.facts():
        match fact:
            case Wrapped(inner, by) if by != "centered":
                made = random_map(inner, X, rank, rng)
                if made is None:
                    return None
                return Multiplied(made, inner) if isinstance(by, str) else Multiplied(made, None, float(np.sqrt(by)))
            case Encodes(inner, encoding, columns):
                own = None if columns is None else np.asarray(columns, dtype=int)
                encoded = encoding(X[:1] if own is None else X[:1][:, own.tolist()])
                made = random_map(inner, encoded, rank, rng)
                return None if made is None else EncodedMap(encoding, own, made)
            case ExplicitFeatures(columns):
                return Taken(_columns(columns, X))
            case OfDistance(distance, columns):
                return fourier(distance, _columns(columns, X), rank, rng)
            case PowerOf(base, degree):
                return _power(base, degree, X, rank, rng)
    return None


def _power(base: Kernel, degree: int, X: Any, rank: int, rng: np.random.Generator) -> OneKernel | None:
    """Of powers of an inner product, with or without a constant."""
    columns: Columns | None = None
    if isinstance(base, Restricted) and not isinstance(base.columns, slice):
        columns, base = base.columns, base.kernel
    own = _columns(columns, X)
    if isinstance(base, Normalized):
        inner = base.kernel if columns is None else Restricted(base.kernel, columns)
        made = _power(inner, degree, X, rank, rng)
        return None if made is None else Multiplied(made, inner**degree)
    match base:
        case Linear():
            return polynomial(own, 1.0, 0.0, degree, rank, rng)
        case Polynomial(1, coef0, gamma):
            return polynomial(own, float(gamma), float(coef0), degree, rank, rng)
    return None


def _columns(columns: Columns | None, X: Any) -> Array:
    return np.arange(X.shape[1]) if columns is None else np.asarray(columns, dtype=int)
