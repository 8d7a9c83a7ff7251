"""How many samples take part: from forecasts of time and memory, and the present speed of this machine.

Kernels are chosen on some of the samples, and the chosen ones are trained on as many as time and memory allow. Without
a time limit the answer does not depend on a clock. With one, forecasts (procedures/forecast.py) are multiplied by the
pace of this machine (``trial.py``). Where a forecast was too short, the clock ends the choice (``_workers.limited``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._memory import available_memory
from multikernel._workers import CHOICE_TIME
from multikernel.auto.candidates import KernelCandidate
from multikernel.auto.centre_sums import CentreSpeed
from multikernel.banks.cost import BankCost
from multikernel.procedures import forecast
from multikernel.procedures.centres import CENTRES, LANDMARKS, MANY

_FEWEST_SAMPLES = 100  # samples below which held-out errors say little
CHOICE_SHARE = 0.7  # of the time of few samples: the rest is for training
_MATRICES = 8.0  # n x n matrices that are in memory at a time, which tests/auto/test_limits.py measures


@dataclass(frozen=True)
class Limits:
    """Samples to choose on and to train on, and the candidates that there is time for.

    Parameters
    ----------
    choice, training : int
    candidates : tuple of KernelCandidate
    most : int, the most samples to choose on, where the first choice leaves time for more
    centres : CentreLimits where there are many samples, all of which are then trained on; None for fewer
    """

    choice: int
    training: int
    candidates: tuple[KernelCandidate, ...]
    most: int = 0
    centres: CentreLimits | None = None

    @classmethod
    def of(
        cls,
        candidates: Sequence[KernelCandidate],
        n: int,
        p: int,
        seconds: float | None,
        memory: float | None,
        pace: float = 1.0,
        at_once: int = 1,
    ) -> Limits:
        """The limits for n samples of p columns.

        Parameters
        ----------
        candidates : candidates, the most important first
        n, p : int
        seconds : time for a fit, or None
        memory : bytes, or None for half of what is available
        pace : seconds that a second of a forecast takes
        at_once : candidates that are trained on centres at a time
        """
        numbers_in_memory = (memory or 0.5 * available_memory()) / 8.0
        fits = max(_FEWEST_SAMPLES, int(np.sqrt(numbers_in_memory / _MATRICES)))
        possible = CentreLimits.of(n, numbers_in_memory, seconds is not None, pace, at_once)
        many = n > min(MANY, fits) and possible.most >= LANDMARKS
        centres = possible if many else None
        if seconds is None:  # 1000 say enough to begin with
            return cls(min(n, fits, 1000), n if centres else min(n, fits), tuple(candidates), centres=centres)
        seconds /= pace
        kept_candidates = list(candidates)
        choice_seconds = (CHOICE_TIME if centres else CHOICE_SHARE) * seconds

        def taken(candidate: KernelCandidate, count: int) -> int:
            if centres:
                return int(min(count, candidate.enough))
            return count

        def too_long(count: int) -> bool:
            return (
                sum(candidate.work(taken(candidate, count), p).seconds for candidate in kept_candidates)
                > choice_seconds
            )

        # 4000 samples are enough for a choice with any time limit; fewer where scales are learned further
        largest_choice = min(n, fits, 1000 if centres else 4000)
        choice = _lowered_count(largest_choice, min(3 * _FEWEST_SAMPLES, n), too_long)
        while len(kept_candidates) > 1 and too_long(choice):
            kept_candidates.pop()
        choice = _lowered_count(choice, min(_FEWEST_SAMPLES, n), too_long)
        if centres:
            return cls(choice, n, tuple(kept_candidates), largest_choice, centres)
        training_seconds = seconds - choice_seconds
        training = _lowered_count(
            min(n, fits), choice, lambda count: len(kept_candidates) * _training_seconds(count) > training_seconds
        )
        return cls(choice, max(choice, training), tuple(kept_candidates), largest_choice)


@dataclass(frozen=True)
class Size:
    """Samples that a machine is trained on, and how many of them are centres of its kernel."""

    rows: int
    centres: int


_MOST_CENTRES = 12_000  # with a time limit: a factor of so many takes half a minute
_SIFTING = (10_000, 1000)  # samples and centres by which candidates are compared first


@dataclass(frozen=True)
class CentreLimits:
    """How many centres there may be.

    Parameters
    ----------
    n : int, samples
    most : int, the centres that memory allows and that are worth their time
    pace : float, seconds that a second of a forecast takes
    held : float, how many numbers may be in memory
    """

    n: int
    most: int
    pace: float = 1.0
    held: float = np.inf

    @classmethod
    def of(
        cls, n: int, numbers_in_memory: float, timed: bool = False, pace: float = 1.0, at_once: int = 1
    ) -> CentreLimits:
        """For n samples.

        Parameters
        ----------
        n : int
        numbers_in_memory : float, how many numbers may be in memory
        timed : bool, whether there is a limit of time, up to which there may be more centres than half of the samples
        pace : float, seconds that a second of a forecast takes
        at_once : int, candidates that have sums at a time
        """
        return cls(
            n, min(forecast.centres_within(numbers_in_memory, at_once), n if timed else n // 2), pace, numbers_in_memory
        )

    def keeps(self, size: Size) -> bool:
        """Whether the kernel between rows and centres, in single precision, is a quarter of the memory at most."""
        return size.rows * size.centres <= 0.5 * self.held

    @property
    def usual(self) -> int:
        """The number of centres without a time limit."""
        return self._size(self.n, CENTRES).centres

    def to_sift(self, seconds: float, candidates: int) -> Size:
        """The size with which so many candidates are compared in a third of these seconds."""
        rows, centres = (float(size) for size in _SIFTING)
        times = min(1.0, seconds / 3.0 / (candidates * self.pace * forecast.centre_sums(rows, centres).seconds))
        return self._size(rows * times**0.5, centres * times**0.25)

    def to_train(self, seconds: float, few: Size, speeds: Sequence[CentreSpeed]) -> Size:
        """The size with which candidates are trained in these seconds: no fewer samples than they were compared with.

        Parameters
        ----------
        seconds : float, infinite without a limit of time
        few : Size, with which they were compared
        speeds : the measured speed of each candidate
        """
        if np.isinf(seconds):
            return self._size(self.n, CENTRES)
        sum_seconds = 0.8 * seconds

        def fits(rows: float, centres: float) -> bool:
            return sum(speed.seconds(rows, centres) for speed in speeds) <= sum_seconds

        if not fits(self.n, few.centres):
            return self._size(
                max(few.rows, _largest_fitting(lambda rows: fits(rows, few.centres), self.n)), few.centres
            )
        return self._size(self.n, _largest_fitting(lambda centres: fits(self.n, centres), float(_MOST_CENTRES)))

    def _size(self, rows: float, centres: float) -> Size:
        rows = int(np.clip(rows, min(self.n, 2 * LANDMARKS), self.n))
        return Size(rows, int(np.clip(centres, LANDMARKS, min(rows, self.most))))


def _largest_fitting(fits: Callable[[float], bool], upper: float) -> float:
    """The largest number up to ``upper`` that fits, where all smaller ones do."""
    low, high = 0.0, upper
    for _ in range(30):
        middle = 0.5 * (low + high)
        if fits(middle):
            low = middle
        else:
            high = middle
    if fits(upper):
        return upper
    return low


def _lowered_count(count: int, fewest: int, too_long: Callable[[int], bool]) -> int:
    """``count``, lowered by tenths while so many samples take too long, to about ``fewest``."""
    while count > fewest and too_long(count):
        count = int(0.9 * count)
    return count


def _training_seconds(n: int) -> float:
    """The seconds of one candidate: its kernel on all samples, and a ridge."""
    cost = forecast.ridge(BankCost.evaluated(1, n))
    if cost.work is None:
        return 0.0
    return cost.work.seconds
