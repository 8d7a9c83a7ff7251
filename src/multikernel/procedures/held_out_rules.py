"""Weights by how well each kernel predicts alone, on samples that were held out.

    best            1 for the kernel of the best score
    proportional    max(score_k - threshold, 0) / sum_j max(score_j - threshold, 0)

The second are the proportionally weighted kernels of Tanabe, Ho, Nguyen and Kawasaki (2008), there with the accuracy as
the score and a threshold below the smallest accuracy: a kernel counts by what it knows beyond the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from multikernel._typing import Array
from multikernel._workers import in_time
from multikernel.banks import KernelBank
from multikernel.machines import Machine
from multikernel.procedures.base import Weights

Score = Callable[..., float]
Folds = Iterable[tuple[Array, Array]]


def best_kernel(
    bank: KernelBank, y: Array, machine: Machine, folds: Folds, score: Score, sample_weight: Array | None = None
) -> Weights:
    """Weight 1 for the kernel of the best mean score over the folds; of equals, for the first.

    The parameters are those of ``held_out_scores``.
    """
    weights = np.zeros(len(bank))
    weights[int(held_out_scores(bank, y, machine, folds, score, sample_weight).argmax())] = 1.0
    return Weights(weights)


def proportional(scores: Array, threshold: float) -> Weights:
    """Weights in proportion to what each score is above the threshold; equal ones where none is above it."""
    beyond = np.maximum(scores - threshold, 0.0)
    total = float(beyond.sum())
    return Weights(beyond / total if total > 0 else np.full(len(scores), 1.0 / len(scores)))


def held_out_scores(
    bank: KernelBank, y: Array, machine: Machine, folds: Folds, score: Score, sample_weight: Array | None = None
) -> Array:
    """The mean score over the folds of each kernel alone, shape (m,); zeros where there is no fold, or no time for one.

    Parameters
    ----------
    bank : KernelBank of shape (n, n); folds are blocks of it
    y : array (n,) or (n, t)
    machine : the machine trained on each kernel
    folds : pairs of training and validation rows
    score : of a target and its predicted values; larger is better; takes ``sample_weight`` where there are weights
    sample_weight : array (n,) >= 0, of the machine's losses and of the score
    """
    totals = np.zeros(len(bank))
    count = 0
    folds = list(folds)
    y = y / (float(np.abs(y).max(initial=0.0)) or 1.0)  # squares of extreme targets overflow
    for train, test in in_time(folds, len(folds), "folds on which kernels are compared", least=0):
        fold = bank.block(train, train)
        held_out = bank.block(test, train)
        own = None if sample_weight is None else sample_weight[train]
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight[test]}
        for k in range(len(bank)):
            solution = machine.solve(fold.select([k]).combine(np.ones(1)), y[train], None, own)
            predicted = held_out.select([k]).combine(np.ones(1)).multiply(solution.coef) + solution.intercept
            totals[k] += score(y[test], predicted, **weighted)
        count += 1
    return totals / max(count, 1)
