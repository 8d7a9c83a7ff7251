"""Some samples of a bank, which may be used for training or for prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from multikernel._typing import Array
from multikernel.banks.base import KernelBank
from multikernel.banks.indices import checked_positions


@dataclass(frozen=True, eq=False)
class BankRows:
    """Some samples of a bank, as ``bank[rows]`` returns them; their columns are chosen by a fit or a prediction.

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
        """The number of these samples, and of all samples of the bank."""
        return len(self.rows), self.bank.shape[1]

    def __getitem__(self, index: Any) -> BankRows:
        """Some of these samples."""
        return replace(
            self, rows=self.rows[checked_positions(index[0] if isinstance(index, tuple) else index, len(self.rows))]
        )
