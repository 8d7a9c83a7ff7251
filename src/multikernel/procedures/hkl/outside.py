"""What the nodes outside a hull can add, bounded more tightly than by equal shares.

With W the hull and V its complement, every way to share each w in V among its ancestors there bounds the dual norm,

    Omega*_V(b)^2 <= max_{v in V} |(kappa_vw^2 b'K_w b / d_v^2)_{w in D(v)}|_r,    sum_{v in A(w), v in V} kappa_vw = 1,

r = rho / (2 (rho - 1)). With equal shares, kappa_vw proportional to d_v, the norm is T_t^2 at a source t of V and
smaller at its descendants (Bach 2009), so the sources alone decide. A larger share for the descendants evens this out.
Let them take lambda >= 1 times as much as with equal shares; then with

    x_t(w) = beta^{-2|t|} f(|w - t|) b'K_w b,      f(j) = (lambda (1 + beta)^j - lambda + 1)^{-2},
    A_t = |(x_t(w))_{w in D(t)}|_r,      B_ti = lambda^2 |(x_t(w))_{w in D(t + {i})}|_r,

the norm is at most A_t at a source t, at most max_i B_ti at its children, and no larger further down: the largest of
all is the bound. The smallest bound of some lambdas is taken. f is a sum of powers,

    f(j) = sum_{k >= 0} a_k z_k^j,     a_k = (k + 1) (1 - 1/lambda)^k / lambda^2,     z_k = (1 + beta)^{-(k + 2)},

cut off with the rest of the a_k, which sum to 1, on the last z; and for each z_k the sum over all w is a matrix product
(``sums``). So the norms are known for r = 1. For r > 1 they are bounded by norms of few terms: the node itself is one
term, and what lies below it is one term, or one term for each child. Near rho = 1 this is loose, and partitions into
more terms are tried as well (``partition``).

The same holds for every graph whose sums over descendants factorise: (1 + beta)^j is the sum S of the costs d_u / d_t
of all nodes u from t to w, and f(j) = sum_k a_k S^{-(k + 2)} (``Descendants``).

With many kernels that are alike the bound is several times smaller than that of equal shares, and so is the hull.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks.packed import PackedBank
from multikernel.procedures.hkl.lattice import Node
from multikernel.procedures.hkl.norm import exponent
from multikernel.procedures.hkl.partition import partitioned
from multikernel.procedures.hkl.sums import Sums
from multikernel.tuning import HKL_CHILDREN

_LAMBDAS = np.geomspace(1.0, 4.5, 11)
TERMS = 4  # powers that f is cut off to
_NEAR_ONE = 1.3  # up to this rho partitions are tried as well (``partition`` has the figures)


@dataclass(frozen=True, eq=False)
class Outside:
    """What the sources of the complement of a hull, and all below them, can add.

    Parameters
    ----------
    bound : float, at least Omega*_V(b)^2
    norms : array (number of candidates,), what each candidate and its descendants add at most
    """

    bound: float
    norms: Array


class Descendants(ABC):
    """Sums over what is below nodes, S(w) the sum of d_u / d_t over all u from t to w.

    Attributes
    ----------
    size : int, the numbers that a table of children is made of
    """

    size: int

    @abstractmethod
    def own(self, nodes: Sequence[Node]) -> Array:
        """b'K_t b of every node, shape (len(nodes),)."""

    @abstractmethod
    def wholes(self, nodes: Sequence[Node]) -> Array:
        """sum_{w in D(t)} S(w)^{-(k + 2)} b'K_w b, shape (TERMS, len(nodes))."""

    @abstractmethod
    def below(self, nodes: Sequence[Node]) -> tuple[Array, Array]:
        """Of every child b'K b, (len(nodes), children), and the sums over its descendants, (TERMS, ..); else 0."""


class OfSubsets(Descendants):
    """Among all subsets: S(w) = (1 + beta)^|w - t|."""

    def __init__(self, base: PackedBank, b: Array, beta: float) -> None:
        self._z = (1.0 + beta) ** -np.arange(2.0, 2.0 + TERMS)
        self._scores, *self._sums = [Sums.of(base, b, c) for c in (0.0, *self._z)]
        self.size = self._scores.K.size

    def own(self, nodes: Sequence[Node]) -> Array:
        return self._scores.wholes(nodes)

    def wholes(self, nodes: Sequence[Node]) -> Array:
        return np.array([each.wholes(nodes) for each in self._sums])

    def below(self, nodes: Sequence[Node]) -> tuple[Array, Array]:
        sums = [z * each.below(nodes) for z, each in zip(self._z, self._sums, strict=True)]
        return self._scores.below(nodes), np.array(sums)


def outside(base: PackedBank, b: Array, candidates: Sequence[Node], beta: float, rho: float, allowed: float) -> Outside:
    """Bound the dual norm over the complement of a hull.

    Parameters
    ----------
    base : the base kernels in double precision
    b : array (n,), the signed dual variables; zeros cost nothing
    candidates : all sources of the complement
    beta : float > 0, with d_v = beta^|v|
    rho : float in (1, 2]
    allowed : float, what the bound should not exceed
    """
    if not candidates:
        return Outside(0.0, np.zeros(0))
    scale = float(beta) ** (-2.0 * np.array([len(t) for t in candidates]))
    norms = uneven_shares(OfSubsets(base, b, beta), scale, candidates, beta, rho, allowed)
    bound = float(norms.max())
    if rho <= _NEAR_ONE and bound > allowed:
        equal = partitioned(base, b, candidates, beta, rho, allowed)
        bound = min(bound, float(equal.max()))
        norms = min(norms, equal, key=lambda each: int((each > allowed).sum()))
    return Outside(bound, norms)


def uneven_shares(
    sums: Descendants, scale: Array, candidates: Sequence[Node], beta: float, rho: float, allowed: float
) -> Array:
    """max(A_t, max_i B_ti) of every candidate t, for the lambda with the smallest bound; ``scale`` is d_t^{-2}.

    Children are looked at only where the sum over all descendants exceeds what is allowed, and where that takes a few
    seconds; without them the bound is looser.
    """
    r = exponent(rho)
    own, wholes = scale * sums.own(candidates), scale * sums.wholes(candidates)
    powers = [_powers(factor) for factor in _LAMBDAS]
    rest = [np.maximum(np.tensordot(a, wholes, 1) - own, 0.0) for a in powers]
    exceeds = np.max([lam**2 * left for lam, left in zip(_LAMBDAS, rest, strict=True)], axis=0) > allowed
    if time_is_up() or np.count_nonzero(exceeds) * sums.size > HKL_CHILDREN:
        exceeds[:] = False
    few = [candidates[int(k)] for k in np.flatnonzero(exceeds)]
    children = tables = np.zeros(0)
    if few:
        children, tables = (scale[exceeds, None] * each for each in sums.below(few))
    largest: list[Array] = []
    for lam, a, left in zip(_LAMBDAS, powers, rest, strict=True):
        below = lam**2 * left
        if few:
            B = np.tensordot(a, tables, 1)
            left[exceeds] = np.minimum(left[exceeds], powered_norm(B, r))
            first = (lam * (1.0 + beta) - lam + 1.0) ** -2 * children
            parts = np.stack([first, np.maximum(B - first, 0.0)], axis=-1)
            below[exceeds] = lam**2 * powered_norm(parts, r).max(axis=1)
        largest.append(np.maximum(powered_norm(np.stack([own, left], axis=-1), r), below))
    return min(largest, key=lambda norms: float(norms.max()))


def _powers(lam: float) -> Array:
    """a_k, the last with what is left."""
    a = np.arange(1, TERMS + 1) * (1.0 - 1.0 / lam) ** np.arange(TERMS) / lam**2
    a[-1] = 1.0 - a[:-1].sum()
    return a


def powered_norm(values: Array, r: float) -> Array:
    """|values|_r along the last axis, without overflow."""
    top = np.maximum(values.max(axis=-1, keepdims=True), np.finfo(float).tiny)
    return top[..., 0] * ((values / top) ** r).sum(axis=-1) ** (1.0 / r)
