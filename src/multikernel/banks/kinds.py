"""The banks of kernels that share a structure; banks/bind.py decides which kernels share one, and when it pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._arrays import taken
from multikernel._typing import Columns
from multikernel.banks.base import KernelBank
from multikernel.banks.base_matrix import BaseMatrix
from multikernel.banks.factor import FactorBank
from multikernel.banks.indices import columns_of
from multikernel.banks.lazy import LazyBank, anova_stack, stack
from multikernel.banks.packing import half_size
from multikernel.banks.powers import PowersBank
from multikernel.banks.profiles import ProfilesBank
from multikernel.banks.subset_rbf import SubsetRBFBank
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import OfDistance, is_exponential, squared_distances
from multikernel.kernels.facts import Elementary, ExplicitFeatures, OnDemand, PowerOf
from multikernel.tuning import DIFFERENCES_FEATURES, KEPT_BYTES

# Fewer powers, widths or sets of columns are stored in a packed stack: a shared matrix takes as much memory as two
# packed kernels, and each pass over it evaluates every kernel again.
FEW = 4


@dataclass(frozen=True)
class Storage:
    """How matrices are stored: the bytes that the largest array may take, and the precision."""

    memory: int
    dtype: np.dtype[Any]

    def precision(self, values: int) -> Any:
        """The precision in which so many values fit the memory: the chosen one, else float32, else None."""
        dtypes = (self.dtype, np.dtype(np.float32))
        return next((dtype for dtype in dtypes if values * dtype.itemsize <= self.memory), None)


def fact_of(kernel: Kernel, kind: type) -> Any:
    """The fact of this type that a kernel states."""
    return next(fact for fact in kernel.facts() if isinstance(fact, kind))


def powers_bank(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> KernelBank:
    """The bank of powers of one matrix."""
    facts = [fact_of(kernel, PowerOf) for kernel in kernels]
    return PowersBank(_matrix(facts[0].base, X, storage), np.array([fact.degree for fact in facts]))


def on_demand_bank(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> KernelBank:
    """The bank of a kernel whose matrix is computed in every pass, as its first power."""
    kernel = fact_of(kernels[0], OnDemand).kernel
    return PowersBank(BaseMatrix.of(kernel, X), np.ones(len(kernels), dtype=int))


def profiles_bank(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> KernelBank:
    """The bank of functions of one distance."""
    facts = [fact_of(kernel, OfDistance) for kernel in kernels]
    return ProfilesBank(_matrix(facts[0], X, storage), tuple(fact.kernel for fact in facts))


def is_gaussian(fact: OfDistance) -> bool:
    """Whether a kernel is exp(-gamma |x - z|^2)."""
    return is_exponential(fact.kernel) and fact.kernel.distance is squared_distances


def few_differences(kernels: Sequence[Kernel], X: Any) -> bool:
    """Whether squared differences of every feature are cheaper than a matrix of distances for each set of columns."""
    sets = {fact_of(kernel, OfDistance).columns for kernel in kernels}
    if not isinstance(X, np.ndarray) or len(kernels) < FEW or len(sets) < FEW:
        return False
    return sum(X.shape[1] if columns is None else len(columns) for columns in sets) <= DIFFERENCES_FEATURES * len(
        kernels
    )


def gaussians_bank(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> KernelBank:
    """The bank of Gaussians on sets of columns."""
    facts = [fact_of(kernel, OfDistance) for kernel in kernels]
    columns = [tuple(columns_of(fact.columns, X).tolist()) for fact in facts]
    gammas = np.array([fact.kernel.gamma for fact in facts], dtype=float)
    bank = SubsetRBFBank.each(X, columns, gammas, storage.dtype)
    if len(kernels) * half_size(X.shape[0]) * storage.dtype.itemsize <= storage.memory:
        return bank.stored()
    return bank


def _matrix(base: Kernel | OfDistance, X: Any, storage: Storage) -> BaseMatrix:
    """The matrix that several kernels share: stored in the precision that fits the budget, else computed on demand."""
    matrix = BaseMatrix.of(base, X)
    dtype = storage.precision(X.shape[0] ** 2)
    if dtype is None:
        return matrix
    fits = X.shape[0] ** 2 * X.dtype.itemsize <= storage.memory
    evaluated = matrix if fits else BaseMatrix.of(base, X.astype(np.float32))
    return replace(matrix, stored=evaluated.values().astype(dtype, copy=False))


def factors_bank(kernels: tuple[Kernel, ...], X: Any) -> FactorBank:
    """The bank of kernels with explicit features."""
    columns = [columns_of(fact_of(kernel, ExplicitFeatures).columns, X) for kernel in kernels]
    features = np.concatenate(columns)
    if np.array_equal(features, np.arange(X.shape[1])):
        F = X
    else:
        F = taken(X, features, axis=1)
    return FactorBank(F, F, np.array([len(c) for c in columns]), features)


def anova_bank(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> KernelBank:
    """The bank of ANOVA kernels that share a recursion."""
    dtype = storage.precision(len(kernels) * half_size(X.shape[0]))
    if dtype is None:
        return LazyBank(kernels, X, X)
    return anova_stack(kernels, [fact_of(kernel, Elementary) for kernel in kernels], X, dtype)


def subsets_bank(subsets: tuple[Columns, ...], gammas: tuple[float, ...], X: Any, storage: Storage) -> KernelBank:
    """The bank of Gaussians on sets of columns that are described, not listed as kernels."""
    table = np.full((len(subsets), max(map(len, subsets))), -1)
    for row, columns in zip(table, subsets, strict=True):
        row[: len(columns)] = columns
    bank = SubsetRBFBank.of(X, table, np.array(gammas), storage.dtype)
    size = len(bank) * half_size(X.shape[0]) * storage.dtype.itemsize
    if size <= min(storage.memory, KEPT_BYTES):
        return bank.stored()
    return bank


def rest_bank(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> KernelBank:
    """The bank of kernels that share nothing."""
    return stack(kernels, X, storage.memory, storage.dtype)


def costly_bank(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> KernelBank:
    """The bank of kernels that are costly to evaluate, in single precision where double exceeds the memory."""
    return stack(kernels, X, storage.memory, storage.precision(len(kernels) * half_size(X.shape[0])))
