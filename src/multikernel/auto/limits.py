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
from multikernel.auto.candidates import KernelCandidate
from multikernel.banks.cost import BankCost
from multikernel.procedures import forecast

_FEWEST = 100  # samples below which held-out errors say little
CHOICE_SHARE = 0.7  # of the time: the rest is for training
MANY_CHOICE_SHARE = 0.3  # the same of many samples: the rest is for learning further, comparing and training
# Samples beyond which candidates are learned further and trained on centres: of 5000, that was better on eight of nine
# sets and as good on the ninth than training exactly with the kernels chosen on 1000. Fewer were not compared.
_MANY = 4000
_MATRICES = 8.0  # of n x n numbers that are in memory at a time, which tests/auto/test_limits.py measures


@dataclass(frozen=True)
class Limits:
    """Samples to choose on and to train on, and the candidates that there is time for.

    Parameters
    ----------
    choice, training : int
    candidates : tuple of KernelCandidate
    centres : CentreLimits where there are many samples, of which all are then trained on; None for fewer
    """

    choice: int
    training: int
    candidates: tuple[KernelCandidate, ...]
    centres: CentreLimits | None = None

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
        held = (memory or 0.5 * available_memory()) / 8.0
        fits = max(_FEWEST, int(np.sqrt(held / _MATRICES)))
        possible = CentreLimits.of(n, held)
        many = n > min(_MANY, fits) and possible.most >= _FEWEST_CENTRES
        centres = possible if many else None
        if seconds is None:  # 1000 say enough to begin with
            return cls(min(n, fits, 1000), n if centres else min(n, fits), tuple(found), centres)
        tried = list(found)
        allowed = (MANY_CHOICE_SHARE if centres else CHOICE_SHARE) * seconds

        def too_long(count: int) -> bool:
            return sum(candidate.work(count, p).seconds for candidate in tried) > allowed

        # to choose, 4000 samples say enough whatever the time; fewer where scales are learned further
        choice = _fewer(min(n, fits, 1000 if centres else 4000), min(3 * _FEWEST, n), too_long)
        while len(tried) > 1 and too_long(choice):
            tried.pop()
        choice = _fewer(choice, min(_FEWEST, n), too_long)
        if centres:
            return cls(choice, n, tuple(tried), centres)
        rest = seconds - allowed
        training = _fewer(min(n, fits), choice, lambda count: len(tried) * _training_seconds(count) > rest)
        return cls(choice, max(choice, training), tuple(tried))


@dataclass(frozen=True)
class Size:
    """Samples that a machine is trained on, and how many of them are centres of its kernel."""

    rows: int
    centres: int


_FEWEST_CENTRES = 500
# Centres where no time is given, twice as many at most where it is. On protein (20,000 rows, one kernel) 1000, 3000 and
# 6000 centres have R2 .545, .595 and .615, in 1, 4 and 16 seconds.
_CENTRES = 3000
_SIFTING = (10_000, 1000)  # samples and centres by which candidates are compared first


@dataclass(frozen=True)
class CentreLimits:
    """How many centres there may be.

    Parameters
    ----------
    n : int, samples
    most : int, what memory allows
    """

    n: int
    most: int

    @classmethod
    def of(cls, n: int, held: float) -> CentreLimits:
        """For n samples, where so many numbers may be in memory."""
        return cls(n, forecast.centres_within(held))

    @property
    def usual(self) -> int:
        """The centres where no time is given."""
        return self._size(self.n, _CENTRES).centres

    def to_sift(self, seconds: float, candidates: int) -> Size:
        """To compare so many candidates with, in a third of these seconds."""
        rows, centres = (float(each) for each in _SIFTING)
        times = min(1.0, seconds / 3.0 / (candidates * forecast.centre_sums(rows, centres).seconds))
        return self._size(rows * times**0.5, centres * times**0.25)

    def to_train(self, seconds: float, candidates: int, few: Size, taken: float) -> Size:
        """To train so many candidates in these seconds: on no fewer samples than they were compared by.

        Parameters
        ----------
        seconds : float, infinite without a limit of time
        candidates : int
        few, taken : Size, and the seconds that one candidate took of it
        """
        if np.isinf(seconds):
            return self._size(self.n, _CENTRES)
        # sums take rows times the square of the centres
        allowed = 0.8 * seconds / candidates / taken * few.rows * few.centres**2
        centres = max(few.centres, min(np.sqrt(allowed / self.n), 2.0 * _CENTRES))
        return self._size(max(few.rows, allowed / centres**2), centres)

    def _size(self, rows: float, centres: float) -> Size:
        rows = int(np.clip(rows, min(self.n, 2 * _FEWEST_CENTRES), self.n))
        return Size(rows, int(np.clip(centres, _FEWEST_CENTRES, min(rows // 2, self.most))))


def _fewer(count: int, least: int, too_long: Callable[[int], bool]) -> int:
    """So many samples, or a tenth fewer while they take too long; about the least number at least."""
    while count > least and too_long(count):
        count = int(0.9 * count)
    return count


def _training_seconds(n: int) -> float:
    """Of one candidate: its kernel on all samples, and a ridge."""
    cost = forecast.ridge(BankCost.evaluated(1, n))
    return 0.0 if cost.work is None else cost.work.seconds
