"""From a specification to numbers: the cheapest bank for a family on a sample, by what its kernels state.

powers of one matrix (four or more)   PowersBank: one matrix, never one for each degree
explicit features                     FactorBank, where they are fewer than the samples
multiples, centred kernels            a wrapper around the bank of the kernels inside
functions of one distance             RBFGridBank, where a stack of all that is left would be large
anything else                         PackedBank; LazyBank beyond the memory budget
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from multikernel.banks.base import KernelBank
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.dense import PackedBank
from multikernel.banks.factor import FactorBank
from multikernel.banks.lazy import LazyBank
from multikernel.banks.origin import Samples
from multikernel.banks.powers import PowersBank
from multikernel.banks.rbf import RBFGridBank, distances
from multikernel.kernels.base import Array, Columns, Features, Kernel
from multikernel.kernels.facts import ExplicitFeatures, OfDistance, PowerOf, Wrapped
from multikernel.kernels.family import KernelFamily, as_family

MEMORY = 2 << 30  # bytes: the largest thing a bank stores by default
_SMALL_STACK = 256 << 20  # bytes: up to here a pass over a stored stack is faster than exp on the fly
_FEW = 4  # fewer powers (or widths) than this take no more room in a packed stack than their common matrix


def bind(family: KernelFamily | Kernel | list[Kernel], X: Any, *, memory: int = MEMORY) -> KernelBank:
    """Bind kernels to a sample: the bank of their matrices on X.

    Parameters
    ----------
    family : a kernel, a list of kernels or a KernelFamily
    X : array or CSR matrix of shape (n, p), or data frame of numbers; float32 is kept, anything else becomes float64
    memory : bytes that the largest stored thing may take. A fused bank (powers, distances) whose one n x n matrix
        exceeds it is stored in float32, and beyond that made on demand; so is a stack of unrelated kernels.

    Returns
    -------
    KernelBank

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> bank = bind(kernels.homogeneous_polynomials(10), X)
    >>> len(bank), bank.shape
    (11, (20, 20))
    """
    samples = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    features = Features.of(X if hasattr(X, "columns") else samples)
    return bind_kernels(as_family(family).resolve(features).kernels, samples, memory)


def bind_kernels(kernels: tuple[Kernel, ...], X: Any, memory: int = MEMORY) -> KernelBank:
    """Bind resolved kernels to a checked sample."""
    groups = _groups(kernels, X.shape[0], X.shape[1], X.dtype.itemsize)
    order = np.argsort(np.concatenate([group.members for group in groups]))
    banks = tuple(group.bank(tuple(kernels[k] for k in group.members), X, memory) for group in groups)
    return banks[0] if len(banks) == 1 else ConcatenatedBank(banks, order)


@dataclass(frozen=True)
class _Group:
    """Kernels, by position, that one bank serves."""

    members: list[int]
    bank: Callable[[tuple[Kernel, ...], Any, int], KernelBank]


def _groups(kernels: tuple[Kernel, ...], n: int, p: int, itemsize: int) -> list[_Group]:
    """Kernels that share a structure, each kernel in exactly one group."""
    left = dict(enumerate(kernels))
    groups: list[_Group] = []

    def take(kind: type, key: Callable[[Any], Any], bank: Any, worth: Callable[[list[int], Any], bool]) -> None:
        found: dict[Any, list[int]] = {}
        for k, kernel in left.items():
            for fact in kernel.facts():
                if isinstance(fact, kind):
                    found.setdefault(key(fact), []).append(k)
        for value, members in found.items():
            if worth(members, value):
                groups.append(_Group(members, bank))
                for k in members:
                    del left[k]

    take(Wrapped, lambda f: f.by if isinstance(f.by, str) else "scaled", _wrapped, lambda members, by: True)
    take(PowerOf, lambda f: repr(f.base), _powers, lambda members, base: len(members) >= _FEW)
    take(
        ExplicitFeatures,
        lambda f: (p if f.columns is None else len(f.columns)) < n,
        _factors,
        lambda members, fewer: fewer,
    )
    if len(left) * n * (n + 1) // 2 * itemsize > _SMALL_STACK:
        take(OfDistance, lambda f: f.columns, _rbf_grid, lambda members, columns: len(members) >= _FEW)
    if left:
        groups.append(_Group(list(left), _stack))
    return groups


def _fact(kernel: Kernel, kind: type) -> Any:
    return next(fact for fact in kernel.facts() if isinstance(fact, kind))


def _wrapped(kernels: tuple[Kernel, ...], X: Any, memory: int) -> KernelBank:
    facts = [_fact(kernel, Wrapped) for kernel in kernels]
    bank = bind_kernels(tuple(fact.kernel for fact in facts), X, memory)
    match facts[0].by:
        case "normalized":
            return bank.normalized()
        case "centered":
            return bank.centered()
    return bank.scaled(np.array([fact.by for fact in facts]))


def _powers(kernels: tuple[Kernel, ...], X: Any, memory: int) -> KernelBank:
    facts = [_fact(kernel, PowerOf) for kernel in kernels]
    dtype = _storage(X, memory)
    if dtype is None:
        return LazyBank(kernels, X, X)
    base = facts[0].base
    B = np.ascontiguousarray(base(_as_dtype(X, dtype)), dtype=dtype)
    return PowersBank(B, np.array([fact.degree for fact in facts]), base, X, True)


def _factors(kernels: tuple[Kernel, ...], X: Any, memory: int) -> KernelBank:
    columns = [_columns(_fact(kernel, ExplicitFeatures).columns, X) for kernel in kernels]
    features = np.concatenate(columns)
    F = X if np.array_equal(features, np.arange(X.shape[1])) else X[:, features]
    return FactorBank(F, F, np.array([len(c) for c in columns]), features)


def _columns(columns: Columns | None, X: Any) -> Array:
    return np.arange(X.shape[1]) if columns is None else np.asarray(columns, dtype=int)


def _rbf_grid(kernels: tuple[Kernel, ...], X: Any, memory: int) -> KernelBank:
    facts = [_fact(kernel, OfDistance) for kernel in kernels]
    dtype = _storage(X, memory)
    if dtype is None:
        return LazyBank(kernels, X, X)
    columns = facts[0].columns
    D = distances(_as_dtype(X, dtype), None, columns).astype(dtype, copy=False)
    return RBFGridBank(D, np.array([fact.gamma for fact in facts]), X, columns, True)


def _stack(kernels: tuple[Kernel, ...], X: Any, memory: int) -> KernelBank:
    n = X.shape[0]
    if len(kernels) * n * (n + 1) // 2 * X.dtype.itemsize > memory:
        return LazyBank(kernels, X, X)
    return PackedBank.of((kernel(X) for kernel in kernels), len(kernels), n, X.dtype, Samples(kernels, X))


def _storage(X: Any, memory: int) -> Any:
    """The precision in which one n x n matrix fits the budget: X's own, else float32, else None."""
    fitting = (dtype for dtype in (X.dtype, np.dtype(np.float32)) if X.shape[0] ** 2 * dtype.itemsize <= memory)
    return next(fitting, None)


def _as_dtype(X: Any, dtype: Any) -> Any:
    return X if X.dtype == dtype else X.astype(dtype)
