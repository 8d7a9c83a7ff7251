"""The last step of learning from many samples: which of them are centres, and the machine on these, of all samples.

Ridge regression by the kernels of the centres (``machines/ridge/centres.py``), with the ridge of least error on samples
held out; where every sample is a centre, with the kernel of all (``machines/ridge/all_samples.py``); or logistic losses
(``machines/logistic/centres.py``). Every one has a duality gap, in double precision, for kernels of the values as they
are.
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

_PASSES = 2.0  # times the sums over kernels with centres take training
_DOUBLINGS = (4, 2, 1)  # of the ridge that was found through landmarks, by which others are tried
_LEAST_CENTRES = 100  # centres, whatever the time


# -- centres -----------------------------------------------------------------------------------------------------------


def centres_of(posed: PosedScales, scales: Array, asked: float, total: int) -> Array:
    """The samples that are centres: so many, or as many as an error needs; fewer where the time would not be enough."""
    n = len(posed.rows)
    if asked >= 1:
        count = min(int(asked), n)
    else:
        count = _enough(posed, scales, asked, total)
    wanted = count
    while count > min(_LEAST_CENTRES, n) and _PASSES * forecast.centre_sums(total, count).seconds > seconds_left():
        count = max(min(_LEAST_CENTRES, n), int(0.9 * count))
    if count < wanted:
        warn_of_cut_choice(f"there is time for {count:,} centres of the kernel, and {wanted:,} are wanted")
    if _whole(posed, count, total):
        return posed.rows
    return _different(posed, posed.some(posed.rows, count))


def _whole(posed: PosedScales, centres: int, total: int) -> bool:
    """Whether every sample is a centre: the kernel of all is then solved for at once."""
    return centres == len(posed.rows) == total and posed.loss == "squared"


def _different(posed: PosedScales, rows: Array) -> Array:
    """Those that are not like one before."""
    _, first = np.unique(posed.bank.X[rows], axis=0, return_index=True)
    return rows[np.sort(first)]


def _enough(posed: PosedScales, scales: Array, error: float, total: int) -> int:
    """How many centres, by doubling, until the kernel matrix has no larger error; as many as memory holds at most."""
    n = len(posed.rows)
    most = min(n, forecast.centres_within(0.5 * available_memory() / 8.0))
    count = min(_LEAST_CENTRES, most)
    while count < most:
        reached = _matrix_error(posed, scales, posed.some(posed.rows, count), total)
        if reached <= error:
            return count
        count = min(2 * count, most)
    if count < n:
        warn_user(
            f"learned scales: rank={error:g} is an error of the kernel matrix that takes more centres than the memory "
            f"holds: {count:,} are used, and approximation_error_ is theirs",
            PredictionWarning,
        )
    return count


def _matrix_error(posed: PosedScales, scales: Array, Z: Array, total: int) -> float:
    """|K - C K_ZZ^{-1} C'| / |K| of all samples, estimated on some that are drawn for this."""
    rows = posed.rows[in_proportion(posed.strata[posed.rows], TRIED, posed.seed + 1)]
    _, factor = definite(_symmetric(posed, scales, Z))
    half = solve_triangular(factor, posed.exact(rows, Z, scales).T, lower=True, check_finite=False)
    return relative_error(posed.exact(rows, rows, scales), half.T @ half, total)


def _symmetric(posed: PosedScales, scales: Array, Z: Array) -> Array:
    K = posed.exact(Z, Z, scales)
    return 0.5 * (K + K.T)


# -- machines ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TrainedMachine:
    """The machine of all samples.

    Parameters
    ----------
    alpha : float, its ridge
    errors, constant : arrays (t,), the mean losses of the samples held out without them, and those of constants
    solution : CentresSolution
    matrix_error : float, of the kernel matrix by the centres: |K - C K_ZZ^{-1} C'| / |K|, estimated on some samples
    """

    alpha: float
    errors: Array
    constant: Array
    solution: CentresSolution
    matrix_error: float = 0.0


def trained_machine(
    posed: PosedScales, parted: Parted, chosen: ChosenScales, beyond: RowsBeyond | None, total: int
) -> TrainedMachine:
    """The ridge, and the machine of all samples.

    Parameters
    ----------
    posed : PosedScales, in the units of what was chosen
    parted : Parted
    chosen : ChosenScales
    beyond : RowsBeyond, the rows of which the samples are some; None where these are all
    total : int, how many samples there are
    """
    if _whole(posed, len(chosen.centres), total):
        return _trained_whole(posed, parted, chosen)
    found = _trained(posed, parted, chosen, beyond)
    return replace(found, matrix_error=_matrix_error(posed, chosen.scales, chosen.centres, total))


@dataclass(frozen=True, eq=False)
class _OnCentres:
    """The ridge of least squared error on the samples held out, on some centres.

    Parameters
    ----------
    K : array (M, M), the kernel matrix of the centres
    own : CentreSums of the samples that are learned from
    alpha, predicted : the ridge, and what the samples held out are predicted to be
    """

    K: Array
    own: CentreSums
    alpha: float
    predicted: Array


def _on_centres(
    posed: PosedScales, parted: Parted, chosen: ChosenScales, Z: Array, own: CentreSums | None = None
) -> _OnCentres:
    K = _symmetric(posed, chosen.scales, Z)
    own = own or _sums(posed, chosen.scales, Z, parted.learning)

    def error(predicted: Array) -> float:
        return float(posed.errors(parted.compared, predicted).sum())

    C = posed.exact(parted.compared, Z, chosen.scales)
    alpha, predicted = least_ridge(K, own, C, error, chosen.alpha, _DOUBLINGS, posed.fit_intercept, GAP)
    return _OnCentres(K, own, alpha, predicted)


def _sums(posed: PosedScales, scales: Array, Z: Array, rows: Array) -> CentreSums:
    return summed(tiles(lambda part: posed.exact(part, Z, scales), rows, posed.Y, posed.weight))


def _trained(posed: PosedScales, parted: Parted, chosen: ChosenScales, beyond: RowsBeyond | None) -> TrainedMachine:
    """The ridge and the machine on centres."""
    scales = chosen.scales
    Z = chosen.centres
    compared = parted.compared
    found = _on_centres(posed, parted, chosen, Z, None if beyond is None else beyond.sums(chosen))
    K = found.K
    own = found.own
    alpha = found.alpha
    whole = own.merge(_sums(posed, scales, Z, np.append(compared, parted.rest)))

    def kernel(rows: Array) -> Array:
        return posed.exact(rows, Z, scales)

    if posed.loss == "logistic":
        return _trained_logistic(posed, parted, K, kernel, own, whole, alpha)
    solution = certified(K, whole, alpha, GAP, posed.fit_intercept)
    if not solution.certificate.reached(GAP):  # sums have few digits for smooth kernels: a pass has more
        over = in_turn(partial(tiles, kernel, posed.rows, posed.Y, posed.weight))
        if beyond is not None:
            over = beyond.over(chosen)
        solution = refined(K, over, alpha, whole, tol=GAP, fit_intercept=posed.fit_intercept, start=solution.coef)
    errors = posed.errors(compared, found.predicted)
    return TrainedMachine(alpha, errors, posed.errors(compared, posed.constant(parted.learning)), solution)


def _trained_whole(posed: PosedScales, parted: Parted, chosen: ChosenScales) -> TrainedMachine:
    """The machine of the kernel of all samples, with the ridge of some thousands of centres.

    With 1,000 to 8,000 centres of letter and protein the best ridges differed by a factor of 3 or 4, and the error of
    all samples by a hundredth over such a factor, while every further ridge takes as long as the machine.
    """
    compared = parted.compared
    alpha = _on_centres(posed, parted, chosen, _different(posed, posed.some(posed.rows, CENTRES))).alpha

    def trained(rows: Array) -> CentresSolution:
        problem = AllSamplesRidge(
            lambda few, others: posed.exact(few, others, chosen.scales),
            rows,
            posed.Y[rows],
            posed.weights(rows),
            posed.fit_intercept,
        )
        return by_all_samples(problem, alpha, GAP)

    without = trained(parted.learning)
    parts = (posed.exact(compared[part], parted.learning, chosen.scales) for part in slices(len(compared), TILE))
    predicted = np.concatenate([C @ without.coef for C in parts]) + without.intercept
    errors = posed.errors(compared, predicted)
    return TrainedMachine(alpha, errors, posed.errors(compared, posed.constant(parted.learning)), trained(posed.rows))


def _trained_logistic(
    posed: PosedScales,
    parted: Parted,
    K: Array,
    kernel: Callable[[Array], Array],
    own: CentreSums,
    whole: CentreSums,
    alpha: float,
) -> TrainedMachine:
    """The ridge of least logistic loss on the samples held out, and the machine of all samples with it.

    Parameters
    ----------
    posed, parted : the problem and its parts
    K : array (M, M), the kernel matrix of the centres
    kernel : of row numbers, the kernel between these samples and the centres
    own, whole : CentreSums of the samples to learn from, and of all
    alpha : float, the ridge of squared losses
    """
    order = np.concatenate([parted.learning, parted.compared, parted.rest])
    C = _kept_kernel(kernel, order, len(K))
    n = len(parted.learning)
    m = len(parted.learning) + len(parted.compared)

    def samples(rows: slice) -> LogisticSamples:
        return LogisticSamples(
            partial(C, rows), np.where(posed.Y[order[rows]] > 0.0, 1.0, -1.0), posed.weights(order[rows])
        )

    learning = samples(slice(n))
    compared = samples(slice(n, m))

    def fitted(ridge: float, rows: LogisticSamples, sums: CentreSums, start: CentresSolution | None) -> CentresSolution:
        return logistic_by_centres(K, rows, sums, ridge, GAP, fit_intercept=posed.fit_intercept, start=start)

    def losses(found: CentresSolution) -> Array:
        return compared.losses(compared.values(found.coef) + found.intercept) / float(compared.shares.sum())

    # squared losses ask for a larger ridge: from there it is lowered, each machine beginning at the one before
    best = fitted(alpha, learning, own, None)
    found = best
    for _ in range(STEPS // 2):
        if time_is_up():
            warn_of_cut_choice("smaller ridges of the logistic loss were not tried")
            break
        found = fitted(0.25 * alpha, learning, own, found)
        if not losses(found).sum() < losses(best).sum():
            break
        alpha = 0.25 * alpha
        best = found
    nothing = replace(best, coef=np.zeros_like(best.coef))
    share = np.average(learning.labels > 0, axis=0, weights=learning.weight)
    nothing = replace(nothing, intercept=np.log(np.maximum(share, TINY)) - np.log(np.maximum(1.0 - share, TINY)))
    return TrainedMachine(alpha, losses(best), losses(nothing), fitted(alpha, samples(slice(None)), whole, best))


def _kept_kernel(kernel: Callable[[Array], Array], rows: Array, centres: int) -> Callable[[slice], Iterator[Array]]:
    """The kernel between some of these samples, as a slice says, and the centres: some rows at a time.

    It is kept where it takes a quarter of the memory at most, and made anew in every pass elsewhere.
    """
    C = None
    if 8.0 * len(rows) * centres <= 0.25 * available_memory():
        C = np.concatenate([kernel(rows[part]) for part in slices(len(rows), TILE)])

    def some(which: slice) -> Iterator[Array]:
        if C is not None:
            yield C[which]
            return
        own = rows[which]
        for part in slices(len(own), TILE):
            yield kernel(own[part])

    return some
