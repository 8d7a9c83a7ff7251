"""Random features of kernels, chosen by the facts that a kernel states, independently of the samples.

**Fourier features**: k(x - z) is the mean of cos w'(x - z) over frequencies w of the kernel's spectral density.

    exp(-gamma |d|^2)       w normal with variance 2 gamma
    exp(-gamma |d|_1)       w_j Cauchy with scale gamma
    Matern(gamma, nu)       w multivariate t with 2 nu degrees of freedom and scale sqrt(gamma)

The features sqrt(2 / r) (cos w'x, sin w'x), for r / 2 frequencies, have length one. For the first and the last kernel,
frequencies are orthogonal in blocks of as many as there are columns, which reduces the variance (Rahimi and Recht 2007;
Yu and others 2016).

**Features of (gamma x'z + coef0)^d**: all monomials if these are few, else a sketch of them. With
u = (sqrt(gamma) x, sqrt(coef0)) the kernel is (u'v)^d. Its features are the monomials of degree d in u, each times the
root of its multinomial coefficient. TensorSketch (Pham and Pagh 2013) computes r features without listing monomials:
d independent count sketches of u are convolved by fast Fourier transforms, and inner products have the right mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np

from multikernel._arrays import foreign, host, like, namespace, taken
from multikernel._linalg import inverse_root, product
from multikernel._typing import Array, Columns
from multikernel.banks.indices import columns_of
from multikernel.banks.low_rank.feature_map import EncodedMap, OneKernel
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import RBF, DistanceKernel, Laplacian, OfDistance
from multikernel.kernels.dot import Linear, Polynomial
from multikernel.kernels.facts import Encodes, ExplicitFeatures, PowerOf, Wrapped
from multikernel.kernels.radial import Matern
from multikernel.kernels.samples import dense, scaled_rows
from multikernel.kernels.views import Normalized, Restricted


@dataclass(frozen=True, eq=False)
class Fourier(OneKernel):
    """The Fourier features sqrt(2 / r) (cos w'x, sin w'x).

    Parameters
    ----------
    columns : int array (p,), the columns of x
    frequencies : array (p, r / 2), w
    """

    columns: Array
    frequencies: Array

    @property
    def size(self) -> int:
        return 2 * self.frequencies.shape[1]

    def _features(self, X: Any) -> Array:
        if foreign(X):
            xp = namespace(X)
            angles = taken(X, self.columns, axis=1) @ like(X, self.frequencies)
            return xp.concat([xp.cos(angles), xp.sin(angles)], axis=1) * float(np.sqrt(2.0 / max(1, self.size)))
        angles = product(dense(X[:, self.columns]).astype(np.float64, copy=False), self.frequencies)
        return np.hstack([np.cos(angles), np.sin(angles)]) * np.sqrt(2.0 / max(1, self.size))


def fourier(kernel: DistanceKernel, columns: Array, rank: int, rng: np.random.Generator) -> Fourier | None:
    """The features of a kernel of a distance; None where its spectral density is not listed above."""
    p = len(columns)
    count = max(1, rank // 2)
    if type(kernel) not in (RBF, Laplacian, Matern):  # a class derived from one of these may have another profile
        return None
    match kernel:
        case RBF(gamma):
            return Fourier(columns, np.sqrt(2.0 * gamma) * _orthogonal(p, count, rng))
        case Laplacian(gamma):
            return Fourier(columns, gamma * rng.standard_cauchy((p, count)))
        case Matern(gamma, nu):
            scale = np.sqrt(gamma * 2.0 * nu / rng.chisquare(2.0 * nu, count))
            return Fourier(columns, scale * _orthogonal(p, count, rng))
    return None


def _orthogonal(p: int, count: int, rng: np.random.Generator) -> Array:
    """Normal vectors as columns, shape (p, count), orthogonal in blocks of p."""
    blocks = [np.linalg.qr(rng.normal(size=(p, p)))[0] for _ in range(-(-count // p))]
    directions = np.hstack(blocks)[:, :count]
    return directions * np.sqrt(rng.chisquare(p, count))


@dataclass(frozen=True, eq=False)
class Monomials(OneKernel):
    """The features of a polynomial kernel by all monomials.

    Parameters
    ----------
    columns : int array (p,), the columns of x
    gamma, coef0 : floats, parameters of the kernel
    index : int array (q, d), the factors of each monomial, where p stands for the constant
    roots : array (q,), the roots of the multinomial coefficients
    """

    columns: Array
    gamma: float
    coef0: float
    index: Array
    roots: Array

    @property
    def size(self) -> int:
        return len(self.roots)

    def _features(self, X: Any) -> Array:
        U = _augmented(X, self.columns, self.gamma, self.coef0)
        F = np.tile(self.roots, (len(U), 1))
        for factor in self.index.T:
            F *= U[:, factor]
        return F


@dataclass(frozen=True, eq=False)
class TensorSketch(OneKernel):
    """The features of a polynomial kernel by a sketch of all monomials.

    Parameters
    ----------
    columns : int array (p,), the columns of x
    gamma, coef0 : floats, parameters of the kernel
    buckets : int array (d, p + 1), the bucket of each entry of u in each of the sketches
    signs : array (d, p + 1) of -1 and 1, its sign
    rank : int, r
    """

    columns: Array
    gamma: float
    coef0: float
    buckets: Array
    signs: Array
    rank: int

    @property
    def size(self) -> int:
        return self.rank

    def _features(self, X: Any) -> Array:
        U = _augmented(X, self.columns, self.gamma, self.coef0)
        spectrum = np.ones((len(U), self.rank // 2 + 1), dtype=complex)
        for buckets, signs in zip(self.buckets, self.signs, strict=True):
            sketch = np.zeros((self.rank, len(U)))
            np.add.at(sketch, buckets, (U * signs).T)
            spectrum *= np.fft.rfft(sketch.T, axis=1)
        return np.fft.irfft(spectrum, n=self.rank, axis=1)


def polynomial(
    columns: Array, gamma: float, coef0: float, degree: int, rank: int, rng: np.random.Generator
) -> Monomials | TensorSketch:
    """At most ``rank`` features of a polynomial kernel."""
    p = len(columns)
    constant = coef0 > 0.0
    if comb(p + constant + degree - 1, degree) <= rank:
        index = list(combinations_with_replacement(range(p + constant), degree))
        roots = [
            np.sqrt(factorial(degree) / prod(factorial(factors.count(j)) for j in set(factors))) for factors in index
        ]
        factors_of_monomials = np.array(index, dtype=int).reshape(len(index), degree)
        return Monomials(columns, gamma, coef0, factors_of_monomials, np.array(roots))
    buckets = rng.integers(rank, size=(degree, p + 1))
    signs = rng.choice([-1.0, 1.0], size=(degree, p + 1))
    return TensorSketch(columns, gamma, coef0, buckets, signs, rank)


def _augmented(X: Any, columns: Array, gamma: float, coef0: float) -> Array:
    """u, shape (len(X), p + 1)."""
    x = np.sqrt(gamma) * dense(host(X)[:, columns]).astype(np.float64, copy=False)
    return np.column_stack([x, np.full(len(x), np.sqrt(coef0))])


@dataclass(frozen=True, eq=False)
class Taken(OneKernel):
    """Some columns themselves, which are the features of x'z.

    Parameters
    ----------
    columns : int array
    """

    columns: Array

    @property
    def size(self) -> int:
        return len(self.columns)

    def _features(self, X: Any) -> Array:
        return dense(taken(X, self.columns, axis=1))


@dataclass(frozen=True, eq=False)
class Multiplied(OneKernel):
    """The features of ``kernel`` times a number, or divided by the root of its self-values.

    Parameters
    ----------
    map : feature map of the kernel
    kernel : Kernel that is normalised; None where the features are multiplied
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
    """At most ``rank`` features of a kernel that is resolved and has learned; None where none are known.

    Parameters
    ----------
    kernel : Kernel, not centred
    X : samples, of which only the columns matter
    rank : the largest number of features; x'z has as many as columns in any case
    rng : source of random numbers
    """
    for fact in kernel.facts():
        match fact:
            case Wrapped(inner, by) if by != "centered":
                features = random_map(inner, X, rank, rng)
                if features is None:
                    return None
                if isinstance(by, str):
                    return Multiplied(features, inner)
                return Multiplied(features, None, float(np.sqrt(by)))
            case Encodes(inner, encoding, columns):
                positions = None if columns is None else np.asarray(columns, dtype=int)
                encoded = encoding(X[:1] if positions is None else X[:1][:, positions.tolist()])
                features = random_map(inner, encoded, rank, rng)
                if features is None:
                    return None
                return EncodedMap(encoding, positions, features)
            case ExplicitFeatures(columns):
                return Taken(columns_of(columns, X))
            case OfDistance(distance, columns):
                return fourier(distance, columns_of(columns, X), rank, rng)
            case PowerOf(base, degree):
                return _power(base, degree, X, rank, rng)
    return None


def _power(base: Kernel, degree: int, X: Any, rank: int, rng: np.random.Generator) -> OneKernel | None:
    """The features of a power of an inner product, with or without a constant; None for other powers."""
    columns: Columns | None = None
    if isinstance(base, Restricted) and not isinstance(base.columns, slice):
        columns = base.columns
        base = base.kernel
    positions = columns_of(columns, X)
    if isinstance(base, Normalized):
        if columns is None:
            inner = base.kernel
        else:
            inner = Restricted(base.kernel, columns)
        features = _power(inner, degree, X, rank, rng)
        if features is None:
            return None
        return Multiplied(features, inner**degree)
    match base:
        case Linear():
            return polynomial(positions, 1.0, 0.0, degree, rank, rng)
        case Polynomial(1, coef0, gamma):
            return polynomial(positions, float(gamma), float(coef0), degree, rank, rng)
    return None
