"""What a fit does once it is posed: candidates are tried and compared, and those with a weight are trained.

``answered`` decides by the limits of time and memory on how many samples each of these is done, and says in a warning
what a limit of time cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel._workers import CHOICE_TIME, seconds_left
from multikernel.auto.candidates import candidates
from multikernel.auto.limits import CHOICE_SHARE, Limits
from multikernel.auto.many_samples import answer_of_many, begun_again, parted_of
from multikernel.auto.search import Answer, Member, Posed, Searched, Tried
from multikernel.auto.trial import attempted, pace
from multikernel.banks.threads import one_blas_thread


@dataclass(frozen=True)
class Allowed:
    """What a fit may take.

    Parameters
    ----------
    name : str, of the estimator
    time_budget : float, seconds; None for no limit
    memory : float, bytes; None for half of what is available
    n_jobs : threads
    verbose : bool, whether a line is printed of each candidate
    """

    name: str
    time_budget: float | None
    memory: float | None
    n_jobs: int | None
    verbose: bool


def answered(posed: Posed, allowed: Allowed) -> tuple[Searched, Answer]:
    """The candidates, tried and compared, and what was trained; a ConvergenceWarning says what was cut."""
    goal = posed.goal
    possible = candidates(posed.samples)
    size = (posed.total, posed.samples.plain.shape[1])
    memory = _memory(posed, allowed)
    timed = allowed.time_budget is not None
    here = pace(possible[0], posed) if possible and timed else 1.0
    if posed.beyond is None:
        at_once = 1
    else:
        at_once = len(possible) + 2  # with the leaves of trees and a metric
    limits = Limits.of(possible, *size, seconds_left() if timed else None, memory, here, at_once)
    if posed.constant:
        choice = posed.some(limits.choice)
        nothing = Searched(limits, choice, choice, [], np.empty(0), goal.constant(posed.task.weight), [])
        return nothing, _trained(posed, nothing, choice)

    many = None if limits.centres is None else parted_of(posed)
    if posed.beyond is not None and posed.beyond.kept is not None:
        return begun_again(posed, many)
    if many is None:
        share = CHOICE_SHARE
        among = None
    else:
        share = CHOICE_TIME
        among = many.to_choose_on
    label = allowed.name if allowed.verbose else None
    choice, outcomes = attempted(posed, limits, among, share, allowed.n_jobs, label)
    found = [each for each in outcomes if isinstance(each, Tried)]
    in_time = [each for each, outcome in zip(limits.candidates, outcomes, strict=True) if outcome != "late"]
    untried = [each.name for each in possible if each not in in_time]
    scores, blend = np.empty(0), goal.constant(posed.task.weight)
    if found and many is None:
        scores = goal.scores(np.array([each.predicted for each in found]))
        blend = goal.blend(scores, choice, posed.task.of_rows(choice).weight, posed.samples.several)
    searched = Searched(limits, choice, choice, found, scores, blend, untried)
    if found and many is not None:
        searched, answer = answer_of_many(posed, searched, many)
    else:
        rows = posed.some(limits.training)
        posed.tell(f"blended; {len(blend.used)} candidates are trained on {len(rows)} samples")
        answer = _trained(posed, searched, rows)
    _warn_of_cuts(allowed, searched, Limits.of(possible, *size, None, memory, at_once=at_once))
    return searched, answer


def _memory(posed: Posed, allowed: Allowed) -> float | None:
    """The bytes that a fit may take; of a source half of what this may take, whose other half are the rows read."""
    if posed.beyond is None:
        return allowed.memory
    return min(0.5 * posed.beyond.source.budget, allowed.memory or float("inf"))


def _warn_of_cuts(allowed: Allowed, searched: Searched, whole: Limits) -> None:
    """Say what a fit without a time limit, of the limits ``whole``, would have done beside this one."""
    limits = searched.limits
    untried = searched.untried
    cuts = []
    if untried:
        cuts.append(f"{len(untried)} of {len(whole.candidates)} candidates were not tried ({', '.join(untried)})")
    if searched.cut:
        cuts.append(f"the time ended before these were learned to their end: {', '.join(searched.cut)}")
    if max(limits.choice, len(searched.choice)) < whole.choice:
        cuts.append(f"kernels were chosen on {len(searched.choice)} samples and not on {whole.choice}")
    if limits.training < whole.training:
        cuts.append(f"the answer was trained on {limits.training} samples and not on {whole.training}")
    if whole.centres is not None and 0 < searched.centres < whole.centres.usual:
        cuts.append(f"{searched.centres} samples are the centres of its kernels and not {whole.centres.usual}")
    if cuts:
        if allowed.time_budget is None:
            limit = "a time limit"
        else:
            limit = f"time_budget={allowed.time_budget:g}"
        warn_user(
            f"{allowed.name}: {limit} cut the choice: {'; '.join(cuts)}. "
            "converged_ and duality_gap_ are those of the blend of what was tried. Raise time_budget for more.",
            ConvergenceWarning,
        )


def _trained(posed: Posed, searched: Searched, training: Array) -> Answer:
    """The candidates with a weight, trained on the samples at these positions."""
    with one_blas_thread(len(training)):
        samples = posed.samples.of(training)
        task = posed.task.of_rows(training)
        blend = searched.blend
        members = tuple(Member.of(searched.found[m], samples, task, posed.goal) for m in blend.used)
    return Answer(samples.without_given(), members, blend)
