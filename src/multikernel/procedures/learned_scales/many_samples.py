"""Scales inside a kernel, learned on many samples through few of them, and ridge regression on centres with these.

1. A fifth of the samples, whole folds, is held out. On a thousand of the others scales, ridge and penalty are found as
   on few samples (``search.py``).
2. From there the held-out error of some thousands falls further, through landmarks (``landmarks.py``).
3. Ridge regression with these scales, by the kernels of many centres, has the ridge of least error on the samples held
   out, and is then trained on all (``machines/ridge/centres.py``). With ``loss="logistic"`` labels -1 and +1 then have
   logistic losses, on the same centres and with the same scales, and a ridge of their own
   (``machines/logistic/centres.py``). Where every sample is a centre, the kernel of all is solved for at once
   (``machines/ridge/all_samples.py``).

Of samples that are read in chunks, the first two steps see a uniform sample alone, and the third all (``RowsBeyond``).

The steps are those of ``procedures/centres.py``. Learning is not sure to end at scales that are stationary for all
samples: what is known is the stationarity of the error through landmarks, and the duality gap of the ridge regression
on the centres with the scales found.

Columns are measured about their medians, in units of their mean distances, before they are in single precision; values
farther than a million of these count as that far while scales are learned. The last step is certified in double
precision, for kernels of the values as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, Protocol

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.exceptions import ConvergenceWarning

from multikernel._floats import ROUNDING, TINY
from multikernel._folds import in_proportion
from multikernel._memory import available_memory
from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel._workers import limited, seconds_left, time_is_up, warn_of_cut_choice
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.low_rank.approximate import relative_error
from multikernel.banks.products import ColumnProductsBank
from multikernel.banks.threads import slices
from multikernel.combinations import Profiles
from multikernel.machines.logistic.centres import LogisticSamples, logistic_by_centres
from multikernel.machines.ridge.all_samples import AllSamplesRidge, by_all_samples
from multikernel.machines.ridge.centres import (
    CentresSolution,
    CentreSums,
    Over,
    certified,
    definite,
    in_turn,
    refined,
    summed,
)
from multikernel.observer import Observer, silent
from multikernel.procedures import forecast
from multikernel.procedures.centres import LandmarkRows, Parted, compared_first, least_ridge, tiles
from multikernel.procedures.learned_scales.error import half_distance
from multikernel.procedures.learned_scales.forms import Form
from multikernel.procedures.learned_scales.landmarks import (
    LandmarkError,
    LandmarkSamples,
    LandmarkScales,
    scales_by_landmarks,
)
from multikernel.procedures.learned_scales.search import CentredScales, LearnedScales, form_of, learned_scales
from multikernel.procedures.ridge_cv import Folds
from multikernel.procedures.ridge_cv.residuals import HeldOut
from multikernel.procedures.units import RegressionUnits

Loss = Literal["squared", "logistic"]
_FIRST = 1000  # samples on which scales are found first; as many as the automatic estimators choose on
_FARTHEST = 1e6  # mean distances from the median, beyond which single precision has no digits for the others
_GAP = 1e-3  # of the ridge regression, relative
_WIDEST = 0.05  # mean distance at which a descent in single precision begins, in those that halve the kernel
_FINER = 0.1  # times the tolerance: with ten times as much, six columns of twenty had .902 right labels, not .910
_SHARE = 0.3  # of the time that is left, for each of the first two steps
_PASSES = 2.0  # times the sums over kernels with centres take training
_DOUBLINGS = (4, 2, 1)  # of the ridge that was found through landmarks, by which others are tried
_AS_GOOD = 1e-3  # of the error, which has a standard error of 0.014 on 10,000 samples
TO_CHOOSE_RIDGE = 3000  # centres, where all samples are centres at the end
_QUARTERS = 10  # times that a ridge is divided by four: to a millionth of that of squared losses, which is none
_ROWS = 2048  # of the kernel with centres, at a time
_LEAST_CENTRES = 100  # centres, whatever the time
_TRIED = 500  # samples on which the error of the kernel matrix is estimated


@dataclass(frozen=True, eq=False)
class PosedScales:
    """What is to be learned.

    Parameters
    ----------
    bank : square bank of distances in columns, or of their products for a metric
    combination : Profiles of one kernel
    Y : array (n, t)
    weight : array (n,) >= 0, or None
    folds : Folds
    strata : int array (n,), the classes, of which all parts of the samples get their share
    fit_intercept : bool
    rank : int or None, of a metric; full if not given
    seed : int
    loss : "squared" or "logistic", of the function that is trained at the end; scales have squared losses
    """

    bank: ColumnDistancesBank | ColumnProductsBank
    combination: Profiles
    Y: Array
    weight: Array | None
    folds: Folds
    strata: Array
    fit_intercept: bool
    rank: int | None
    seed: int
    loss: Loss = "squared"

    @cached_property
    def rows(self) -> Array:
        """The samples of a weight that is not 0."""
        return np.arange(len(self.Y)) if self.weight is None else np.flatnonzero(self.weight)

    @cached_property
    def form(self) -> Form:
        """Of the scales, with the mean distances of all samples."""
        bank = self.bank.block(self.rows, self.rows)
        return form_of(bank, self.rank, self.seed, self.weights(self.rows))

    @cached_property
    def standard(self) -> Form:
        """The same, for columns in their units."""
        return replace(self.form, means=(self.form.means > 0.0).astype(float))

    @cached_property
    def _units(self) -> tuple[Array, Array]:
        """The median of each column, and the unit that its differences are measured in."""
        few = self.bank.X[self.some(self.rows, _FIRST)]
        means = np.where(self.form.means > 0.0, self.form.means, 1.0)
        if isinstance(self.bank, ColumnDistancesBank):
            means = np.append(means, 1.0)[self.bank.owner]
        return np.median(few, axis=0), means ** (1.0 / self.bank.columns.degree)

    def some(self, among: Array, count: int) -> Array:
        """So many of these samples, in order."""
        return among[in_proportion(self.strata[among], count, self.seed)]

    def single(self, rows: Array) -> Array:
        """Samples in single precision."""
        centre, unit = self._units
        return np.clip((self.bank.X[rows] - centre) / unit, -_FARTHEST, _FARTHEST).astype(np.float32)

    def samples(self, rows: Array) -> LandmarkSamples:
        """Samples as landmarks meet them."""
        return LandmarkSamples(self.single(rows), self.Y[rows], self.weights(rows))

    def weights(self, rows: Array) -> Array | None:
        """Of these samples."""
        return None if self.weight is None else self.weight[rows]

    def errors(self, rows: Array, predicted: Array) -> Array:
        """The mean squared error of predictions (r, t) of these samples, for each target."""
        return np.asarray(np.average((self.Y[rows] - predicted) ** 2, axis=0, weights=self.weights(rows)))

    def constant(self, rows: Array) -> Array:
        """What is predicted without features, shape (t,)."""
        if self.fit_intercept:
            return np.asarray(np.average(self.Y[rows], axis=0, weights=self.weights(rows)))
        return np.zeros(self.Y.shape[1])

    def exact(self, rows: Array, columns: Array, scales: Array) -> Array:
        """The kernel with these scales between samples, in double precision."""
        gram = self.combination.gram(self.bank.block(rows, columns), np.append(1.0, scales))
        return np.asarray(gram.dense())


@dataclass(frozen=True, eq=False)
class SampleUnits:
    """Targets and weights as they are learned.

    Parameters
    ----------
    shift : array (t,), what is taken off the targets, so that sums of squares keep their digits
    target : RegressionUnits, by which they are then divided
    weight : float, what weights are divided by
    """

    shift: Array
    target: RegressionUnits
    weight: float

    @classmethod
    def of(cls, posed: PosedScales) -> SampleUnits:
        """Those of some samples."""
        weight = 1.0 if posed.weight is None else float(posed.weight[posed.rows].mean())
        return cls(posed.constant(posed.rows), RegressionUnits.of(posed.Y), weight)

    def targets(self, Y: Array) -> Array:
        """Targets (n, t) in these units; 0 where rounding alone is left."""
        left = Y - self.shift
        return np.where(np.abs(left) > ROUNDING * np.abs(self.shift), left, 0.0) / self.target.target

    def weights(self, weight: Array | None) -> Array | None:
        """Weights in these units."""
        return None if weight is None else weight / self.weight

    def solution(self, found: CentresSolution, loss: Loss) -> CentresSolution:
        """A solution in the units of the user; labels have no units."""
        if loss == "logistic":
            return replace(found, value=self.weight * found.value)
        return replace(
            found,
            coef=self.target.target * found.coef,
            intercept=self.shift + self.target.target * found.intercept,
            value=self.target.squared(self.weight * found.value),
        )


@dataclass(frozen=True, eq=False)
class ChosenScales:
    """What was found on some thousands of samples, before all are trained on.

    Parameters
    ----------
    units : SampleUnits
    first : LearnedScales, of a thousand samples
    further : LandmarkScales, of some thousands; None where there was no further descent
    scales, alpha : the scales of all columns, and the ridge
    centres : int array (M,), samples
    """

    units: SampleUnits
    first: LearnedScales
    further: LandmarkScales | None
    scales: Array
    alpha: float
    centres: Array


class RowsBeyond(Protocol):
    """The rows of a source, of which the samples at hand are some, in a random order."""

    @property
    def total(self) -> int:
        """How many rows there are."""

    @property
    def kept(self) -> ChosenScales | None:
        """What an earlier fit had found that did not come to its end."""

    def sums(self, chosen: ChosenScales) -> CentreSums:
        """The sums over all rows but those that are compared on, the first of the samples."""

    def over(self, chosen: ChosenScales) -> Over:
        """Passes over all rows."""


def scales_of_many(
    posed: PosedScales,
    centres: float,
    penalty: float | None,
    tol: float = 1e-2,
    max_iter: int = 100,
    observe: Observer = silent,
    beyond: RowsBeyond | None = None,
) -> tuple[LearnedScales, CentresSolution]:
    """Scales and ridge, and the ridge regression on centres with these, of all samples.

    Parameters
    ----------
    posed : PosedScales
    centres : int >= 1, how many; or a number in (0, 1), the error of the kernel matrix for which there are enough
    penalty : float >= 0 or None, as for ``learned_scales``
    tol : float, the stationarity at which the first descents stop; those through landmarks at a tenth of it
    max_iter : int, steps of a descent at most
    observe : called after each step through landmarks
    beyond : RowsBeyond, the rows of which the samples are some; None where these are all
    """
    kept = None if beyond is None else beyond.kept
    units = SampleUnits.of(posed) if kept is None else kept.units
    posed = replace(posed, Y=units.targets(posed.Y), weight=units.weights(posed.weight))
    total = len(posed.rows) if beyond is None else beyond.total
    parted = _parted(posed, beyond)
    chosen = kept or _chosen(posed, units, parted, centres, total, penalty, tol, max_iter, observe)
    if _whole(posed, len(chosen.centres), total):
        trained, error = _trained_whole(posed, parted, chosen), 0.0
    else:
        trained = _trained(posed, parted, chosen, beyond)
        error = _matrix_error(posed, chosen.scales, chosen.centres, total)
    squared = units.target.squared
    errors, constant = trained.errors, trained.constant
    if posed.loss == "squared":
        errors, constant = squared(errors), squared(constant)
    found = replace(
        chosen.first,
        objective=float(errors.sum()),
        certificate=None,
        converged=trained.solution.certificate.reached(tol),
        scales=chosen.scales[None, :],
        means=posed.form.means,
        alpha=units.weight * trained.alpha,
        errors=errors,
        equal=squared(chosen.first.equal),
        constant=float(constant.sum()),
        outer=squared(chosen.first.outer),
        centred=CentredScales(chosen.centres, None, error),
    )
    return _with_descent(found, chosen.further), units.solution(trained.solution, posed.loss)


def _parted(posed: PosedScales, beyond: RowsBeyond | None) -> Parted:
    """Which samples are held out: whole folds, or the first of a random order."""
    if beyond is not None:
        first = compared_first(len(posed.rows))
        return Parted(posed.rows[first:], posed.rows[:first], posed.rows[:0], posed.rows[first:])
    labels = posed.folds.labels
    return Parted.of(posed.rows, posed.strata, labels, labels, posed.seed)


def _chosen(
    posed: PosedScales,
    units: SampleUnits,
    parted: Parted,
    centres: float,
    total: int,
    penalty: float | None,
    tol: float,
    max_iter: int,
    observe: Observer,
) -> ChosenScales:
    with limited(_SHARE * seconds_left()):
        first = _found_first(posed, parted, penalty, tol, max_iter)
    with limited(_SHARE * seconds_left()):
        further = _learned_further(posed, parted, first, tol, max_iter, observe)
    scales, alpha = first.scales[0], first.alpha
    if further is not None:
        scales, alpha = posed.form.scales(further.parameters), further.alpha
    return ChosenScales(units, first, further, scales, alpha, _centres(posed, scales, centres, total))


def _with_descent(found: LearnedScales, further: LandmarkScales | None) -> LearnedScales:
    """What is known of the descent through landmarks."""
    assert found.centred is not None
    if further is None:
        return replace(found, n_iter=0, history=())
    centred = replace(found.centred, certificate=further.certificate)
    return replace(found, n_iter=further.n_iter, history=further.history, centred=centred)


# -- 1 and 2: scales ---------------------------------------------------------------------------------------------------


def _found_first(posed: PosedScales, parted: Parted, penalty: float | None, tol: float, max_iter: int) -> LearnedScales:
    rows = posed.some(parted.to_choose_on, _FIRST)
    return learned_scales(
        posed.bank.block(rows, rows),
        posed.combination,
        HeldOut(posed.Y[rows], posed.folds.of_rows(rows), posed.fit_intercept),
        penalty=penalty,
        tol=tol,
        max_iter=max_iter,
        seed=posed.seed,
        sample_weight=posed.weights(rows),
        rank=posed.rank,
    )


def _learned_further(
    posed: PosedScales, parted: Parted, first: LearnedScales, tol: float, max_iter: int, observe: Observer
) -> LandmarkScales | None:
    """The end of the descent through landmarks; None where no samples are left to hold out, or no time."""
    rows = LandmarkRows.of(parted.to_choose_on, posed.strata, posed.folds.labels, posed.seed)
    if not len(rows.held) or time_is_up():
        return None
    error = LandmarkError(
        posed.combination.kernels[0],
        posed.standard,
        posed.samples(rows.train),
        posed.samples(rows.held),
        posed.single(rows.landmarks),
        posed.fit_intercept,
        first.penalty,
    )
    starts = _starts(posed, first)
    start, alpha = min(starts, key=lambda each: error.value(*each))
    found = scales_by_landmarks(error, start, alpha, _FINER * tol, max_iter, observe)
    if time_is_up():
        warn_of_cut_choice("the descent by which scales are learned on some thousands of samples was cut short")
    elif not found.settled:
        warn_user(
            f"learned scales: the descent on some thousands of samples was ended by max_iter={max_iter}, at a "
            f"{found.certificate} of its error: raise max_iter",
            ConvergenceWarning,
        )
    return found


def _starts(posed: PosedScales, first: LearnedScales) -> list[tuple[Array, float]]:
    """Parameters and ridges from which a descent may begin: those found first, and equal scales.

    The wider a kernel, the more its entries differ in their last digits alone, which single precision has not. Scales
    of wide kernels are enlarged: with a ridge in proportion of a power, the functions are nearly the same.
    """
    form, scales = posed.form, first.scales[0]
    half = half_distance(posed.combination.kernels[0])
    total = form.total(scales)
    larger = max(1.0, _WIDEST * half / total) if total > 0.0 else 1.0  # 0 where all features are constant
    starts = [(form.parameters(larger * scales), first.alpha * larger**power) for power in (1.0, 1.5, 2.0)]
    if form.wide is form:  # a metric of low rank has no equal scales
        starts += [(form.equal(half), ridge) for ridge in (1e-2, 1.0)]
    return starts if larger > 1.0 else starts[2:]


# -- 3: centres --------------------------------------------------------------------------------------------------------


def _centres(posed: PosedScales, scales: Array, asked: float, total: int) -> Array:
    """The samples that are centres: so many, or as many as an error needs; fewer where the time would not be enough."""
    n = len(posed.rows)
    count = min(int(asked), n) if asked >= 1 else _enough(posed, scales, asked, total)
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
    rows = posed.rows[in_proportion(posed.strata[posed.rows], _TRIED, posed.seed + 1)]
    _, factor = definite(_symmetric(posed, scales, Z))
    half = solve_triangular(factor, posed.exact(rows, Z, scales).T, lower=True, check_finite=False)
    return relative_error(posed.exact(rows, rows, scales), half.T @ half, total)


def _symmetric(posed: PosedScales, scales: Array, Z: Array) -> Array:
    K = posed.exact(Z, Z, scales)
    return 0.5 * (K + K.T)


@dataclass(frozen=True, eq=False)
class _Trained:
    """The machine of all samples.

    Parameters
    ----------
    alpha : float, its ridge
    errors, constant : arrays (t,), the mean losses of the samples held out without them, and those of constants
    solution : CentresSolution
    """

    alpha: float
    errors: Array
    constant: Array
    solution: CentresSolution


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
    alpha, predicted = least_ridge(K, own, C, error, chosen.alpha, _DOUBLINGS, posed.fit_intercept, _AS_GOOD)
    return _OnCentres(K, own, alpha, predicted)


def _sums(posed: PosedScales, scales: Array, Z: Array, rows: Array) -> CentreSums:
    return summed(tiles(lambda part: posed.exact(part, Z, scales), rows, posed.Y, posed.weight))


def _trained(posed: PosedScales, parted: Parted, chosen: ChosenScales, beyond: RowsBeyond | None) -> _Trained:
    """The ridge and the machine on centres."""
    scales, Z, compared = chosen.scales, chosen.centres, parted.compared
    found = _on_centres(posed, parted, chosen, Z, None if beyond is None else beyond.sums(chosen))
    K, own, alpha = found.K, found.own, found.alpha
    whole = own.merge(_sums(posed, scales, Z, np.append(compared, parted.rest)))

    def kernel(rows: Array) -> Array:
        return posed.exact(rows, Z, scales)

    if posed.loss == "logistic":
        return _trained_logistic(posed, parted, K, kernel, own, whole, alpha)
    solution = certified(K, whole, alpha, _GAP, posed.fit_intercept)
    if not solution.certificate.reached(_GAP):  # sums have few digits for smooth kernels: a pass has more
        over = in_turn(partial(tiles, kernel, posed.rows, posed.Y, posed.weight))
        if beyond is not None:
            over = beyond.over(chosen)
        solution = refined(K, over, alpha, whole, tol=_GAP, fit_intercept=posed.fit_intercept, start=solution.coef)
    errors = posed.errors(compared, found.predicted)
    return _Trained(alpha, errors, posed.errors(compared, posed.constant(parted.learning)), solution)


def _trained_whole(posed: PosedScales, parted: Parted, chosen: ChosenScales) -> _Trained:
    """The machine of the kernel of all samples, with the ridge of some thousands of centres.

    With 1,000 to 8,000 centres of letter and protein the best ridges differed by a factor of 3 or 4, and the error of
    all samples by a hundredth over such a factor, while every further ridge takes as long as the machine.
    """
    compared = parted.compared
    alpha = _on_centres(posed, parted, chosen, _different(posed, posed.some(posed.rows, TO_CHOOSE_RIDGE))).alpha

    def trained(rows: Array) -> CentresSolution:
        problem = AllSamplesRidge(
            lambda few, others: posed.exact(few, others, chosen.scales),
            rows,
            posed.Y[rows],
            posed.weights(rows),
            posed.fit_intercept,
        )
        return by_all_samples(problem, alpha, _GAP)

    without = trained(parted.learning)
    parts = (posed.exact(compared[part], parted.learning, chosen.scales) for part in slices(len(compared), _ROWS))
    predicted = np.concatenate([C @ without.coef for C in parts]) + without.intercept
    errors = posed.errors(compared, predicted)
    return _Trained(alpha, errors, posed.errors(compared, posed.constant(parted.learning)), trained(posed.rows))


def _trained_logistic(
    posed: PosedScales,
    parted: Parted,
    K: Array,
    kernel: Callable[[Array], Array],
    own: CentreSums,
    whole: CentreSums,
    alpha: float,
) -> _Trained:
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
    n, m = len(parted.learning), len(parted.learning) + len(parted.compared)

    def samples(rows: slice) -> LogisticSamples:
        return LogisticSamples(
            partial(C, rows), np.where(posed.Y[order[rows]] > 0.0, 1.0, -1.0), posed.weights(order[rows])
        )

    learning, compared = samples(slice(n)), samples(slice(n, m))

    def fitted(ridge: float, rows: LogisticSamples, sums: CentreSums, start: CentresSolution | None) -> CentresSolution:
        return logistic_by_centres(K, rows, sums, ridge, _GAP, fit_intercept=posed.fit_intercept, start=start)

    def losses(found: CentresSolution) -> Array:
        return compared.losses(compared.values(found.coef) + found.intercept) / float(compared.shares.sum())

    # squared losses ask for a larger ridge: from there it is lowered, each machine beginning at the one before
    best = fitted(alpha, learning, own, None)
    found = best
    for _ in range(_QUARTERS):
        if time_is_up():
            warn_of_cut_choice("smaller ridges of the logistic loss were not tried")
            break
        found = fitted(0.25 * alpha, learning, own, found)
        if not losses(found).sum() < losses(best).sum():
            break
        alpha, best = 0.25 * alpha, found
    nothing = replace(best, coef=np.zeros_like(best.coef))
    share = np.average(learning.labels > 0, axis=0, weights=learning.weight)
    nothing = replace(nothing, intercept=np.log(np.maximum(share, TINY)) - np.log(np.maximum(1.0 - share, TINY)))
    return _Trained(alpha, losses(best), losses(nothing), fitted(alpha, samples(slice(None)), whole, best))


def _kept_kernel(kernel: Callable[[Array], Array], rows: Array, centres: int) -> Callable[[slice], Iterator[Array]]:
    """The kernel between some of these samples, as a slice says, and the centres: some rows at a time.

    It is kept where it takes a quarter of the memory at most, and made anew in every pass elsewhere.
    """
    C = None
    if 8.0 * len(rows) * centres <= 0.25 * available_memory():
        C = np.concatenate([kernel(rows[part]) for part in slices(len(rows), _ROWS)])

    def some(which: slice) -> Iterator[Array]:
        if C is not None:
            yield C[which]
            return
        own = rows[which]
        for part in slices(len(own), _ROWS):
            yield kernel(own[part])

    return some
