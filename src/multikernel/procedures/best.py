"""The best single kernel by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from multikernel.banks import KernelBank
from multikernel.kernels.base import Array
from multikernel.machines import Machine
from multikernel.procedures.base import Weights

Score = Callable[[Array, Array], float]


def best_kernel(
    bank: KernelBank, y: Array, machine: Machine, folds: Iterable[tuple[Array, Array]], score: Score
) -> Weights:
    """Weight 1 for the kernel of the best mean score over the folds; of equals, for the first.

    Parameters
    ----------
    bank : KernelBank of shape (n, n); folds are blocks of it
    y : array (n,)
    machine : the machine trained on each kernel
    folds : pairs of training and validation rows
    score : of a target and its predicted values; larger is better
    """
    totals = np.zeros(len(bank))
    for train, test in folds:
        fold, held_out = bank.block(train, train), bank.block(test, train)
        for k in range(len(bank)):
            solution = machine.solve(fold.select([k]).combine(np.ones(1)), y[train])
            predicted = held_out.select([k]).combine(np.ones(1)).multiply(solution.coef) + solution.intercept
            totals[k] += score(y[test], predicted)
    weights = np.zeros(len(bank))
    weights[int(totals.argmax())] = 1.0
    return Weights(weights)
