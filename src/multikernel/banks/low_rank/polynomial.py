"""Features of (gamma x'z + coef0)^d: all monomials where these are few, else a sketch of them.

With u = (sqrt(gamma) x, sqrt(coef0)) the kernel is (u'v)^d. Its features are the monomials of degree d in u, each times
the root of its multinomial coefficient. TensorSketch (Pham and Pagh 2013) makes r features without listing them: d
independent count sketches of u, convolved by fast Fourier transforms; their inner products have the right mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np

from multikernel._arrays import host
from multikernel._typing import Array
from multikernel.banks.low_rank.feature_map import OneKernel
from multikernel.kernels.samples import dense


@dataclass(frozen=True, eq=False)
class Monomials(OneKernel):
    """All monomials.

    Parameters
    ----------
    columns : int array (p,), the columns of x
    gamma, coef0 : floats, of the kernel
    index : int array (q, d), the factors of each monomial, p being the constant
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
    """A sketch of all monomials.

    Parameters
    ----------
    columns : int array (p,), the columns of x
    gamma, coef0 : floats, of the kernel
    buckets : int array (d, p + 1), where each entry of u goes in each of the sketches
    signs : array (d, p + 1) of -1 and 1, with which sign
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
    p, constant = len(columns), coef0 > 0.0
    if comb(p + constant + degree - 1, degree) <= rank:
        index = list(combinations_with_replacement(range(p + constant), degree))
        roots = [np.sqrt(factorial(degree) / prod(factorial(each.count(j)) for j in set(each))) for each in index]
        shaped = np.array(index, dtype=int).reshape(len(index), degree)
        return Monomials(columns, gamma, coef0, shaped, np.array(roots))
    buckets, signs = rng.integers(rank, size=(degree, p + 1)), rng.choice([-1.0, 1.0], size=(degree, p + 1))
    return TensorSketch(columns, gamma, coef0, buckets, signs, rank)


def _augmented(X: Any, columns: Array, gamma: float, coef0: float) -> Array:
    """u, shape (len(X), p + 1)."""
    x = np.sqrt(gamma) * dense(host(X)[:, columns]).astype(np.float64, copy=False)
    return np.column_stack([x, np.full(len(x), np.sqrt(coef0))])
