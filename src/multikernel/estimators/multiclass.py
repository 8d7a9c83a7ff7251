"""Several classes as binary problems on one bank, and how decision values and probabilities are joined."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from multikernel._typing import Array
from multikernel.banks.threads import slices
from multikernel.tuning import BUFFER_VALUES

_CERTAIN = 1e-7  # the least distance of pairwise probabilities from 0 and 1: LIBSVM's min_prob


def binary_problems(labels: Array, n_classes: int, scheme: str) -> Iterator[tuple[Array, Array]]:
    """Row positions and targets -1, +1 of each problem.

    Parameters
    ----------
    labels : array (n,) of 0..n_classes-1
    scheme : "ovr" and "shared", one problem for each class against all others; "ovo", one for each pair (the first
        class is +1)

    With two classes there is one problem, with the second class as +1.
    """
    all_rows = np.arange(len(labels))
    if n_classes == 2:
        yield all_rows, np.where(labels == 1, 1.0, -1.0)
    elif scheme != "ovo":
        for c in range(n_classes):
            yield all_rows, np.where(labels == c, 1.0, -1.0)
    else:
        for a, b in combinations(range(n_classes), 2):
            rows = np.flatnonzero((labels == a) | (labels == b))
            yield rows, np.where(labels[rows] == a, 1.0, -1.0)


def join(decisions: Array, n_classes: int, scheme: str) -> Array:
    """One score for each class, shape (n, n_classes), whose largest is the class predicted.

    One-vs-one counts votes. Between classes with equally many votes the sum of the decision values decides, mapped to
    (-1/3, 1/3) so that it never outweighs a vote. Remaining ties go to the lowest class.
    """
    if scheme != "ovo":
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


def probabilities(positive: Array, n_classes: int, scheme: str) -> Array:
    """The probabilities of the classes, shape (n, n_classes), whose rows sum to 1.

    Parameters
    ----------
    positive : array (n, problems), the probability of the target +1 in every binary problem
    n_classes : int
    scheme : as in ``binary_problems``
    """
    if n_classes == 2:
        return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
    if scheme == "ovo":
        height = max(1, BUFFER_VALUES // n_classes**2)
        return np.concatenate([_coupled(positive[rows], n_classes) for rows in slices(len(positive), height)])
    total = positive.sum(axis=1, keepdims=True)
    none = total == 0.0
    return np.where(none, 1.0 / n_classes, positive / np.where(none, 1.0, total))


def _coupled(pairs: Array, n_classes: int) -> Array:
    """min over p of sum over pairs (r_ji p_i - r_ij p_j)^2, sum p = 1, r_ij the probability of i in the pair (i, j).

    The linear system is that of the optimality conditions for the equality alone: its solution is never negative,
    except by rounding. Wu, Lin and Weng (2004), Probability
    estimates for multi-class classification by pairwise coupling, JMLR 5.
    """
    first, second = np.array(list(combinations(range(n_classes), 2))).T
    r = np.zeros((len(pairs), n_classes, n_classes))
    r[:, first, second] = np.clip(pairs, _CERTAIN, 1.0 - _CERTAIN)
    r[:, second, first] = 1.0 - r[:, first, second]
    system = np.ones((len(pairs), n_classes + 1, n_classes + 1))  # the optimality conditions, with the sum's multiplier
    system[:, :-1, :-1] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = (r**2).sum(axis=1)
    system[:, -1, -1] = 0.0
    right = np.append(np.zeros(n_classes), 1.0)[:, None]
    p = np.maximum(np.linalg.solve(system, np.broadcast_to(right, (len(pairs), n_classes + 1, 1)))[:, :-1, 0], 0.0)
    return p / p.sum(axis=1, keepdims=True)
