"""Banks of functions of one matrix, K_k = f_k(B) entry by entry: powers of a kernel, kernels of a distance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from multikernel._arrays import in_double
from multikernel._typing import Array, Index
from multikernel._work import Work
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.base_matrix import BaseMatrix
from multikernel.banks.cost import BankCost
from multikernel.banks.indices import positions, same_samples, unit_roundoff
from multikernel.kernels.base import Kernel
from multikernel.kernels.facts import OnDemand
from multikernel.kernels.samples import as_floats
from multikernel.tables.objects import Objects, as_objects
from multikernel.tuning import BLAS_OPERATION, KERNEL_VALUE


@dataclass(frozen=True, eq=False, repr=False)
class OneMatrixBank(KernelBank):
    """K_k = f_k(B).

    Parameters
    ----------
    B : BaseMatrix, stored or computed on demand
    """

    B: BaseMatrix

    _value: ClassVar[float] = KERNEL_VALUE  # seconds for each entry

    @property
    def shape(self) -> tuple[int, int]:
        return self.B.shape

    @property
    def square(self) -> bool:
        return self.B.square

    @property
    def rounding(self) -> float:
        return unit_roundoff(self.B.dtype)

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        """The cost of functions of the entries of B, which is stored in single precision if double is too large."""
        _, n = self.shape
        stored = self.B.stored
        if stored is not None:
            size = stored.itemsize
        else:
            size = max((size for size in self._sizes(itemsize, memory) if n * n * size <= memory), default=0)
        evaluated = BankCost.evaluated(len(self), n, self._value)
        product = Work(algebra=2.0 * BLAS_OPERATION * self.B.columns.values.shape[1] * float(n) ** 2)
        if not size:
            return replace(evaluated, sweep=evaluated.sweep + product)
        if size < np.dtype(float).itemsize:
            exact = evaluated.sweep + product
        else:
            exact = Work()
        work_of_B = product if stored is None else Work()
        return replace(evaluated, made=work_of_B, held=size * float(n) ** 2, beside=size * float(n) ** 2, exact=exact)

    def _sizes(self, itemsize: int, memory: float) -> set[int]:
        """The bytes that an entry of a stored B may take.

        A kernel that is fast on demand is not stored where sums of kernels, in double precision, would not fit either.
        """
        if not self._fast:
            return {itemsize, 4}
        double = np.dtype(float).itemsize * float(self.shape[0]) ** 2
        if double <= memory:
            return {itemsize}
        return set()

    @property
    def _fast(self) -> bool:
        """Whether the kernel is so fast that it is evaluated on demand rather than stored in single precision."""
        return isinstance(self.B.base, Kernel) and any(isinstance(fact, OnDemand) for fact in self.B.base.facts())

    def block(self, rows: Index, columns: Index) -> Self:
        r = positions(rows, self.shape[0])
        c = positions(columns, self.shape[1])
        if same_samples(self.square, r, c):
            return replace(self, B=self.B.principal(c))
        return replace(self, B=self.B.part(r, columns))

    def principal(self, rows: Array) -> KernelBank:
        return self.block(rows, rows).compact()

    def compact(self) -> Self:
        """The bank with B stored, if B fits the memory that banks take by default."""
        r, c = self.shape
        if self.B.stored is not None or r * c * self.B.dtype.itemsize > MEMORY:
            return self
        return replace(self, B=replace(self.B, stored=self.B.values()))

    def unrounded(self) -> Self:
        if self.B.dtype == np.float64 or not self.square:
            return self
        return replace(self, B=BaseMatrix.of(self.B.base, in_double(self.B.columns.values)))

    def _in_double(self) -> Self:
        """The same square bank in double precision, with B stored if it fits."""
        return self.unrounded().compact()

    def cross(self, X: Any) -> Self:
        samples = as_objects(X) if isinstance(self.B.columns.values, Objects) else as_floats(X)
        return replace(self, B=self.B.against(samples))
