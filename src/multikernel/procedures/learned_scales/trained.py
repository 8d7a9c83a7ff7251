"""The last step of learning from many samples: the choice of the centres, and the machine on them of all samples.

Ridge regression by the kernels of the centres (``machines/ridge/centres.py``), with the ridge of least error on samples
held out; where every sample is a centre, with the kernel of all (``machines/ridge/all_samples.py``); or logistic losses
(``machines/logistic/centres.py``). Each has a duality gap, in double precision, for kernels of the original values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import solve_triangular

from multikernel._floats import TINY
from multikernel._folds import in_proportion
from multikernel._memory import available_memory
from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel._workers import seconds_left, time_is_up, warn_of_cut_choice
from multikernel.banks.low_rank.approximate import TRIED, relative_error
from multikernel.banks.threads import slices
from multikernel.machines.logistic.centres import LogisticSamples, logistic_by_centres
from multikernel.machines.ridge.all_samples import AllSamplesRidge, by_all_samples
from multikernel.machines.ridge.centres import (
    CentresSolution,
    CentreSums,
    certified,
    definite,
    in_turn,
    refined,
    summed,
)
from multikernel.procedures import forecast
from multikernel.procedures.centres import CENTRES, GAP, STEPS, TILE, Parted, least_ridge, tiles
from multikernel.procedures.learned_scales.posed import ChosenScales, PosedScales, RowsBeyond

_PASSES = 2.0  # the time of training, in units of the time of the sums over kernels with centres
_DOUBLINGS = (4, 2, 1)  # steps, as powers of 2, in which the ridge found through landmarks is changed
_LEAST_CENTRES = 100  # centres at least, however little time there is


# -- centres -----------------------------------------------------------------------------------------------------------


def centres_of(problem: PosedScales, scales: Array, centres: float, total: int) -> Array:
    """The samples that are centres, by their number or by the error that they may have; fewer where time is short."""
    n = len(problem.rows)
    if centres >= 1:
        count = min(int(centres), n)
    else:
        count = _enough(problem, scales, centres, total)
    requested = count
    while count > min(_LEAST_CENTRES, n) and _PASSES * forecast.centre_sums(total, count).seconds > seconds_left():
        count = max(min(_LEAST_CENTRES, n), int(0.9 * count))
    if count < requested:
        warn_of_cut_choice(f"there is time for {count:,} centres of the kernel, and {requested:,} are wanted")
    if _every_sample_is_centre(problem, count, total):
        return problem.rows
    return _distinct(problem, problem.subsample(problem.rows, count))


def _every_sample_is_centre(problem: PosedScales, centres: int, total: int) -> bool:
    """Whether every sample is a centre, so that one system for the kernel of all samples is solved."""
    return centres == len(problem.rows) == total and problem.loss == "squared"


def _distinct(problem: PosedScales, rows: Array) -> Array:
    """The rows without those that repeat an earlier one."""
    _, first = np.unique(problem.bank.X[rows], axis=0, return_index=True)
    return rows[np.sort(first)]


def _enough(problem: PosedScales, scales: Array, error: float, total: int) -> int:
    """The number of centres, doubled until the kernel matrix has at most this error; limited by memory."""
    n = len(problem.rows)
    limit = min(n, forecast.centres_within(0.5 * available_memory() / 8.0))
    count = min(_LEAST_CENTRES, limit)
    while count < limit:
        matrix_error = _matrix_error(problem, scales, problem.subsample(problem.rows, count), total)
        if matrix_error <= error:
            return count
        count = min(2 * count, limit)
    if count < n:
        warn_user(
            f"learned scales: rank={error:g} is an error of the kernel matrix that takes more centres than the memory "
            f"holds: {count:,} are used, and approximation_error_ is theirs",
            PredictionWarning,
        )
    return count


def _matrix_error(problem: PosedScales, scales: Array, Z: Array, total: int) -> float:
    """|K - C K_ZZ^{-1} C'| / |K| of all samples, estimated on a random subset."""
    rows = problem.rows[in_proportion(problem.strata[problem.rows], TRIED, problem.seed + 1)]
    _, factor = definite(_symmetric(problem, scales, Z))
    half = solve_triangular(factor, problem.exact(rows, Z, scales).T, lower=True, check_finite=False)
    return relative_error(problem.exact(rows, rows, scales), half.T @ half, total)


def _symmetric(problem: PosedScales, scales: Array, Z: Array) -> Array:
    K = problem.exact(Z, Z, scales)
    return 0.5 * (K + K.T)


# -- machines ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TrainedMachine:
    """The machine of all samples.

    Parameters
    ----------
    alpha : float, its ridge
    errors, constant : arrays (t,), mean losses on held-out samples: of machines trained without them, and of constants
    solution : CentresSolution
    matrix_error : float, of the kernel matrix by the centres: |K - C K_ZZ^{-1} C'| / |K|, estimated on some samples
    """

    alpha: float
    errors: Array
    constant: Array
    solution: CentresSolution
    matrix_error: float = 0.0


def trained_machine(
    problem: PosedScales, parted: Parted, chosen: ChosenScales, beyond: RowsBeyond | None, total: int
) -> TrainedMachine:
    """The ridge, and the machine of all samples.

    Parameters
    ----------
    problem : PosedScales, in the units of ``chosen``
    parted : Parted
    chosen : ChosenScales
    beyond : RowsBeyond, all rows of the source that the samples are drawn from; None where the samples are all
    total : int, how many samples there are
    """
    if _every_sample_is_centre(problem, len(chosen.centres), total):
        return _train_on_all_samples(problem, parted, chosen)
    machine = _train_on_centres(problem, parted, chosen, beyond)
    return replace(machine, matrix_error=_matrix_error(problem, chosen.scales, chosen.centres, total))


@dataclass(frozen=True, eq=False)
class _OnCentres:
    """The ridge of least squared error on the samples held out, with some centres.

    Parameters
    ----------
    K : array (M, M), the kernel matrix of the centres
    sums : CentreSums of the samples that are learned from
    alpha, predicted : the ridge, and the predictions of the samples held out
    """

    K: Array
    sums: CentreSums
    alpha: float
    predicted: Array


def _on_centres(
    problem: PosedScales, parted: Parted, chosen: ChosenScales, Z: Array, sums: CentreSums | None = None
) -> _OnCentres:
    K = _symmetric(problem, chosen.scales, Z)
    sums = sums or _sums(problem, chosen.scales, Z, parted.learning)

    def error(predicted: Array) -> float:
        return float(problem.errors(parted.compared, predicted).sum())

    C = problem.exact(parted.compared, Z, chosen.scales)
    alpha, predicted = least_ridge(K, sums, C, error, chosen.alpha, _DOUBLINGS, problem.fit_intercept, GAP)
    return _OnCentres(K, sums, alpha, predicted)


def _sums(problem: PosedScales, scales: Array, Z: Array, rows: Array) -> CentreSums:
    return summed(tiles(lambda tile: problem.exact(tile, Z, scales), rows, problem.Y, problem.weight))


def _train_on_centres(
    problem: PosedScales, parted: Parted, chosen: ChosenScales, beyond: RowsBeyond | None
) -> TrainedMachine:
    """The ridge and the machine on centres."""
    scales = chosen.scales
    Z = chosen.centres
    compared = parted.compared
    chosen_ridge = _on_centres(problem, parted, chosen, Z, None if beyond is None else beyond.sums(chosen))
    K = chosen_ridge.K
    learning_sums = chosen_ridge.sums
    alpha = chosen_ridge.alpha
    all_sums = learning_sums.merge(_sums(problem, scales, Z, np.append(compared, parted.rest)))

    def kernel(rows: Array) -> Array:
        return problem.exact(rows, Z, scales)

    if problem.loss == "logistic":
        return _train_logistic(problem, parted, K, kernel, learning_sums, all_sums, alpha)
    solution = certified(K, all_sums, alpha, GAP, problem.fit_intercept)
    if not solution.certificate.reached(GAP):  # for smooth kernels sums lose digits that passes over the samples keep
        over = in_turn(partial(tiles, kernel, problem.rows, problem.Y, problem.weight))
        if beyond is not None:
            over = beyond.over(chosen)
        solution = refined(K, over, alpha, all_sums, tol=GAP, fit_intercept=problem.fit_intercept, start=solution.coef)
    errors = problem.errors(compared, chosen_ridge.predicted)
    return TrainedMachine(alpha, errors, problem.errors(compared, problem.constant(parted.learning)), solution)


def _train_on_all_samples(problem: PosedScales, parted: Parted, chosen: ChosenScales) -> TrainedMachine:
    """The machine of the kernel of all samples, with the ridge of some thousands of centres.

    With 1,000 to 8,000 centres of letter and protein the best ridges differed by a factor of 3 or 4. Such a factor
    changed the error with all samples by a hundredth, while every ridge tried takes as long as the machine itself.
    """
    compared = parted.compared
    alpha = _on_centres(problem, parted, chosen, _distinct(problem, problem.subsample(problem.rows, CENTRES))).alpha

    def trained(rows: Array) -> CentresSolution:
        system = AllSamplesRidge(
            lambda samples, columns: problem.exact(samples, columns, chosen.scales),
            rows,
            problem.Y[rows],
            problem.weights(rows),
            problem.fit_intercept,
        )
        return by_all_samples(system, alpha, GAP)

    held_out_machine = trained(parted.learning)
    kernel_tiles = (
        problem.exact(compared[tile], parted.learning, chosen.scales) for tile in slices(len(compared), TILE)
    )
    predicted = np.concatenate([C @ held_out_machine.coef for C in kernel_tiles]) + held_out_machine.intercept
    errors = problem.errors(compared, predicted)
    return TrainedMachine(
        alpha, errors, problem.errors(compared, problem.constant(parted.learning)), trained(problem.rows)
    )


def _train_logistic(
    problem: PosedScales,
    parted: Parted,
    K: Array,
    kernel: Callable[[Array], Array],
    learning_sums: CentreSums,
    all_sums: CentreSums,
    alpha: float,
) -> TrainedMachine:
    """The ridge of least logistic loss on the samples held out, and the machine of all samples with it.

    Parameters
    ----------
    problem, parted : the problem, and the division of its samples
    K : array (M, M), the kernel matrix of the centres
    kernel : of row numbers, the kernel between these samples and the centres
    learning_sums, all_sums : CentreSums of the samples to learn from, and of all
    alpha : float, the ridge of squared losses
    """
    order = np.concatenate([parted.learning, parted.compared, parted.rest])
    C = _kernel_by_tiles(kernel, order, len(K))
    n = len(parted.learning)
    m = len(parted.learning) + len(parted.compared)

    def samples(rows: slice) -> LogisticSamples:
        return LogisticSamples(
            partial(C, rows), np.where(problem.Y[order[rows]] > 0.0, 1.0, -1.0), problem.weights(order[rows])
        )

    learning = samples(slice(n))
    compared = samples(slice(n, m))

    def fitted(ridge: float, rows: LogisticSamples, sums: CentreSums, start: CentresSolution | None) -> CentresSolution:
        return logistic_by_centres(K, rows, sums, ridge, GAP, fit_intercept=problem.fit_intercept, start=start)

    def losses(solution: CentresSolution) -> Array:
        return compared.losses(compared.values(solution.coef) + solution.intercept) / float(compared.shares.sum())

    # squared losses have a larger best ridge: it is lowered from there, and each machine starts from the one before
    best = fitted(alpha, learning, learning_sums, None)
    solution = best
    for _ in range(STEPS // 2):
        if time_is_up():
            warn_of_cut_choice("smaller ridges of the logistic loss were not tried")
            break
        solution = fitted(0.25 * alpha, learning, learning_sums, solution)
        if not losses(solution).sum() < losses(best).sum():
            break
        alpha = 0.25 * alpha
        best = solution
    constant = replace(best, coef=np.zeros_like(best.coef))
    share = np.average(learning.labels > 0, axis=0, weights=learning.weight)
    constant = replace(constant, intercept=np.log(np.maximum(share, TINY)) - np.log(np.maximum(1.0 - share, TINY)))
    return TrainedMachine(alpha, losses(best), losses(constant), fitted(alpha, samples(slice(None)), all_sums, best))


def _kernel_by_tiles(kernel: Callable[[Array], Array], rows: Array, centres: int) -> Callable[[slice], Iterator[Array]]:
    """A function that yields the kernel between a slice of these samples and the centres, a tile of rows at a time.

    The kernel is stored where it takes a quarter of the memory at most, else computed in every pass.
    """
    C = None
    if 8.0 * len(rows) * centres <= 0.25 * available_memory():
        C = np.concatenate([kernel(rows[tile]) for tile in slices(len(rows), TILE)])

    def kernel_tiles(which: slice) -> Iterator[Array]:
        if C is not None:
            yield C[which]
            return
        selected = rows[which]
        for tile in slices(len(selected), TILE):
            yield kernel(selected[tile])

    return kernel_tiles
