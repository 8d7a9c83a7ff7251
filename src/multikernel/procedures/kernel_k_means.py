"""Clusters in the feature space of a kernel (Schoelkopf, Smola and Mueller 1998; Dhillon, Guan and Kulis 2004).

    min over assignments of  sum_i K_ii - sum_j |C_j|^-1 sum_{i, l in C_j} K_il,

the squared distances of the samples to the means of their clusters in feature space. Lloyd's steps lower it: every
sample goes to the nearest mean, |phi_i - c_j|^2 = K_ii - 2 |C_j|^-1 sum_{l in C_j} K_il + |c_j|^2. The first means are
samples drawn one after the other in proportion to the squared distance to the nearest one so far (k-means++); of
several starts the best is returned. A cluster that loses all its samples takes the one that is furthest from its mean.
"""

from __future__ import annotations

import numpy as np

from multikernel._linalg import product
from multikernel._typing import Array
from multikernel._workers import check_interrupted

_STEPS = 100  # of Lloyd's at most from each start
_STARTS = 10


def kernel_k_means(K: Array, count: int, rng: np.random.Generator, n_init: int = _STARTS) -> Array:
    """The cluster 0, .., count - 1 of each sample, shape (n,).

    Parameters
    ----------
    K : array (n, n), symmetric and positive semi-definite
    count : int, how many clusters, at most n
    rng : of the starts
    n_init : int, how many there are
    """
    if not 1 <= count <= len(K):
        raise ValueError(f"kernel_k_means: {len(K)} samples have no {count} clusters")
    K = np.ascontiguousarray(K)
    runs = [_run(K, _first(K, count, rng), count) for _ in range(n_init if count > 1 else 1)]
    return min(runs, key=lambda run: run[1])[0]


def _first(K: Array, count: int, rng: np.random.Generator) -> Array:
    """The cluster of each sample where some samples are the means."""
    diagonal, n = K.diagonal(), len(K)
    squares = np.empty((n, count))
    nearest = np.ones(n)
    for j in range(count):
        total = float(nearest.sum())
        chosen = int(rng.choice(n, p=nearest / total)) if total > 0.0 else int(rng.integers(n))
        squares[:, j] = np.maximum(diagonal + diagonal[chosen] - 2.0 * K[:, chosen], 0.0)
        squares[chosen, j] = 0.0
        nearest = squares[:, : j + 1].min(axis=1)
    return np.argmin(squares, axis=1)


def _run(K: Array, labels: Array, count: int) -> tuple[Array, float]:
    """Lloyd's steps from an assignment: where they end, and the sum of squares there."""
    value = np.inf
    for _ in range(_STEPS):
        check_interrupted()
        labels = _without_empty(K, labels, count)
        squares = K.diagonal()[:, None] + distances(K, labels, count)
        reached = float(squares[np.arange(len(K)), labels].sum())
        moved = np.argmin(squares, axis=1)
        if not reached < value or np.array_equal(moved, labels):
            break
        labels, value = moved, reached
    return labels, min(value, reached)


def distances(K: Array, labels: Array, count: int) -> Array:
    """|phi_i - c_j|^2 - K_ii, shape (n, count)."""
    shares = shares_of(np.eye(count)[labels])
    inner = product(K, shares)
    return (shares * inner).sum(axis=0) - 2.0 * inner


def shares_of(memberships: Array) -> Array:
    """The part of each sample in the centre of each group, with sum one in each column that has a member."""
    totals = memberships.sum(axis=0)
    return np.asarray(memberships / np.where(totals > 0.0, totals, 1.0))


def _without_empty(K: Array, labels: Array, count: int) -> Array:
    """Every empty cluster takes the sample that is furthest from the mean of a cluster with others in it."""
    sizes = np.bincount(labels, minlength=count)
    if sizes.all():
        return labels
    labels = labels.copy()
    for j in np.flatnonzero(sizes == 0):
        far = K.diagonal() + distances(K, labels, count)[np.arange(len(K)), labels]
        far[np.bincount(labels, minlength=count)[labels] < 2] = -np.inf
        labels[np.argmax(far)] = j
    return labels
