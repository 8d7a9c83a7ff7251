"""Candidates are tried on as many samples as time allows, by the seconds that are measured meanwhile.

One candidate is tried on few samples first. The ratio of its measured to its forecast seconds says how long the others
will take on this machine, with these targets and beside all other programs. All candidates are then tried, and tried
again on more samples as long as that is likely to end in time.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from multikernel._typing import Array
from multikernel._workers import limited, seconds_left
from multikernel.auto.candidates import KernelCandidate
from multikernel.auto.limits import Limits
from multikernel.auto.search import Attempt, FitProblem, ToTry, Tried, attempts

_LOOK = 100, 300  # samples, first to compile code and then to measure


def pace(candidate: KernelCandidate, problem: FitProblem) -> float:
    """The measured seconds for each second of a forecast, from trials of one candidate."""
    if problem.constant:
        return 1.0
    for count in _LOOK:
        rows = problem.drawn_rows(count)
        begin = perf_counter()
        attempts([ToTry(candidate, problem.samples.of(rows), problem.task.of_rows(rows))], None, None)
        seconds = perf_counter() - begin
    forecast = candidate.work(len(rows), problem.samples.plain.shape[1]).seconds
    return max(seconds, 1e-3) / forecast


def tried_candidates(
    problem: FitProblem,
    limits: Limits,
    candidate_rows: Array | None,
    share: float,
    n_jobs: int | None,
    label: str | None,
) -> tuple[Array, list[Attempt]]:
    """The samples that candidates were tried on, and the trials.

    Where there is time, candidates are tried again on more samples, up to ``limits.most``: the steps of almost all
    candidates take time in proportion to the cube of the samples at most. Trials that do not end in time are dropped.

    Parameters
    ----------
    problem : FitProblem
    limits : Limits
    candidate_rows : int array, the samples that may be drawn; None for all
    share : float, the share of the remaining time
    n_jobs, label : as for ``attempts``
    """

    def attempted_on(count: int) -> tuple[Array, list[Attempt], float]:
        rows = problem.drawn_rows(count, candidate_rows)
        begin = perf_counter()
        remaining_seconds = seconds_left()
        jobs = [_to_try(candidate, problem, rows, limits.centres is None) for candidate in limits.candidates]
        with limited(share * remaining_seconds if np.isfinite(remaining_seconds) else None):
            outcomes = attempts(jobs, n_jobs, label)
        return rows, outcomes, perf_counter() - begin

    rows, outcomes, seconds = attempted_on(limits.choice)
    while len(rows) < limits.most and not _ended_early(outcomes):
        times = share * seconds_left() / max(seconds, 1e-3)
        count = min(limits.most, int(len(rows) * min(times, 64.0) ** (1.0 / 3.0)))
        if count < 1.2 * len(rows):
            break
        more_rows, more_outcomes, seconds = attempted_on(count)
        if _ended_early(more_outcomes):
            break
        rows, outcomes = more_rows, more_outcomes
    return rows, outcomes


def _to_try(candidate: KernelCandidate, problem: FitProblem, rows: Array, compared: bool) -> ToTry:
    """A candidate on these rows, or on as many of them as it needs where more follow before it is compared."""
    if not compared and candidate.enough < len(rows):
        rows = problem.drawn_rows(int(candidate.enough), rows)
    return ToTry(candidate, problem.samples.of(rows), problem.task.of_rows(rows), compared)


def _ended_early(outcomes: list[Attempt]) -> bool:
    """Whether the time ended before all candidates had learned to their end."""
    return any(outcome == "late" or (isinstance(outcome, Tried) and outcome.cut) for outcome in outcomes)
