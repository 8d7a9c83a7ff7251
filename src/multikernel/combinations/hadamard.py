"""Passes over the Hadamard products of a bank's matrices: with one matrix, and with one another.

    images       (P o K_k) A for every k
    pair_forms   <N, K_j o K_k> for every pair

For kernels of explicit features, K_k = F_k F_k', these are products with the features,

    (P o ff') a = f o P(f o a)        tr A'(K_j o K_k)A = sum_t |F_j' diag(a_t) F_k|^2

so that nothing larger than the features and the answer is ever formed. A product of two packed halves is the packed
half of the product. Of several banks together each goes its own way. Others are gone through one matrix at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.dense import PackedBank
from multikernel.banks.factor import FactorBank
from multikernel.banks.packing import pack, weights_of_pairs
from multikernel.banks.threads import slices
from multikernel.banks.wrappers import ScaledBank

_VALUES = 1 << 22  # entries of packed matrices multiplied at a time


def images(bank: KernelBank, P: Gram, A: Array) -> Array:
    """(P o K_k) A for every k: shape (m, n, t), for a square Gram P and A of shape (n,) or (n, t)."""
    A = as_columns(A)
    if isinstance(bank, ScaledBank):
        return bank.factors[:, None, None] * images(bank.bank, P, A)
    if isinstance(bank, ConcatenatedBank):
        return np.concatenate([images(part, P, A) for part in bank.banks])[bank.order]
    if isinstance(bank, FactorBank):
        return np.stack([_feature_images(bank, P, a) for a in A.T], axis=2)
    if isinstance(bank, PackedBank):
        half = pack(P.dense())
        height = max(1, _VALUES // len(half))
        parts = (PackedBank(bank.origin, bank.packed[k] * half, bank.n) for k in slices(len(bank), height))
        return np.concatenate([part.apply(A) for part in parts])
    M = P.dense()
    return np.stack([(M * _matrix(bank, k)) @ A for k in range(len(bank))])


def pair_forms(bank: KernelBank, A: Array) -> Array:
    """tr A'(K_j o K_k)A for every pair: shape (m, m), for A of shape (n,) or (n, t)."""
    A = as_columns(A)
    if isinstance(bank, ScaledBank):
        return bank.factors[:, None] * pair_forms(bank.bank, A) * bank.factors
    if isinstance(bank, ConcatenatedBank):
        return _joined(bank, [pair_forms(part, A) for part in bank.banks], A @ A.T)
    if isinstance(bank, FactorBank):
        return sum((_feature_forms(bank, a) for a in A.T), start=np.zeros((len(bank), len(bank))))
    return weighted_pair_forms(bank, A @ A.T)


def weighted_pair_forms(bank: KernelBank, N: Array) -> Array:
    """<N, K_j o K_k> for every pair: shape (m, m), for a symmetric N of shape (n, n)."""
    if isinstance(bank, ScaledBank):
        return bank.factors[:, None] * weighted_pair_forms(bank.bank, N) * bank.factors
    if isinstance(bank, ConcatenatedBank):
        return _joined(bank, [weighted_pair_forms(part, N) for part in bank.banks], N)
    if isinstance(bank, PackedBank):
        p, total = weights_of_pairs(N), np.zeros((len(bank), len(bank)))
        for part in slices(len(p), max(1, _VALUES // len(bank))):
            K = bank.packed[:, part].astype(np.float64, copy=False)
            total += (K * p[part]) @ K.T
        return total
    return np.stack([bank.inner(N * _matrix(bank, k)) for k in range(len(bank))])


def _matrix(bank: KernelBank, k: int) -> Array:
    """K_k, dense, without a pass over the other matrices."""
    return bank.select([k]).matrix(0)


def _joined(bank: ConcatenatedBank, own: Sequence[Array], N: Array) -> Array:
    """<N, K_j o K_k> for all pairs, from those of each bank."""
    ends = np.cumsum([0, *map(len, bank.banks)])
    places = [slice(a, b) for a, b in pairwise(ends)]
    forms = np.empty((ends[-1], ends[-1]))
    for place, block in zip(places, own, strict=True):
        forms[place, place] = block
    for i, j in combinations(range(len(places)), 2):
        few, many = sorted((i, j), key=lambda b: len(bank.banks[b]))
        across = [bank.banks[many].inner(N * _matrix(bank.banks[few], k)) for k in range(len(bank.banks[few]))]
        forms[places[few], places[many]] = across
        forms[places[many], places[few]] = np.transpose(across)
    ordered: Array = forms[np.ix_(bank.order, bank.order)]
    return ordered


def _feature_images(bank: FactorBank, P: Gram, a: Array) -> Array:
    """(P o K_k) a for every k: shape (m, n)."""
    F = bank.F
    if hasattr(F, "multiply"):
        products = F.multiply((F.multiply(a[:, None]).T @ P.dense()).T).toarray()
    else:
        products = F * P.multiply(F * a[:, None])
    return _by_kernel(products.T, bank)


def _feature_forms(bank: FactorBank, a: Array) -> Array:
    """a'(K_j o K_k)a for every pair."""
    F: Any = bank.F
    products = F.T @ (F.multiply(a[:, None]) if hasattr(F, "multiply") else F * a[:, None])
    squares = np.asarray(products.toarray() if hasattr(products, "toarray") else products) ** 2
    return _by_kernel(_by_kernel(squares, bank).T, bank)


def _by_kernel(values: Array, bank: FactorBank) -> Array:
    """Sums over the columns of each kernel, along the first axis."""
    if len(bank) == len(values):
        return values
    sums: Array = np.add.reduceat(values, np.cumsum(bank.sizes) - bank.sizes, axis=0)
    return sums
