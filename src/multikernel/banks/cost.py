"""What a bank takes: to make it, to pass over its kernels, and in memory.

A bank says it of itself (``KernelBank.cost``): one that stores nothing says what it takes to store its matrices, where
they fit the memory they may take. So a bank that is bound with no memory has the cost of the bank that will be.
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
    """What a square bank takes.

    Parameters
    ----------
    m, n : int, kernels and samples
    features : int or None, how many all kernels together have, where sums of them keep these
    made : Work to make what is stored; None if unknown, as of kernels that are not of this package
    sweep : Work of a pass over all kernels, for their weighted sum or their forms
    exact : Work of a pass over kernels in double precision, where they are stored in single; else none
    held : float, bytes that are stored
    beside : float, bytes that are needed besides while the matrices are made, and are free again afterwards
    on_demand : bool, whether a sum of the kernels stores no matrix, but makes its rows when they are needed
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
        """Of a bank that stores nothing: each value of every matrix takes so many seconds."""
        return cls(m, n, sweep=Work(arithmetic=value * m * float(n) ** 2, steps=KERNEL_CALL * m))

    @classmethod
    def stored(cls, m: int, n: int, held: float) -> BankCost:
        """Of matrices that are there."""
        return cls(m, n, sweep=Work(memory=PASS_ENTRY * m * float(n) ** 2), held=held)

    @classmethod
    def together(cls, parts: list[BankCost]) -> BankCost:
        """Of several banks as one."""
        return reduce(cls._and, parts)

    def _and(self, other: BankCost) -> BankCost:
        features = made = None  # where one of them is not known
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
        """Of matrices that a user gives, each of which is factored to see that it is a kernel's."""
        n = float(self.n)
        factored = Work(algebra=BLAS_OPERATION * self.m * n**3 / 3.0, memory=STORED_BYTE * self.held)
        return replace(self, made=factored, beside=3.0 * 8.0 * n**2)

    def block(self, rows: int) -> BankCost:
        """Of so many of the samples: stored matrices are copied."""
        part = (rows / self.n) ** 2
        if self.features is not None:
            part = rows / self.n
        return replace(
            self,
            n=rows,
            made=None if self.made is None else Work(memory=self.sweep.memory * part),
            sweep=part * self.sweep,
            exact=part * self.exact,
            held=part * self.held,
            beside=0.0,
        )


def packed(evaluated: BankCost, pairs: Work, memory: float, itemsize: int, matrices: int = 2) -> BankCost:
    """Of a stack of symmetric halves; of none where it exceeds the memory.

    Parameters
    ----------
    evaluated : of the same kernels with nothing stored
    pairs : Work to evaluate every kernel at each pair of samples once
    memory, itemsize : bytes that the stack may take, and those of a number
    matrices : how many whole matrices it is made of at a time
    """
    m = evaluated.m
    n = evaluated.n
    held = float(m) * half_size(n) * itemsize
    if held > memory:
        return evaluated
    return replace(
        BankCost.stored(m, n, held),
        made=pairs + Work(memory=STORED_BYTE * held),
        exact=pairs if itemsize < np.dtype(float).itemsize else NONE,
        beside=matrices * 8.0 * n * n,
    )
