"""Sums over all descendants of nodes of a product of chains, without visiting them.

With kernels k_i1, .., k_iq on chain i, k_i0 = 1, node t has level t_i on it. The costs beta^(w_1 + .. + w_p) of all
nodes from t to w sum to d_t S(w), S(w) = prod_i g(w_i - t_i), g(j) = 1 + beta + .. + beta^j, and

    sum_{w in D(t)} S(w)^{-e} b'K_w b = <bb', prod_i F_i(t_i)>,     F_i(s) = sum_{l >= s} g(l - s)^{-e} k_il.

A node is written as the kernels of its levels above 0; its sum is the product of all F_i(0) and of the quotients
F_i(s) / F_i(0) on the chains of these kernels. Sums over the descendants of the child of t on chain i have l > s in
place of l >= s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._floats import EPS
from multikernel._typing import Array
from multikernel.banks.packed import PackedBank
from multikernel.procedures.hkl.lattice import Node
from multikernel.procedures.hkl.outside import TERMS, Descendants
from multikernel.procedures.hkl.sums import ProductSums, Sums, on_support


@dataclass(frozen=True, eq=False)
class ChainSums(ProductSums):
    """The sums for one exponent e.

    Rows of factors are the quotients of all levels, then those of children (by the kernel of the child), then ones.

    Parameters
    ----------
    lengths : how many kernels each chain has
    weights : array (longest + 1,), g(j)^{-e}
    """

    lengths: tuple[int, ...]
    weights: Array

    @property
    def rows(self) -> int:
        return 2 * len(self.K) + 1

    def factors(self, r: slice) -> tuple[Array, Array]:
        K = self.K[:, r]
        m = len(self.K)
        R = np.ones((2 * m + 1, K.shape[1]))
        unit = np.ones(K.shape[1])
        first = 0
        for q in self.lengths:
            chain_rows = slice(first, first + q)
            later = np.arange(q) - np.arange(q)[:, None]
            levels = np.where(later >= 0, self.weights[np.maximum(later, 0)], 0.0)
            children = np.where(later >= 0, self.weights[np.maximum(later, 0) + 1], 0.0)
            R[chain_rows] = levels @ K[chain_rows]
            R[m + first : m + first + q] = children @ K[chain_rows]
            U = 1.0 + R[m + first]
            U[U == 0.0] = EPS  # any small divisor
            R[chain_rows] /= U
            R[m + first : m + first + q] /= U
            unit *= U
            first += q
        return unit, R


class OfChains(Descendants):
    """Sums over descendants among the nodes of a product of chains of these lengths."""

    def __init__(self, base: PackedBank, b: Array, lengths: tuple[int, ...], beta: float) -> None:
        with np.errstate(over="ignore"):  # a node of infinite cost adds nothing
            g = np.cumsum(float(beta) ** np.arange(max(lengths) + 1.0))
        K, M = on_support(base, b)
        self.scores = Sums(K, M, 0.0)
        self._sums = [ChainSums(K, M, lengths, g ** -(2.0 + k)) for k in range(TERMS)]
        self._firsts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        self._lengths = lengths
        self.size = K.size
        self._m = len(K)

    def totals(self, nodes: Sequence[Node]) -> Array:
        totals = []
        for sums in self._sums:
            table, row_of_node = sums.table([t[:-1] for t in nodes])
            totals.append([table[t[-1] if t else -1, row_of_node[t[:-1]]] for t in nodes])
        return np.array(totals).clip(min=0.0)

    def below(self, nodes: Sequence[Node]) -> tuple[Array, Array]:
        steps = [
            (k, i, *step) for k, t in enumerate(nodes) for i, step in enumerate(self._steps(t)) if step is not None
        ]
        node = np.array([step[0] for step in steps])
        chain = np.array([step[1] for step in steps])
        lefts = [step[2] for step in steps]
        kernel = np.array([step[3] for step in steps])
        first = np.zeros((len(nodes), len(self._lengths)))
        sums = np.zeros((TERMS, *first.shape))
        if steps:
            scores, *powers = (
                sums_of_power.table(lefts, rows)
                for sums_of_power, rows in [(self.scores, slice(None))]
                + [(s, slice(self._m, None)) for s in self._sums]
            )
            for out, (table, row_of_node) in zip([first, *sums], [scores, *powers], strict=True):
                out[node, chain] = table[kernel, [row_of_node[u] for u in lefts]].clip(min=0.0)
        return first, sums

    def _steps(self, t: Node) -> list[tuple[Node, int] | None]:
        """For every chain the child of t: t without its kernel there, and the child's kernel; None at the end."""
        steps: list[tuple[Node, int] | None] = []
        for first, q in zip(self._firsts, self._lengths, strict=True):
            on_chain = [k for k in t if first <= k < first + q]
            kernel = on_chain[0] + 1 if on_chain else int(first)
            steps.append((tuple(k for k in t if k not in on_chain), kernel) if kernel < first + q else None)
        return steps
