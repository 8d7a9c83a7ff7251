"""How many samples take part, by a forecast of work and memory, so that the answer does not follow a clock.

Only where a fit is slower than its forecast does the clock end the choice (``_workers.limited``).

Kernels are chosen on some of the samples, and the chosen ones are trained on as many as time and memory allow. Seconds
are those of the machine that the forecasts were measured on (procedures/forecast.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._memory import available_memory
from multikernel._typing import Array
from multikernel.auto.candidates import KernelCandidate
from multikernel.banks.cost import BankCost
from multikernel.procedures import forecast

# Candidates that 8000 samples are trained on for; more of them, of several sources, take as long on fewer samples.
_TRAINED = 7
_FEWEST = 100  # samples below which held-out errors say little
CHOICE_SHARE = 0.7  # of the time: the rest is for training
_MATRICES = 8.0  # of n x n numbers that are in memory at a time, which tests/auto/test_limits.py measures


@dataclass(frozen=True)
class Limits:
    """Samples to choose on and to train on, and the candidates that there is time for.

    Parameters
    ----------
    choice, training : int
    candidates : tuple of KernelCandidate
    """

    choice: int
    training: int
    candidates: tuple[KernelCandidate, ...]

    @classmethod
    def of(
        cls, found: Sequence[KernelCandidate], n: int, p: int, seconds: float | None, memory: float | None
    ) -> Limits:
        """For n samples of p columns.

        Parameters
        ----------
        found : candidates, the most important first
        n, p : int
        seconds : time for a fit, or None
        memory : bytes, or None for half of what is available
        """
        held = (memory or 0.5 * available_memory()) / (8.0 * _MATRICES)
        fits = max(_FEWEST, int(np.sqrt(held)))
        if seconds is None:  # about as long as a grid search of a support vector machine on the same samples
            training = int(8000 * min(1.0, _TRAINED / max(1, len(found))) ** (1.0 / 3.0))
            return cls(min(n, fits, 1000), min(n, fits, training), tuple(found))
        tried = list(found)
        allowed = CHOICE_SHARE * seconds

        def too_long(count: int) -> bool:
            return sum(candidate.work(count, p).seconds for candidate in tried) > allowed

        # to choose, 4000 samples say enough whatever the time
        choice = _fewer(min(n, fits, 4000), min(3 * _FEWEST, n), too_long)
        while len(tried) > 1 and too_long(choice):
            tried.pop()
        choice = _fewer(choice, min(_FEWEST, n), too_long)
        rest = seconds - allowed
        training = _fewer(min(n, fits), choice, lambda count: len(tried) * _training_seconds(count) > rest)
        return cls(choice, max(choice, training), tuple(tried))


def _fewer(count: int, least: int, too_long: Callable[[int], bool]) -> int:
    """So many samples, or a tenth fewer while they take too long; about the least number at least."""
    while count > least and too_long(count):
        count = int(0.9 * count)
    return count


def _training_seconds(n: int) -> float:
    """Of one candidate: its kernel on all samples, and a ridge."""
    cost = forecast.ridge(BankCost.evaluated(1, n))
    return 0.0 if cost.work is None else cost.work.seconds


def some(labels: Array, count: int, seed: int) -> Array:
    """So many of the samples, in order, with each class in proportion."""
    n = len(labels)
    if count >= n:
        return np.arange(n)
    mixed = np.random.default_rng(seed).permutation(n)
    ordered = mixed[np.argsort(labels[mixed], kind="stable")]
    return np.sort(ordered[np.unique(np.linspace(0, n - 1, count).round().astype(int))])
