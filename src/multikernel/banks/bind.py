"""From a specification to numbers: the cheapest bank for a family on a sample, by what its kernels state.

powers of one matrix (four or more)   PowersBank: one matrix, never one for each degree; made on demand beyond the
                                      memory budget
kernels that are fast on demand       PowersBank that makes their matrix in every pass, where it exceeds the budget
explicit features                     FactorBank, where they are fewer than the samples
multiples, centred kernels            a wrapper around the bank of the kernels inside
kernels of encoded samples            a MappedBank around the bank of the kernels inside, on the encodings side by side
ANOVA kernels (two or more)           PackedBank of all degrees from one recursion; in single precision, and then
                                      LazyBank, beyond the memory budget
kernels that are costly to evaluate   a PackedBank of their own, in the same precisions
Gaussians on subsets of the columns   a PackedBank made of all of them at once, where it is not small; beyond the memory
                                      budget the SubsetRBFBank that makes it
functions of one distance             ProfilesBank, where a stack of all that is left would be large
Gaussians on described subsets        SubsetRBFBank, where a stack of them would be large
anything else                         PackedBank; LazyBank beyond the memory budget
arrays of torch, cupy and their like  FactorBank where explicit features are few, else ArrayBank
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from multikernel._arrays import checked, foreign, host, unmasked
from multikernel._rules import Number, abbreviated
from multikernel.banks.array_bank import ArrayBank
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.kinds import (
    FEW,
    Storage,
    anova_bank,
    costly_bank,
    fact_of,
    factors_bank,
    few_differences,
    gaussians_bank,
    is_gaussian,
    on_demand_bank,
    powers_bank,
    profiles_bank,
    rest_bank,
    subsets_bank,
)
from multikernel.banks.mapped import EncodedSamples, MappedBank, encoded
from multikernel.banks.packing import half_size
from multikernel.banks.sharing import grouped, matrix_of
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import OfDistance
from multikernel.kernels.facts import Costly, Elementary, Encodes, ExplicitFeatures, OnDemand, PowerOf, Wrapped
from multikernel.kernels.family import Concatenation, KernelFamily, as_family
from multikernel.kernels.features import Features
from multikernel.kernels.samples import in_double
from multikernel.kernels.subsets import RBFSubsets
from multikernel.tables.objects import as_objects, complete
from multikernel.tables.table import as_table
from multikernel.tuning import KEPT_BYTES, STACK_TINY


def bind_samples(
    family: KernelFamily | Kernel | list[Kernel], X: Any, *, memory: int = MEMORY, dtype: Any = None
) -> KernelBank:
    """The bank of kernels on samples of one source, which are checked; see ``multikernel.bind``."""
    Number(least=0.0).check(memory, "bind: memory")
    X = unmasked(X)
    family = as_family(family)
    objects = as_objects(X) if family.takes_objects else None
    samples: Any
    if objects is not None:
        samples = complete(objects)
    elif foreign(X):
        samples = checked(X)
    elif (table := as_table(X)) is not None:
        samples = table
    else:
        samples = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    features = Features.of(samples)
    if hasattr(X, "columns"):
        features = replace(features, names=Features.of(X).names)
    # a bank does not follow a kernel that is changed later
    return bind_kernels(deepcopy(family).resolve(features).learned(host(samples)), samples, memory, dtype)


def bind_kernels(
    kernels: KernelFamily | tuple[Kernel, ...], X: Any, memory: int = MEMORY, dtype: Any = None
) -> KernelBank:
    """Bind a family, or kernels, whose columns are given by position, to a checked sample.

    Parameters
    ----------
    kernels : a resolved family, or a tuple of resolved kernels
    X : array, CSR matrix or table with strings
    memory, dtype : as in ``bind``

    Raises
    ------
    ValueError : where dtype is neither float64 nor float32
    """
    if foreign(X):
        return _on_arrays(tuple(kernels), X, memory)
    storage = Storage(memory, _precision(X.dtype if dtype is None else dtype))
    samples = in_double(X) if storage.dtype == np.float64 else X
    match kernels:
        case Concatenation(families):
            banks = tuple(bind_kernels(family, X, memory, dtype) for family in families)
            return ConcatenatedBank(banks, np.arange(sum(map(len, banks))))
        case RBFSubsets(subsets, gammas) if not isinstance(subsets, int):
            return subsets_bank(subsets, gammas, samples, storage)
    return _bind(tuple(kernels), samples, storage)


def _precision(dtype: Any) -> np.dtype[Any]:
    """What a user gives for a dtype; ValueError where it is none in which matrices are stored."""
    sentence = "bind: matrices are stored in float64 or float32, got dtype"
    try:
        precision = np.dtype(dtype)
    except TypeError:
        raise ValueError(f"{sentence} {abbreviated(dtype)}") from None
    if precision not in (np.float64, np.float32):
        raise ValueError(f"{sentence} {precision}")
    return precision


def sketched(kernels: KernelFamily | tuple[Kernel, ...], X: Any, dtype: Any = None) -> KernelBank:
    """What ``bind_kernels`` would bind, with nothing stored and nothing computed: it has the same cost.

    Kernels that are scaled, normalised or centred are those inside, which take as long.
    """
    if isinstance(kernels, Concatenation):
        banks = tuple(sketched(family, X, dtype) for family in kernels.families)
        return ConcatenatedBank(banks, np.arange(sum(map(len, banks))))
    described = isinstance(kernels, RBFSubsets) and not isinstance(kernels.subsets, int)
    return bind_kernels(kernels if described else tuple(map(_inside, kernels)), X, 0, dtype)


def _inside(kernel: Kernel) -> Kernel:
    """The kernel that is scaled, normalised or centred."""
    wrapped = next((fact for fact in kernel.facts() if isinstance(fact, Wrapped)), None)
    if wrapped is None:
        return kernel
    return _inside(wrapped.kernel)


def _on_arrays(kernels: tuple[Kernel, ...], X: Any, memory: int) -> KernelBank:
    """The bank of samples of another library."""
    linear = all(any(isinstance(fact, ExplicitFeatures) for fact in kernel.facts()) for kernel in kernels)
    bank = factors_bank(kernels, X) if linear else None
    if bank is None or bank.n_features >= X.shape[0]:
        return ArrayBank.of(kernels, X, memory)
    return bank


def _bind(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> KernelBank:
    groups = _groups(kernels, X, storage)
    order = np.argsort(np.concatenate([group.members for group in groups]))
    banks = tuple(group.bank(tuple(kernels[k] for k in group.members), X, storage) for group in groups)
    if len(banks) == 1:
        return banks[0]
    return ConcatenatedBank(banks, order)


@dataclass(frozen=True)
class _Group:
    """Kernels, by position, that one bank serves."""

    members: list[int]
    bank: Callable[[tuple[Kernel, ...], Any, Storage], KernelBank]


def _groups(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> list[_Group]:
    """Kernels that share a structure, each kernel in exactly one group."""
    n, p = X.shape
    itemsize = storage.dtype.itemsize
    left = {k: kernel.facts() for k, kernel in enumerate(kernels)}
    groups: list[_Group] = []

    def take(kind: type, key: Callable[[Any], Any], bank: Any, worth: Callable[[list[int], Any], bool]) -> None:
        stated = [(k, key(fact)) for k, facts in left.items() for fact in facts if isinstance(fact, kind)]
        for value, members in grouped(stated):
            if worth(members, value):
                groups.append(_Group(members, bank))
                for k in members:
                    del left[k]

    take(Wrapped, lambda f: f.by if isinstance(f.by, str) else "scaled", _wrapped, lambda members, by: True)
    take(
        Encodes,
        lambda f: (f.encoding, f.columns) if f.encoding.sparse else None,
        _encoded,
        lambda members, which: True,
    )
    take(PowerOf, matrix_of, powers_bank, lambda members, base: len(members) >= FEW)
    if n * n * np.dtype(float).itemsize > storage.memory:  # machines add kernels in double precision
        take(OnDemand, lambda f: f.kernel, on_demand_bank, lambda members, kernel: True)
    take(
        ExplicitFeatures,
        lambda f: (p if f.columns is None else len(f.columns)) < n,
        lambda kernels, X, storage: factors_bank(kernels, X),
        lambda members, fewer: fewer,
    )
    take(Elementary, lambda f: f.kernel, anova_bank, lambda members, kernel: len(members) > 1)
    if len(left) * half_size(n) * itemsize > STACK_TINY:
        take(
            OfDistance,
            is_gaussian,
            gaussians_bank,
            lambda members, gaussian: gaussian and few_differences([kernels[k] for k in members], X),
        )
    if len(left) * half_size(n) * itemsize > KEPT_BYTES:
        take(
            OfDistance,
            matrix_of,
            profiles_bank,
            lambda members, columns: len(members) >= FEW,
        )
    take(Costly, lambda f: f, costly_bank, lambda members, fact: True)
    if left:
        groups.append(_Group(list(left), rest_bank))
    return groups


def _wrapped(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> KernelBank:
    facts = [fact_of(kernel, Wrapped) for kernel in kernels]
    bank = _bind(tuple(fact.kernel for fact in facts), X, storage)
    match facts[0].by:
        case "normalized":
            return bank.normalized()
        case "centered":
            return bank.centered()
    return bank.scaled(np.array([fact.by for fact in facts]))


def _encoded(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> KernelBank:
    """One matrix of all encodings, each kernel on the columns of its own."""
    facts: list[Encodes] = [fact_of(kernel, Encodes) for kernel in kernels]
    groups = grouped((k, (fact.encoding, fact.columns)) for k, fact in enumerate(facts))
    own = {k: place for place, (_, members) in enumerate(groups) for k in members}
    parts = tuple(part for part, _ in groups)
    widths = [encoded((part,), X[:1]).shape[1] for part in parts]
    starts = np.cumsum([0, *widths]).tolist()
    inner = [
        f.kernel if len(parts) == 1 else f.kernel.on(range(*starts[own[k] : own[k] + 2])) for k, f in enumerate(facts)
    ]
    F = encoded(parts, X)
    resolved = tuple(kernel.resolve(Features(F.shape[1])) for kernel in inner)
    return MappedBank(_bind(resolved, F, storage), EncodedSamples(parts))
