"""Kernels evaluated from the samples: stored within the memory budget, evaluated on demand beyond it.

Kernels of a distance on the same columns share the matrix of the distance, and powers of one kernel share the matrix of
that kernel; only the stored half of each matrix is evaluated from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._arrays import in_double
from multikernel._linalg import inverse_root
from multikernel._typing import Array, Index
from multikernel._work import Work
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.checks import real
from multikernel.banks.cost import BankCost, packed
from multikernel.banks.indices import positions, samples_of_block, unit_roundoff
from multikernel.banks.packed import PackedBank
from multikernel.banks.packing import half_size, pack
from multikernel.banks.powers import running_powers
from multikernel.banks.profiles import fill, of_squares, profiles
from multikernel.banks.sharing import sharing
from multikernel.banks.threads import over_rows
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import OfDistance
from multikernel.kernels.facts import Costly, Elementary, PowerOf
from multikernel.kernels.interactions import elementary, elementary_diagonals
from multikernel.kernels.samples import as_floats, dense
from multikernel.tables.objects import Objects, as_objects
from multikernel.tuning import BLAS_OPERATION, BUFFER_VALUES, THREADS_TILE


@dataclass(frozen=True, eq=False, repr=False)
class LazyBank(KernelBank):
    """Kernels of the row samples X against the column samples Z, evaluated tile by tile in every pass.

    ``X is Z`` makes the bank square.
    """

    _tile_values = 1 << 19  # each evaluation of a kernel on a tile has a fixed cost

    kernels: tuple[Kernel, ...]
    X: Any
    Z: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.Z.shape[0]

    def __len__(self) -> int:
        return len(self.kernels)

    @property
    def square(self) -> bool:
        return self.X is self.Z

    @property
    def rounding(self) -> float:
        return unit_roundoff(self.X.dtype)

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        m = len(self)
        n, p = self.Z.shape
        evaluated = BankCost.evaluated(m, n)
        sweep = evaluated.sweep + Work(algebra=BLAS_OPERATION * 2.0 * m * p * float(n) ** 2)
        cost = packed(replace(evaluated, sweep=sweep), sweep, memory, itemsize)
        if all(map(_has_known_cost, self.kernels)):
            return cost
        return replace(cost, made=None)

    def tiles(self, rows: Index) -> Iterator[Array]:
        X = self.X[rows]
        return (real(kernel(X, self.Z), repr(kernel)) for kernel in self.kernels)

    def diagonal(self) -> Array:
        self._check_square()
        return self.self_values(self.X)

    def block(self, rows: Index, columns: Index) -> LazyBank:
        X, Z = samples_of_block(self.X, self.Z, rows, columns)
        return replace(self, X=X, Z=Z)

    def select(self, index: Index) -> LazyBank:
        return replace(self, kernels=tuple(self.kernels[k] for k in positions(index, len(self))))

    def principal(self, rows: Array) -> KernelBank:
        if self.square:
            return stack(self.kernels, self.X[rows])
        return self.block(rows, rows)

    def unrounded(self) -> LazyBank:
        X = in_double(self.X)
        if X is self.X or not self.square:
            return self
        return LazyBank(self.kernels, X, X)

    def exact(self, index: Index = slice(None)) -> KernelBank:
        chosen = self.select(index)
        if self.square:
            return stack(chosen.kernels, in_double(self.X))
        return replace(chosen, X=in_double(self.X), Z=in_double(self.Z))

    def cross(self, X: Any) -> LazyBank:
        """The bank of new samples in double precision, to which certificates refer; powers may overflow in single."""
        samples = as_objects(X) if isinstance(self.Z, Objects) else as_floats(X)
        return replace(self, X=in_double(samples), Z=in_double(self.Z))

    def self_values(self, X: Any) -> Array:
        return np.stack([kernel.diagonal(X) for kernel in self.kernels])


def _has_known_cost(kernel: Kernel) -> bool:
    """Whether the time of a kernel value is known, which is not so for costly kernels and those of other packages."""
    return type(kernel).__module__.startswith("multikernel.") and not any(
        isinstance(fact, Costly) for fact in kernel.facts()
    )


def stack(kernels: tuple[Kernel, ...], X: Any, memory: int = MEMORY, dtype: Any = None) -> PackedBank | LazyBank:
    """The bank of kernels on samples, stored where the stack fits the memory.

    Parameters
    ----------
    kernels : kernels with columns given by position
    X : array, CSR matrix or table with strings; kernels are evaluated in its precision
    memory : bytes that the stack may take
    dtype : the precision in which matrices are stored; None takes that of X
    """
    n = X.shape[0]
    stored = np.dtype(X.dtype if dtype is None else dtype)
    length = half_size(n)
    if len(kernels) * length * stored.itemsize > memory:
        return LazyBank(kernels, X, X)
    packed = np.empty((len(kernels), length), dtype=stored)
    groups = sharing(kernels)
    squares = [group for group in groups if all(of_squares(fact, X) for fact in group.values())]
    for group in squares:
        fill([packed[k] for k in group], list(group.values()), X)
    shared = [group for group in groups if len(group) > 1 and group not in squares]

    def fill_groups(numbers: slice) -> None:
        for group in shared[numbers]:
            for k, K in zip(group, _halves_of(list(group.values()), X), strict=True):
                packed[k] = K

    over_rows(fill_groups, len(shared), 1 if n * n <= BUFFER_VALUES else max(1, len(shared)))
    for k in set(range(len(kernels))).difference(*squares, *shared):
        packed[k] = pack(real(kernels[k](X), repr(kernels[k])))
    return PackedBank(LazyBank(kernels, X, X), packed, n)


def anova_stack(kernels: tuple[Kernel, ...], facts: list[Elementary], X: Any, dtype: Any) -> PackedBank:
    """The stored bank of ANOVA kernels of several degrees, evaluated in one recursion over the features.

    Only the lower triangles are evaluated, for some rows at a time, so little memory is needed besides the stack.

    Parameters
    ----------
    kernels : kernels with columns given by position
    facts : the facts that they state, with the same kernel on single features
    X : array or CSR matrix
    dtype : the precision in which matrices are stored
    """
    samples = dense(X)
    kernel = facts[0].kernel
    degree = max(fact.degree for fact in facts)
    n = len(samples)
    packed = np.empty((len(facts), half_size(n)), dtype=dtype)
    diagonals = elementary_diagonals(kernel, samples, degree)
    inverse = [inverse_root(d) for d in diagonals]

    def fill(rows: slice) -> None:
        values = elementary(kernel, samples[rows], samples[: rows.stop], degree)
        for k, fact in enumerate(facts):
            d = fact.degree
            K = values[fact.degree]
            if fact.normalized:
                K = np.clip(K * inverse[d][rows, None] * inverse[d][: rows.stop], -1.0, 1.0)
            for r, i in enumerate(range(rows.start, rows.stop)):
                start = half_size(i)
                packed[k, start : start + i] = K[r, :i]
                if fact.normalized:
                    packed[k, start + i] = diagonals[d][i] > 0
                else:
                    packed[k, start + i] = diagonals[d][i]

    over_rows(fill, n, max(1, THREADS_TILE // n))
    return PackedBank(LazyBank(kernels, X, X), packed, n)


def _halves_of(facts: list[Any], X: Any) -> Iterator[Array]:
    """The packed halves of kernels that share a matrix, in turn; each may be overwritten by the next one."""
    match facts[0]:
        case OfDistance() as distance:
            return profiles([fact.kernel for fact in facts], pack(distance(X)))
        case PowerOf(base, _):
            return running_powers(pack(base(X)), [fact.degree for fact in facts])
    raise TypeError(f"kernels do not share a matrix by {facts[0]!r}")
