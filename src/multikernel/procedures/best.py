"""The best single kernel by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks import KernelBank
from multikernel.machines import Machine
from multikernel.procedures.base import Weights

Score = Callable[..., float]


def best_kernel(
    bank: KernelBank,
    y: Array,
    machine: Machine,
    folds: Iterable[tuple[Array, Array]],
    score: Score,
    sample_weight: Array | None = None,
) -> Weights:
    """Weight 1 for the kernel of the best mean score over the folds; of equals, for the first.

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
    y = y / (float(np.abs(y).max(initial=0.0)) or 1.0)  # squares of extreme targets are no numbers
    for train, test in folds:
        fold, held_out = bank.block(train, train), bank.block(test, train)
        own = None if sample_weight is None else sample_weight[train]
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight[test]}
        if time_is_up():  # the folds so far tell; without any, the first kernel is as good as others
            break
        for k in range(len(bank)):
            solution = machine.solve(fold.select([k]).combine(np.ones(1)), y[train], None, own)
            predicted = held_out.select([k]).combine(np.ones(1)).multiply(solution.coef) + solution.intercept
            totals[k] += score(y[test], predicted, **weighted)
    weights = np.zeros(len(bank))
    weights[int(totals.argmax())] = 1.0
    return Weights(weights)
