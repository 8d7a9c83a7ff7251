"""Graphs whose nodes are kernels: the interface that a search uses, for listed nodes and for those never enumerated.

A(w), D(w)   ancestors and descendants of a node, w included
hull         a set of nodes with all their ancestors
sources      of the complement of a hull: the nodes outside the hull whose parents are all inside
d_v          the cost of node v
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.banks.packed import PackedBank
from multikernel.procedures.hkl.lattice import ClosedSet, Hull, Node, closed, in_order, sources
from multikernel.procedures.hkl.outside import Outside, outside

SINGLES = 100  # nodes with no parents but the root that the first hull has at most


class Graph(ABC):
    """A directed graph without circles; a node is the tuple of the base kernels whose product is its kernel."""

    @abstractmethod
    def first(self, base: PackedBank, b: Array, start: Iterable[Node]) -> ClosedSet:
        """The first hull, which includes ``start``, nodes of a neighbouring problem; b are typical coefficients."""

    @abstractmethod
    def sources(self, hull: ClosedSet) -> list[Node]:
        """The sources of the complement."""

    @abstractmethod
    def outside(
        self, base: PackedBank, b: Array, hull: ClosedSet, candidates: Sequence[Node], rho: float, allowed: float
    ) -> Outside:
        """A bound of what the sources and all their descendants add to the square of the dual norm at b.

        Parameters
        ----------
        base : the base kernels in double precision
        b : array (n,), the signed dual variables; zeros cost nothing
        hull : the nodes whose norms are computed one by one
        candidates : all sources of its complement
        rho : float in (1, 2]
        allowed : float, the value that the bound should not exceed
        """


@dataclass(frozen=True)
class Subsets(Graph):
    """All 2^p products of p kernels, each a descendant of the products of fewer of its factors, with d_v = beta^|v|.

    Parameters
    ----------
    p : int
    beta : float > 0
    """

    p: int
    beta: float

    def first(self, base: PackedBank, b: Array, start: Iterable[Node]) -> Hull:
        """The root and base kernels; of very many, those with the largest scores."""
        singles: list[Node] = [(int(i),) for i in np.argsort(-base.quad(b), kind="stable")[:SINGLES]]
        return Hull(tuple(in_order({(), *singles, *closed(start)})), self.beta)

    def sources(self, hull: ClosedSet) -> list[Node]:
        return sources(hull.nodes, self.p)

    def outside(
        self, base: PackedBank, b: Array, hull: ClosedSet, candidates: Sequence[Node], rho: float, allowed: float
    ) -> Outside:
        return outside(base, b, candidates, self.beta, rho, allowed)
