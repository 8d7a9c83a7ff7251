"""Some samples of a bank, before it is known whether they are trained on or predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from multikernel._typing import Array
from multikernel.banks.base import KernelBank
from multikernel.banks.indices import samples


@dataclass(frozen=True, eq=False)
class BankRows:
    """Some samples of a bank, which meet others when a model is fitted or predicts: what ``bank[rows]`` is.

    Parameters
    ----------
    bank : a square bank
    rows : int array
    """

    bank: KernelBank
    rows: Array

    def __repr__(self) -> str:
        return f"<{len(self.rows)} of the {self.bank.shape[0]} samples of a bank of {len(self.bank)} kernels>"

    @property
    def shape(self) -> tuple[int, int]:
        """How many samples, against how many."""
        return len(self.rows), self.bank.shape[1]

    def __getitem__(self, index: Any) -> BankRows:
        """Some of them."""
        return replace(self, rows=self.rows[samples(index[0] if isinstance(index, tuple) else index, len(self.rows))])
