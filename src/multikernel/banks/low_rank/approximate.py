"""The approximation of kernels, or of a bank, by a bank of few features, and its estimated error.

The error of kernel k is |K_k - F_k F_k'| / |K_k| in Frobenius norms. It is estimated on ``TRIED`` samples that are
drawn for this purpose. Diagonal and off-diagonal entries are weighted by how many of each the full matrix has, so that
the squared numerator and denominator are unbiased.

Landmarks of Nystroem's approximation are

    uniform     any samples
    kmeans++    drawn one after the other with probability proportional to the squared distance of a sample from its
                nearest landmark, in the feature space of all kernels together, which soon covers distant samples
    leverage    drawn without replacement in proportion to the ridge leverage scores diag K (K + a I)^{-1}, with a
                chosen so that their sum is the rank; a score is high if other samples cannot represent the sample
                (Alaoui and Mahoney 2015)

The last two choose from a pool of samples, drawn uniformly, by the mean of all kernels scaled to unit size. All kernels
have the same landmarks, so that samples are compared with one set of landmarks.
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
_SMALLEST_POOL = 1000  # samples
_LARGEST_POOL = 4000  # samples, unless the rank is larger
TRIED = 500  # samples on which errors are estimated: within a fifth of the true ones (tests/banks/test_low_rank.py)
MapAndFeatures = tuple[FeatureMap, Callable[[Index, Any], Array]]  # a map, and its features of some rows in a dtype


def pool_size(rule: Rule, rank: int, n: int) -> int:
    """The number of samples among which the rule chooses: four times the rank, within limits."""
    if rule == "uniform":
        return min(n, rank)
    return min(n, max(rank, min(_LARGEST_POOL, max(_SMALLEST_POOL, 4 * rank))))


def choose(rule: Rule, pool: KernelBank | None, rank: int, rng: np.random.Generator) -> Array:
    """Positions of ``rank`` landmarks in a pool.

    Parameters
    ----------
    rule : "uniform", "kmeans++" or "leverage"
    pool : square KernelBank of the pool; None for "uniform", whose pool is as large as the rank
    rank : the number of landmarks, at most the size of the pool
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
        if total <= 0.0:  # all other samples are equal to landmarks
            remaining = np.setdiff1d(np.arange(len(K)), chosen)
            return np.array([*chosen, *remaining[: rank - len(chosen)]])
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
    # the samples with the smallest keys are a draw without replacement
    keys = rng.exponential(size=len(K)) / np.maximum(scores, TINY)
    return np.argsort(keys, kind="stable")[:rank]


@dataclass(frozen=True)
class Approximation:
    """The parameters of an approximation.

    Parameters
    ----------
    method : "nystroem" or "fourier"
    rank : int >= 1, the number of features of a kernel; or a number in (0, 1), the largest error of a kernel: the
        rank is then doubled until the estimated errors are at most this
    landmarks : "uniform", "kmeans++" or "leverage", the choice of Nystroem's landmarks
    seed : int
    """

    method: Method = "nystroem"
    rank: float = 256
    landmarks: Rule = "leverage"
    seed: int = 0

    def generator(self, stream: int) -> np.random.Generator:
        """A source of random numbers, which is the same for every rank; ``stream`` numbers independent ones."""
        return np.random.default_rng([self.seed, stream])


@dataclass(frozen=True, eq=False)
class _Exact:
    """The kernels that are to be approximated.

    Parameters
    ----------
    n : int, the number of samples
    among : function of rows, the bank of the kernels on these samples
    map_of_rank : function of the rank, the feature map and the features of samples
    follows : bool array (m,), which kernels are centred
    """

    n: int
    among: Callable[[Array], KernelBank]
    map_of_rank: Callable[[int], MapAndFeatures]
    follows: Array


def approximate_kernels(kernels: Any, X: Any, approximation: Approximation) -> tuple[LowRankBank, Array]:
    """The bank that approximates kernels, and the estimated error of each, shape (m,).

    Parameters
    ----------
    kernels : resolved kernels that have learned, or a family of them
    X : array, CSR matrix or table of samples
    approximation : Approximation

    Raises
    ------
    ValueError : where random features of a kernel are not known, or a kernel is changed after it is centred
    """
    uncentred, follows = zip(*map(_uncentred, kernels), strict=True)
    changed = next((kernel for kernel in uncentred if kernel.follows_sample), None)
    if changed is not None:
        raise ValueError(
            f"approximation={approximation.method!r} takes the features of kernels before they are centred, and "
            f"{changed!r} is changed after that: centre it last, (...).centered()"
        )

    def among(rows: Array) -> KernelBank:
        return bind_kernels(uncentred, taken(X, rows), dtype=np.float64)

    def map_of_rank(rank: int) -> MapAndFeatures:
        if approximation.method == "nystroem":
            map: FeatureMap = Nystroem.of(among(_landmarks(approximation, rank, X.shape[0], among)))
        else:
            map = SideBySide(tuple(_random(kernel, X, rank, approximation, k) for k, kernel in enumerate(uncentred)))
        return map, lambda rows, dtype: map(taken(X, rows), dtype)

    return _approximated(_Exact(X.shape[0], among, map_of_rank, np.array(follows, dtype=bool)), approximation)


def approximate_bank(bank: KernelBank, approximation: Approximation) -> tuple[LowRankBank, Array]:
    """The approximation of a square bank by Nystroem's method, and the estimated error of each kernel.

    Parameters
    ----------
    bank : square KernelBank, none of whose kernels is centred
    approximation : Approximation

    Raises
    ------
    ValueError : for random features, which need the samples, and for centred kernels
    """
    if approximation.method == "fourier":
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

    def map_of_rank(rank: int) -> MapAndFeatures:
        landmarks = _landmarks(approximation, rank, bank.shape[0], among)
        map = Nystroem.of(among(landmarks), bank.reference(landmarks), landmarks)
        return map, lambda rows, dtype: map.of_values(bank.block(rows, landmarks), dtype)

    return _approximated(_Exact(bank.shape[0], among, map_of_rank, np.zeros(len(bank), dtype=bool)), approximation)


def _approximated(exact: _Exact, approximation: Approximation) -> tuple[LowRankBank, Array]:
    n = exact.n
    by_accuracy = approximation.rank < 1
    rows = np.sort(approximation.generator(1).choice(n, size=min(n, TRIED), replace=False))
    truth = exact.among(rows)
    # where an accuracy is given, the first rank is 32
    rank = min(n, 32 if by_accuracy else int(approximation.rank))
    while True:
        map, features = exact.map_of_rank(rank)
        errors = _errors(truth, LowRankBank.of(map, features(rows, np.float64)), n)
        if not by_accuracy or rank >= n or bool((errors <= approximation.rank).all()):
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
    pairs = zip(truth.tiles(slice(None)), approximate.tiles(slice(None)), strict=True)
    return np.array([relative_error(np.asarray(K, dtype=np.float64), L, n) for K, L in pairs])


def relative_error(K: Array, L: Array, n: int) -> float:
    """The estimated error |K - L| / |K| of matrices of n samples, from their blocks (s, s) for s samples."""
    s = len(K)
    off_diagonal_weight = 1.0  # entries of the full matrix for each one of the block, relative to the diagonal
    if s > 1:
        off_diagonal_weight = (n - 1.0) / (s - 1.0)
    squares = [float((M * M).sum()) for M in (K - L, K)]
    diagonal_squares = [float((np.diagonal(M) ** 2).sum()) for M in (K - L, K)]
    sums = zip(diagonal_squares, squares, strict=True)
    squared_error, squared_norm = (d + off_diagonal_weight * (total - d) for d, total in sums)
    if squared_norm > 0.0:
        return float(np.sqrt(squared_error / squared_norm))
    return 0.0


def _landmarks(approximation: Approximation, rank: int, n: int, among: Callable[[Array], KernelBank]) -> Array:
    """The positions of the landmarks, chosen from a pool of samples."""
    rng = approximation.generator(0)
    rank = min(rank, n)
    pool = rng.permutation(n)[: pool_size(approximation.landmarks, rank, n)]
    bank = None
    if len(pool) > rank:
        bank = among(pool)
    return pool[choose(approximation.landmarks, bank, rank, rng)]


def _random(kernel: Kernel, X: Any, rank: int, approximation: Approximation, k: int) -> Any:
    features = random_map(kernel, X, rank, approximation.generator(k + 2))
    if features is None:
        raise ValueError(
            f"approximation='fourier' has random features of Gaussian, Laplacian, Matern, linear and polynomial "
            f"kernels, and none of {kernel!r}: use approximation='nystroem', which takes any kernel"
        )
    return features


def _uncentred(kernel: Kernel) -> tuple[Kernel, bool]:
    """The kernel without centring, and whether it was centred; its features are centred instead."""
    for fact in kernel.facts():
        if isinstance(fact, Wrapped) and fact.by == "centered":
            return fact.kernel, True
        if isinstance(fact, Wrapped) and not isinstance(fact.by, str):
            inner, centred = _uncentred(fact.kernel)
            if centred:
                return (fact.by * inner, True)
            return (kernel, False)
    return kernel, False


__all__ = ["Approximation", "approximate_bank", "approximate_kernels"]
