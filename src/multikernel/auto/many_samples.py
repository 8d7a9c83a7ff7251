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

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from multikernel._arrays import part_of
from multikernel._typing import Array
from multikernel._workers import limited, seconds_left, time_is_up
from multikernel.auto.candidates import GAUSSIAN, KernelAndRidge, KernelCandidate, LabelledSamples
from multikernel.auto.centre_sums import CentreSpeed, KernelSums
from multikernel.auto.choice import Blend
from multikernel.auto.goal import Labels
from multikernel.auto.in_leaves import TREES, LeafKernel, LeafMember, LeafSolution, Plain, divisible
from multikernel.auto.limits import CentreLimits, Size
from multikernel.auto.logistic_sum import MOST_COLUMNS, LogisticSum, calibrated, trained_sum
from multikernel.auto.metric import FullMetricGaussian
from multikernel.auto.samples import PreparedSamples, Similarity
from multikernel.auto.search import Answer, Member, Posed, Searched, Tried
from multikernel.auto.trees import BoostedTrees
from multikernel.banks.threads import slices
from multikernel.machines.ridge.centres import CentreSums, by_sums
from multikernel.procedures.centres import (
    REFINED,
    TILE,
    LandmarkRows,
    Parted,
    compared_first,
    least_ridge,
    symmetric,
)

_FURTHER_SHARE = 0.5  # of the time: the rest is for comparing and training
_ONCE_MORE = 4.0  # times that this took has to be left for twice the landmarks, which take up to four times as long
_LITTLE = 0.1  # of a standard error: a difference that is not worth a candidate, which costs as much as each other
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
    if one is not None and not _worth(one.value, one.alone, parted):
        used = _by_centres(found, used)
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
        return _trained_as_sum(posed, plan, one, parted)
    return _trained_of_many(posed, plan, parted)


@dataclass(frozen=True, eq=False)
class Plan:
    """What was chosen before all are trained on.

    Parameters
    ----------
    searched : Searched, before the answer is trained
    used : int array, the candidates that are trained
    rows, centres : int arrays, samples
    total : int, how many rows are trained on: beyond those of ``rows`` where it is more
    """

    searched: Searched
    used: Array
    rows: Array
    centres: Array
    total: int


def begun_again(posed: Posed, parted: Parted | None) -> tuple[Searched, Answer]:
    """The answer of a fit to a source that did not come to its end, from what is kept of it."""
    assert posed.beyond is not None
    assert posed.beyond.kept is not None
    assert parted is not None
    return _trained_of_many(posed, posed.beyond.kept.chosen, parted)


def _trained_of_many(posed: Posed, plan: Plan, parted: Parted) -> tuple[Searched, Answer]:
    """Steps 4 and 5."""
    found, scores = list(plan.searched.found), plan.searched.scores.copy()
    Z = posed.samples.of(plan.centres)
    members: dict[int, Member | LeafMember] = {}
    begin = perf_counter()
    for m, trained in _each_trained(posed, plan, parted, Z):
        spent = perf_counter() - begin
        found[m] = replace(found[m], alpha=trained.alpha, predicted=trained.predicted, seconds=found[m].seconds + spent)
        scores[m] = posed.goal.scores(trained.predicted)
        members[m] = trained.member
        posed.tell(f"{found[m].name}: trained, {spent:.1f} s")
        begin = perf_counter()
    posed.tell(f"the weights of {len(members)} candidates are chosen on {len(parted.compared)} samples held out")
    blend = _blend_of(posed, scores, parted, plan.used)
    by_centres = _by_centres(found, plan.used)
    if 0 < len(by_centres) < len(plan.used):
        without = _blend_of(posed, scores, parted, by_centres)
        if not _worth(blend.objective, without.objective, parted):
            blend = without
    searched = replace(
        plan.searched,
        limits=replace(plan.searched.limits, training=plan.total),
        found=found,
        scores=scores,
        blend=blend,
        centres=len(plan.centres),
    )
    return searched, Answer(Z.without_given(), tuple(members[m] for m in blend.used), blend, single=True)


def _each_trained(posed: Posed, plan: Plan, parted: Parted, Z: PreparedSamples) -> Iterator[tuple[int, _Trained]]:
    """The candidates that are needed, one after the other."""
    found = plan.searched.found
    learning, rest = (
        np.intersect1d(part, plan.rows) for part in (parted.learning, np.append(parted.compared, parted.rest))
    )
    by_centres = _by_centres(found, plan.used).tolist()
    similarities = [found[m].similarity for m in by_centres]
    of_learning: Iterable[CentreSums]
    if posed.beyond is None or plan.total < posed.total:
        report = _counting(posed.passing(len(by_centres) * len(learning)))
        of_learning = (_summed(posed, each, learning, Z, report).total for each in similarities)
    else:  # one pass for all
        of_learning = posed.beyond.sums(similarities, Z, posed.task.Y.shape[1], plan)
    for m, sums in zip(by_centres, of_learning, strict=True):
        of_rest = _summed(posed, found[m].similarity, rest, Z).total if len(rest) else None
        yield m, _Trained.of(posed, found[m], parted, Z, sums, of_rest, (2,))
    for m in np.setdiff1d(plan.used, by_centres).tolist():
        yield m, _trained_in_leaves(posed, found[m], parted, plan.rows)


def _trained_in_leaves(posed: Posed, each: Tried, parted: Parted, rows: Array) -> _Trained:
    """The machines of all leaves on these rows; the first ones of each predict those held out."""
    assert isinstance(each.candidate, LeafKernel)
    base = each.candidate.base
    learning = np.intersect1d(parted.learning, rows)
    rest = np.setdiff1d(rows, learning)
    order = np.append(learning, rest)
    samples, task = posed.samples.of(order), posed.task.of_rows(order)
    solution = LeafSolution.of(base, each.alpha, samples, task, len(learning), TREES, posed.seed)
    predicted = np.empty((len(parted.compared), task.Y.shape[1]))
    known = np.isin(parted.compared, rest)
    predicted[known] = solution.held_out[np.searchsorted(rest, parted.compared[known])]
    if not known.all():  # those for which there was no time, by machines that saw nothing of what is held out
        first = np.arange(len(learning))
        alone = LeafSolution.of(base, each.alpha, samples.of(first), task.of_rows(first), len(first), TREES, posed.seed)
        others = posed.samples.of(parted.compared[~known])
        predicted[~known] = alone.member(base).function(samples)(others) + alone.intercept
    return _Trained(each.alpha, predicted, solution.member(base, posed.goal.scores))


def _trained_as_sum(posed: Posed, plan: Plan, one: LogisticSum, parted: Parted) -> tuple[Searched, Answer]:
    """Step 5 by one machine, beside that of leaves."""
    found, scores = list(plan.searched.found), plan.searched.scores.copy()
    Z = posed.samples.of(plan.centres)
    begin = perf_counter()
    made = trained_sum(posed, one, parted, plan.rows, Z, posed.passing(len(plan.rows)))
    if made is None:
        return _trained_of_many(posed, plan, parted)
    seconds = perf_counter() - begin
    posed.tell(f"one machine of logistic losses by the sum of {len(one.parts)} kernels: trained, {seconds:.1f} s")
    by_centres = one.blend.used.tolist()
    for m in by_centres:
        spent = found[m].seconds + seconds / len(one.parts)
        found[m] = replace(found[m], seconds=spent, cut=found[m].cut or made.cut)
    members: dict[int, Member | LeafMember] = dict(zip(by_centres, made.members, strict=True))
    chosen = calibrated(posed, parted, made.scores, scores[:0])
    weights = chosen.weights[0] / one.blend.weights.sum() * one.blend.weights
    together = made.scores[None]
    for m in np.setdiff1d(plan.used, _by_centres(found, plan.used)).tolist():
        begin = perf_counter()
        trained = _trained_in_leaves(posed, found[m], parted, plan.rows)
        spent = perf_counter() - begin
        found[m] = replace(found[m], predicted=trained.predicted, seconds=found[m].seconds + spent)
        scores[m] = posed.goal.scores(trained.predicted)
        posed.tell(f"{found[m].name}: trained, {spent:.1f} s")
        beside = calibrated(posed, parted, made.scores, scores[[m]])
        if _worth(beside.objective, chosen.objective, parted):
            chosen, together = beside, np.concatenate([together, scores[[m]]])
            members[m] = trained.member
            weights = chosen.weights[0] / one.blend.weights.sum() * one.blend.weights
            weights[m] = chosen.weights[1]
    blend = replace(one.blend, weights=weights, bias=chosen.bias)
    searched = replace(
        plan.searched,
        limits=replace(plan.searched.limits, training=plan.total),
        found=found,
        scores=scores,
        blend=blend,
        centres=len(plan.centres),
        together=np.tensordot(chosen.weights, together, 1) + chosen.bias,
    )
    return searched, Answer(Z.without_given(), tuple(members[m] for m in blend.used), blend, single=True)


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
        found[k] = replace(found[k], cut=True) if time_is_up() else further(found[k]) or found[k]
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
        sums = _summed(posed, each.similarity, rows, Z)
        trained = _Trained.of(posed, each, parted, Z, sums.total, None, (4, 2))
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
    possible = [each for each in found if isinstance(each.similarity, Plain)]
    widest = Size(total, posed.samples.plain.shape[1] + 2 * TREES * task.Y.shape[1])
    if posed.beyond is not None or not possible or not limits.keeps(widest):
        return [], []
    rows = posed.some(few.rows, parted.learning)
    if seconds_left() < _ONCE_MORE * limits.pace * LeafKernel.work(len(rows)).seconds:
        return [], [LeafKernel.name]
    begin = perf_counter()
    compared = task.of_rows(parted.compared)
    best = sorted(possible, key=lambda each: compared.error(each.predicted))[:2]
    kernels = [(each.similarity, each.alpha) for each in best if isinstance(each.similarity, Plain)]
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
        values = [_blend_of(posed, scores, parted, np.array([*used, m])).objective for m in others]
        if used and not _worth(min(values), value, parted):
            break
        value = min(values)
        used.append(others[int(np.argmin(values))])
    return np.sort(used)


def _worth(value: float, without: float, parted: Parted) -> bool:
    """Whether a candidate lowers the value of a blend by a tenth of its standard error, about (2 / n)^(1/2) of it."""
    return value < (1.0 - _LITTLE * np.sqrt(2.0 / len(parted.compared))) * without


def _by_centres(found: Sequence[Tried], used: Array) -> Array:
    """Those of the candidates with these numbers that are trained by centres."""
    return np.array([m for m in used.tolist() if not isinstance(found[m].candidate, LeafKernel)], dtype=int)


def _logistic(
    posed: Posed, found: Sequence[Tried], scores: Array, used: Array, parted: Parted, few: Size
) -> LogisticSum | None:
    """One machine of logistic losses by the kernels of a blend, for few classes; None where that is not better."""
    if posed.beyond is not None or not isinstance(posed.goal, Labels) or posed.task.Y.shape[1] > MOST_COLUMNS:
        return None
    by_centres = _by_centres(found, used)
    if not len(by_centres):
        return None
    in_leaves = np.setdiff1d(used, by_centres)
    whole = _blend_of(posed, scores, parted, used)
    blend = _blend_of(posed, scores, parted, by_centres) if len(in_leaves) else whole
    if not len(blend.used):
        return None
    rows = posed.some(few.rows, parted.learning)
    one = LogisticSum.of(posed, found, blend, parted, rows, posed.some(few.centres, rows), scores[in_leaves])
    posed.tell(f"one machine of logistic losses has a loss of {one.value:.4g} there, the blend {whole.objective:.4g}")
    return one if one.value < whole.objective else None


def _blend_of(posed: Posed, scores: Array, parted: Parted, used: Array) -> Blend:
    """The blend of some of the candidates; the others have the weight 0."""
    weight = part_of(posed.task.weight, parted.compared)
    blend = posed.goal.blend(scores[used], parted.compared, weight, posed.samples.several, few=True)
    weights = np.zeros(len(scores))
    weights[used] = blend.weights
    return replace(blend, weights=weights)


# -- 4 and 5: machines on centres --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Trained:
    """A candidate on centres: the ridge of least error on the samples held out, and its member of the answer.

    The predictions of these samples are those of a machine trained without them; the member is trained on all.
    """

    alpha: float
    predicted: Array
    member: Member | LeafMember

    @classmethod
    def of(
        cls,
        posed: Posed,
        each: Tried,
        parted: Parted,
        Z: PreparedSamples,
        sums: CentreSums,
        of_rest: CentreSums | None,
        steps: Sequence[int],
    ) -> _Trained:
        kernel = each.similarity.to(Z)
        K = symmetric(lambda part: kernel(Z.of(np.arange(len(Z))[part])), len(Z))
        compared = each.similarity.to(Z, np.float32)(posed.samples.of(parted.compared))
        error = posed.task.of_rows(parted.compared).error
        alpha, predicted = least_ridge(K, sums, compared, error, each.alpha, steps)
        whole = by_sums(K, sums if of_rest is None else sums.merge(of_rest), alpha)
        coef, intercept = (posed.goal.scores(values) for values in (whole.coef, whole.intercept))
        member = Member(each.similarity, coef, intercept, float(np.trace(K)) / len(K) or 1.0)
        return cls(alpha, predicted, member)


def _summed(
    posed: Posed, similarity: Similarity, rows: Array, Z: PreparedSamples, report: Callable[[int], object] | None = None
) -> KernelSums:
    """The sums over these rows; ``report`` is told how many rows were added, now and then."""
    sums = KernelSums.none(similarity, Z, posed.task.Y.shape[1])
    for part in slices(len(rows), TILE):
        task = posed.task.of_rows(rows[part])
        sums.add(posed.samples.of(rows[part]), task.Y, task.weight)
        if report is not None:
            report(len(task.Y))
    return sums


def _counting(report: Callable[[int], object]) -> Callable[[int], None]:
    """What is told of further rows, for what is told of all so far."""
    done = 0

    def add(rows: int) -> None:
        nonlocal done
        done += rows
        report(done)

    return add


def _since(begin: float) -> str:
    return f"{perf_counter() - begin:.1f} s"
