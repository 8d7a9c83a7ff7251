"""Kernels of random monomials: the families Q_D and R_D of Donini and Aiolli (2017, Algorithm 1).

    K_s = sum of phi phi' over the monomials phi(x) = x_{j_1} ... x_{j_d} that were drawn for s

There are T draws: first the degree d with probability proportional to p^d (d = 0..D), then d of the p variables with
replacement. In Q_D a monomial of degree d goes to s = d; in R_D s is drawn, too, uniformly from 0..D. With more draws
Q_D tends to the homogeneous polynomials. Nearly all draws have a degree close to D, so that the kernels of low degrees
are mostly zero; they stay in the family as zero kernels, which cost no time.

A monomial that is drawn several times, with its variables in any order, is evaluated once and counted. Monomials are
evaluated in chunks, with a row for each monomial, and a chunk is added to K by one product of matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from scipy.linalg import blas

from multikernel._arrays import is_sparse
from multikernel._parameters import WHOLE, Count, Degree
from multikernel._typing import Array
from multikernel.kernels.base import Fact, Kernel
from multikernel.kernels.dot import Linear
from multikernel.kernels.facts import Costly
from multikernel.kernels.family import KernelFamily, Kernels
from multikernel.kernels.features import Features
from multikernel.tuning import PRODUCT_ROWS, THREADS_TILE


@dataclass(frozen=True)
class Draw:
    """The parameters of a draw of monomials; equal values draw the same monomials.

    Parameters
    ----------
    max_degree, n_monomials, grouping : as in ``random_monomials``
    seed : int
    """

    max_degree: int
    n_monomials: int
    grouping: str
    seed: int


@dataclass
class MonomialSum(Kernel):
    """A kernel of one draw: the sum of the products of features that were drawn for it.

    Parameters
    ----------
    index : int, s of the definition above
    draw : Draw
    """

    index: int
    draw: Draw

    def __call__(self, X: Any, Z: Any = None) -> Array:
        if Z is not None and Z is not X:
            K = np.zeros((Z.shape[0], X.shape[0]), order="F")
            for values_of_X, values_of_Z in zip(self._values(X), self._values(Z), strict=True):
                K = blas.dgemm(1.0, values_of_Z.T, values_of_X.T, 1.0, K, trans_b=True, overwrite_c=True)
            return K.T
        K = np.zeros((X.shape[0], X.shape[0]), order="F")
        for values in self._values(X):
            K = blas.dsyrk(1.0, values.T, 1.0, K, overwrite_c=True)
        for start in range(0, len(K), PRODUCT_ROWS):  # dsyrk leaves the lower half zero: it is copied from the upper
            rows = slice(start, start + PRODUCT_ROWS)
            K[rows, :start] = K[:start, rows].T
            K[rows, rows] += np.triu(K[rows, rows], 1).T
        return K.T

    def diagonal(self, X: Any) -> Array:
        d = np.zeros(X.shape[0])
        for values in self._values(X):
            d += np.einsum("ti,ti->i", values, values)
        return d

    def facts(self) -> tuple[Fact, ...]:
        return (Costly(),)

    def _values(self, X: Any) -> Iterator[Array]:
        """The monomials at the samples, times the root of how often each was drawn: chunks (monomials, len(X))."""
        if is_sparse(X):
            raise ValueError("kernels of random monomials need dense X: products of sparse features are not supported")
        variables, numbers = _monomials(X.shape[1], self.draw)[self.index]
        table, factors = _factors(X, variables)
        for start in range(0, len(factors), PRODUCT_ROWS):
            chunk = slice(start, start + PRODUCT_ROWS)
            values = _products(table, factors[chunk])
            # Up to 1e150 sums of products of two monomials are finite: the root of the largest double is 1.3e154.
            if not max(values.max(initial=0.0), -values.min(initial=0.0)) <= 1e150:
                raise ValueError(f"monomials of degree {self.draw.max_degree} overflow: scale the features to [-1, 1]")
            if (numbers[chunk] > 1).any():
                values *= np.sqrt(numbers[chunk])[:, None]
            yield values

    def __repr__(self) -> str:
        return f"MonomialSum({self.index}, {self.draw})"


@dataclass
class RandomMonomials(KernelFamily):
    """The family of ``max_degree + 1`` normalised kernels of random monomials."""

    max_degree: Degree
    n_monomials: Count = 50_000
    grouping: Literal["degree", "random"] = "degree"
    random_state: Annotated[int, WHOLE] | None = None

    def __len__(self) -> int:
        return self.max_degree + 1

    @property
    def names(self) -> tuple[str, ...]:
        kind = "of degree" if self.grouping == "degree" else "in group"
        return tuple(f"monomials {kind} {s}" for s in range(len(self)))

    def counts(self, n_features: int) -> Array:
        """How many monomials were drawn for each kernel, shape (max_degree + 1,); a kernel without any is zero.

        Parameters
        ----------
        n_features : int

        Raises
        ------
        TypeError : where ``random_state`` is None, as monomials are then drawn again whenever the family is bound
        """
        return np.array([numbers.sum() for _, numbers in _monomials(n_features, self._draw())])

    def resolve(self, features: Features) -> Kernels:
        features.check_numbers(self)
        if self.random_state is None:
            return replace(self, random_state=int(np.random.SeedSequence().generate_state(1)[0])).resolve(features)
        kernels: list[Kernel] = []
        for s, count in enumerate(self.counts(features.n).tolist()):
            if count:
                kernels.append(MonomialSum(s, self._draw()).normalized())
            else:
                kernels.append(0.0 * Linear().on(0))
        return Kernels(tuple(kernels), self.names)

    def _draw(self) -> Draw:
        if self.random_state is None:
            raise TypeError("random_monomials draws when it is bound: give random_state to know the draw before")
        return Draw(self.max_degree, self.n_monomials, self.grouping, self.random_state)


def random_monomials(
    max_degree: int,
    n_monomials: int = 50_000,
    grouping: Literal["degree", "random"] = "degree",
    random_state: int | None = None,
) -> KernelFamily:
    """Normalised kernels of random monomials: Q_D (grouping="degree") or R_D (grouping="random").

    Parameters
    ----------
    max_degree : int >= 0, the largest degree D; the family has D + 1 kernels
    n_monomials : int >= 1, how many monomials are drawn
    grouping : {"degree", "random"}, whether a kernel collects the monomials of one degree or of any
    random_state : int; None draws anew whenever the family is bound to data

    Raises
    ------
    ValueError : where a parameter is not such a value; when the kernels are evaluated, where X is sparse, or a
        product of max_degree features would overflow

    References
    ----------
    Donini and Aiolli (2017), Learning deep kernels in the space of dot product polynomials, Algorithm 1.

    Examples
    --------
    Nearly all monomials have a degree close to the largest; kernels without monomials are zero.

    >>> from multikernel import kernels
    >>> kernels.random_monomials(6, 1000, random_state=0).counts(n_features=20)
    array([  0,   0,   0,   0,   3,  42, 955])
    """
    return RandomMonomials(max_degree, n_monomials, grouping, random_state)


def _factors(X: Any, variables: Array) -> tuple[Array, Array]:
    """A table with the values of each factor as a row, and for each monomial the rows whose product it is.

    The factors are the features; where there are fewer features than the degree, they are the powers of features.
    """
    p = X.shape[1]
    degree = variables.shape[1]
    features = np.asarray(X.T, dtype=np.float64)
    if degree <= p:
        return np.vstack([features, np.ones(X.shape[0])]), variables
    exponents = np.stack([(variables == j).sum(axis=1) for j in range(p)], axis=1)
    powers = features[:, None, :] ** np.arange(degree + 1)[:, None]
    return powers.reshape(-1, X.shape[0]), exponents + (degree + 1) * np.arange(p)


def _products(table: Array, factors: Array) -> Array:
    """For each row of ``factors``, the product of these rows of the table."""
    values = np.ones((len(factors), table.shape[1]))
    height = max(1, THREADS_TILE // max(1, table.shape[1]))  # products of so many monomials stay in the cache
    for start in range(0, len(factors), height):
        tile_rows = slice(start, start + height)
        for j in range(factors.shape[1]):
            values[tile_rows] *= table[factors[tile_rows, j]]
    return values


@lru_cache(maxsize=4)
def _monomials(n_features: int, draw: Draw) -> tuple[tuple[Array, Array], ...]:
    """For each kernel: the variables of its monomials, (monomials, max_degree), and how often each was drawn.

    A monomial of a lower degree is filled up with a variable of number n_features, which stands for 1.
    """
    rng = np.random.default_rng(draw.seed)
    log_count = np.arange(draw.max_degree + 1) * np.log(n_features)  # log of p^d: p^d itself overflows
    probability = np.exp(log_count - log_count.max())
    degrees = rng.choice(draw.max_degree + 1, size=draw.n_monomials, p=probability / probability.sum())
    if draw.grouping == "degree":
        group = degrees
    else:
        group = rng.integers(draw.max_degree + 1, size=draw.n_monomials)
    variables = rng.integers(n_features, size=(draw.n_monomials, draw.max_degree))
    variables[np.arange(draw.max_degree) >= degrees[:, None]] = n_features
    variables.sort(axis=1)
    return tuple(_distinct(variables[group == s]) for s in range(draw.max_degree + 1))


def _distinct(monomials: Array) -> tuple[Array, Array]:
    """The distinct rows, and how often each occurs."""
    if monomials.shape[1] == 0:  # constants, which numpy's unique refuses
        return monomials[:1], np.array([len(monomials)])[: len(monomials)]
    return np.unique(monomials, axis=0, return_counts=True)
