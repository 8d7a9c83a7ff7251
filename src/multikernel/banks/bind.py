"""Binding kernels to samples: the cheapest bank for a family on a sample, chosen by the facts that its kernels state.

powers of one matrix (four or more)   PowersBank: one matrix, not one for each degree; computed on demand beyond the
                                      memory budget
kernels that are fast on demand       PowersBank that computes their matrix in every pass, where it exceeds the budget
explicit features                     FactorBank, where they are fewer than the samples
multiples, centred kernels            a wrapper around the bank of the kernels inside
kernels of encoded samples            a MappedBank around the bank of the kernels inside, on the encodings side by side
ANOVA kernels (two or more)           PackedBank of all degrees from one recursion; in single precision, and then
                                      LazyBank, beyond the memory budget
kernels that are costly to evaluate   a separate PackedBank, in the same precisions
Gaussians on subsets of the columns   a PackedBank computed for all of them at once, where it is not small; beyond the
                                      memory budget the SubsetRBFBank that computes it
functions of one distance             ProfilesBank, where a stack of all remaining kernels would be large
Gaussians on described subsets        SubsetRBFBank, where a stack of them would be large
anything else                         PackedBank; LazyBank beyond the memory budget
arrays of torch, cupy and similar     FactorBank where explicit features are few, else ArrayBank
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from multikernel._arrays import checked, foreign, host, in_double, unmasked
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
from multikernel.banks.mapped import EncodedSamples, MappedBank, NamedColumns, encoded
from multikernel.banks.packing import half_size
from multikernel.banks.sharing import grouped, matrix_of
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import OfDistance
from multikernel.kernels.facts import Costly, Elementary, Encodes, ExplicitFeatures, OnDemand, PowerOf, Wrapped
from multikernel.kernels.family import Concatenation, KernelFamily, as_family
from multikernel.kernels.features import Features
from multikernel.kernels.subsets import RBFSubsets
from multikernel.tables.cells import column_names, is_frame
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
    features = Features.of(samples).named_as_in(X)
    # a copy, since kernels may be changed later and the bank must not
    bank = bind_kernels(deepcopy(family).resolve(features).learned(host(samples)), samples, memory, dtype)
    if is_frame(X):
        return MappedBank(bank, NamedColumns(column_names(X)))
    return bank


def bind_kernels(
    kernels: KernelFamily | tuple[Kernel, ...], X: Any, memory: int = MEMORY, dtype: Any = None
) -> KernelBank:
    """Bind a family or kernels, with columns given by position, to a checked sample.

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
    """The dtype that a user gave; ValueError where it is neither float64 nor float32."""
    sentence = "bind: matrices are stored in float64 or float32, got dtype"
    try:
        precision = np.dtype(dtype)
    except TypeError:
        raise ValueError(f"{sentence} {abbreviated(dtype)}") from None
    if precision not in (np.float64, np.float32):
        raise ValueError(f"{sentence} {precision}")
    return precision


def sketched(kernels: KernelFamily | tuple[Kernel, ...], X: Any, dtype: Any = None) -> KernelBank:
    """A bank with the cost of the one that ``bind_kernels`` would return, for which nothing is stored or computed.

    Scaled, normalised and centred kernels are replaced by their inner kernels, which cost the same.
    """
    if isinstance(kernels, Concatenation):
        banks = tuple(sketched(family, X, dtype) for family in kernels.families)
        return ConcatenatedBank(banks, np.arange(sum(map(len, banks))))
    is_described = isinstance(kernels, RBFSubsets) and not isinstance(kernels.subsets, int)
    return bind_kernels(kernels if is_described else tuple(map(_innermost, kernels)), X, 0, dtype)


def _innermost(kernel: Kernel) -> Kernel:
    """The kernel without scaling, normalisation and centring."""
    wrapping = next((fact for fact in kernel.facts() if isinstance(fact, Wrapped)), None)
    if wrapping is None:
        return kernel
    return _innermost(wrapping.kernel)


def _on_arrays(kernels: tuple[Kernel, ...], X: Any, memory: int) -> KernelBank:
    """The bank of samples that are arrays of another library."""
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
    """The positions of kernels that share one bank, and the function that makes this bank."""

    members: list[int]
    bank: Callable[[tuple[Kernel, ...], Any, Storage], KernelBank]


def _groups(kernels: tuple[Kernel, ...], X: Any, storage: Storage) -> list[_Group]:
    """Groups of kernels that share a structure, with each kernel in exactly one group."""
    n, p = X.shape
    itemsize = storage.dtype.itemsize
    remaining = {k: kernel.facts() for k, kernel in enumerate(kernels)}
    groups: list[_Group] = []

    def take(kind: type, key: Callable[[Any], Any], bank: Any, worth: Callable[[list[int], Any], bool]) -> None:
        keys_of_kernels = [(k, key(fact)) for k, facts in remaining.items() for fact in facts if isinstance(fact, kind)]
        for value, members in grouped(keys_of_kernels):
            if worth(members, value):
                groups.append(_Group(members, bank))
                for k in members:
                    del remaining[k]

    take(Wrapped, lambda fact: fact.by if isinstance(fact.by, str) else "scaled", _wrapped, lambda members, by: True)
    take(
        Encodes,
        lambda fact: (fact.encoding, fact.columns) if fact.encoding.sparse else None,
        _encoded,
        lambda members, which: True,
    )
    large = n * n * np.dtype(float).itemsize > storage.memory  # machines add kernels in double precision
    # Few powers are stored as separate matrices, unless not even one matrix fits in single precision. A bank for a
    # forecast (``sketched``) has no memory of its own, so that the default is the least that counts.
    too_large = n * n * np.dtype(np.float32).itemsize > max(storage.memory, MEMORY)
    alone = too_large and not any(isinstance(fact, ExplicitFeatures) for facts in remaining.values() for fact in facts)
    take(
        PowerOf,
        matrix_of,
        powers_bank,
        lambda members, base: len(members) >= FEW or (alone and len(members) == len(kernels)),
    )
    if large:
        take(OnDemand, lambda fact: fact.kernel, on_demand_bank, lambda members, kernel: True)
    take(
        ExplicitFeatures,
        lambda fact: (p if fact.columns is None else len(fact.columns)) < n,
        lambda kernels, X, storage: factors_bank(kernels, X),
        lambda members, fewer: fewer,
    )
    take(Elementary, lambda fact: fact.kernel, anova_bank, lambda members, kernel: len(members) > 1)
    if len(remaining) * half_size(n) * itemsize > STACK_TINY:
        take(
            OfDistance,
            is_gaussian,
            gaussians_bank,
            lambda members, gaussian: gaussian and few_differences([kernels[k] for k in members], X),
        )
    if len(remaining) * half_size(n) * itemsize > KEPT_BYTES:
        take(
            OfDistance,
            matrix_of,
            profiles_bank,
            lambda members, columns: len(members) >= FEW,
        )
    take(Costly, lambda fact: fact, costly_bank, lambda members, fact: True)
    if remaining:
        groups.append(_Group(list(remaining), rest_bank))
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
    """The bank on one matrix with all encodings side by side; each kernel takes the columns of its encoding."""
    facts: list[Encodes] = [fact_of(kernel, Encodes) for kernel in kernels]
    groups = grouped((k, (fact.encoding, fact.columns)) for k, fact in enumerate(facts))
    group_of = {k: number for number, (_, members) in enumerate(groups) for k in members}
    pairs = tuple(pair for pair, _ in groups)
    widths = [encoded((pair,), X[:1]).shape[1] for pair in pairs]
    starts = np.cumsum([0, *widths]).tolist()
    inner = [
        f.kernel if len(pairs) == 1 else f.kernel.on(range(*starts[group_of[k] : group_of[k] + 2]))
        for k, f in enumerate(facts)
    ]
    F = encoded(pairs, X)
    resolved = tuple(kernel.resolve(Features(F.shape[1])) for kernel in inner)
    return MappedBank(_bind(resolved, F, storage), EncodedSamples(pairs))
