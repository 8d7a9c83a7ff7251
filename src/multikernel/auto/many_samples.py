"""Many samples: candidates found on few of them are learned further, compared and trained on all.

1. A fifth of the samples, whole folds, is held out of everything until the answer is trained
   (``procedures/centres.py``).
2. Scales inside kernels are learned further on some thousands of the others, through landmarks
   (``procedures/learned_scales/landmarks.py``). Boosted trees are fitted to all of them: their leaves are one more
   kernel.
3. Every candidate is trained on a part of the others with few centres. One more has all of that part as centres, in
   the leaves of random trees (``in_leaves.py``). Those that the best blend of them hardly needs are left out: training
   costs as much for each.
4. The rest are trained on all others by many centres (``machines/ridge/centres.py``), with the ridge of least error on
   the samples held out; there their blend is chosen.
5. The answer is trained on all samples, with these ridges and this blend. Its members share the centres.
   Of classes one machine of logistic losses by the sum of their kernels takes their place, where that has less loss on
   the samples held out (``logistic_sum.py``); the machines in leaves stand beside it.

Kernels between samples and centres are made tile by tile, in single precision, and are not kept.
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
from multikernel.auto.search import Answer, Posed, Searched, Tried
from multikernel.auto.trained_on_many import (
    Plan,
    TrainedCandidate,
    blend_of,
    by_centres_of,
    summed,
    trained_as_sum,
    trained_of_many,
    worth,
)
from multikernel.auto.trees import BoostedTrees
from multikernel.procedures.centres import (
    REFINED,
    LandmarkRows,
    Parted,
    compared_first,
)

_FURTHER_SHARE = 0.5  # of the time: the rest is for comparing and training
_ONCE_MORE = 4.0  # times that this took has to be left for twice the landmarks, which take up to four times as long
# Times the least error: where a Gaussian of one width is farther, no metric begins with it. It was .6 and .7 times that
# of scales on two sets where the metric won (directions, kin8nm), 1.4 and 2.6 times on two where it did not.
_NEAR = 2.0


def parted_of(posed: Posed) -> Parted:
    """The samples to learn from, and those to compare on, which the second folds hold out; of a source the first."""
    if posed.beyond is not None:
        first = compared_first(len(posed.rows))
        return Parted(posed.rows[first:], posed.rows[:first], posed.rows[:0], posed.rows[first:])
    task = posed.task
    return Parted.of(posed.rows, posed.goal.strata, task.folds.labels, task.second.labels, posed.seed)


def answer_of_many(posed: Posed, searched: Searched, parted: Parted) -> tuple[Searched, Answer]:
    """The candidates that were found on few samples, learned further, compared and trained on many.

    Parameters
    ----------
    posed : all samples, and what is to be learned
    searched : what was found on some of ``parted.learning``
    parted : Parted
    """
    limits = searched.limits.centres
    assert limits is not None
    trees, late = _trees(posed, parted.learning, limits.pace)
    begin = perf_counter()
    with limited(_FURTHER_SHARE * seconds_left()):
        found = _learned_further(posed, searched, parted)
        # where there is a limit of time, twice the landmarks are for what is left of it
        if np.isfinite(seconds_left()) and seconds_left() > _ONCE_MORE * (perf_counter() - begin):
            found = _learned_further(posed, replace(searched, found=found), parted, times=2)
    posed.tell(f"scales learned further on {min(REFINED, len(parted.learning))} samples, {_since(begin)}")
    found += trees
    few = limits.to_sift(seconds_left(), len(found))
    found, speeds = _sifted(posed, found, parted, few)
    in_leaves, too_late = _in_leaves(posed, found, parted, few, limits)
    found += in_leaves
    scores = posed.goal.scores(np.array([each.predicted for each in found]))
    used = _needed(posed, scores, parted)
    one = _logistic(posed, found, scores, used, parted, few)
    if one is not None and not worth(one.value, one.alone, parted):
        used = by_centres_of(found, used)
    names = ", ".join(found[m].name for m in used.tolist())
    posed.tell(
        f"compared on {len(parted.compared)} samples, by {few.centres} centres: {len(used)} of {len(found)} candidates "
        f"are needed ({names})"
    )
    reading = 0.0 if posed.beyond is None else posed.beyond.seconds
    by_centres = [speeds[m] for m in used.tolist() if m < len(speeds)]
    if one is not None:  # its steps take about as long as the sums of another candidate
        by_centres.append(CentreSpeed(0.0, max(speed.product for speed in by_centres)))
    kernels = [found[m].candidate for m in used.tolist()]
    measured = [*by_centres, *(each.speed for each in kernels if isinstance(each, LeafKernel))]
    size = limits.to_train(seconds_left() - reading, few, measured)
    if not by_centres:  # which time is no reason to have more of, then
        size = replace(size, centres=min(size.centres, limits.usual))
    seconds = reading + sum(speed.seconds(size.rows, size.centres) for speed in measured)
    posed.tell(f"training on {size.rows} samples, by {size.centres} centres: about {seconds:.0f} s")
    rows = posed.some(size.rows)
    total = size.rows if size.rows == posed.total else len(rows)
    searched = replace(searched, found=found, compared=parted.compared, scores=scores)
    searched = replace(searched, untried=searched.untried + late + too_late)
    plan = Plan(searched, used, rows, posed.some(size.centres, rows), total)
    if one is not None and limits.keeps(size):
        return trained_as_sum(posed, plan, one, parted)
    return trained_of_many(posed, plan, parted)


def begun_again(posed: Posed, parted: Parted | None) -> tuple[Searched, Answer]:
    """The answer of a fit to a source that did not come to its end, from what is kept of it."""
    assert posed.beyond is not None
    assert posed.beyond.kept is not None
    assert parted is not None
    return trained_of_many(posed, posed.beyond.kept.chosen, parted)


# -- 2: scales through landmarks ---------------------------------------------------------------------------------------


def _learned_further(posed: Posed, searched: Searched, parted: Parted, times: int = 1) -> list[Tried]:
    """The candidates, with what more samples made of their scales; cut are those for which there was no time."""
    rows = LandmarkRows.of(parted.learning, posed.goal.strata, posed.task.folds.labels, posed.seed, times)
    Y = posed.task.Y
    parts = [LabelledSamples(posed.samples.of(own), Y[own]) for own in (rows.train, rows.held, rows.landmarks)]
    found = list(searched.found)
    learned: list[KernelAndRidge] = []

    def further(each: Tried) -> Tried | None:
        """What becomes of a candidate; None where nothing more was learned."""
        start = perf_counter()
        before = KernelAndRidge(each.similarity, each.alpha, each.learned, each.cut)
        least = min((other.error for other in learned), default=np.inf)
        others = [other.similarity for other in learned]
        if len(rows.held) and isinstance(each.candidate, KernelCandidate):
            after = each.candidate.further(before, others, least, *parts)
        else:
            after = None
        if after is None:
            return None
        learned.append(after)
        return _with(each, after, perf_counter() - start)

    # those with many scales first, whose errors say for which others it is worth while
    enough = [each.candidate.enough if isinstance(each.candidate, KernelCandidate) else 0.0 for each in found]
    for k in sorted(range(len(found)), key=lambda k: -enough[k]):
        if time_is_up():
            found[k] = replace(found[k], cut=True)
        else:
            found[k] = further(found[k]) or found[k]
    if times == 1 and not time_is_up():
        near = [other.similarity for other in learned if other.error <= _NEAR * min(each.error for each in learned)]
        turned = (
            further(replace(each, candidate=FullMetricGaussian(), seconds=0.0)) for each in found if _turns(each, near)
        )
        found += [each for each in turned if each is not None]
    return found


def _turns(each: Tried, near: Sequence[Similarity]) -> bool:
    """Whether a metric may begin with it: the Gaussian of one width, where it is not far from the best."""
    return each.candidate == GAUSSIAN and each.similarity in near


def _trees(posed: Posed, rows: Array, pace: float) -> tuple[list[Tried], list[str]]:
    """The kernel of the leaves of boosted trees, and its name where there is no time for it.

    There is none without numbers, and for too many targets.
    """
    start = perf_counter()
    trees = BoostedTrees()
    columns = posed.samples.plain.shape[1]
    if not columns:
        return [], []
    # they cannot be stopped; comparing and training take the rest of the time
    if seconds_left() < 2.0 * pace * trees.work(len(rows), columns).seconds:
        return [], [trees.name]
    learned = trees.learn(posed.samples.of(rows), posed.task.of_rows(rows))
    if learned is None:
        return [], []
    seconds = perf_counter() - start
    nothing = np.empty((0, 0))
    return [Tried(trees, learned.learned, learned.similarity, learned.alpha, nothing, seconds, cut=False)], []


def _with(each: Tried, further: KernelAndRidge, seconds: float) -> Tried:
    return replace(
        each,
        similarity=further.similarity,
        alpha=further.alpha,
        learned=further.learned,
        seconds=each.seconds + seconds,
        cut=each.cut or further.cut,
    )


# -- 3: candidates that the blend needs --------------------------------------------------------------------------------


def _sifted(posed: Posed, found: Sequence[Tried], parted: Parted, few: Size) -> tuple[list[Tried], list[CentreSpeed]]:
    """The candidates with ridges for few centres and what they predict of the samples held out, and their speeds."""
    rows = posed.some(few.rows, parted.learning)
    Z = posed.samples.of(posed.some(few.centres, rows))
    sifted = []
    speeds = []
    for each in found:
        sums = summed(posed, each.similarity, rows, Z)
        trained = TrainedCandidate.of(posed, each, parted, Z, sums.total, None, (4, 2))
        sifted.append(replace(each, alpha=trained.alpha, predicted=trained.predicted))
        speeds.append(sums.speed)
    return sifted, speeds


def _in_leaves(
    posed: Posed, found: Sequence[Tried], parted: Parted, few: Size, limits: CentreLimits
) -> tuple[list[Tried], list[str]]:
    """The candidate that has all samples as centres, in leaves, and its name where there is no time for it.

    Its kernel is one of the two best of distances. There is none for the rows of a source, of which only some are at
    hand, and where the coefficients of all trees are more than memory holds.
    """
    task, total = posed.task, len(posed.rows)
    compared = task.of_rows(parted.compared)
    ranked = sorted(found, key=lambda each: compared.error(each.predicted))
    kernels = [(each.similarity, each.alpha) for each in ranked if isinstance(each.similarity, Plain)][:2]
    widest = Size(total, posed.samples.plain.shape[1] + 2 * TREES * task.Y.shape[1])
    if posed.beyond is not None or not kernels or not limits.keeps(widest):
        return [], []
    rows = posed.some(few.rows, parted.learning)
    if seconds_left() < _ONCE_MORE * limits.pace * LeafKernel.work(len(rows)).seconds:
        return [], [LeafKernel.name]
    begin = perf_counter()
    train = posed.samples.of(rows), task.of_rows(rows)
    made = LeafKernel.of(kernels, train, (posed.samples.of(parted.compared), compared), posed.seed)
    if made is None or not divisible(made.base.coordinates(posed.samples.of(posed.rows)), posed.seed):
        return [], []
    learned = f"{type(made.base.kernel).__name__} kernel"
    seconds = perf_counter() - begin
    return [Tried(made, learned, made.base, made.alpha, made.predicted, seconds, cut=False)], []


def _needed(posed: Posed, scores: Array, parted: Parted) -> Array:
    """The numbers of the candidates that the blend needs.

    To the best one the others are added, the best first, as long as each is worth it.
    """
    used: list[int] = []
    value = np.inf
    while len(used) < len(scores):
        others = [m for m in range(len(scores)) if m not in used]
        values = [blend_of(posed, scores, parted, np.array([*used, m])).objective for m in others]
        if used and not worth(min(values), value, parted):
            break
        value = min(values)
        used.append(others[int(np.argmin(values))])
    return np.sort(used)


def _logistic(
    posed: Posed, found: Sequence[Tried], scores: Array, used: Array, parted: Parted, few: Size
) -> LogisticSum | None:
    """One machine of logistic losses by the kernels of a blend, for few classes; None where that is not better."""
    if posed.beyond is not None or not isinstance(posed.goal, Labels) or posed.task.Y.shape[1] > MOST_COLUMNS:
        return None
    by_centres = by_centres_of(found, used)
    if not len(by_centres):
        return None
    in_leaves = np.setdiff1d(used, by_centres)
    whole = blend_of(posed, scores, parted, used)
    if len(in_leaves):
        blend = blend_of(posed, scores, parted, by_centres)
    else:
        blend = whole
    if not len(blend.used):
        return None
    rows = posed.some(few.rows, parted.learning)
    one = LogisticSum.of(posed, found, blend, parted, rows, posed.some(few.centres, rows), scores[in_leaves])
    posed.tell(f"one machine of logistic losses has a loss of {one.value:.4g} there, the blend {whole.objective:.4g}")
    if one.value < whole.objective:
        return one
    return None


def _since(begin: float) -> str:
    return f"{perf_counter() - begin:.1f} s"
