"""Many samples: the candidates that are needed are trained on all of them (``many_samples.py`` chooses them).

Members of the answer are machines on centres (``machines/ridge/centres.py``, ``logistic_sum.py``) and in leaves
(``in_leaves.py``). Each predicts the samples that are compared on by a machine which was trained without them; by these
predictions the weights of the answer are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from multikernel._arrays import part_of
from multikernel._typing import Array
from multikernel.auto.centre_sums import KernelSums
from multikernel.auto.choice import Blend
from multikernel.auto.in_leaves import TREES, LeafKernel, LeafMember, LeafSolution
from multikernel.auto.logistic_sum import LogisticSum, calibrated, trained_sum
from multikernel.auto.samples import PreparedSamples, Similarity
from multikernel.auto.search import Answer, Member, Posed, Searched, Tried
from multikernel.banks.threads import slices
from multikernel.machines.ridge.centres import CentreSums, by_sums
from multikernel.procedures.centres import TILE, Parted, least_ridge, symmetric

_LITTLE = 0.1  # of a standard error: a difference that is not worth a candidate, which costs as much as each other


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


def trained_of_many(posed: Posed, plan: Plan, parted: Parted) -> tuple[Searched, Answer]:
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
    blend = blend_of(posed, scores, parted, plan.used)
    by_centres = by_centres_of(found, plan.used)
    if 0 < len(by_centres) < len(plan.used):
        without = blend_of(posed, scores, parted, by_centres)
        if not worth(blend.objective, without.objective, parted):
            blend = without
    return _searched(plan, found, scores, blend), _answer(Z, members, blend)


def _each_trained(
    posed: Posed, plan: Plan, parted: Parted, Z: PreparedSamples
) -> Iterator[tuple[int, TrainedCandidate]]:
    """The candidates that are needed, one after the other."""
    found = plan.searched.found
    learning, rest = (
        np.intersect1d(part, plan.rows) for part in (parted.learning, np.append(parted.compared, parted.rest))
    )
    by_centres = by_centres_of(found, plan.used).tolist()
    similarities = [found[m].similarity for m in by_centres]
    of_learning: Iterable[CentreSums]
    if posed.beyond is None or plan.total < posed.total:
        report = _counting(posed.passing(len(by_centres) * len(learning)))
        of_learning = (summed(posed, each, learning, Z, report).total for each in similarities)
    else:  # one pass for all
        of_learning = posed.beyond.sums(similarities, Z, posed.task.Y.shape[1], plan)
    for m, sums in zip(by_centres, of_learning, strict=True):
        if len(rest):
            of_rest = summed(posed, found[m].similarity, rest, Z).total
        else:
            of_rest = None
        yield m, TrainedCandidate.of(posed, found[m], parted, Z, sums, of_rest, (2,))
    for m in np.setdiff1d(plan.used, by_centres).tolist():
        yield m, _trained_in_leaves(posed, found[m], parted, plan.rows)


def _trained_in_leaves(posed: Posed, each: Tried, parted: Parted, rows: Array) -> TrainedCandidate:
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
    return TrainedCandidate(each.alpha, predicted, solution.member(base, posed.goal.scores))


def trained_as_sum(posed: Posed, plan: Plan, one: LogisticSum, parted: Parted) -> tuple[Searched, Answer]:
    """Step 5 by one machine, beside that of leaves."""
    found, scores = list(plan.searched.found), plan.searched.scores.copy()
    Z = posed.samples.of(plan.centres)
    begin = perf_counter()
    made = trained_sum(posed, one, parted, plan.rows, Z, posed.passing(len(plan.rows)))
    if made is None:
        return trained_of_many(posed, plan, parted)
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
    for m in np.setdiff1d(plan.used, by_centres_of(found, plan.used)).tolist():
        begin = perf_counter()
        trained = _trained_in_leaves(posed, found[m], parted, plan.rows)
        spent = perf_counter() - begin
        found[m] = replace(found[m], predicted=trained.predicted, seconds=found[m].seconds + spent)
        scores[m] = posed.goal.scores(trained.predicted)
        posed.tell(f"{found[m].name}: trained, {spent:.1f} s")
        beside = calibrated(posed, parted, made.scores, scores[[m]])
        if worth(beside.objective, chosen.objective, parted):
            chosen, together = beside, np.concatenate([together, scores[[m]]])
            members[m] = trained.member
            weights = chosen.weights[0] / one.blend.weights.sum() * one.blend.weights
            weights[m] = chosen.weights[1]
    blend = replace(one.blend, weights=weights, bias=chosen.bias)
    said = np.tensordot(chosen.weights, together, 1) + chosen.bias
    return replace(_searched(plan, found, scores, blend), together=said), _answer(Z, members, blend)


def _searched(plan: Plan, found: list[Tried], scores: Array, blend: Blend) -> Searched:
    """What was chosen, with what training made of it."""
    limits = replace(plan.searched.limits, training=plan.total)
    return replace(plan.searched, limits=limits, found=found, scores=scores, blend=blend, centres=len(plan.centres))


def _answer(Z: PreparedSamples, members: Mapping[int, Member | LeafMember], blend: Blend) -> Answer:
    """The members with a weight."""
    return Answer(Z.without_given(), tuple(members[m] for m in blend.used), blend, single=True)


def blend_of(posed: Posed, scores: Array, parted: Parted, used: Array) -> Blend:
    """The blend of some of the candidates; the others have the weight 0."""
    weight = part_of(posed.task.weight, parted.compared)
    blend = posed.goal.blend(scores[used], parted.compared, weight, posed.samples.several, few=True)
    weights = np.zeros(len(scores))
    weights[used] = blend.weights
    return replace(blend, weights=weights)


def worth(value: float, without: float, parted: Parted) -> bool:
    """Whether a candidate lowers the value of a blend by a tenth of its standard error, about (2 / n)^(1/2) of it."""
    return value < (1.0 - _LITTLE * np.sqrt(2.0 / len(parted.compared))) * without


def by_centres_of(found: Sequence[Tried], used: Array) -> Array:
    """Those of the candidates with these numbers that are trained by centres."""
    return np.array([m for m in used.tolist() if not isinstance(found[m].candidate, LeafKernel)], dtype=int)


# -- machines of one candidate -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TrainedCandidate:
    """The ridge of a candidate, what it predicts of the samples held out, and its member of the answer.

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
    ) -> TrainedCandidate:
        kernel = each.similarity.to(Z)
        K = symmetric(lambda part: kernel(Z.of(np.arange(len(Z))[part])), len(Z))
        compared = each.similarity.to(Z, np.float32)(posed.samples.of(parted.compared))
        error = posed.task.of_rows(parted.compared).error
        alpha, predicted = least_ridge(K, sums, compared, error, each.alpha, steps)
        whole = by_sums(K, sums if of_rest is None else sums.merge(of_rest), alpha)
        coef, intercept = (posed.goal.scores(values) for values in (whole.coef, whole.intercept))
        member = Member(each.similarity, coef, intercept, float(np.trace(K)) / len(K) or 1.0)
        return cls(alpha, predicted, member)


def summed(
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
