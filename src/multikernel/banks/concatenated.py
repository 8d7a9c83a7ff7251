"""Several banks on the same samples, as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy import linalg

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import positions
from multikernel.banks.packed import PackedBank


@dataclass(frozen=True, eq=False, repr=False)
class ConcatenatedBank(KernelBank):
    """Several banks as one.

    Parameters
    ----------
    banks : one or more banks on the same samples
    order : int array (m,); kernel k is number ``order[k]`` of the banks' kernels, counted through
    """

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

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        return BankCost.together([bank.cost(memory, itemsize) for bank in self.banks])

    # -- passes --------------------------------------------------------------------------------------------------

    def apply(self, C: Array) -> Array:
        return self._gathered(bank.apply(C) for bank in self.banks)

    def inner(self, M: Array) -> Array:
        return self._gathered(bank.inner(M) for bank in self.banks)

    def hadamard_apply(self, P: Gram, C: Array) -> Array:
        return self._gathered(bank.hadamard_apply(P, C) for bank in self.banks)

    def quad(self, A: Array) -> Array:
        return self._gathered(bank.quad(A) for bank in self.banks)

    def quads(self, A: Array) -> Array:
        return self._gathered(bank.quads(A) for bank in self.banks)

    def diagonal(self) -> Array:
        return self._gathered(bank.diagonal() for bank in self.banks)

    def traces(self) -> Array:
        return self._gathered(bank.traces() for bank in self.banks)

    def self_values(self, X: Any) -> Array:
        return self._gathered(bank.self_values(X) for bank in self.banks)

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        return self._gathered(bank.held_out_self_values(rows, columns) for bank in self.banks)

    def _gathered(self, answers: Iterable[Array]) -> Array:
        """The answers of all banks in the order of the kernels."""
        return np.concatenate(list(answers))[self.order]

    def tiles(self, rows: Index) -> Iterator[Array]:
        own = [self.order[self._which == b] - start for b, start in enumerate(self._starts)]
        tiles = [bank.select(index).tiles(rows) for bank, index in zip(self.banks, own, strict=True)]
        return (next(tiles[b]) for b in self._which)

    def matrix(self, k: int) -> Array:
        b = self._which[k]
        return self.banks[b].matrix(int(self.order[k] - self._starts[b]))

    @property
    def _starts(self) -> Array:
        """The number, counted through, of each bank's first kernel."""
        return np.cumsum([0, *map(len, self.banks[:-1])])

    @property
    def _which(self) -> Array:
        """The bank, by position, that holds each kernel."""
        return np.searchsorted(self._starts, self.order, side="right") - 1

    def combine_all(self, W: Array) -> list[Gram]:
        totals: list[Array | None] = [None] * len(W)
        for bank, shares in zip(self.banks, self._shares(W), strict=True):
            if shares.any():
                for t, gram in enumerate(bank.combine_all(shares)):
                    totals[t] = _added(totals[t], gram.dense())
        return [DenseGram(np.zeros(self.shape) if total is None else total) for total in totals]

    def _shares(self, W: Array) -> list[Array]:
        """Weights of the kernels as weights of each bank's kernels; one that stands here twice gets the sum."""
        ends = np.cumsum([len(bank) for bank in self.banks])
        counted = np.stack([np.bincount(self.order, weights=row, minlength=ends[-1]) for row in W])
        return np.split(counted, ends[:-1], axis=1)

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
        return forms[np.ix_(self.order, self.order)]

    # -- parts ---------------------------------------------------------------------------------------------------

    def block(self, rows: Index, columns: Index) -> ConcatenatedBank:
        return self._of(bank.block(rows, columns) for bank in self.banks)

    def cross(self, X: Any) -> ConcatenatedBank:
        return self._of(bank.cross(X) for bank in self.banks)

    def reference(self, columns: Index = slice(None)) -> ConcatenatedBank:
        return self._of(bank.reference(columns) for bank in self.banks)

    def compact(self) -> ConcatenatedBank:
        return self._of(bank.compact() for bank in self.banks)

    def principal(self, rows: Array) -> ConcatenatedBank:
        return self._of(bank.principal(rows) for bank in self.banks)

    def _of(self, banks: Iterable[KernelBank]) -> ConcatenatedBank:
        """The bank of other banks in the same order."""
        return ConcatenatedBank(tuple(banks), self.order)

    def unrounded(self) -> KernelBank:
        banks = tuple(bank.unrounded() for bank in self.banks)
        same = all(new is old for new, old in zip(banks, self.banks, strict=True))
        if same or not self.square:
            return self
        return ConcatenatedBank(banks, self.order)

    def select(self, index: Index) -> ConcatenatedBank:
        return self._chosen(index, lambda bank, own: bank.select(own))

    def exact(self, index: Index = slice(None)) -> KernelBank:
        """One stack where every bank gives a stack of kernels that can be evaluated again."""
        taken = self._chosen(index, lambda bank, own: bank.exact(own))
        stacks = [bank for bank in taken.banks if isinstance(bank, PackedBank) and bank.origin.square]
        if len(stacks) < len(taken.banks):
            return taken
        packed = np.concatenate([bank.packed for bank in stacks])
        if np.array_equal(taken.order, np.arange(len(packed))):
            ordered = packed
        else:
            ordered = packed[taken.order]
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


def _added(total: Array | None, K: Array) -> Array:
    """total + K in the higher precision of the two, in the place of the total, an array of our own, where it has it."""
    if total is None:
        return K.copy()  # which may be the matrix of a Gram
    return np.add(total, K, out=total if total.dtype == np.result_type(total, K) else None)
