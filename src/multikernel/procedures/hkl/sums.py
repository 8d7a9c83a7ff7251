"""Sums over all descendants of nodes, with weights that fall by a factor c each generation, without enumeration.

    sum_{w in D(t)} c^{|w - t|} b'K_w b = <bb', K_t o prod_{i not in t} (1 + c k_i)>

The sums of many nodes at once are one product of matrices: with R_i = k_i / (1 + c k_i),

    K_t o prod_{i not in t} (1 + c k_i) = prod_i (1 + c k_i) o prod_{i in t} R_i,

whose factors are shared by many nodes. Each quotient is later multiplied by its divisor, so that a small divisor loses
no digits. Other graphs whose kernels are products have sums of the same form, with other factors (``chain_sums``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from multikernel._floats import EPS
from multikernel._typing import Array
from multikernel._workers import check_interrupted
from multikernel.banks.packed import PackedBank
from multikernel.banks.packing import weights_of_pairs
from multikernel.banks.threads import one_blas_thread, over_rows
from multikernel.procedures.hkl.lattice import Node, in_order
from multikernel.tuning import PIECE_VALUES


@dataclass(frozen=True, eq=False)
class ProductSums(ABC):
    """Sums over the entries of products of factors, for given coefficients, on the support of b.

    Parameters
    ----------
    K : array (p, N), packed halves of the kernels
    M : array (N,), the products b_i b_j with which the entries of a half are summed
    """

    K: Array
    M: Array

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many factors there are."""

    @abstractmethod
    def factors(self, r: slice) -> tuple[Array, Array]:
        """At some entries, the product that all sums have in common, (N_r,), and the factors R, (rows, N_r)."""

    def table(self, lefts: Sequence[Node], selection: slice = slice(None)) -> tuple[Array, dict[Node, int]]:
        """<M, product o prod_{i in u} R_i o R_row>: a row for each R_row, a column for each u and its prefixes."""
        from multikernel.procedures.hkl import _pieces

        column_of = _with_prefixes(lefts)
        parent = np.array([column_of[w[:-1]] for w in column_of], dtype=np.intp)
        last = np.array([w[-1] if w else 0 for w in column_of], dtype=np.intp)

        def table_of_entries(r: slice) -> Array:
            common, R = self.factors(r)
            L = np.empty((len(column_of), R.shape[1]))
            L[0] = self.M[r] * common
            _pieces.products(parent, last, R, L)
            return blas.dgemm(1.0, R[selection].T, L.T, trans_a=True)

        size = max(1, PIECE_VALUES // len(column_of))
        n = len(self.M)
        n_rows = len(range(self.rows)[selection])

        def table_of_share(rows: slice) -> Array:
            """The sum over some of the entries, accumulated in one table to save memory."""
            total = np.zeros((n_rows, len(column_of)))
            for first in range(rows.start, rows.stop, size):
                check_interrupted()
                total += table_of_entries(slice(first, min(first + size, rows.stop)))
            return total

        with one_blas_thread(0):
            # four tables for any number of threads, so that sums do not depend on this number
            tables = over_rows(table_of_share, n, max(size, -(-n // 4)))
        return sum(tables, np.zeros((n_rows, len(column_of)))), column_of


@dataclass(frozen=True, eq=False)
class Sums(ProductSums):
    """Sums over descendants among all subsets.

    Parameters
    ----------
    c : float, the factor of each generation
    """

    c: float

    @classmethod
    def of(cls, base: PackedBank, b: Array, c: float) -> Sums:
        return cls(*on_support(base, b), c)

    @property
    def rows(self) -> int:
        return len(self.K) + 1

    def factors(self, r: slice) -> tuple[Array, Array]:
        """The common product and the quotients; the last row is of ones, for the sum over D(u) itself."""
        U = 1.0 + self.c * self.K[:, r]
        U[U == 0.0] = EPS  # any small divisor
        return U.prod(axis=0), np.concatenate([self.K[:, r] / U, np.ones((1, U.shape[1]))])

    def totals(self, nodes: Sequence[Node]) -> Array:
        """The sums over D(t), for every node t: shape (len(nodes),)."""
        p = len(self.K)
        table, column_of = self.table([t[:-1] for t in nodes])
        totals: Array = np.array([table[t[-1] if t else p, column_of[t[:-1]]] for t in nodes])
        return totals.clip(min=0.0)

    def below(self, nodes: Sequence[Node]) -> Array:
        """The sums over D(t + {i}) for every node t and base kernel i, shape (len(nodes), p); 0 for i in t."""
        table, column_of = self.table(nodes)
        sums: Array = table[:-1, [column_of[t] for t in nodes]].T.clip(min=0.0)
        for row, t in zip(sums, nodes, strict=True):
            row[list(t)] = 0.0
        return sums

    def split(self, pieces: Sequence[tuple[Node, int]]) -> list[tuple[float, list[tuple[int, float]]]]:
        """For each piece (u, j): the score of u, and the sums over the pieces (u + {i}, i + 1), i >= j outside u."""
        from multikernel.procedures.hkl import _pieces

        p = len(self.K)
        roles = np.full((len(pieces), p), _pieces.OUT, dtype=np.int8)
        sums = np.empty((len(pieces), p + 1))
        for role, (u, j) in zip(roles, pieces, strict=True):
            role[j:] = _pieces.FREE
            role[list(u)] = _pieces.FACTOR
        over_rows(
            lambda r: _pieces.split(self.K, self.M, self.c, roles, sums, r.start, r.stop),
            len(pieces),
            1,
        )
        sums.clip(min=0.0, out=sums)
        return [
            (float(row[p]), [(int(i), float(row[i])) for i in np.flatnonzero(role == _pieces.FREE)])
            for role, row in zip(roles, sums, strict=True)
        ]


def on_support(base: PackedBank, b: Array) -> tuple[Array, Array]:
    """K and M of the samples with nonzero coefficients."""
    support = np.flatnonzero(b)
    support_bank = base if len(support) == base.n else base.principal(support)
    return support_bank.packed, weights_of_pairs(np.outer(b[support], b[support]))


def _with_prefixes(nodes: Sequence[Node]) -> dict[Node, int]:
    """Numbers of the nodes and all their prefixes, smaller ones first; each is a shorter prefix times one factor."""
    prefixes: set[Node] = {()}
    for w in nodes:
        while w not in prefixes:
            prefixes.add(w)
            w = w[:-1]
    return {w: k for k, w in enumerate(in_order(prefixes))}
