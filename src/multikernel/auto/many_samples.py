"""Many samples: candidates found on few of them are learned further, compared and trained on all.

1. A fifth of the samples, whole folds, is held out of everything until the answer is trained
   (``procedures/centres.py``).
2. Scales inside kernels are learned further on some thousands of the others, through landmarks
   (``procedures/learned_scales/landmarks.py``). Boosted trees are fitted to all of them: their leaves are one more
   kernel.
3. Every candidate is trained on a part of the others with few centres. One more has all of that part as centres, in
   the leaves of random trees (``in_leaves.py``). Candidates that the best blend hardly needs are left out, because
   each of them costs as much to train.
4. The remaining candidates are trained on all samples that are not held out, by many centres
   (``machines/ridge/centres.py``), with the ridge of least error on the held-out samples. On these the blend is chosen.
5. The answer is trained on all samples, with these ridges and this blend. Its members share the centres. For classes,
   one machine of logistic losses with the sum of their kernels replaces them where it has less loss on the held-out
   samples (``logistic_sum.py``); the machines in leaves remain members beside it.

Kernels between samples and centres are computed tile by tile, in single precision, and are not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from multikernel._typing import Array
from multikernel._workers import limited, seconds_left, time_is_up
from multikernel.auto.candidates import GAUSSIAN, KernelAndRidge, KernelCandidate, LabelledSamples
from multikernel.auto.centre_sums import CentreSpeed
from multikernel.auto.goal import Labels
from multikernel.auto.in_leaves import TREES, LeafKernel, Plain, divisible
from multikernel.auto.limits import CentreLimits, Size
from multikernel.auto.logistic_sum import MOST_COLUMNS, LogisticSum
from multikernel.auto.metric import FullMetricGaussian
from multikernel.auto.samples import Similarity
from multikernel.auto.search import Answer, FitProblem, Searched, Tried
from multikernel.auto.trained_on_many import (
    Plan,
    TrainedCandidate,
    blend_of,
    by_centres_of,
    is_worthwhile,
    summed,
    trained_as_sum,
    trained_of_many,
)
from multikernel.auto.trees import BoostedTrees
from multikernel.procedures.centres import (
    REFINED,
    LandmarkRows,
    Parted,
    compared_first,
)

_FURTHER_SHARE = 0.5  # of the time: the rest is for comparing and training
_ONCE_MORE = 4.0  # times the seconds of a step that have to remain: twice the landmarks take up to 4 times as long
# Times the least error: with a Gaussian of one width whose error is larger, no metric begins. Its error was .6 and .7
# times that of scales on two sets where the metric won (directions, kin8nm), 1.4 and 2.6 times on two where it did not.
_NEAR = 2.0


def parted_of(problem: FitProblem) -> Parted:
    """The samples to learn from, and those to compare on: a second fold, or the first samples of a source."""
    if problem.all_rows is not None:
        first = compared_first(len(problem.rows))
        return Parted(problem.rows[first:], problem.rows[:first], problem.rows[:0], problem.rows[first:])
    task = problem.task
    return Parted.of(problem.rows, problem.goal.strata, task.folds.labels, task.second.labels, problem.seed)


def answer_of_many(problem: FitProblem, searched: Searched, parted: Parted) -> tuple[Searched, Answer]:
    """The candidates that were tried on few samples learn further, are compared, and are trained on many.

    Parameters
    ----------
    problem : FitProblem
    searched : the search on some of ``parted.learning``
    parted : Parted
    """
    limits = searched.limits.centres
    assert limits is not None
    trees, late = _tree_candidate(problem, parted.learning, limits.pace)
    begin = perf_counter()
    with limited(_FURTHER_SHARE * seconds_left()):
        trials = _learn_further(problem, searched, parted)
        # under a time limit, the remaining time is for a second pass with twice the landmarks
        if np.isfinite(seconds_left()) and seconds_left() > _ONCE_MORE * (perf_counter() - begin):
            trials = _learn_further(problem, replace(searched, found=trials), parted, times=2)
    problem.log(f"scales learned further on {min(REFINED, len(parted.learning))} samples, {_elapsed(begin)}")
    trials += trees
    sifting_size = limits.to_sift(seconds_left(), len(trials))
    trials, speeds = _compare_by_few_centres(problem, trials, parted, sifting_size)
    in_leaves, too_late = _leaf_candidate(problem, trials, parted, sifting_size, limits)
    trials += in_leaves
    scores = problem.goal.scores(np.array([trial.predicted for trial in trials]))
    needed = _needed_candidates(problem, scores, parted)
    logistic_sum = _logistic_candidate(problem, trials, scores, needed, parted, sifting_size)
    if logistic_sum is not None and not is_worthwhile(logistic_sum.value, logistic_sum.alone, parted):
        needed = by_centres_of(trials, needed)
    names = ", ".join(trials[m].name for m in needed.tolist())
    problem.log(
        f"compared on {len(parted.compared)} samples, by {sifting_size.centres} centres: {len(needed)} of "
        f"{len(trials)} candidates are needed ({names})"
    )
    reading = 0.0 if problem.all_rows is None else problem.all_rows.seconds
    by_centres = [speeds[m] for m in needed.tolist() if m < len(speeds)]
    if logistic_sum is not None:  # its steps take about as long as the sums of another candidate
        by_centres.append(CentreSpeed(0.0, max(speed.product for speed in by_centres)))
    kernels = [trials[m].candidate for m in needed.tolist()]
    machine_speeds = [*by_centres, *(kernel.speed for kernel in kernels if isinstance(kernel, LeafKernel))]
    size = limits.to_train(seconds_left() - reading, sifting_size, machine_speeds)
    if not by_centres:  # no kernel with centres is trained, so that more centres would be of no use
        size = replace(size, centres=min(size.centres, limits.usual))
    seconds = reading + sum(speed.seconds(size.rows, size.centres) for speed in machine_speeds)
    problem.log(f"training on {size.rows} samples, by {size.centres} centres: about {seconds:.0f} s")
    rows = problem.drawn_rows(size.rows)
    total = size.rows if size.rows == problem.total else len(rows)
    searched = replace(searched, found=trials, compared=parted.compared, scores=scores)
    searched = replace(searched, untried=searched.untried + late + too_late)
    plan = Plan(searched, needed, rows, problem.drawn_rows(size.centres, rows), total)
    if logistic_sum is not None and limits.keeps(size):
        return trained_as_sum(problem, plan, logistic_sum, parted)
    return trained_of_many(problem, plan, parted)


def resumed_answer(problem: FitProblem, parted: Parted | None) -> tuple[Searched, Answer]:
    """The answer of an interrupted fit to a source, from the checkpoint that it left."""
    assert problem.all_rows is not None
    assert problem.all_rows.saved_pass is not None
    assert parted is not None
    return trained_of_many(problem, problem.all_rows.saved_pass.chosen, parted)


# -- 2: scales through landmarks ---------------------------------------------------------------------------------------


def _learn_further(problem: FitProblem, searched: Searched, parted: Parted, times: int = 1) -> list[Tried]:
    """The candidates, their scales learned further on more samples; those that had no time for this are cut."""
    rows = LandmarkRows.of(parted.learning, problem.goal.strata, problem.task.folds.labels, problem.seed, times)
    Y = problem.task.Y
    samples_of_parts = [
        LabelledSamples(problem.samples.of(part_rows), Y[part_rows])
        for part_rows in (rows.train, rows.held, rows.landmarks)
    ]
    trials = list(searched.found)
    learned: list[KernelAndRidge] = []

    def learned_further(trial: Tried) -> Tried | None:
        """The candidate after learning further; None where nothing more was learned."""
        start = perf_counter()
        kernel_before = KernelAndRidge(trial.similarity, trial.alpha, trial.learned, trial.cut)
        least_error = min((other.error for other in learned), default=np.inf)
        other_kernels = [other.similarity for other in learned]
        if len(rows.held) and isinstance(trial.candidate, KernelCandidate):
            kernel_after = trial.candidate.learn_further(kernel_before, other_kernels, least_error, *samples_of_parts)
        else:
            kernel_after = None
        if kernel_after is None:
            return None
        learned.append(kernel_after)
        return _with_kernel(trial, kernel_after, perf_counter() - start)

    # candidates with many scales first: their errors decide for which others it is worthwhile
    sample_limits = [
        trial.candidate.enough if isinstance(trial.candidate, KernelCandidate) else 0.0 for trial in trials
    ]
    for m in sorted(range(len(trials)), key=lambda m: -sample_limits[m]):
        if time_is_up():
            trials[m] = replace(trials[m], cut=True)
        else:
            trials[m] = learned_further(trials[m]) or trials[m]
    if times == 1 and not time_is_up():
        near_kernels = [
            other.similarity for other in learned if other.error <= _NEAR * min(kernel.error for kernel in learned)
        ]
        turned = (
            learned_further(replace(trial, candidate=FullMetricGaussian(), seconds=0.0))
            for trial in trials
            if _begins_metric(trial, near_kernels)
        )
        trials += [trial for trial in turned if trial is not None]
    return trials


def _begins_metric(trial: Tried, near_kernels: Sequence[Similarity]) -> bool:
    """Whether a metric may begin with this kernel: the Gaussian of one width, where its error is near the least."""
    return trial.candidate == GAUSSIAN and trial.similarity in near_kernels


def _tree_candidate(problem: FitProblem, rows: Array, pace: float) -> tuple[list[Tried], list[str]]:
    """The trial of the leaves of boosted trees, or the name of this candidate where there is no time for it.

    Without numbers, or with too many targets, there is no such candidate.
    """
    start = perf_counter()
    trees = BoostedTrees()
    columns = problem.samples.plain.shape[1]
    if not columns:
        return [], []
    # fitting trees cannot be stopped; comparing and training take the remaining time
    if seconds_left() < 2.0 * pace * trees.work(len(rows), columns).seconds:
        return [], [trees.name]
    learned = trees.learn(problem.samples.of(rows), problem.task.of_rows(rows))
    if learned is None:
        return [], []
    seconds = perf_counter() - start
    nothing = np.empty((0, 0))
    return [Tried(trees, learned.learned, learned.similarity, learned.alpha, nothing, seconds, cut=False)], []


def _with_kernel(trial: Tried, kernel: KernelAndRidge, seconds: float) -> Tried:
    return replace(
        trial,
        similarity=kernel.similarity,
        alpha=kernel.alpha,
        learned=kernel.learned,
        seconds=trial.seconds + seconds,
        cut=trial.cut or kernel.cut,
    )


# -- 3: candidates that the blend needs --------------------------------------------------------------------------------


def _compare_by_few_centres(
    problem: FitProblem, trials: Sequence[Tried], parted: Parted, sifting_size: Size
) -> tuple[list[Tried], list[CentreSpeed]]:
    """The candidates with ridges for few centres and their predictions of held-out samples; and their speeds."""
    rows = problem.drawn_rows(sifting_size.rows, parted.learning)
    Z = problem.samples.of(problem.drawn_rows(sifting_size.centres, rows))
    sifted = []
    speeds = []
    for trial in trials:
        sums = summed(problem, trial.similarity, rows, Z)
        trained = TrainedCandidate.of(problem, trial, parted, Z, sums.total, None, (4, 2))
        sifted.append(replace(trial, alpha=trained.alpha, predicted=trained.predicted))
        speeds.append(sums.speed)
    return sifted, speeds


def _leaf_candidate(
    problem: FitProblem, trials: Sequence[Tried], parted: Parted, sifting_size: Size, limits: CentreLimits
) -> tuple[list[Tried], list[str]]:
    """The trial of the candidate with all samples as centres, in leaves, or its name where there is no time for it.

    Its kernel is one of the two best kernels of distances. There is no such candidate for a source, of whose rows only
    some are in memory, and where the coefficients of all trees would exceed the memory.
    """
    task, total = problem.task, len(problem.rows)
    compared = task.of_rows(parted.compared)
    ranked = sorted(trials, key=lambda trial: compared.error(trial.predicted))
    kernels = [(trial.similarity, trial.alpha) for trial in ranked if isinstance(trial.similarity, Plain)][:2]
    widest = Size(total, problem.samples.plain.shape[1] + 2 * TREES * task.Y.shape[1])
    if problem.all_rows is not None or not kernels or not limits.keeps(widest):
        return [], []
    rows = problem.drawn_rows(sifting_size.rows, parted.learning)
    if seconds_left() < _ONCE_MORE * limits.pace * LeafKernel.work(len(rows)).seconds:
        return [], [LeafKernel.name]
    begin = perf_counter()
    train = problem.samples.of(rows), task.of_rows(rows)
    leaf_kernel = LeafKernel.of(kernels, train, (problem.samples.of(parted.compared), compared), problem.seed)
    if leaf_kernel is None or not divisible(
        leaf_kernel.base.coordinates(problem.samples.of(problem.rows)), problem.seed
    ):
        return [], []
    learned = f"{type(leaf_kernel.base.kernel).__name__} kernel"
    seconds = perf_counter() - begin
    return [
        Tried(leaf_kernel, learned, leaf_kernel.base, leaf_kernel.alpha, leaf_kernel.predicted, seconds, cut=False)
    ], []


def _needed_candidates(problem: FitProblem, scores: Array, parted: Parted) -> Array:
    """The numbers of the candidates that the blend needs.

    The best candidate is first; then the one that lowers the value most is added, as long as that is worthwhile.
    """
    needed: list[int] = []
    value = np.inf
    while len(needed) < len(scores):
        candidates_left = [m for m in range(len(scores)) if m not in needed]
        values = [blend_of(problem, scores, parted, np.array([*needed, m])).objective for m in candidates_left]
        if needed and not is_worthwhile(min(values), value, parted):
            break
        value = min(values)
        needed.append(candidates_left[int(np.argmin(values))])
    return np.sort(needed)


def _logistic_candidate(
    problem: FitProblem, trials: Sequence[Tried], scores: Array, needed: Array, parted: Parted, sifting_size: Size
) -> LogisticSum | None:
    """One machine of logistic losses with the kernels of a blend, for few classes; None where it has no less loss."""
    if problem.all_rows is not None or not isinstance(problem.goal, Labels) or problem.task.Y.shape[1] > MOST_COLUMNS:
        return None
    by_centres = by_centres_of(trials, needed)
    if not len(by_centres):
        return None
    in_leaves = np.setdiff1d(needed, by_centres)
    full_blend = blend_of(problem, scores, parted, needed)
    if len(in_leaves):
        blend = blend_of(problem, scores, parted, by_centres)
    else:
        blend = full_blend
    if not len(blend.used):
        return None
    rows = problem.drawn_rows(sifting_size.rows, parted.learning)
    logistic_sum = LogisticSum.of(
        problem, trials, blend, parted, rows, problem.drawn_rows(sifting_size.centres, rows), scores[in_leaves]
    )
    problem.log(
        f"one machine of logistic losses has a loss of {logistic_sum.value:.4g} there, "
        f"the blend {full_blend.objective:.4g}"
    )
    if logistic_sum.value < full_blend.objective:
        return logistic_sum
    return None


def _elapsed(begin: float) -> str:
    return f"{perf_counter() - begin:.1f} s"
