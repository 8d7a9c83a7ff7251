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
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from multikernel._typing import Array
from multikernel.banks.dense import PackedBank
from multikernel.procedures.hkl.lattice import Node
from multikernel.procedures.hkl.sums import Sums

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
    sums = Sums.of(base, b, c)
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


def _with(u: Node, i: int) -> Node:
    at = bisect(u, i)
    return (*u[:at], i, *u[at:])


def _norm(values: Sequence[float], r: float) -> float:
    """|values|_r of non-negative values, without overflow."""
    v = np.asarray(values)
    top = float(v.max(initial=0.0))
    return top * float(((v / top) ** r).sum()) ** (1.0 / r) if top > 0.0 else 0.0
