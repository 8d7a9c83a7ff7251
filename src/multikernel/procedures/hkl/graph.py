"""Graphs whose nodes are kernels: what a search has to know of one, whether its nodes are listed or never enumerated.

A(w), D(w)   ancestors and descendants of a node, w among them
hull         a set of nodes with all their ancestors
sources      of the complement of a hull: the nodes outside it whose parents all are in it
d_v          what node v costs
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
        """The hull to begin with, which holds those nodes of a neighbouring problem; b are typical coefficients."""

    @abstractmethod
    def sources(self, hull: ClosedSet) -> list[Node]:
        """The sources of the complement."""

    @abstractmethod
    def outside(
        self, base: PackedBank, b: Array, hull: ClosedSet, candidates: Sequence[Node], rho: float, allowed: float
    ) -> Outside:
        """What the sources and all below them can add to the square of the dual norm at b, at most.

        Parameters
        ----------
        base : the base kernels in double precision
        b : array (n,), the signed dual variables; zeros cost nothing
        hull : the nodes that are looked at one by one
        candidates : all sources of its complement
        rho : float in (1, 2]
        allowed : float, what the bound should not exceed
        """


@dataclass(frozen=True)
class Subsets(Graph):
    """All 2^p products of p kernels, each below those of fewer of its factors, with d_v = beta^|v|.

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
