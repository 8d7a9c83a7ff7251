"""Which samples are the landmarks of Nystroem's approximation.

    uniform     any samples
    kmeans++    one after the other, in proportion to the squared distance of a sample from the landmarks so far, in the
                feature space of all kernels together: far samples are soon covered
    leverage    without replacement in proportion to the ridge leverage scores diag K (K + a I)^{-1}, a such that their
                sum is the rank: samples count by how far others cannot stand for them (Alaoui and Mahoney 2015)

The last two look at a pool of samples, drawn uniformly, and at the mean of all kernels of unit size: the landmarks are
those of every kernel, so that samples meet them once.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import linalg
from scipy.optimize import brentq

from multikernel._typing import Array
from multikernel.banks.base import KernelBank

Rule = Literal["uniform", "kmeans++", "leverage"]
_POOL, _LARGEST = 1000, 4000  # samples of the pool: at least, and at most where the rank is not larger
_TIMES = 4  # the pool is so many times as large as the rank
_LEAST = 1e-12  # of the largest eigenvalue: the smallest ridge of the scores


def pool_size(rule: Rule, rank: int, n: int) -> int:
    """How many samples the rule looks at."""
    return min(n, rank if rule == "uniform" else max(rank, min(_LARGEST, max(_POOL, _TIMES * rank))))


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
    return _by_distance(K, rank, rng) if rule == "kmeans++" else _by_leverage(K, rank, rng)


def _by_distance(K: Array, rank: int, rng: np.random.Generator) -> Array:
    diagonal = np.diagonal(K)
    distance, chosen = np.full(len(K), np.inf), [int(rng.integers(len(K)))]
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

    low, high = np.log(_LEAST * largest), np.log(largest) + np.log(float(len(K)))
    log = brentq(excess, low, high) if excess(low) > 0.0 > excess(high) else low
    scores = np.einsum("ij,ij,j->i", U, U, values / (values + np.exp(log)))
    keys = rng.exponential(size=len(K)) / np.maximum(scores, np.finfo(float).tiny)  # the smallest: without replacement
    return np.argsort(keys, kind="stable")[:rank]
