"""Kernel weights and ridge of least held-out error: descents from several starts, of which the best is returned.

    min over w >= 0, alpha > 0 of L(w / alpha),    L the error of held_out.py, or the evidence of evidence.py

L is not convex. The first start has equal weights and the ridge that is best for them. Since kernels may differ in
scale, equal weights and equal traces are both tried, each with ridges a decade apart, and so is v = 0, the constant
predictor. All of these ridges are tried: with many samples the error may have two minima along them, of which the one
with the smaller ridge led to far better weights in measurements. Descents never go uphill, so the end is no worse than
any of these points. A second start has the same ratios of the weights and a ridge a hundred times smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel._workers import in_time, time_is_up, warn_of_cut_choice
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import ROUGH
from multikernel.observer import Observer, silent
from multikernel.procedures.base import Weights
from multikernel.procedures.ridge_cv.criterion import Criterion, Point
from multikernel.procedures.ridge_cv.directions import DECADES, directions
from multikernel.procedures.ridge_cv.fixed import FixedEffects, about_means
from multikernel.procedures.ridge_cv.folds import Folds
from multikernel.procedures.ridge_cv.gauss_newton import CriterionEnd, descend
from multikernel.procedures.ridge_cv.held_out import HeldOutError
from multikernel.procedures.ridge_cv.in_features import ErrorInFeatures
from multikernel.procedures.units import RegressionUnits

_MULTIPLES = (0.2, 1.0, 5.0)  # times the weights of least error on few samples


@dataclass(frozen=True, eq=False, kw_only=True)
class RidgeCVWeights(Weights):
    """Weights that sum to 1, or are all 0 where the constant predictor is best, and the ridge for them.

    Parameters
    ----------
    alpha : float, the ridge; array (t,) where each target has a separate one
    errors : array (t,), the mean squared held-out error of each target
    effects : the coefficients of columns without penalty; None where there are none
    stationarities : array (t,) where each target has a separate ridge; None where there is one ridge. With separate
        weights as well, ``values`` are (t, m) and ``objective`` is (t,)
    """

    alpha: Any
    errors: Array
    effects: FixedEffects | None = None
    stationarities: Array | None = None

    def in_units(self, kernel: float, target: float, of_each: Any = None) -> RidgeCVWeights:
        """The weights for multiplied kernels and targets; errors are in units of ``of_each`` target (t,), if given."""
        units = RegressionUnits(kernel, target)
        error_units = units if of_each is None else RegressionUnits(kernel, of_each)
        objective = units.squared(self.objective)
        return replace(self, alpha=kernel * self.alpha, errors=error_units.squared(self.errors), objective=objective)


def ridge_cv(
    bank: KernelBank,
    Y: Array,
    folds: Folds,
    fit_intercept: bool = True,
    tol: float = 1e-4,
    max_iter: int = 500,
    n_init: int = 1,
    seed: int = 0,
) -> RidgeCVWeights:
    """Weights of the kernels and a ridge of least mean squared error over the held-out samples.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    Y : array (n, t); several targets share the weights and their errors are added
    folds : Folds
    fit_intercept : whether the mean of the training targets of a fold is subtracted first, and is the intercept
    tol : stationarity to reach; steps also end where ten of them together lower the error by less than ``tol`` / 100,
        relatively
    max_iter : steps at most from each start
    n_init : starts; the second has a much smaller ridge than the first, later ones are random multiples of the first
    seed : of the random starts

    Raises
    ------
    ValueError : where no ridge makes the sum of the kernel matrices positive definite
    """
    held_out = held_out_error(bank, Y, folds, fit_intercept)
    return least_error(held_out, held_out, tol, max_iter, n_init, seed)


def held_out_error(
    bank: KernelBank, Y: Array, folds: Folds, fit_intercept: bool = True, basis: Array | None = None
) -> ErrorInFeatures | HeldOutError:
    """The mean squared error over the held-out samples, in features where that costs less.

    Parameters
    ----------
    bank, Y, folds, fit_intercept : as above
    basis : array (n, p), an orthonormal basis of the columns without penalty, of which the intercept is then one
    """
    if basis is not None:
        return HeldOutError.of(bank, Y, folds, fit_intercept, basis)
    if fit_intercept:  # the error is the same, and rounding is smaller where a mean is large
        Y = about_means(Y)
    in_features = ErrorInFeatures.of(bank, Y, folds, fit_intercept)
    return in_features or HeldOutError.of(bank, Y, folds, fit_intercept)


def least_error(
    error: Criterion,
    held_out: Criterion,
    tol: float = 1e-4,
    max_iter: int = 500,
    n_init: int = 1,
    seed: int = 0,
    observe: Observer = silent,
) -> RidgeCVWeights:
    """Weights and a ridge of the least value of a criterion.

    Parameters
    ----------
    error : Criterion to minimise
    held_out : Criterion, the held-out error that is reported
    tol, max_iter, n_init, seed : as in ``ridge_cv``
    observe : called after each step of the last descent
    """
    Y = error.Y
    with one_blas_thread(len(Y)):
        several = n_init > 1  # the starts are compared after a few steps, and the best goes on
        rough, first_observer = (max(tol, ROUGH), silent) if several else (tol, observe)
        starts = in_time(_starts(error, n_init, seed), n_init, "starts of the weights")
        runs = [descend(error, start, rough, max_iter, first_observer) for start in starts]
        best = min(runs, key=lambda run: run.point.value)
        history = best.history
        steps = sum(len(run.history) for run in runs)
        if several:
            best = descend(error, best.point, tol, max_iter, observe)
            history = history + best.history
            steps = steps + len(best.history)
        point = best.point if error is held_out else held_out.at(best.point.v)
    errors = np.full(Y.shape[1], np.nan) if point is None else point.errors
    return _result(best, tol, errors, history, steps)


def _starts(error: Criterion, n_init: int, seed: int) -> Iterator[Point]:
    """The starts: the first point, the same weights with 1/100 of its ridge, and random multiples of its weights."""
    first = _first(error)
    rng = np.random.default_rng(seed)
    yield first
    for i in range(1, n_init):
        if i == 1:
            weights = 100.0 * first.v
        else:
            weights = first.v * rng.exponential(size=len(first.v))
        point = error.at(error.bounded(weights))
        if point is not None:
            yield point


def _first(error: Criterion) -> Point:
    """The best of equal weights, equal traces and no weights; or of multiples of the minimum on few samples."""
    subsample = error.on_subsample()
    if subsample is not None:
        minimum = descend(subsample, _first(subsample), ROUGH, 30).point.v
        if minimum.any():
            multiples = [error.at(error.bounded(times * minimum)) for times in _MULTIPLES]
        else:
            multiples = []
        tried = [point for point in multiples if point is not None]
        if tried:
            return min(tried, key=lambda point: point.value)
    points: list[Point | None] = []
    for direction in directions(error.diagonals):
        if not (points and time_is_up()):
            points.append(_along(error, direction))
    if time_is_up():
        warn_of_cut_choice("not all ridges were tried with which the search for weights may begin")
    if all(error.constant() < point.value for point in points if point is not None):
        points.append(error.at(np.zeros(len(error.bank))))
    return min((point for point in points if point is not None), key=lambda point: point.value)


def _along(error: Criterion, direction: Array) -> Point:
    """The lowest error of weights c * direction over decades of c, more decades while it falls, then by a parabola."""
    values: dict[int, float] = {}
    lowest: Point | None = None  # no other point is kept, since each has a matrix

    def tried(weights: Array) -> float:
        nonlocal lowest
        point = error.at(weights)
        if point is None:
            return np.inf
        if lowest is None or point.value < lowest.value:
            lowest = point
        return point.value

    def value(decade: int) -> float:
        if decade not in values:
            late = lowest is not None and time_is_up()
            in_range = not late and 10.0 ** abs(decade) <= error.largest
            values[decade] = tried(10.0**decade * direction) if in_range else np.inf
        return values[decade]

    def lower(decade: int) -> int:
        return min(decade - 1, decade + 1, key=value)

    best = min(DECADES, key=value)
    # one decade more as long as the last one lowered the error by 1/10,000
    while not time_is_up() and value(lower(best)) < (1.0 - 1e-4) * value(best):
        best = lower(best)
    below = value(best - 1)
    above = value(best + 1)
    curvature = below - 2.0 * value(best) + above
    if np.isfinite(curvature) and curvature > 0:
        tried(10.0 ** (best + 0.5 * (below - above) / curvature) * direction)
    if lowest is None:
        raise ValueError("the kernel matrices are not positive semi-definite: no ridge makes their sum definite")
    return lowest


def _result(run: CriterionEnd, tol: float, errors: Array, history: tuple[float, ...], n_iter: int) -> RidgeCVWeights:
    """The weights w and the ridge alpha of v = w / alpha, with sum w = 1."""
    total = float(run.point.v.sum()) or 1.0
    return RidgeCVWeights(
        values=run.point.v / total,
        objective=run.point.value,
        certificate=run.certificate,
        converged=run.certificate.reached(tol),
        n_iter=n_iter,
        history=history,
        alpha=1.0 / total,
        errors=errors,
    )
