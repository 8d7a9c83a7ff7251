"""Candidates, tried on as many samples as time allows, by the seconds that are measured meanwhile.

One candidate is tried on few samples first: the seconds that it takes beside its forecast say how long the others will
take, on this machine, with these targets, and beside whatever else is running. They are tried again on more samples as
long as that is likely to end in time.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from multikernel._typing import Array
from multikernel._workers import limited, seconds_left
from multikernel.auto.candidates import KernelCandidate
from multikernel.auto.limits import Limits
from multikernel.auto.search import Attempt, Posed, ToTry, Tried, attempts

_LOOK = 100, 300  # samples, first to compile code and then to measure


def pace(candidate: KernelCandidate, posed: Posed) -> float:
    """The seconds that a second of the forecasts of candidates takes, by one of them."""
    if posed.constant:
        return 1.0
    for count in _LOOK:
        rows = posed.some(count)
        begin = perf_counter()
        attempts([ToTry(candidate, posed.samples.of(rows), posed.task.of_rows(rows))], None, None)
        seconds = perf_counter() - begin
    forecast = candidate.work(len(rows), posed.samples.plain.shape[1]).seconds
    return max(seconds, 1e-3) / forecast


def attempted(
    posed: Posed, limits: Limits, among: Array | None, share: float, n_jobs: int | None, label: str | None
) -> tuple[Array, list[Attempt]]:
    """The samples that candidates were tried on, and what came of these.

    Where there is time they are tried again on more samples, up to ``limits.most``: steps of almost all of them take at
    most the cube of the samples. What does not end in time then is dropped.

    Parameters
    ----------
    posed : all samples
    limits : Limits
    among : int array, the samples that may be taken; None for all
    share : float, of the time that is left
    n_jobs, label : as for ``attempts``
    """

    def on(count: int) -> tuple[Array, list[Attempt], float]:
        rows = posed.some(count, among)
        begin = perf_counter()
        left = seconds_left()
        works = [_to_try(each, posed, rows, limits.centres is None) for each in limits.candidates]
        with limited(share * left if np.isfinite(left) else None):
            found = attempts(works, n_jobs, label)
        return rows, found, perf_counter() - begin

    rows, outcomes, seconds = on(limits.choice)
    while len(rows) < limits.most and not _ended_early(outcomes):
        times = share * seconds_left() / max(seconds, 1e-3)
        count = min(limits.most, int(len(rows) * min(times, 64.0) ** (1.0 / 3.0)))
        if count < 1.2 * len(rows):
            break
        further, tried, seconds = on(count)
        if _ended_early(tried):
            break
        rows, outcomes = further, tried
    return rows, outcomes


def _to_try(candidate: KernelCandidate, posed: Posed, rows: Array, all_there_is: bool) -> ToTry:
    """On these rows; where others follow, on no more of them than are enough, and they are not compared yet."""
    if not all_there_is and candidate.enough < len(rows):
        rows = posed.some(int(candidate.enough), rows)
    return ToTry(candidate, posed.samples.of(rows), posed.task.of_rows(rows), all_there_is)


def _ended_early(outcomes: list[Attempt]) -> bool:
    """Whether the time ended before all candidates were tried to their end."""
    return any(each == "late" or (isinstance(each, Tried) and each.cut) for each in outcomes)
