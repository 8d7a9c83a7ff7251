"""How many samples take part, by a forecast of operations and memory, so that the answer does not follow a clock.

Kernels are chosen on some of the samples, and the chosen ones are trained on as many as time and memory allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._memory import available_memory
from multikernel._typing import Array
from multikernel.auto.candidates import Candidate
from multikernel.tuning import BLAS_OPERATION

_CHOICE, _TRAINING = 1000, 8000  # samples to choose on, and to train on, where no time is given
_FEWEST, _MOST = 100, 4000  # samples to choose on at least, and at most where there is much time
_SLOWER = 1.5  # times the seconds of an operation, on the safe side
_SHARE = 0.7  # of the time for the choice
_MATRICES = 8.0  # of n x n numbers that are in memory at a time
_MEMORY = 0.5  # of what is available


@dataclass(frozen=True)
class Limits:
    """Samples to choose on and to train on, and the candidates that there is time for.

    Parameters
    ----------
    choice, training : int
    candidates : tuple of Candidate
    """

    choice: int
    training: int
    candidates: tuple[Candidate, ...]

    @classmethod
    def of(cls, found: Sequence[Candidate], n: int, p: int, seconds: float | None, memory: float | None) -> Limits:
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
            return cls(min(n, fits, _CHOICE), min(n, fits, _TRAINING), tuple(found))
        choice, training = min(n, fits, _MOST), min(n, fits)
        tried = list(found)
        allowed = _SHARE * seconds / (_SLOWER * BLAS_OPERATION)
        while choice > min(_FEWEST * 3, n) and _total(tried, choice, p) > allowed:
            choice = int(0.9 * choice)
        while len(tried) > 1 and _total(tried, choice, p) > allowed:
            tried.pop()
        while choice > min(_FEWEST, n) and _total(tried, choice, p) > allowed:
            choice = int(0.9 * choice)
        rest = (1.0 - _SHARE) * seconds / (_SLOWER * BLAS_OPERATION)
        training = max(choice, int(min(training, (rest / max(len(tried), 1)) ** (1.0 / 3.0))))
        return cls(choice, training, tuple(tried))


def _total(found: Sequence[Candidate], n: int, p: int) -> float:
    return sum(candidate.operations(n, p) for candidate in found)


def some(labels: Array, count: int, seed: int) -> Array:
    """So many of the samples, in order, with each class in proportion."""
    n = len(labels)
    if count >= n:
        return np.arange(n)
    mixed = np.random.default_rng(seed).permutation(n)
    ordered = mixed[np.argsort(labels[mixed], kind="stable")]
    return np.sort(ordered[np.unique(np.linspace(0, n - 1, count).round().astype(int))])
