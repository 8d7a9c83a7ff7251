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
    order : int array (m,); kernel k is number ``order[k]`` among the kernels of all banks, numbered consecutively
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
        """The concatenated results of all banks, in the order of the kernels."""
        return np.concatenate(list(answers))[self.order]

    def tiles(self, rows: Index) -> Iterator[Array]:
        indices = [self.order[self._which == b] - start for b, start in enumerate(self._starts)]
        tiles = [bank.select(index).tiles(rows) for bank, index in zip(self.banks, indices, strict=True)]
        return (next(tiles[b]) for b in self._which)

    def matrix(self, k: int) -> Array:
        b = self._which[k]
        return self.banks[b].matrix(int(self.order[k] - self._starts[b]))

    @property
    def _starts(self) -> Array:
        """The number of the first kernel of each bank, where the kernels of all banks are numbered consecutively."""
        return np.cumsum([0, *map(len, self.banks[:-1])])

    @property
    def _which(self) -> Array:
        """For each kernel the position of its bank."""
        return np.searchsorted(self._starts, self.order, side="right") - 1

    def combine_all(self, W: Array) -> list[Gram]:
        totals: list[Array | None] = [None] * len(W)
        for bank, shares in zip(self.banks, self._shares(W), strict=True):
            if shares.any():
                for t, gram in enumerate(bank.combine_all(shares)):
                    totals[t] = _added(totals[t], gram.dense())
        return [DenseGram(np.zeros(self.shape) if total is None else total) for total in totals]

    def _shares(self, W: Array) -> list[Array]:
        """Weights of the kernels as weights of the kernels of each bank; a kernel that occurs twice gets the sum."""
        ends = np.cumsum([len(bank) for bank in self.banks])
        counted = np.stack([np.bincount(self.order, weights=row, minlength=ends[-1]) for row in W])
        return np.split(counted, ends[:-1], axis=1)

    def pairs(self, N: Array | None = None) -> Array:
        return self._joined([bank.pairs(N) for bank in self.banks], N)

    def pair_forms(self, A: Array) -> Array:
        A = as_columns(A)
        return self._joined([bank.pair_forms(A) for bank in self.banks], A @ A.T)

    def _joined(self, forms_of_banks: list[Array], N: Array | None) -> Array:
        """<N, K_j o K_k> for all pairs of kernels, from the forms within each bank; N = None stands for all ones."""
        forms = linalg.block_diag(*forms_of_banks)
        spans = [slice(start, start + len(bank)) for start, bank in zip(self._starts, self.banks, strict=True)]
        by_size = sorted(zip(spans, self.banks, strict=True), key=lambda pair: len(pair[1]))
        for (rows, smaller), (columns, larger) in combinations(by_size, 2):
            for k, row in enumerate(range(rows.start, rows.stop)):
                K = smaller.matrix(k)
                forms[row, columns] = forms[columns, row] = larger.inner(K if N is None else N * K)
        return forms[np.ix_(self.order, self.order)]

    # -- blocks and selections -----------------------------------------------------------------------------------

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
        """A concatenation of other banks in the same order of kernels."""
        return ConcatenatedBank(tuple(banks), self.order)

    def unrounded(self) -> KernelBank:
        banks = tuple(bank.unrounded() for bank in self.banks)
        unchanged = all(unrounded is bank for unrounded, bank in zip(banks, self.banks, strict=True))
        if unchanged or not self.square:
            return self
        return ConcatenatedBank(banks, self.order)

    def select(self, index: Index) -> ConcatenatedBank:
        return self._chosen(index, lambda bank, kernels: bank.select(kernels))

    def exact(self, index: Index = slice(None)) -> KernelBank:
        """One stack where the exact form of every bank is a stack whose kernels can be evaluated again."""
        exact = self._chosen(index, lambda bank, kernels: bank.exact(kernels))
        stacks = [bank for bank in exact.banks if isinstance(bank, PackedBank) and bank.origin.square]
        if len(stacks) < len(exact.banks):
            return exact
        packed = np.concatenate([bank.packed for bank in stacks])
        if np.array_equal(exact.order, np.arange(len(packed))):
            packed_in_order = packed
        else:
            packed_in_order = packed[exact.order]
        origin = ConcatenatedBank(tuple(bank.origin for bank in stacks), exact.order)
        return PackedBank(origin, packed_in_order, stacks[0].n)

    def _chosen(self, index: Index, take: Callable[[KernelBank, Array], KernelBank]) -> ConcatenatedBank:
        """The kernels of the index; ``take`` selects those of each bank."""
        chosen = self.order[positions(index, len(self))]
        starts = np.cumsum([0, *(len(bank) for bank in self.banks)])
        numbers_of_banks = [np.unique(chosen[(chosen >= a) & (chosen < b)]) for a, b in pairwise(starts)]
        banks_in_use = [
            (bank, k, a) for bank, k, a in zip(self.banks, numbers_of_banks, starts, strict=False) if len(k)
        ]
        numbers = np.concatenate([k for _, k, _ in banks_in_use] or [np.arange(0)])
        banks = tuple(take(bank, k - a) for bank, k, a in banks_in_use) or (take(self.banks[0], np.arange(0)),)
        return ConcatenatedBank(banks, np.searchsorted(numbers, chosen))


def _added(total: Array | None, K: Array) -> Array:
    """total + K in the higher precision of the two, written into ``total`` if it has this precision."""
    if total is None:
        return K.copy()  # K may belong to a Gram, and the total is written into
    return np.add(total, K, out=total if total.dtype == np.result_type(total, K) else None)
