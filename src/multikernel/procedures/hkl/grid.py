"""The product of chains of kernels: for each variable kernels of rising complexity, and all their products.

    node w       a level w_i on each of p chains, 0 to q_i; its kernel is prod_i k_{i, w_i}, k_i0 = 1
    A(w)         the nodes whose levels are all at most those of w
    parents      w with one of its levels lowered by one
    d_w          beta^(w_1 + .. + w_p)

A node is written as the tuple of the base kernels whose product is its kernel, at most one of each chain. There are
prod_i (q_i + 1) nodes, which are never listed: sums over descendants factorise (``chain_sums``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from multikernel._typing import Array
from multikernel.banks.packed import PackedBank
from multikernel.procedures.hkl.chain_sums import OfChains
from multikernel.procedures.hkl.graph import SINGLES, Graph
from multikernel.procedures.hkl.lattice import ClosedSet, Node, closed, in_order
from multikernel.procedures.hkl.outside import Outside, uneven_shares


@dataclass(frozen=True, eq=False)
class GridHull(ClosedSet):
    """Some nodes of a grid with all their ancestors, parents before their children.

    Parameters
    ----------
    nodes : tuple of nodes
    graph : the grid
    """

    graph: Grid

    @cached_property
    def d(self) -> Array:
        return self.graph.costs(self.nodes)

    @cached_property
    def pairs(self) -> tuple[Array, Array]:
        position = {v: k for k, v in enumerate(self.nodes)}
        level = self.graph.level
        above = []
        for w in self.nodes:  # an ancestor has on each chain no kernel, or one up to that of w
            choices = [((), *((v,) for v in range(k - level[k] + 1, k + 1))) for k in w]
            above.append([position[tuple(v for part in chosen for v in part)] for chosen in product(*choices)])
        counts = [len(row) for row in above]
        return np.array([v for row in above for v in row], dtype=np.intp), np.repeat(np.arange(len(self)), counts)


@dataclass(frozen=True)
class Grid(Graph):
    """The base kernels are those of the first chain, then those of the second, and so on.

    Parameters
    ----------
    lengths : how many kernels each chain has
    beta : float > 0
    """

    lengths: tuple[int, ...]
    beta: float

    @cached_property
    def chain(self) -> list[int]:
        """The chain of every base kernel."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths).tolist()

    @cached_property
    def level(self) -> list[int]:
        """The level of every base kernel, from 1 on."""
        return [level for length in self.lengths for level in range(1, length + 1)]

    def costs(self, nodes: Iterable[Node]) -> Array:
        """d, shape (len(nodes),)."""
        return float(self.beta) ** np.array([sum(self.level[k] for k in w) for w in nodes], dtype=float)

    def parents(self, node: Node) -> list[Node]:
        """The node with each of its levels lowered by one in turn."""
        lower = [(k - 1,) if self.level[k] > 1 else () for k in node]
        return [(*node[:index], *lowered, *node[index + 1 :]) for index, lowered in enumerate(lower)]

    def first(self, base: PackedBank, b: Array, start: Iterable[Node]) -> GridHull:
        """The root and the first kernels of the chains; of very many, those with the largest scores."""
        lowest = np.flatnonzero(np.array(self.level) == 1)
        best = lowest[np.argsort(-base.quad(b)[lowest], kind="stable")[:SINGLES]]
        return GridHull(tuple(in_order({(), *((int(k),) for k in best), *closed(start, self.parents)})), self)

    def sources(self, hull: ClosedSet) -> list[Node]:
        """The sources; each is found from its parent on the last chain of which it has a kernel."""
        inside = set(hull.nodes)
        children = []
        firsts = [k for k, level in enumerate(self.level) if level == 1]
        for w in hull.nodes:
            last = self.chain[w[-1]] if w else -1
            if w and self.level[w[-1]] < self.lengths[last]:
                raised = [(*w[:-1], w[-1] + 1)]
            else:
                raised = []
            for child in [*raised, *((*w, first) for first in firsts[last + 1 :])]:
                if child not in inside and inside.issuperset(self.parents(child)):
                    children.append(child)
        return in_order(children)

    def outside(
        self, base: PackedBank, b: Array, hull: ClosedSet, candidates: Sequence[Node], rho: float, allowed: float
    ) -> Outside:
        if not candidates:
            return Outside(0.0, np.zeros(0))
        sums = OfChains(base, b, self.lengths, self.beta)
        norms = uneven_shares(sums, self.costs(candidates) ** -2.0, candidates, self.beta, rho, allowed)
        return Outside(float(norms.max()), norms)
