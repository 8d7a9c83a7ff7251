"""What the nodes outside a hull could add: bounds of T_t^2 for candidates t, with no enumeration of their descendants.

    T_t^2 = (sum_{w in D(t)} x_w^r)^{1/r}       r = rho / (2 (rho - 1)) >= 1
    x_w   = b'K_w b / (sum_{t <= v <= w} d_v)^2 = beta^{-2|t|} c^{|w - t|} b'K_w b,      c = (1 + beta)^{-2}

The hull's solution is optimal within 1/2 max(0, max_t T_t^2 - Omega*^2), the maximum over the sources t of its
complement (Bach 2009; Jawanpuria, Nath and Ramakrishnan 2015). For r = 1 (rho = 2) the sum over the 2^(p - |t|)
descendants is one matrix,

    sum_{w in D(t)} c^{|w - t|} K_w = K_t o prod_{i not in t} (1 + c k_i),

entry by entry. For r > 1 that sum is a bound, and a loose one; it is tightened by a partition of D(t), each piece
bounded by its own sum. A piece (u, j) holds u and what is reached from it by base kernels from number j on. It splits
into

    {u}     and     (u + {i}, i + 1) for every i >= j outside u,

with the sums of K_u o k_i o prod_{l > i} (1 + c k_l), l outside u, one after the other from the last i to the first.

The sums of all candidates at once are one product of matrices: with R_i = k_i / (1 + c k_i),

    K_t o prod_{i not in t} (1 + c k_i) = prod_i (1 + c k_i) o prod_{i in t} R_i,

whose last factor is shared by many candidates. A quotient is multiplied by its divisor again, so that a small divisor
costs no digits.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
from scipy.linalg import blas

from multikernel.banks.dense import PackedBank
from multikernel.banks.packing import weights_of_pairs
from multikernel.banks.threads import over_rows, slices
from multikernel.kernels.base import Array
from multikernel.procedures.hkl.lattice import Node, in_order

_BUFFER = 1 << 20  # entries of products of kernels held at a time: 8 MB
_TOGETHER = 32  # pieces that a thread splits at a time
_SPLITS = 16  # pieces of a candidate that are split before its bound is left as it is


@dataclass(frozen=True, eq=False)
class Excess:
    """Bounds of T_t^2 for each candidate, shape (number of candidates,): equal where rho = 2.

    A candidate whose ``lower`` exceeds the threshold has T_t^2 above it; one whose ``upper`` does not has not.
    """

    lower: Array
    upper: Array


def excess(
    base: PackedBank,
    b: Array,
    candidates: Sequence[Node],
    beta: float,
    rho: float,
    threshold: float,
    splits: int = _SPLITS,
) -> Excess:
    """Bounds of T_t^2 for candidates t, each as tight as it takes to compare it with the threshold.

    Parameters
    ----------
    base : the base kernels in double precision, as ``NodeKernels.base`` has them
    b : array (n,), the signed dual variables; zeros cost nothing
    candidates : nodes
    beta : float > 0, with d_v = beta^|v|
    rho : float in (1, 2]
    threshold : float, where a candidate's bounds are on the same side of it they are left as they are
    splits : int >= 0, how many pieces of a candidate are split at most

    Notes
    -----
    Upper bounds are up to rounding, some 1e-15 of (sum_i |b_i| k(x_i, x_i)^{1/2})^2, k the kernel of the sum.
    """
    r, c = rho / (2.0 * (rho - 1.0)), (1.0 + beta) ** -2
    sums = _Sums.of(base, b, c)
    scales = np.array([float(beta) ** (-2 * len(t)) for t in candidates])
    upper = scales * sums.wholes(candidates)
    if rho == 2.0:
        return Excess(upper, upper)
    lower = np.zeros(len(candidates))
    partitions = [_Partition(r, [(-total, t, 0)]) for total, t in zip(upper, candidates, strict=True)]
    for _ in range(splits):
        undecided = [
            k for k, partition in enumerate(partitions) if lower[k] <= threshold < upper[k] and partition.pieces
        ]
        if not undecided:
            break
        largest = [heappop(partitions[k].pieces)[1:] for k in undecided]
        for k, (u, _), (own, children) in zip(undecided, largest, sums.split(largest), strict=True):
            scale = scales[k] * c ** (len(u) - len(candidates[k]))
            partitions[k].nodes.append(scale * own)
            for i, total in children:
                heappush(partitions[k].pieces, (-scale * c * total, _with(u, i), i + 1))
            lower[k], upper[k] = partitions[k].bounds()
    return Excess(lower, upper)


@dataclass(eq=False)
class _Partition:
    """D(t) as nodes on their own and pieces known by their sums: (-sum, u, j), a heap with the largest sum first."""

    r: float
    pieces: list[tuple[float, Node, int]]
    nodes: list[float] = field(default_factory=list)

    def bounds(self) -> tuple[float, float]:
        return _norm(self.nodes, self.r), _norm([*self.nodes, *(-piece[0] for piece in self.pieces)], self.r)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over pieces, <bb', K_u o prod (1 + c k_i)>, from packed halves on the support of b."""

    K: Array  # (p, N)
    M: Array  # (N,), the pairs of b
    c: float

    @classmethod
    def of(cls, base: PackedBank, b: Array, c: float) -> _Sums:
        support = np.flatnonzero(b)
        own = base if len(support) == base.n else base.principal(support)
        return cls(own.packed, weights_of_pairs(np.outer(b[support], b[support])), c)

    def wholes(self, nodes: Sequence[Node]) -> Array:
        """The sums over D(t), for every node t: shape (len(nodes),)."""
        p, N = self.K.shape
        place = _with_prefixes([t[:-1] for t in nodes])
        table = np.zeros((p + 1, len(place)), order="F")  # with R_i, or with 1: of the root nothing was split off
        width = max(1, min(N, _BUFFER // len(place)))
        buffer = np.empty(len(place) * width)
        for part in slices(N, width):
            U = 1.0 + self.c * self.K[:, part]
            U[U == 0.0] = np.finfo(float).eps  # any small divisor
            R = np.concatenate([self.K[:, part] / U, np.ones((1, U.shape[1]))])
            L = buffer[: len(place) * U.shape[1]].reshape(len(place), -1)
            L[0] = self.M[part] * U.prod(axis=0)
            for w, k in place.items():
                if w:
                    np.multiply(L[place[w[:-1]]], R[w[-1]], out=L[k])
            table = blas.dgemm(1.0, R.T, L.T, beta=1.0, c=table, trans_a=True, overwrite_c=True)
        totals: Array = np.array([table[t[-1] if t else p, place[t[:-1]]] for t in nodes])
        return totals.clip(min=0.0)

    def split(self, pieces: Sequence[tuple[Node, int]]) -> list[tuple[float, list[tuple[int, float]]]]:
        """For each piece (u, j): the form of u on its own, and the sums over (u + {i}, i + 1), i >= j outside u."""
        from multikernel.procedures.hkl import _pieces

        p = len(self.K)
        roles, sums = np.full((len(pieces), p), _pieces.OUT, dtype=np.int8), np.empty((len(pieces), p + 1))
        for role, (u, j) in zip(roles, pieces, strict=True):
            role[j:] = _pieces.FREE
            role[list(u)] = _pieces.FACTOR
        over_rows(lambda r: _pieces.split(self.K, self.M, self.c, roles, sums, r.start, r.stop), len(pieces), _TOGETHER)
        sums.clip(min=0.0, out=sums)
        return [
            (float(row[p]), [(int(i), float(row[i])) for i in np.flatnonzero(role == _pieces.FREE)])
            for role, row in zip(roles, sums, strict=True)
        ]


def _with_prefixes(nodes: Sequence[Node]) -> dict[Node, int]:
    """The nodes and what they are made from by one factor each, numbered with the smaller first."""
    found: set[Node] = {()}
    for w in nodes:
        while w not in found:
            found.add(w)
            w = w[:-1]
    return {w: k for k, w in enumerate(in_order(found))}


def _with(u: Node, i: int) -> Node:
    at = bisect(u, i)
    return (*u[:at], i, *u[at:])


def _norm(values: Sequence[float], r: float) -> float:
    """|values|_r of non-negative values, without overflow."""
    v = np.asarray(values)
    top = float(v.max(initial=0.0))
    return top * float(((v / top) ** r).sum()) ** (1.0 / r) if top > 0.0 else 0.0
