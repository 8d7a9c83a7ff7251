"""From kernels on samples, or from a bank, to a bank of few features, and how far it is from the kernels.

The error of kernel k is |K_k - F_k F_k'| / |K_k|, Frobenius norms. It is estimated on ``TRIED`` samples that are drawn
for this purpose: diagonal and other entries are weighted by how many of each the whole matrix has, so that numerator
and denominator have the right means.

Landmarks of Nystroem's approximation are

    uniform     any samples
    kmeans++    chosen one after the other, in proportion to the squared distance of a sample from the landmarks so far,
                in the feature space of all kernels together: far samples are soon covered
    leverage    chosen without replacement in proportion to the ridge leverage scores diag K (K + a I)^{-1}, a such that
                their sum is the rank: samples count by how far others cannot represent them (Alaoui and Mahoney 2015)

The last two look at a pool of samples, drawn uniformly, and at the mean of all kernels of unit size: the landmarks are
those of every kernel, so that samples meet them once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import linalg
from scipy.optimize import brentq

from multikernel._arrays import taken
from multikernel._floats import SINGULAR, TINY
from multikernel._typing import Array, Index
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.bind import bind_kernels
from multikernel.banks.low_rank.bank import LowRankBank
from multikernel.banks.low_rank.feature_map import FeatureMap, SideBySide
from multikernel.banks.low_rank.nystroem import Nystroem
from multikernel.banks.low_rank.random_maps import random_map
from multikernel.kernels.base import Kernel
from multikernel.kernels.facts import Wrapped

Rule = Literal["uniform", "kmeans++", "leverage"]
Method = Literal["nystroem", "fourier"]
_POOL = 1000  # samples of the pool at least
_LARGEST = 4000  # and at most where the rank is not larger
TRIED = 500  # samples on which errors are estimated: within a fifth of the true ones (tests/banks/test_low_rank.py)
Made = tuple[FeatureMap, Callable[[Index, Any], Array]]  # a map, and the features of some samples in a precision


def pool_size(rule: Rule, rank: int, n: int) -> int:
    """How many samples the rule looks at: four times the rank, within limits."""
    if rule == "uniform":
        return min(n, rank)
    return min(n, max(rank, min(_LARGEST, max(_POOL, 4 * rank))))


def choose(rule: Rule, pool: KernelBank | None, rank: int, rng: np.random.Generator) -> Array:
    """Positions of ``rank`` landmarks in a pool.

    Parameters
    ----------
    rule : "uniform", "kmeans++" or "leverage"
    pool : square KernelBank of the pool; None for "uniform", whose pool is as large as the rank
    rank : how many landmarks, at most as many as samples in the pool
    rng : source of random numbers
    """
    if rule == "uniform" or pool is None or rank >= pool.shape[0]:
        return np.arange(rank)
    sizes = pool.traces() / pool.shape[0]
    weights = np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0) / max(1, len(sizes))
    K = pool.combine(weights).dense().astype(np.float64, copy=False)
    if rule == "kmeans++":
        return _by_distance(K, rank, rng)
    return _by_leverage(K, rank, rng)


def _by_distance(K: Array, rank: int, rng: np.random.Generator) -> Array:
    diagonal = np.diagonal(K)
    distance = np.full(len(K), np.inf)
    chosen = [int(rng.integers(len(K)))]
    while len(chosen) < rank:
        last = chosen[-1]
        distance = np.minimum(distance, np.maximum(diagonal - 2.0 * K[last] + K[last, last], 0.0))
        distance[chosen] = 0.0
        total = float(distance.sum())
        if total <= 0.0:  # the others equal landmarks
            rest = np.setdiff1d(np.arange(len(K)), chosen)
            return np.array([*chosen, *rest[: rank - len(chosen)]])
        chosen.append(int(rng.choice(len(K), p=distance / total)))
    return np.array(chosen)


def _by_leverage(K: Array, rank: int, rng: np.random.Generator) -> Array:
    values, U = linalg.eigh(K, driver="evd", check_finite=False)
    values = np.maximum(values, 0.0)
    largest = float(values.max())
    if largest == 0.0:
        return np.arange(rank)

    def excess(log: float) -> float:
        return float((values / (values + np.exp(log))).sum()) - rank

    low = np.log(SINGULAR * largest)
    high = np.log(largest) + np.log(float(len(K)))
    log = brentq(excess, low, high) if excess(low) > 0.0 > excess(high) else low
    scores = np.einsum("ij,ij,j->i", U, U, values / (values + np.exp(log)))
    keys = rng.exponential(size=len(K)) / np.maximum(scores, TINY)  # the smallest: without replacement
    return np.argsort(keys, kind="stable")[:rank]


@dataclass(frozen=True)
class Approximation:
    """Which approximation is to be made.

    Parameters
    ----------
    method : "nystroem" or "fourier"
    rank : int >= 1, how many features a kernel has; or a number in (0, 1), the error that no kernel is to exceed: the
        rank is then doubled until the estimates say so
    landmarks : "uniform", "kmeans++" or "leverage", how Nystroem's landmarks are chosen
    seed : int
    """

    method: Method = "nystroem"
    rank: float = 256
    landmarks: Rule = "leverage"
    seed: int = 0

    def generator(self, part: int) -> np.random.Generator:
        """A source of random numbers, the same for every rank."""
        return np.random.default_rng([self.seed, part])


@dataclass(frozen=True, eq=False)
class _Exact:
    """The kernels that are to be approximated.

    Parameters
    ----------
    n : int, how many samples
    among : function of rows that gives the bank of the kernels on these samples
    made : function of the rank that makes the map, and what makes the features of samples
    follows : bool array (m,), which kernels are centred
    """

    n: int
    among: Callable[[Array], KernelBank]
    made: Callable[[int], Made]
    follows: Array


def approximate_kernels(kernels: Any, X: Any, wanted: Approximation) -> tuple[LowRankBank, Array]:
    """The bank of kernels, and the estimated error of each, shape (m,).

    Parameters
    ----------
    kernels : resolved kernels that have learned, or a family of them
    X : array, CSR matrix or table of samples
    wanted : Approximation

    Raises
    ------
    ValueError : where a kernel has no random features that are known
    """
    inside, follows = zip(*map(_uncentred, kernels), strict=True)

    def among(rows: Array) -> KernelBank:
        return bind_kernels(inside, taken(X, rows), dtype=np.float64)

    def made(rank: int) -> Made:
        if wanted.method == "nystroem":
            map: FeatureMap = Nystroem.of(among(_landmarks(wanted, rank, X.shape[0], among)))
        else:
            map = SideBySide(tuple(_random(kernel, X, rank, wanted, k) for k, kernel in enumerate(inside)))
        return map, lambda rows, dtype: map(taken(X, rows), dtype)

    return _approximated(_Exact(X.shape[0], among, made, np.array(follows, dtype=bool)), wanted)


def approximate_bank(bank: KernelBank, wanted: Approximation) -> tuple[LowRankBank, Array]:
    """The approximation of a square bank by Nystroem's method, and the estimated error of each kernel.

    Parameters
    ----------
    bank : square KernelBank, none of whose kernels is centred
    wanted : Approximation

    Raises
    ------
    ValueError : for random features, which need the samples, and for centred kernels
    """
    if wanted.method == "fourier":
        raise ValueError(
            "approximation='fourier' makes random features of samples, and got kernel matrices, a bank or views: use "
            "approximation='nystroem', which takes their columns"
        )
    if not bank.local:
        raise ValueError(
            "approximation='nystroem' takes columns of the kernel matrices, and those of a centred bank follow the "
            "sample: give the bank before it is centred, or samples and kernels that are centered()"
        )

    def among(rows: Array) -> KernelBank:
        return bank.block(rows, rows)

    def made(rank: int) -> Made:
        landmarks = _landmarks(wanted, rank, bank.shape[0], among)
        map = Nystroem.of(among(landmarks), bank.reference(landmarks), landmarks)
        return map, lambda rows, dtype: map.of_values(bank.block(rows, landmarks), dtype)

    return _approximated(_Exact(bank.shape[0], among, made, np.zeros(len(bank), dtype=bool)), wanted)


def _approximated(exact: _Exact, wanted: Approximation) -> tuple[LowRankBank, Array]:
    n = exact.n
    by_accuracy = wanted.rank < 1
    rows = np.sort(wanted.generator(1).choice(n, size=min(n, TRIED), replace=False))
    truth = exact.among(rows)
    # where an accuracy is given, rank 32 is tried first
    rank = min(n, 32 if by_accuracy else int(wanted.rank))
    while True:
        map, features = exact.made(rank)
        errors = _errors(truth, LowRankBank.of(map, features(rows, np.float64)), n)
        if not by_accuracy or rank >= n or bool((errors <= wanted.rank).all()):
            break
        rank = min(2 * rank, n)
    q = sum(map.sizes)
    dtype = np.dtype(np.float64 if 8 * n * q <= MEMORY // 2 else np.float32)
    bank = LowRankBank.of(map, features(slice(None), dtype))
    if exact.follows.any():
        bank = bank.centred(exact.follows)
    return bank, errors


def _errors(truth: KernelBank, approximate: LowRankBank, n: int) -> Array:
    """The estimated relative error of every kernel."""
    both = zip(truth.tiles(slice(None)), approximate.tiles(slice(None)), strict=True)
    return np.array([relative_error(np.asarray(K, dtype=np.float64), L, n) for K, L in both])


def relative_error(K: Array, L: Array, n: int) -> float:
    """The estimated error |K - L| / |K| of the matrices of n samples, from those of some (s, s)."""
    s = len(K)
    others = 1.0  # how many entries beside the diagonal each of the block stands for
    if s > 1:
        others = (n - 1.0) / (s - 1.0)
    squares = [float((M * M).sum()) for M in (K - L, K)]
    own = [float((np.diagonal(M) ** 2).sum()) for M in (K - L, K)]
    error, size = (d + others * (whole - d) for d, whole in zip(own, squares, strict=True))
    if size > 0.0:
        return float(np.sqrt(error / size))
    return 0.0


def _landmarks(wanted: Approximation, rank: int, n: int, on: Callable[[Array], KernelBank]) -> Array:
    """The landmarks, of a pool of samples."""
    rng = wanted.generator(0)
    rank = min(rank, n)
    pool = rng.permutation(n)[: pool_size(wanted.landmarks, rank, n)]
    bank = None
    if len(pool) > rank:
        bank = on(pool)
    return pool[choose(wanted.landmarks, bank, rank, rng)]


def _random(kernel: Kernel, X: Any, rank: int, wanted: Approximation, k: int) -> Any:
    made = random_map(kernel, X, rank, wanted.generator(k + 2))
    if made is None:
        raise ValueError(
            f"approximation='fourier' has random features of Gaussian, Laplacian, Matern, linear and polynomial "
            f"kernels, and none of {kernel!r}: use approximation='nystroem', which takes any kernel"
        )
    return made


def _uncentred(kernel: Kernel) -> tuple[Kernel, bool]:
    """The kernel inside, and whether it was centred: features are centred instead."""
    for fact in kernel.facts():
        if isinstance(fact, Wrapped) and fact.by == "centered":
            return fact.kernel, True
        if isinstance(fact, Wrapped) and not isinstance(fact.by, str):
            inside, centred = _uncentred(fact.kernel)
            if centred:
                return (fact.by * inside, True)
            return (kernel, False)
    return kernel, False


__all__ = ["Approximation", "approximate_bank", "approximate_kernels"]
