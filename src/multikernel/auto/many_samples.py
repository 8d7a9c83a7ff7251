"""Many samples: candidates found on few of them are learned further, compared and trained on all.

1. A fifth of the samples, whole folds, is held out of everything until the answer is trained
   (``procedures/centres.py``).
2. Scales inside kernels are learned further on some thousands of the others, through landmarks
   (``procedures/learned_scales/landmarks.py``). Boosted trees are fitted to all of them: their leaves are one more
   kernel.
3. Every candidate is trained on a part of the others with few centres. Those that the best blend of them hardly needs
   are left out: training costs as much for each.
4. The rest are trained on all others by many centres (``machines/ridge/centres.py``), with the ridge of least error on
   the samples held out; there their blend is chosen.
5. The answer is trained on all samples, with these ridges and this blend. Its members share the centres.

Kernels between samples and centres are made tile by tile, in single precision, and are not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from multikernel._typing import Array
from multikernel._workers import seconds_left, time_is_up
from multikernel.auto.candidates import KernelAndRidge, LabelledSamples
from multikernel.auto.choice import Blend
from multikernel.auto.limits import Size
from multikernel.auto.search import Answer, Member, Posed, Searched, Tried
from multikernel.auto.trees import BoostedTrees
from multikernel.machines.ridge.centres import CentreSums, by_sums, summed
from multikernel.procedures.centres import LandmarkRows, Parted, least_ridge, symmetric, tiles

_LITTLE = 0.1  # of a standard error: a difference that is not worth a candidate, which costs as much as each other


def parted_of(posed: Posed) -> Parted:
    """The samples to learn from, and those to compare on, which the second folds hold out."""
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
    found = _learned_further(posed, searched, parted)
    trees, late = _trees(posed, parted.learning)
    found += trees
    few = limits.to_sift(seconds_left(), len(found))
    start = perf_counter()
    found, scores = _sifted(posed, found, parted, few)
    seconds = (perf_counter() - start) / len(found)
    used = _needed(posed, scores, parted)
    size = limits.to_train(seconds_left(), len(used), few, seconds)
    rows = posed.some(size.rows)
    centres = posed.some(size.centres, rows)
    learning, rest = (np.intersect1d(part, rows) for part in (parted.learning, np.append(parted.compared, parted.rest)))

    trained = [_Trained.of(posed, found[m], parted, centres, learning, rest, (2,)) for m in used]
    for m, each in zip(used, trained, strict=True):
        found[m] = replace(
            found[m], alpha=each.alpha, predicted=each.predicted, seconds=found[m].seconds + each.seconds
        )
        scores[m] = posed.goal.scores(each.predicted)
    blend = _blend_of(posed, scores, parted, used)
    members = tuple(each.member for m, each in zip(used, trained, strict=True) if blend.weights[m] > 0.0)
    centre_samples = posed.samples.of(centres).without_given()
    searched = replace(
        searched,
        limits=replace(searched.limits, training=len(rows)),
        found=found,
        compared=parted.compared,
        scores=scores,
        blend=blend,
        untried=searched.untried + late,
        centres=len(centres),
    )
    return searched, Answer(centre_samples, members, blend, single=True)


# -- 2: scales through landmarks ---------------------------------------------------------------------------------------


def _learned_further(posed: Posed, searched: Searched, parted: Parted) -> list[Tried]:
    """The candidates, with what more samples made of their scales; cut are those for which there was no time."""
    rows = LandmarkRows.of(parted.learning, posed.goal.strata, posed.task.folds.labels, posed.seed)
    Y = posed.task.Y
    parts = [LabelledSamples(posed.samples.of(own), Y[own]) for own in (rows.train, rows.held, rows.landmarks)]
    found: list[Tried] = []
    for each in searched.found:
        start = perf_counter()
        others = [other.similarity for other in found]
        before = KernelAndRidge(each.similarity, each.alpha, each.learned, each.cut)
        if time_is_up():
            found.append(replace(each, cut=True))
            continue
        further = each.candidate.further(before, others, *parts) if len(rows.held) else None
        found.append(each if further is None else _with(each, further, perf_counter() - start))
    return found


def _trees(posed: Posed, rows: Array) -> tuple[list[Tried], list[str]]:
    """The kernel of the leaves of boosted trees, and its name where there is no time for it.

    There is none without numbers, and for too many targets.
    """
    start = perf_counter()
    trees = BoostedTrees()
    columns = posed.samples.plain.shape[1]
    if not columns:
        return [], []
    # they cannot be stopped; comparing and training take the rest of the time
    if seconds_left() < 3.0 * trees.work(len(rows), columns).seconds:
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


def _sifted(posed: Posed, found: Sequence[Tried], parted: Parted, few: Size) -> tuple[list[Tried], Array]:
    """The candidates with ridges for few centres, and their scores on the samples held out."""
    rows = posed.some(few.rows, parted.learning)
    centres = posed.some(few.centres, rows)
    trained = [_Trained.of(posed, each, parted, centres, rows, rows[:0], (4, 2)) for each in found]
    sifted = [replace(each, alpha=own.alpha, predicted=own.predicted) for each, own in zip(found, trained, strict=True)]
    return sifted, posed.goal.scores(np.array([each.predicted for each in sifted]))


def _needed(posed: Posed, scores: Array, parted: Parted) -> Array:
    """The numbers of the candidates that the blend needs.

    To the best one the others are added, the best first, as long as each makes the value of the blend smaller by a
    tenth of its standard error, which is about (2 / n)^(1/2) of it.
    """
    used: list[int] = []
    value = np.inf
    part = 1.0 - _LITTLE * np.sqrt(2.0 / len(parted.compared))
    while len(used) < len(scores):
        others = [m for m in range(len(scores)) if m not in used]
        values = [_blend_of(posed, scores, parted, np.array([*used, m])).objective for m in others]
        if used and not min(values) < part * value:
            break
        value = min(values)
        used.append(others[int(np.argmin(values))])
    return np.sort(used)


def _blend_of(posed: Posed, scores: Array, parted: Parted, used: Array) -> Blend:
    """The blend of some of the candidates; the others have the weight 0."""
    weight = None if posed.task.weight is None else posed.task.weight[parted.compared]
    blend = posed.goal.blend(scores[used], parted.compared, weight, posed.samples.several)
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
    member: Member
    seconds: float

    @classmethod
    def of(
        cls,
        posed: Posed,
        each: Tried,
        parted: Parted,
        centres: Array,
        learning: Array,
        rest: Array,
        steps: Sequence[int],
    ) -> _Trained:
        start = perf_counter()
        Z = posed.samples.of(centres)
        K = symmetric(lambda part: each.similarity(Z.of(np.arange(len(Z))[part]), Z), len(Z))

        def kernel(rows: Array) -> Array:
            return each.similarity.single(posed.samples.of(rows), Z)

        def sums_over(rows: Array) -> CentreSums:
            return summed(tiles(kernel, rows, posed.task.Y, posed.task.weight))

        sums = sums_over(learning)
        error = posed.task.of_rows(parted.compared).error
        alpha, predicted = least_ridge(K, sums, kernel(parted.compared), error, each.alpha, steps)
        whole = by_sums(K, sums.merge(sums_over(rest)) if len(rest) else sums, alpha)
        coef, intercept = (posed.goal.scores(values) for values in (whole.coef, whole.intercept))
        member = Member(each.similarity, coef, intercept, float(np.trace(K)) / len(K) or 1.0)
        return cls(alpha, predicted, member, perf_counter() - start)
