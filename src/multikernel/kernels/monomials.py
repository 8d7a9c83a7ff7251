"""Kernels of random monomials: the families Q_D and R_D of Donini and Aiolli (2017, Algorithm 1).

    K_s = sum of phi phi' over the monomials phi(x) = x_{j_1} ... x_{j_d} that were drawn for s,

T draws: the degree d with probability proportional to p^d (d = 0..D), then d of the p variables with replacement;
s = d groups by degree (Q_D), s uniform in 0..D does not (R_D). With ordered tuples counted, Q_D tends to the
homogeneous polynomials. Nearly all draws have a degree close to D, so the kernels of low degree are mostly zero:
they stay in the family as zero kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from multikernel.kernels.base import Array, Features, Kernel
from multikernel.kernels.family import KernelFamily, Kernels

_CHUNK = 1024  # monomials evaluated at a time: n x 1024 values in memory, and a product worth BLAS


@dataclass(frozen=True)
class Draw:
    """How the monomials are drawn; equal values draw the same ones."""

    max_degree: int
    n_monomials: int
    grouping: str
    seed: int


@dataclass
class MonomialSum(Kernel):
    """Number ``index`` of the kernels of one draw: a sum of products of features."""

    index: int
    draw: Draw

    def __call__(self, X: Any, Z: Any = None) -> Array:
        K = np.zeros((X.shape[0], (X if Z is None else Z).shape[0]))
        for variables in _monomials(X.shape[1], self.draw)[self.index]:
            for start in range(0, len(variables), _CHUNK):
                chunk = variables[start : start + _CHUNK]
                left = _evaluate(X, chunk)
                K += left @ (left if Z is None else _evaluate(Z, chunk)).T
        return K

    def diagonal(self, X: Any) -> Array:
        d = np.zeros(X.shape[0])
        for variables in _monomials(X.shape[1], self.draw)[self.index]:
            for start in range(0, len(variables), _CHUNK):
                d += (_evaluate(X, variables[start : start + _CHUNK]) ** 2).sum(axis=1)
        return d

    def __repr__(self) -> str:
        return f"MonomialSum({self.index}, {self.draw})"


@dataclass
class RandomMonomials(KernelFamily):
    """The family of ``max_degree + 1`` normalised kernels of random monomials."""

    max_degree: int
    n_monomials: int = 50_000
    grouping: str = "degree"
    random_state: int | None = None

    def __post_init__(self) -> None:
        if self.grouping not in ("degree", "random"):
            raise ValueError(f"grouping must be 'degree' or 'random', got {self.grouping!r}")
        if self.max_degree < 0 or self.n_monomials < 1:
            raise ValueError("random_monomials needs max_degree >= 0 and n_monomials >= 1")

    def __len__(self) -> int:
        return self.max_degree + 1

    def resolve(self, features: Features) -> Kernels:
        seed = (
            self.random_state if self.random_state is not None else int(np.random.SeedSequence().generate_state(1)[0])
        )
        draw = Draw(self.max_degree, self.n_monomials, self.grouping, seed)
        return Kernels(tuple(MonomialSum(s, draw).normalized() for s in range(self.max_degree + 1)))


def random_monomials(
    max_degree: int, n_monomials: int = 50_000, grouping: str = "degree", random_state: int | None = None
) -> KernelFamily:
    """Normalised kernels of random monomials: Q_D (grouping="degree") or R_D (grouping="random").

    Parameters
    ----------
    max_degree : int, the largest degree D; the family has D + 1 kernels.
    n_monomials : int, how many monomials are drawn.
    grouping : {"degree", "random"}, whether a kernel collects the monomials of one degree or of any.
    random_state : int or None.

    References
    ----------
    Donini and Aiolli (2017), Learning deep kernels in the space of dot product polynomials, Algorithm 1.
    """
    return RandomMonomials(max_degree, n_monomials, grouping, random_state)


def _evaluate(X: Any, variables: Array) -> Array:
    """The monomials at the samples, shape (len(X), len(variables))."""
    if hasattr(X, "tocsr"):
        raise ValueError("kernels of random monomials need dense X: products of sparse features are not supported")
    values = np.ones((X.shape[0], len(variables)))
    for j in range(variables.shape[1]):
        values *= X[:, variables[:, j]]
    return values


@lru_cache(maxsize=4)
def _monomials(n_features: int, draw: Draw) -> tuple[tuple[Array, ...], ...]:
    """For each kernel, its monomials: one array (count, degree) of variables for each degree that was drawn."""
    rng = np.random.default_rng(draw.seed)
    log_count = np.arange(draw.max_degree + 1) * np.log(n_features)  # log of p^d: p^d itself overflows
    probability = np.exp(log_count - log_count.max())
    degrees = rng.choice(draw.max_degree + 1, size=draw.n_monomials, p=probability / probability.sum())
    group = degrees if draw.grouping == "degree" else rng.integers(draw.max_degree + 1, size=draw.n_monomials)
    table: list[list[Array]] = [[] for _ in range(draw.max_degree + 1)]
    for d in np.unique(degrees):
        variables = rng.integers(n_features, size=(int((degrees == d).sum()), d))
        for s in np.unique(group[degrees == d]):
            table[s].append(variables[group[degrees == d] == s])
    return tuple(tuple(rows) for rows in table)
