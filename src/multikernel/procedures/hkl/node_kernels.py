"""The kernels of nodes, K_w the entrywise product of the base kernels in w, stored as packed halves.

A node's half is its parent's times one base kernel's. Halves are kept for later rounds, in the order in which they were
first requested: the bank of a growing hull is the beginning of one array, so that no half is copied for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.mapped import MappedBank
from multikernel.banks.packed import PackedBank
from multikernel.banks.packing import pack
from multikernel.banks.precomputed import Precomputed
from multikernel.procedures.hkl.lattice import Node


def halves(bank: KernelBank) -> PackedBank:
    """The kernels of a square bank as packed halves in double precision."""
    if isinstance(bank, MappedBank):  # of a data frame, for instance
        return halves(bank.bank)
    if isinstance(bank, PackedBank) and bank.kept is None and bank.stack.dtype == np.float64:
        return bank
    n = bank.shape[0]
    check_memory(
        0.5 * len(bank) * n * (n + 1.0),
        f"hierarchical kernel learning stores its kernels, and a stack of {len(bank)} of {n} samples",
        "take fewer samples, or a method for sums of kernels (L1MKLClassifier, L1MKLRegressor)",
    )
    packed = np.empty((len(bank), n * (n + 1) // 2))
    for k in range(len(bank)):
        packed[k] = pack(bank.matrix(k))
    return PackedBank(Precomputed(len(bank), n), packed, n)


@dataclass(eq=False)
class NodeKernels:
    """The base kernels, and the kernels of the nodes requested so far: 4 n (n + 1) bytes each.

    The object changes: a search requests a few more nodes in each of its rounds. All kernels of nodes, the constant one
    included, are divided by ``unit``; the base kernels are not.
    """

    base: PackedBank
    unit: float
    _packed: Array
    _position: dict[Node, int] = field(default_factory=dict)

    @classmethod
    def of(cls, bank: KernelBank, unit: float = 1.0) -> NodeKernels:
        """Of a square bank of base kernels."""
        base = halves(bank)
        return cls(base, unit, np.empty((0, base.packed.shape[1])))

    def bank(self, nodes: Sequence[Node]) -> PackedBank:
        """The kernels of these nodes, in this order; no copy where they were first requested in the same order."""
        self._reserve(len(self._position.keys() | set(nodes)))
        for node in nodes:
            if node not in self._position:
                self._add(node)
        positions = np.array([self._position[node] for node in nodes], dtype=np.intp)
        start = positions[0] if len(positions) else 0
        in_line = np.array_equal(positions, np.arange(start, start + len(positions)))
        if in_line:
            packed = self._packed[start : start + len(positions)]
        else:
            packed = self._packed[positions]
        return PackedBank(Precomputed(len(nodes), self.base.n), packed, self.base.n)

    def _add(self, node: Node) -> None:
        factors = self.base.stack
        parent = self._position.get(node[:-1])
        k = len(self._position)
        half = self._packed[k]
        if not node:
            half[:] = 1.0 / self.unit
        elif parent is None:
            np.multiply.reduce(factors[list(node)], axis=0, out=half)
            half /= self.unit
        else:
            np.multiply(self._packed[parent], factors[node[-1]], out=half)
        self._position[node] = k

    def _reserve(self, count: int) -> None:
        """Reserve memory for this many nodes, or twice as many as before; memory not written to costs nothing."""
        if count > len(self._packed):
            grown = np.empty((max(count, 2 * len(self._packed)), self.base.packed.shape[1]))
            grown[: len(self._position)] = self._packed[: len(self._position)]
            self._packed = grown
