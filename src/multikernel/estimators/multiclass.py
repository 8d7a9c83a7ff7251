"""Several classes as binary problems on one bank, and the vote that joins them again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from multikernel._typing import Array


def binary_problems(labels: Array, n_classes: int, scheme: str) -> Iterator[tuple[Array, Array]]:
    """Row positions and targets -1, +1 of each problem.

    Parameters
    ----------
    labels : array (n,) of 0..n_classes-1
    scheme : "ovr", one problem for each class against all others; "ovo", one for each pair (the first class is +1)

    With two classes there is one problem, with the second class as +1.
    """
    everyone = np.arange(len(labels))
    if n_classes == 2:
        yield everyone, np.where(labels == 1, 1.0, -1.0)
    elif scheme == "ovr":
        for c in range(n_classes):
            yield everyone, np.where(labels == c, 1.0, -1.0)
    else:
        for a, b in combinations(range(n_classes), 2):
            rows = np.flatnonzero((labels == a) | (labels == b))
            yield rows, np.where(labels[rows] == a, 1.0, -1.0)


def join(decisions: Array, n_classes: int, scheme: str) -> Array:
    """One score for each class, shape (n, n_classes), whose largest is the class predicted.

    One-vs-one counts votes; among classes with as many votes the sum of the decision values decides, brought into
    (-1/3, 1/3) so that it never outweighs a vote. Ties that remain go to the lowest class.
    """
    if scheme == "ovr":
        return decisions
    votes = np.zeros((len(decisions), n_classes))
    sums = np.zeros_like(votes)
    for p, (a, b) in enumerate(combinations(range(n_classes), 2)):
        first = decisions[:, p] >= 0
        votes[:, a] += first
        votes[:, b] += ~first
        sums[:, a] += decisions[:, p]
        sums[:, b] -= decisions[:, p]
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))
