"""Clusters in the feature space of a kernel (Schoelkopf, Smola and Mueller 1998; Dhillon, Guan and Kulis 2004).

    min over assignments of  sum_i w_i |phi_i - c_j(i)|^2,        c_j = sum_{i in C_j} w_i phi_i / sum_{i in C_j} w_i,

the squared distances of the samples to the means of their clusters in feature space, a sample of weight w_i like w_i
samples. Lloyd's steps lower it: with s_ij = w_i / sum_{l in C_j} w_l every sample is assigned to the nearest mean,
|phi_i - c_j|^2 = K_ii - 2 sum_{l in C_j} s_lj K_il + |c_j|^2. The first means are samples drawn one after the other
with probabilities proportional to weight times squared distance to the nearest earlier one (k-means++); the best of
several starts is returned. A cluster that becomes empty gets the sample that is furthest from its mean.
"""

from __future__ import annotations

import numpy as np

from multikernel._linalg import product
from multikernel._typing import Array
from multikernel._workers import check_interrupted


def kernel_k_means(
    K: Array, count: int, rng: np.random.Generator, n_init: int = 10, weight: Array | None = None
) -> Array:
    """The cluster 0, .., count - 1 of each sample, shape (n,).

    Parameters
    ----------
    K : array (n, n), symmetric and positive semi-definite
    count : int, how many clusters, at most as many as samples of a weight > 0
    rng : of the starts
    n_init : int, the number of starts; the default is that of random starts in scikit-learn's k-means
    weight : array (n,) >= 0, of the samples; None where all are 1
    """
    K = np.ascontiguousarray(K, dtype=float)
    if weight is None:
        weight = np.ones(len(K))
    if not 1 <= count <= np.count_nonzero(weight):
        raise ValueError(f"kernel_k_means: {np.count_nonzero(weight)} samples have no {count} clusters")
    weight = weight / weight.max()
    runs = [_run(K, _first(K, count, rng, weight), count, weight) for _ in range(n_init if count > 1 else 1)]
    return min(runs, key=lambda run: run[1])[0]


def _first(K: Array, count: int, rng: np.random.Generator, weight: Array) -> Array:
    """The first cluster of each sample, where random samples are the means."""
    diagonal = K.diagonal()
    n = len(K)
    squares = np.empty((n, count))
    chances = weight
    for j in range(count):
        total = float(chances.sum())
        chosen = int(rng.choice(n, p=chances / total if total > 0.0 else weight / weight.sum()))
        squares[:, j] = np.maximum(diagonal + diagonal[chosen] - 2.0 * K[:, chosen], 0.0)
        squares[chosen, j] = 0.0
        chances = weight * squares[:, : j + 1].min(axis=1)
    return np.argmin(squares, axis=1)


def _run(K: Array, labels: Array, count: int, weight: Array) -> tuple[Array, float]:
    """The best assignment of at most 100 Lloyd's steps from a given one, and its sum of squares."""
    best = labels
    value = np.inf
    for _ in range(100):
        check_interrupted()
        labels = _without_empty(K, labels, count, weight)
        squares = K.diagonal()[:, None] + distances(K, labels, count, weight)
        reached = float(weight @ squares[np.arange(len(K)), labels])
        if not reached < value:
            break
        best = labels
        value = reached
        labels = np.argmin(squares, axis=1)
        if np.array_equal(labels, best):
            break
    return best, value


def distances(K: Array, labels: Array, count: int, weight: Array) -> Array:
    """|phi_i - c_j|^2 - K_ii, shape (n, count)."""
    shares = shares_of(weight[:, None] * np.eye(count)[labels])
    inner = product(K, shares)
    return (shares * inner).sum(axis=0) - 2.0 * inner


def shares_of(memberships: Array) -> Array:
    """The weight of each sample in the mean of each group, with sum one in each column that has a member."""
    totals = memberships.sum(axis=0)
    return np.asarray(memberships / np.where(totals > 0.0, totals, 1.0))


def _without_empty(K: Array, labels: Array, count: int, weight: Array) -> Array:
    """Labels where every empty cluster got the sample furthest from its mean, among clusters of several samples."""
    counted = weight > 0.0
    empty = np.flatnonzero(np.bincount(labels[counted], minlength=count) == 0)
    if not len(empty):
        return labels
    labels = labels.copy()
    for j in empty:
        far = K.diagonal() + distances(K, labels, count, weight)[np.arange(len(K)), labels]
        far[~counted | (np.bincount(labels[counted], minlength=count)[labels] < 2)] = -np.inf
        labels[np.argmax(far)] = j
    return labels
