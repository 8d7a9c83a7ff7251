"""Many samples: the candidates that are needed are trained on all of them (``many_samples.py`` chooses them).

Members of the answer are machines on centres (``machines/ridge/centres.py``, ``logistic_sum.py``) and in leaves
(``in_leaves.py``). For each member, a machine that was trained without the held-out samples predicts these; the weights
of the answer are chosen by these predictions.
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
from multikernel.auto.search import Answer, FitProblem, Member, Searched, Tried
from multikernel.banks.threads import slices
from multikernel.machines.ridge.centres import CentreSums, by_sums
from multikernel.procedures.centres import TILE, Parted, least_ridge, symmetric

_LITTLE = 0.1  # of a standard error: a smaller gain is not worth the training of another candidate


@dataclass(frozen=True, eq=False)
class Plan:
    """What was chosen before the answer is trained on all samples.

    Parameters
    ----------
    searched : Searched, before the answer is trained
    used : int array, the candidates that are trained
    rows, centres : int arrays, the samples to train on and those that are centres
    total : int, the number of rows to train on; larger than ``rows`` where the other rows of a source follow
    """

    searched: Searched
    used: Array
    rows: Array
    centres: Array
    total: int


def trained_of_many(problem: FitProblem, plan: Plan, parted: Parted) -> tuple[Searched, Answer]:
    """Steps 4 and 5 of ``many_samples.py``: the trained members, and the blend that their predictions give."""
    trials, scores = list(plan.searched.found), plan.searched.scores.copy()
    Z = problem.samples.of(plan.centres)
    members: dict[int, Member | LeafMember] = {}
    begin = perf_counter()
    for m, trained in _trained_candidates(problem, plan, parted, Z):
        spent = perf_counter() - begin
        trials[m] = replace(
            trials[m], alpha=trained.alpha, predicted=trained.predicted, seconds=trials[m].seconds + spent
        )
        scores[m] = problem.goal.scores(trained.predicted)
        members[m] = trained.member
        problem.log(f"{trials[m].name}: trained, {spent:.1f} s")
        begin = perf_counter()
    problem.log(f"the weights of {len(members)} candidates are chosen on {len(parted.compared)} samples held out")
    blend = blend_of(problem, scores, parted, plan.used)
    by_centres = by_centres_of(trials, plan.used)
    if 0 < len(by_centres) < len(plan.used):
        without = blend_of(problem, scores, parted, by_centres)
        if not is_worthwhile(blend.objective, without.objective, parted):
            blend = without
    return _updated_search(plan, trials, scores, blend), _answer(Z, members, blend)


def _trained_candidates(
    problem: FitProblem, plan: Plan, parted: Parted, Z: PreparedSamples
) -> Iterator[tuple[int, TrainedCandidate]]:
    """The number of each candidate that is needed and its machine, one after the other."""
    trials = plan.searched.found
    learning, other_rows = (
        np.intersect1d(rows, plan.rows) for rows in (parted.learning, np.append(parted.compared, parted.rest))
    )
    by_centres = by_centres_of(trials, plan.used).tolist()
    similarities = [trials[m].similarity for m in by_centres]
    sums_of_learning: Iterable[CentreSums]
    if problem.all_rows is None or plan.total < problem.total:
        report = _cumulative(problem.pass_report(len(by_centres) * len(learning)))
        sums_of_learning = (summed(problem, similarity, learning, Z, report).total for similarity in similarities)
    else:  # one pass over the source, for all kernels
        sums_of_learning = problem.all_rows.sums(similarities, Z, problem.task.Y.shape[1], plan)
    for m, sums in zip(by_centres, sums_of_learning, strict=True):
        if len(other_rows):
            sums_of_others = summed(problem, trials[m].similarity, other_rows, Z).total
        else:
            sums_of_others = None
        yield m, TrainedCandidate.of(problem, trials[m], parted, Z, sums, sums_of_others, (2,))
    for m in np.setdiff1d(plan.used, by_centres).tolist():
        yield m, _trained_in_leaves(problem, trials[m], parted, plan.rows)


def _trained_in_leaves(problem: FitProblem, trial: Tried, parted: Parted, rows: Array) -> TrainedCandidate:
    """The machines of all leaves on these rows; those of the learning samples alone predict the held-out samples."""
    assert isinstance(trial.candidate, LeafKernel)
    base = trial.candidate.base
    learning = np.intersect1d(parted.learning, rows)
    other_rows = np.setdiff1d(rows, learning)
    order = np.append(learning, other_rows)
    samples, task = problem.samples.of(order), problem.task.of_rows(order)
    solution = LeafSolution.of(base, trial.alpha, samples, task, len(learning), TREES, problem.seed)
    predicted = np.empty((len(parted.compared), task.Y.shape[1]))
    is_trained_on = np.isin(parted.compared, other_rows)
    predicted[is_trained_on] = solution.held_out[np.searchsorted(other_rows, parted.compared[is_trained_on])]
    if not is_trained_on.all():  # held-out samples without time to train on them: machines of the learning samples
        learning_index = np.arange(len(learning))
        learning_solution = LeafSolution.of(
            base,
            trial.alpha,
            samples.of(learning_index),
            task.of_rows(learning_index),
            len(learning_index),
            TREES,
            problem.seed,
        )
        other_samples = problem.samples.of(parted.compared[~is_trained_on])
        predicted[~is_trained_on] = (
            learning_solution.member(base).function(samples)(other_samples) + learning_solution.intercept
        )
    return TrainedCandidate(trial.alpha, predicted, solution.member(base, problem.goal.scores))


def trained_as_sum(
    problem: FitProblem, plan: Plan, logistic_sum: LogisticSum, parted: Parted
) -> tuple[Searched, Answer]:
    """Step 5 with one machine of logistic losses, and the machines in leaves as another member."""
    trials, scores = list(plan.searched.found), plan.searched.scores.copy()
    Z = problem.samples.of(plan.centres)
    begin = perf_counter()
    trained_machine = trained_sum(problem, logistic_sum, parted, plan.rows, Z, problem.pass_report(len(plan.rows)))
    if trained_machine is None:
        return trained_of_many(problem, plan, parted)
    seconds = perf_counter() - begin
    problem.log(
        f"one machine of logistic losses by the sum of {len(logistic_sum.parts)} kernels: trained, {seconds:.1f} s"
    )
    by_centres = logistic_sum.blend.used.tolist()
    for m in by_centres:
        spent = trials[m].seconds + seconds / len(logistic_sum.parts)
        trials[m] = replace(trials[m], seconds=spent, cut=trials[m].cut or trained_machine.cut)
    members: dict[int, Member | LeafMember] = dict(zip(by_centres, trained_machine.members, strict=True))
    chosen_blend = calibrated(problem, parted, trained_machine.scores, scores[:0])
    weights = chosen_blend.weights[0] / logistic_sum.blend.weights.sum() * logistic_sum.blend.weights
    chosen_scores = trained_machine.scores[None]
    for m in np.setdiff1d(plan.used, by_centres_of(trials, plan.used)).tolist():
        begin = perf_counter()
        trained = _trained_in_leaves(problem, trials[m], parted, plan.rows)
        spent = perf_counter() - begin
        trials[m] = replace(trials[m], predicted=trained.predicted, seconds=trials[m].seconds + spent)
        scores[m] = problem.goal.scores(trained.predicted)
        problem.log(f"{trials[m].name}: trained, {spent:.1f} s")
        blend_with_leaves = calibrated(problem, parted, trained_machine.scores, scores[[m]])
        if is_worthwhile(blend_with_leaves.objective, chosen_blend.objective, parted):
            chosen_blend, chosen_scores = blend_with_leaves, np.concatenate([chosen_scores, scores[[m]]])
            members[m] = trained.member
            weights = chosen_blend.weights[0] / logistic_sum.blend.weights.sum() * logistic_sum.blend.weights
            weights[m] = chosen_blend.weights[1]
    blend = replace(logistic_sum.blend, weights=weights, bias=chosen_blend.bias)
    blended = np.tensordot(chosen_blend.weights, chosen_scores, 1) + chosen_blend.bias
    return replace(_updated_search(plan, trials, scores, blend), together=blended), _answer(Z, members, blend)


def _updated_search(plan: Plan, trials: list[Tried], scores: Array, blend: Blend) -> Searched:
    """The search with the results of training."""
    limits = replace(plan.searched.limits, training=plan.total)
    return replace(plan.searched, limits=limits, found=trials, scores=scores, blend=blend, centres=len(plan.centres))


def _answer(Z: PreparedSamples, members: Mapping[int, Member | LeafMember], blend: Blend) -> Answer:
    """The members with a weight."""
    return Answer(Z.without_given(), tuple(members[m] for m in blend.used), blend, single=True)


def blend_of(problem: FitProblem, scores: Array, parted: Parted, members: Array) -> Blend:
    """The blend of some of the candidates; the others have the weight 0."""
    weight = part_of(problem.task.weight, parted.compared)
    blend = problem.goal.blend(scores[members], parted.compared, weight, problem.samples.several, few=True)
    weights = np.zeros(len(scores))
    weights[members] = blend.weights
    return replace(blend, weights=weights)


def is_worthwhile(value: float, without: float, parted: Parted) -> bool:
    """Whether a candidate lowers the value of a blend by a tenth of its standard error, about (2 / n)^(1/2) of it."""
    return value < (1.0 - _LITTLE * np.sqrt(2.0 / len(parted.compared))) * without


def by_centres_of(trials: Sequence[Tried], numbers: Array) -> Array:
    """The numbers of those candidates that are trained by centres, and not in leaves."""
    return np.array([m for m in numbers.tolist() if not isinstance(trials[m].candidate, LeafKernel)], dtype=int)


# -- machines of one candidate -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TrainedCandidate:
    """The ridge of a candidate, its predictions of the held-out samples, and its member of the answer.

    The predictions are those of a machine that was trained without these samples; the member is trained on all.
    """

    alpha: float
    predicted: Array
    member: Member | LeafMember

    @classmethod
    def of(
        cls,
        problem: FitProblem,
        trial: Tried,
        parted: Parted,
        Z: PreparedSamples,
        sums: CentreSums,
        sums_of_others: CentreSums | None,
        steps: Sequence[int],
    ) -> TrainedCandidate:
        kernel = trial.similarity.to(Z)
        K = symmetric(lambda block: kernel(Z.of(np.arange(len(Z))[block])), len(Z))
        compared = trial.similarity.to(Z, np.float32)(problem.samples.of(parted.compared))
        error = problem.task.of_rows(parted.compared).error
        alpha, predicted = least_ridge(K, sums, compared, error, trial.alpha, steps)
        solution = by_sums(K, sums if sums_of_others is None else sums.merge(sums_of_others), alpha)
        coef, intercept = (problem.goal.scores(values) for values in (solution.coef, solution.intercept))
        member = Member(trial.similarity, coef, intercept, float(np.trace(K)) / len(K) or 1.0)
        return cls(alpha, predicted, member)


def summed(
    problem: FitProblem,
    similarity: Similarity,
    rows: Array,
    Z: PreparedSamples,
    report: Callable[[int], object] | None = None,
) -> KernelSums:
    """The sums over these rows; ``report`` is called for each tile with the number of rows in it."""
    sums = KernelSums.none(similarity, Z, problem.task.Y.shape[1])
    for block in slices(len(rows), TILE):
        task = problem.task.of_rows(rows[block])
        sums.add(problem.samples.of(rows[block]), task.Y, task.weight)
        if report is not None:
            report(len(task.Y))
    return sums


def _cumulative(report: Callable[[int], object]) -> Callable[[int], None]:
    """A function of the number of further rows, which calls ``report`` with the number of all rows so far."""
    done = 0

    def add(rows: int) -> None:
        nonlocal done
        done += rows
        report(done)

    return add
