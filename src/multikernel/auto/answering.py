"""The steps of a fit after its problem is set up: candidates are tried and compared; those with a weight are trained.

``search_and_train`` decides by the limits of time and memory how many samples each of these steps takes, and warns of
what a time limit cut.
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
from multikernel.auto.many_samples import answer_of_many, parted_of, resumed_answer
from multikernel.auto.search import Answer, FitProblem, Member, Searched, Tried
from multikernel.auto.trial import pace, tried_candidates
from multikernel.banks.threads import one_blas_thread


@dataclass(frozen=True)
class Allowance:
    """The resources that a fit may use.

    Parameters
    ----------
    name : str, of the estimator
    time_budget : float, seconds; None for no limit
    memory : float, bytes; None for half of what is available
    n_jobs : threads
    verbose : bool, whether a line is printed for each candidate
    """

    name: str
    time_budget: float | None
    memory: float | None
    n_jobs: int | None
    verbose: bool


def search_and_train(problem: FitProblem, allowance: Allowance) -> tuple[Searched, Answer]:
    """The result of the search and the trained answer; a ConvergenceWarning names what the time limit cut."""
    goal = problem.goal
    all_candidates = candidates(problem.samples)
    size = (problem.total, problem.samples.plain.shape[1])
    memory = _memory(problem, allowance)
    timed = allowance.time_budget is not None
    machine_pace = pace(all_candidates[0], problem) if all_candidates and timed else 1.0
    if problem.all_rows is None:
        at_once = 1
    else:
        at_once = len(all_candidates) + 2  # with the leaves of trees and a metric
    limits = Limits.of(all_candidates, *size, seconds_left() if timed else None, memory, machine_pace, at_once)
    if problem.constant:
        choice = problem.drawn_rows(limits.choice)
        untried_search = Searched(limits, choice, choice, [], np.empty(0), goal.constant(problem.task.weight), [])
        return untried_search, _trained_answer(problem, untried_search, choice)

    parted = None if limits.centres is None else parted_of(problem)
    if problem.all_rows is not None and problem.all_rows.saved_pass is not None:
        return resumed_answer(problem, parted)
    if parted is None:
        share = CHOICE_SHARE
        rows_to_try = None
    else:
        share = CHOICE_TIME
        rows_to_try = parted.to_choose_on
    label = allowance.name if allowance.verbose else None
    choice, outcomes = tried_candidates(problem, limits, rows_to_try, share, allowance.n_jobs, label)
    trials = [outcome for outcome in outcomes if isinstance(outcome, Tried)]
    in_time = [candidate for candidate, outcome in zip(limits.candidates, outcomes, strict=True) if outcome != "late"]
    untried = [candidate.name for candidate in all_candidates if candidate not in in_time]
    scores, blend = np.empty(0), goal.constant(problem.task.weight)
    if trials and parted is None:
        scores = goal.scores(np.array([trial.predicted for trial in trials]))
        blend = goal.blend(scores, choice, problem.task.of_rows(choice).weight, problem.samples.several)
    searched = Searched(limits, choice, choice, trials, scores, blend, untried)
    if trials and parted is not None:
        searched, answer = answer_of_many(problem, searched, parted)
    else:
        rows = problem.drawn_rows(limits.training)
        problem.log(f"blended; {len(blend.used)} candidates are trained on {len(rows)} samples")
        answer = _trained_answer(problem, searched, rows)
    _warn_of_cuts(allowance, searched, Limits.of(all_candidates, *size, None, memory, at_once=at_once))
    return searched, answer


def _memory(problem: FitProblem, allowance: Allowance) -> float | None:
    """The bytes that a fit may take; for a source at most half of its budget, whose other half holds the rows read."""
    if problem.all_rows is None:
        return allowance.memory
    return min(0.5 * problem.all_rows.source.budget, allowance.memory or float("inf"))


def _warn_of_cuts(allowance: Allowance, searched: Searched, unlimited: Limits) -> None:
    """Warn of what a fit without a time limit, which has the limits ``unlimited``, would have done in addition."""
    limits = searched.limits
    untried = searched.untried
    cuts = []
    if untried:
        cuts.append(f"{len(untried)} of {len(unlimited.candidates)} candidates were not tried ({', '.join(untried)})")
    if searched.cut:
        cuts.append(f"the time ended before these were learned to their end: {', '.join(searched.cut)}")
    if max(limits.choice, len(searched.choice)) < unlimited.choice:
        cuts.append(f"kernels were chosen on {len(searched.choice)} samples and not on {unlimited.choice}")
    if limits.training < unlimited.training:
        cuts.append(f"the answer was trained on {limits.training} samples and not on {unlimited.training}")
    if unlimited.centres is not None and 0 < searched.centres < unlimited.centres.usual:
        cuts.append(f"{searched.centres} samples are the centres of its kernels and not {unlimited.centres.usual}")
    if cuts:
        if allowance.time_budget is None:
            limit = "a time limit"
        else:
            limit = f"time_budget={allowance.time_budget:g}"
        warn_user(
            f"{allowance.name}: {limit} cut the choice: {'; '.join(cuts)}. "
            "converged_ and duality_gap_ are those of the blend of what was tried. Raise time_budget for more.",
            ConvergenceWarning,
        )


def _trained_answer(problem: FitProblem, searched: Searched, training: Array) -> Answer:
    """The answer: the candidates with a weight, trained on the samples of these rows."""
    with one_blas_thread(len(training)):
        samples = problem.samples.of(training)
        task = problem.task.of_rows(training)
        blend = searched.blend
        members = tuple(Member.of(searched.found[m], samples, task, problem.goal) for m in blend.used)
    return Answer(samples.without_given(), members, blend)
