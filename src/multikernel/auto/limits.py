"""How many samples take part, by a forecast of work and memory, so that the answer does not follow a clock.

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

# Without a time budget a fit takes about as long as a grid search of a support vector machine on the same samples.
_CHOICE = 1000  # samples to choose on where no time is given
_TRAINING = 8000  # samples to train on where no time is given
_TRAINED = 7  # candidates that so many samples are for; more of them, of several sources, take as long on fewer samples
_FEWEST = 100  # samples below which held-out errors say little
_MOST_TO_CHOOSE = 4000  # samples to choose on at most, whatever the time
_SHARE = 0.7  # of the time for the choice
_MATRICES = 8.0  # of n x n numbers that are in memory at a time, which tests/auto/test_limits.py measures
_MEMORY = 0.5  # of what is available
_LESS = 0.9  # times the samples, where they take too long


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
        held = (memory or _MEMORY * available_memory()) / (8.0 * _MATRICES)
        fits = max(_FEWEST, int(np.sqrt(held)))
        if seconds is None:
            training = int(_TRAINING * min(1.0, _TRAINED / max(1, len(found))) ** (1.0 / 3.0))
            return cls(min(n, fits, _CHOICE), min(n, fits, training), tuple(found))
        tried = list(found)
        allowed = _SHARE * seconds

        def too_long(count: int) -> bool:
            return sum(candidate.work(count, p).seconds for candidate in tried) > allowed

        choice = _fewer(min(n, fits, _MOST_TO_CHOOSE), min(3 * _FEWEST, n), too_long)
        while len(tried) > 1 and too_long(choice):
            tried.pop()
        choice = _fewer(choice, min(_FEWEST, n), too_long)
        rest = seconds - allowed
        training = _fewer(min(n, fits), choice, lambda count: len(tried) * _training_seconds(count) > rest)
        return cls(choice, max(choice, training), tuple(tried))


def _fewer(count: int, least: int, too_long: Callable[[int], bool]) -> int:
    """So many samples, or fewer while they take too long; about the least number at least."""
    while count > least and too_long(count):
        count = int(_LESS * count)
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
