"""A graph defined by the user: its nodes are the base kernels, each with its parents and its cost.

Every way to share each node outside the hull among its ancestors there bounds the dual norm (``outside``). With equal
shares, kappa_vw = d_v / sum_{u in A(w), u outside} d_u, the bound is

    max_t |(c_w^2 b'K_w b)_{w in D(t)}|_r,    1 / c_w = sum_{u in A(w), u outside} d_u,    r = rho / (2 (rho - 1)),

over the sources t only, because D(v) is a subset of D(t) where v is a descendant of t. All terms can be computed: one
pass over the kernels gives every score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from multikernel._typing import Array
from multikernel.banks.packed import PackedBank
from multikernel.procedures.hkl.graph import SINGLES, Graph
from multikernel.procedures.hkl.lattice import ClosedSet, Node
from multikernel.procedures.hkl.norm import exponent
from multikernel.procedures.hkl.outside import Outside, powered_norm


@dataclass(frozen=True, eq=False)
class ListedHull(ClosedSet):
    """Some nodes of a listed graph with all their ancestors, parents before their children.

    Parameters
    ----------
    nodes : tuple of nodes (k,)
    graph : the graph
    """

    graph: Listed

    @cached_property
    def d(self) -> Array:
        return self.graph.costs[_kernel_numbers(self.nodes)]

    @cached_property
    def pairs(self) -> tuple[Array, Array]:
        kernels = _kernel_numbers(self.nodes)
        node, ancestor = np.nonzero(self.graph.above[np.ix_(kernels, kernels)])
        return ancestor, node

    def in_order(self, nodes: Iterable[Node]) -> list[Node]:
        return self.graph.in_order(nodes)


@dataclass(frozen=True, eq=False)
class Listed(Graph):
    """Base kernels with the numbers of their parents.

    Parameters
    ----------
    parents : for each kernel the numbers of its parents; empty for a root
    costs : array (m,) > 0, d_v

    Raises
    ------
    ValueError : where a parent is no kernel, and where the parents lead in a circle
    """

    parents: tuple[tuple[int, ...], ...]
    costs: Array

    def __post_init__(self) -> None:
        if len(self.costs) != len(self.parents):
            raise ValueError(f"a graph of {len(self.parents)} kernels needs as many costs, got {len(self.costs)}")
        _ = self.depth

    @cached_property
    def depth(self) -> Array:
        """The length of the longest way to each kernel from one without parents, shape (m,)."""
        return depths(self.parents)

    @cached_property
    def above(self) -> Array:
        """Whether v is in A(w), at [w, v], shape (m, m)."""
        above = np.eye(len(self.parents), dtype=bool)
        for w in np.argsort(self.depth, kind="stable"):
            for parent in self.parents[int(w)]:
                above[w] |= above[parent]
        return above

    def in_order(self, nodes: Iterable[Node]) -> list[Node]:
        """Parents before their children."""
        return sorted(nodes, key=lambda node: (self.depth[node[0]], node))

    def first(self, base: PackedBank, b: Array, start: Iterable[Node]) -> ListedHull:
        """The kernels without parents; of very many, those with the largest scores."""
        chosen = np.zeros(len(self.parents), dtype=bool)
        for node in start:
            chosen |= self.above[node[0]]
        roots = np.flatnonzero(self.depth == 0)
        chosen[roots[np.argsort(-base.quad(b)[roots], kind="stable")[:SINGLES]]] = True
        return ListedHull(tuple(self.in_order((int(k),) for k in np.flatnonzero(chosen))), self)

    def sources(self, hull: ClosedSet) -> list[Node]:
        inside = {node[0] for node in hull.nodes}
        outside = (k for k in range(len(self.parents)) if k not in inside)
        return self.in_order((k,) for k in outside if inside.issuperset(self.parents[k]))

    def outside(
        self, base: PackedBank, b: Array, hull: ClosedSet, candidates: Sequence[Node], rho: float, allowed: float
    ) -> Outside:
        if not candidates:
            return Outside(0.0, np.zeros(0))
        beyond = np.ones(len(self.parents), dtype=bool)
        beyond[_kernel_numbers(hull.nodes)] = False
        rows = np.flatnonzero(beyond)
        shares = self.above[np.ix_(rows, rows)] @ self.costs[rows]
        terms = np.maximum(base.select(rows).quad(b), 0.0) / shares**2
        below = self.above[np.ix_(rows, _kernel_numbers(candidates))]
        norms = powered_norm(np.where(below, terms[:, None], 0.0).T, exponent(rho))
        return Outside(float(norms.max()), norms)


def depths(parents: Sequence[Sequence[int]]) -> Array:
    """The length of the longest way to each kernel from one without parents.

    ValueError where a parent is no kernel, and where the parents lead in a circle.
    """
    m = len(parents)
    for k, parents_of_kernel in enumerate(parents):
        wrong = [parent for parent in parents_of_kernel if not 0 <= parent < m]
        if wrong:
            raise ValueError(f"parents[{k}] has {wrong[0]}, and the {m} kernels of the graph are numbered from 0 on")
    depth = np.full(m, -1, dtype=np.intp)
    pending = set(range(m))
    while pending:
        ready = [k for k in pending if all(depth[parent] >= 0 for parent in parents[k])]
        if not ready:
            raise ValueError(f"the parents lead in a circle that kernel {min(pending)} is on or below")
        ready_depths = {k: 1 + max((int(depth[parent]) for parent in parents[k]), default=-1) for k in ready}
        for k, value in ready_depths.items():
            depth[k] = value
        pending -= set(ready)
    return depth


def _kernel_numbers(nodes: Sequence[Node]) -> Array:
    return np.array([node[0] for node in nodes], dtype=np.intp)
