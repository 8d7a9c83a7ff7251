"""The cost of a bank: the time to make it and to pass over its kernels, and its memory.

Each bank states its cost (``KernelBank.cost``). A bank that stores nothing states the cost of storing its matrices, if
they fit the memory that they may take; so a bank that is bound with no memory forecasts the bank of a fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from multikernel._work import Work
from multikernel.banks.packing import half_size
from multikernel.tuning import BLAS_OPERATION, KERNEL_CALL, KERNEL_VALUE, PASS_ENTRY, STORED_BYTE

NONE = Work()


@dataclass(frozen=True)
class BankCost:
    """The time and memory of a square bank.

    Parameters
    ----------
    m, n : int, kernels and samples
    features : int or None, the number of features of all kernels together, where sums of kernels use them
    made : Work to compute the stored matrices; None if unknown, as for kernels of other packages
    sweep : Work of a pass over all kernels, for their weighted sum or their forms
    exact : Work of a pass over the kernels in double precision, where they are stored in single; else no work
    held : float, bytes that are stored
    beside : float, further bytes that are needed only while the matrices are computed
    on_demand : bool, whether a sum of the kernels stores no matrix and computes its rows when they are needed
    """

    m: int
    n: int
    features: int | None = None
    made: Work | None = NONE
    sweep: Work = NONE
    exact: Work = NONE
    held: float = 0.0
    beside: float = 0.0
    on_demand: bool = False

    @classmethod
    def evaluated(cls, m: int, n: int, value: float = KERNEL_VALUE) -> BankCost:
        """The cost of a bank that stores nothing, where each matrix entry takes ``value`` seconds."""
        return cls(m, n, sweep=Work(arithmetic=value * m * float(n) ** 2, steps=KERNEL_CALL * m))

    @classmethod
    def stored(cls, m: int, n: int, held: float) -> BankCost:
        """The cost of matrices that are stored already."""
        return cls(m, n, sweep=Work(memory=PASS_ENTRY * m * float(n) ** 2), held=held)

    @classmethod
    def together(cls, costs: list[BankCost]) -> BankCost:
        """The cost of several banks as one."""
        return reduce(cls._and, costs)

    def _and(self, other: BankCost) -> BankCost:
        features = made = None  # unknown where either is unknown
        if self.features is not None and other.features is not None:
            features = self.features + other.features
        if self.made is not None and other.made is not None:
            made = self.made + other.made
        return BankCost(
            self.m + other.m,
            self.n,
            features,
            made,
            self.sweep + other.sweep,
            self.exact + other.exact,
            self.held + other.held,
            max(self.beside, other.beside),
        )

    def of_matrices(self) -> BankCost:
        """The cost of matrices that a user gives, each of which is factored to check that it is a kernel matrix."""
        n = float(self.n)
        factored = Work(algebra=BLAS_OPERATION * self.m * n**3 / 3.0, memory=STORED_BYTE * self.held)
        return replace(self, made=factored, beside=3.0 * 8.0 * n**2)

    def block(self, rows: int) -> BankCost:
        """The cost of a block of so many samples, for which stored matrices are copied."""
        share = (rows / self.n) ** 2
        if self.features is not None:
            share = rows / self.n
        return replace(
            self,
            n=rows,
            made=None if self.made is None else Work(memory=self.sweep.memory * share),
            sweep=share * self.sweep,
            exact=share * self.exact,
            held=share * self.held,
            beside=0.0,
        )


def packed(evaluated: BankCost, pairs: Work, memory: float, itemsize: int, matrices: int = 2) -> BankCost:
    """The cost of a stack of symmetric halves; if that exceeds the memory, the cost of storing nothing.

    Parameters
    ----------
    evaluated : the cost of the same kernels with nothing stored
    pairs : Work to evaluate every kernel at each pair of samples once
    memory, itemsize : bytes that the stack may take, and bytes of a number
    matrices : how many full matrices are needed at a time to compute it
    """
    m = evaluated.m
    n = evaluated.n
    stored_bytes = float(m) * half_size(n) * itemsize
    if stored_bytes > memory:
        return evaluated
    return replace(
        BankCost.stored(m, n, stored_bytes),
        made=pairs + Work(memory=STORED_BYTE * stored_bytes),
        exact=pairs if itemsize < np.dtype(float).itemsize else NONE,
        beside=matrices * 8.0 * n * n,
    )
