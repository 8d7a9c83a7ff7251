"""The lattice of the subsets of p base kernels.

    node w       a set of base kernels, written as a sorted tuple; () is the root
    A(w)         its ancestors: the subsets of w, w included
    D(w)         its descendants: the sets that contain w, w included
    parents      w without one of its elements
    hull         a set W of nodes with A(w) in W for every w in W
    sources      of the complement of a hull: the nodes outside the hull whose parents are all inside

A node v costs d_v = beta^|v| (Bach 2009). The learned function is a sum over the nodes of a hull.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np

from multikernel._typing import Array

Node = tuple[int, ...]


def without(node: Node, position: int) -> Node:
    """The parent that lacks the element at this position."""
    return node[:position] + node[position + 1 :]


def parents(node: Node) -> tuple[Node, ...]:
    """The node without each of its elements in turn."""
    return tuple(without(node, position) for position in range(len(node)))


def in_order(nodes: Iterable[Node]) -> list[Node]:
    """Small sets first, so parents before children; equal sizes in lexicographic order."""
    return sorted(nodes, key=lambda node: (len(node), node))


def sources(nodes: Iterable[Node], p: int) -> list[Node]:
    """The nodes outside an ancestor-closed set whose parents all are in it, of p base kernels.

    With E(w) the elements that lead from w to another node of the set, w + {i} has all its parents in the set if i is
    in E(w - {j}) for every j in w. Each source is found from its parent without the largest element.

    Examples
    --------
    >>> from multikernel.procedures.hkl.lattice import sources
    >>> sources([(), (0,), (1,)], 3)
    [(2,), (0, 1)]
    """
    within = set(nodes)
    if not within:
        return [()]
    leads = dict.fromkeys(within, 0)  # E(w), as the bits of a number
    for w in within:
        for position, element in enumerate(w):
            leads[without(w, position)] |= 1 << element
    children = []
    for w in within:
        allowed = (1 << p) - 1 & ~leads[w]
        for parent in parents(w):
            allowed &= leads[parent]
        children.extend([(*w, i) for i in range(w[-1] + 1 if w else 0, p) if allowed >> i & 1])
    return in_order(children)


def closed(nodes: Iterable[Node], above: Callable[[Node], Iterable[Node]] = parents) -> set[Node]:
    """The nodes and all their ancestors; ``above``: the parents of a node."""
    closure: set[Node] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node not in closure:
            closure.add(node)
            pending.extend(above(node))
    return closure


def names(nodes: Iterable[Node], kernel_names: Sequence[str]) -> list[str]:
    """The names of the kernels of nodes, by those of the base kernels: "1" at the root, "a * b" for {a, b}."""
    return [" * ".join(kernel_names[i] for i in node) if node else "1" for node in nodes]


@dataclass(frozen=True, eq=False)
class ClosedSet(ABC):
    """A set of nodes with all their ancestors in a fixed order, parents before their children.

    Parameters
    ----------
    nodes : tuple of nodes
    """

    nodes: tuple[Node, ...]

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    @abstractmethod
    def d(self) -> Array:
        """The cost of each node, shape (len(self),)."""

    @property
    @abstractmethod
    def pairs(self) -> tuple[Array, Array]:
        """v and w of all pairs v in A(w), as positions in ``nodes``; in the order of w, with v = w last for each w."""

    @property
    def ancestor(self) -> Array:
        """v of every pair v in A(w)."""
        return self.pairs[0]

    @property
    def node(self) -> Array:
        """w of every pair v in A(w)."""
        return self.pairs[1]

    def in_order(self, nodes: Iterable[Node]) -> list[Node]:
        """The nodes, parents before their children."""
        return in_order(nodes)

    def extended(self, nodes: Iterable[Node]) -> Self:
        """The set with further nodes after those it has."""
        return replace(self, nodes=(*self.nodes, *self.in_order(nodes)))

    def kept(self, rows: Array) -> Self:
        """The nodes at which the mask is true, which have to be a closed set."""
        return replace(self, nodes=tuple(w for w, keep in zip(self.nodes, rows, strict=True) if keep))


@dataclass(frozen=True)
class Hull(ClosedSet):
    """An ancestor-closed set of nodes in a fixed order, parents before their children.

    Parameters
    ----------
    nodes : distinct sorted tuples of base kernels by number, each after its parents
    beta : float > 0, the factor by which d_v = beta^|v| grows with each element

    Raises
    ------
    ValueError : where a node is not a sorted tuple, occurs twice or before one of its parents

    Examples
    --------
    >>> from multikernel.procedures.hkl.lattice import Hull
    >>> hull = Hull(((), (0,), (1,))).extended([(0, 1)])
    >>> hull.d
    array([1., 2., 2., 4.])
    >>> hull.ancestor[hull.node == 3]  # of (0, 1): all four
    array([0, 1, 2, 3])
    """

    beta: float = 2.0

    def __post_init__(self) -> None:
        if not 0.0 < self.beta < np.inf:
            raise ValueError(f"the weights beta^|v| of the nodes need a finite beta > 0, got {self.beta}")
        earlier: set[Node] = set()
        for w in self.nodes:
            if any(i < 0 for i in w[:1]) or any(i >= j for i, j in pairwise(w)):
                raise ValueError(f"a node is an ascending tuple of base kernels by number, from 0 on, got {w!r}")
            missing = [parent for parent in parents(w) if parent not in earlier]
            if missing or w in earlier:
                if missing:
                    why = f"needs its parent {missing[0]!r} before it"
                else:
                    why = "is there twice"
                raise ValueError(f"a hull holds every node once and after its parents: {w!r} {why}")
            earlier.add(w)

    @cached_property
    def sizes(self) -> Array:
        """|v|, shape (len(self),)."""
        return np.array([len(v) for v in self.nodes], dtype=np.intp)

    @cached_property
    def d(self) -> Array:
        """beta^|v|, shape (len(self),)."""
        return float(self.beta) ** self.sizes

    @cached_property
    def pairs(self) -> tuple[Array, Array]:
        """A(w) is A(w'), w' being w without its largest element i, and v + {i} for every v in A(w')."""
        position = {v: k for k, v in enumerate(self.nodes)}
        child = np.zeros((len(self), 1 + max((v[-1] for v in self.nodes if v), default=0)), dtype=np.intp)
        above: list[Array] = []
        for k, w in enumerate(self.nodes):
            if not w:
                above.append(np.array([k]))
                continue
            parent = position[w[:-1]]
            largest = w[-1]
            child[parent, largest] = k  # v + {i} of the other v in A(w') are ancestors of w: they came before it
            above.append(np.concatenate([above[parent], child[above[parent], largest]]))
        counts = [len(row) for row in above]
        return np.concatenate([*above, np.empty(0, np.intp)]), np.repeat(np.arange(len(self)), counts)
