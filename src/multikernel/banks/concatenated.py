"""Several banks on the same samples, as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy import linalg

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank, positions
from multikernel.banks.dense import PackedBank
from multikernel.banks.gram import DenseGram, Gram


@dataclass(frozen=True, eq=False)
class ConcatenatedBank(KernelBank):
    """Kernel k is number ``order[k]`` of the banks' kernels, counted through."""

    banks: tuple[KernelBank, ...]
    order: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.banks[0].shape

    def __len__(self) -> int:
        return len(self.order)

    @property
    def square(self) -> bool:
        return self.banks[0].square

    @property
    def rounding(self) -> float:
        return max(bank.rounding for bank in self.banks)

    @property
    def local(self) -> bool:
        return all(bank.local for bank in self.banks)

    def compact(self) -> ConcatenatedBank:
        return self._each(lambda bank: bank.compact())

    def _gather(self, primitive: Callable[[KernelBank], Array]) -> Array:
        """A primitive of every bank, one after the other, in the order of the kernels."""
        values: Array = np.concatenate([primitive(bank) for bank in self.banks])[self.order]
        return values

    @property
    def _starts(self) -> Array:
        """The number, counted through, at which each bank's kernels start."""
        return np.cumsum([0, *map(len, self.banks[:-1])])

    @property
    def _bank_of_each(self) -> Array:
        """The bank, by position, that holds each kernel."""
        return np.searchsorted(self._starts, self.order, side="right") - 1

    @property
    def _own(self) -> list[Array]:
        """The kernels that each bank holds, in its own numbers and in the order of all."""
        which = self._bank_of_each
        return [self.order[which == b] - start for b, start in enumerate(self._starts)]

    def _shares(self, W: Array) -> list[Array]:
        """Rows of one value for each kernel, as each bank's own; a kernel that stands here twice gets the sum."""
        ends = np.cumsum([len(bank) for bank in self.banks])
        counted = np.stack([np.bincount(self.order, weights=row, minlength=ends[-1]) for row in W])
        return np.split(counted, ends[:-1], axis=1)

    def tiles(self, rows: Index) -> Iterator[Array]:
        own = [bank.select(index).tiles(rows) for bank, index in zip(self.banks, self._own, strict=True)]
        return (next(own[bank]) for bank in self._bank_of_each)

    def combine_all(self, W: Array) -> list[Gram]:
        totals: list[Array | None] = [None] * len(W)
        for bank, shares in zip(self.banks, self._shares(W), strict=True):
            if shares.any():
                for t, gram in enumerate(bank.combine_all(shares)):
                    totals[t] = _added(totals[t], gram.dense())
        return [DenseGram(np.zeros(self.shape) if total is None else total) for total in totals]

    def apply(self, C: Array) -> Array:
        return self._gather(lambda bank: bank.apply(C))

    def quad(self, A: Array) -> Array:
        return self._gather(lambda bank: bank.quad(A))

    def quads(self, A: Array) -> Array:
        return self._gather(lambda bank: bank.quads(A))

    def inner(self, M: Array) -> Array:
        return self._gather(lambda bank: bank.inner(M))

    def hadamard_apply(self, P: Gram, C: Array) -> Array:
        return self._gather(lambda bank: bank.hadamard_apply(P, C))

    def pairs(self, N: Array | None = None) -> Array:
        return self._joined([bank.pairs(N) for bank in self.banks], N)

    def pair_forms(self, A: Array) -> Array:
        A = as_columns(A)
        return self._joined([bank.pair_forms(A) for bank in self.banks], A @ A.T)

    def _joined(self, own: list[Array], N: Array | None) -> Array:
        """<N, K_j o K_k> for all pairs, from those of each bank; N = None is all ones."""
        forms = linalg.block_diag(*own)
        places = [slice(start, start + len(bank)) for start, bank in zip(self._starts, self.banks, strict=True)]
        by_size = sorted(zip(places, self.banks, strict=True), key=lambda pair: len(pair[1]))
        for (rows, few), (columns, many) in combinations(by_size, 2):
            for k, row in enumerate(range(rows.start, rows.stop)):
                K = few.matrix(k)
                forms[row, columns] = forms[columns, row] = many.inner(K if N is None else N * K)
        ordered: Array = forms[np.ix_(self.order, self.order)]
        return ordered

    def diagonal(self) -> Array:
        return self._gather(lambda bank: bank.diagonal())

    def traces(self) -> Array:
        return self._gather(lambda bank: bank.traces())

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        return self._gather(lambda bank: bank.held_out_self_values(rows, columns))

    def _each(self, change: Callable[[KernelBank], KernelBank]) -> ConcatenatedBank:
        return ConcatenatedBank(tuple(change(bank) for bank in self.banks), self.order)

    def block(self, rows: Index, columns: Index) -> ConcatenatedBank:
        return self._each(lambda bank: bank.block(rows, columns))

    def select(self, index: Index) -> ConcatenatedBank:
        return self._chosen(index, lambda bank, own: bank.select(own))

    def exact(self, index: Index = slice(None)) -> KernelBank:
        """One stack where every bank gives a stack of kernels that can be evaluated again."""
        taken = self._chosen(index, lambda bank, own: bank.exact(own))
        stacks = [bank for bank in taken.banks if isinstance(bank, PackedBank) and bank.origin.square]
        if len(stacks) < len(taken.banks):
            return taken
        packed = np.concatenate([bank.packed for bank in stacks])
        ordered = packed if np.array_equal(taken.order, np.arange(len(packed))) else packed[taken.order]
        return PackedBank(ConcatenatedBank(tuple(bank.origin for bank in stacks), taken.order), ordered, stacks[0].n)

    def _chosen(self, index: Index, take: Callable[[KernelBank, Array], KernelBank]) -> ConcatenatedBank:
        """The kernels of the index, each bank's own taken by ``take``."""
        chosen = self.order[positions(index, len(self))]
        starts = np.cumsum([0, *(len(bank) for bank in self.banks)])
        inside = [np.unique(chosen[(chosen >= a) & (chosen < b)]) for a, b in pairwise(starts)]
        kept = [(bank, own, a) for bank, own, a in zip(self.banks, inside, starts, strict=False) if len(own)]
        counted = np.concatenate([own for _, own, _ in kept] or [np.arange(0)])
        banks = tuple(take(bank, own - a) for bank, own, a in kept) or (take(self.banks[0], np.arange(0)),)
        return ConcatenatedBank(banks, np.searchsorted(counted, chosen))

    def cross(self, X: Any) -> ConcatenatedBank:
        return self._each(lambda bank: bank.cross(X))

    def reference(self, columns: Index = slice(None)) -> ConcatenatedBank:
        return self._each(lambda bank: bank.reference(columns))

    def self_values(self, X: Any) -> Array:
        return self._gather(lambda bank: bank.self_values(X))


def _added(total: Array | None, K: Array) -> Array:
    """total + K in the higher precision of the two, in the place of the total where that has it."""
    if total is None:
        return K
    added: Array = np.add(total, K, out=total if total.dtype == np.result_type(total, K) else None)
    return added
