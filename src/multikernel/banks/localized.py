"""Kernels of groups of samples: h_j(x) k_k(x, z) h_j(z) for every group j and every kernel k, group by group.

Samples that do not belong to a group are left out of its kernels: where every sample belongs to one of g groups, a pass
over all g m kernels reads only 1/g as many entries as a pass over the m kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.memberships import Memberships
from multikernel.banks.placed import PlacedBank
from multikernel.banks.weighted import WeightedBank
from multikernel.banks.wrappers import delegate


@dataclass(frozen=True, eq=False, repr=False)
class LocalizedBank(KernelBank):
    """h_j(x) k_k(x, z) h_j(z), kernel number j m + k.

    Parameters
    ----------
    whole : the m kernels on all samples
    left, right : arrays (groups, rows) and (groups, columns), memberships h >= 0
    rule : Memberships, the rule for memberships of new samples
    chosen : int array, the numbers j m + k of the kernels of this bank
    """

    whole: KernelBank
    left: Array
    right: Array
    rule: Memberships
    chosen: Array

    @classmethod
    def of(cls, bank: KernelBank, memberships: Array, rule: Memberships) -> LocalizedBank:
        """All kernels of a square bank, with the memberships (n, groups) of its samples."""
        h = np.ascontiguousarray(memberships.T, dtype=float)
        return cls(bank, h, h, rule, np.arange(len(h) * len(bank)))

    @property
    def shape(self) -> tuple[int, int]:
        return self.whole.shape

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def square(self) -> bool:
        return self.whole.square

    @property
    def rounding(self) -> float:
        return self.whole.rounding

    @property
    def local(self) -> bool:
        return self.whole.local

    @cached_property
    def bank(self) -> KernelBank:
        """The kernels, as a concatenation of a bank for each group on the members of the group."""
        banks = tuple(
            self._bank_of_group(row_memberships, column_memberships)
            for row_memberships, column_memberships in zip(self.left, self.right, strict=True)
        )
        return ConcatenatedBank(banks, np.arange(len(banks) * len(self.whole))).select(self.chosen)

    def _bank_of_group(self, row_memberships: Array, column_memberships: Array) -> KernelBank:
        """The kernels of one group; on all samples where a kernel depends on the training sample."""
        rows = np.flatnonzero(row_memberships)
        columns = np.flatnonzero(column_memberships)
        lacks_samples = self.local and (len(rows) < len(row_memberships) or len(columns) < len(column_memberships))
        if not lacks_samples:
            return WeightedBank(self.whole, left=row_memberships, right=column_memberships)
        if self.square:
            block = self.whole.principal(rows)
        else:
            block = self.whole.block(rows, columns)
        weighted = WeightedBank(block, left=row_memberships[rows], right=column_memberships[columns])
        return PlacedBank(weighted, rows, columns, self.shape, self.square)

    def tiles(self, rows: Index) -> Iterator[Array]:
        return self.bank.tiles(rows)

    combine = delegate("combine")
    combine_all = delegate("combine_all")
    apply = delegate("apply")
    quad = delegate("quad")
    quads = delegate("quads")
    inner = delegate("inner")
    matrix = delegate("matrix")
    pairs = delegate("pairs")
    pair_forms = delegate("pair_forms")
    hadamard_apply = delegate("hadamard_apply")
    diagonal = delegate("diagonal")
    traces = delegate("traces")

    def block(self, rows: Index, columns: Index) -> LocalizedBank:
        bank = self.whole.block(rows, columns)
        return replace(self, whole=bank, left=self.left[:, rows], right=self.right[:, columns])

    def principal(self, rows: Array) -> LocalizedBank:
        return replace(self, whole=self.whole.principal(rows), left=self.left[:, rows], right=self.right[:, rows])

    def select(self, index: Index) -> LocalizedBank:
        return replace(self, chosen=self.chosen[index])

    def exact(self, index: Index = slice(None)) -> LocalizedBank:
        return replace(self, whole=self.whole.exact(), chosen=self.chosen[index])

    def unrounded(self) -> KernelBank:
        bank = self.whole.unrounded()
        if bank is self.whole or not self.square:
            return self
        return replace(self, whole=bank)

    def compact(self) -> LocalizedBank:
        return replace(self, whole=self.whole.compact())

    def cross(self, X: Any) -> LocalizedBank:
        return replace(self, whole=self.whole.cross(X), left=np.ascontiguousarray(self.rule.of(X).T))

    def reference(self, columns: Index = slice(None)) -> LocalizedBank:
        return replace(self, whole=self.whole.reference(columns), left=self.left[:, :0], right=self.right[:, columns])

    def self_values(self, X: Any) -> Array:
        values = self.whole.self_values(X)
        h = self.rule.of(X).T
        return np.reshape(h[:, None, :] ** 2 * values, (-1, values.shape[1]))[self.chosen]

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        values = self.whole.held_out_self_values(rows, columns)
        return np.reshape(self.left[:, None, rows] ** 2 * values, (-1, values.shape[1]))[self.chosen]
