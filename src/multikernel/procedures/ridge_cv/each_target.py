"""Weights and a ridge for each of many targets, from candidates that targets share.

    min over v_t >= 0 of L_t(v_t)    for every target t,    L_t the held-out error of one target (held_out.py)
                                                            or its evidence (evidence.py)

The expensive part of a point v is its matrix, which all targets share: one inverse gives the errors of all targets, and
their Gauss-Newton models

    L_t(v + s) = L_t(v) + 2 slope_t's + s'C_t s                                                                   (1)

take 2 m n^2 operations for each target and fold, as products of matrices. So the method of Levenberg and Marquardt is
applied to all targets at the same time, at points that they share:

    survey     equal weights, equal traces and every kernel alone, with ridges a decade apart, and no weights at all:
               each target begins where its error is lowest
    ends       from a point whose matrix is known, each target that begins or moves there is followed to a minimum of
               its error nearby, without the matrix of that minimum (nearby.py), if kernels and folds are few
    round      each target that is not stationary proposes the point v_t + s_t that minimises its damped model.
               Proposals are taken in the order of the decrease that they promise, largest first. One becomes a
               candidate, unless an earlier candidate promises the target ``_SERVED`` of what its own proposal does:
               then the target tries that candidate. A target moves where its error falls as its model predicts, and
               its damping changes as in ``numerics.levenberg_marquardt``.

Far from the minima steps are long, and few candidates serve many targets. Near them each target has its own candidate,
and the method is that of gauss_newton.py, which minimises one number, such as the sum over targets that share their
weights: there, the model may consist of residuals where kernels outnumber samples, and one exact step replaces the
compiled steps of all targets. Of 1,000 targets, three spaces and 400 samples, 12 candidates sufficed for a stationarity
of 1e-4 of all targets that had not ended near a point of the survey; without such ends, some 1,200 were needed for all
targets. Errors never rise: no target ends worse than at the best point of the survey. Stationarity is defined as in
gauss_newton.py, and so is when a target ends without it.

(It was tried to move every target to the best of all candidates of the first rounds, not only to the one that serves
it: this evaluates each candidate twice, and saves no round.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from multikernel._floats import ROUNDING, SINGULAR, TINY
from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up, warn_of_cut_choice
from multikernel.certificate import ROUGH, STALLED, Certificate
from multikernel.numerics.levenberg_marquardt import ACCEPTED, FIRST_DAMPING, changed_damping
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.ridge_cv.criterion import SMALL_ERROR, Criterion, SharedWeights
from multikernel.procedures.ridge_cv.directions import DECADES, directions
from multikernel.procedures.ridge_cv.model import MEASURED, Tall, growing, larger_weights, level

_SERVED = 0.5  # of the decrease that a target's own proposal promises; 0.3 took as long, 0.8 longer
_ALONE = 10  # kernels at most of which a survey tries each alone
_FOLLOWED = 2  # points at most from which a target is followed to a minimum nearby; later it takes part in rounds only


@dataclass(frozen=True, eq=False)
class EachTarget:
    """The points at which the targets ended.

    Parameters
    ----------
    v : array (t, m), weights for a ridge of 1
    errors : array (t,)
    stationarity : array (t,)
    n_iter : rounds
    history : the largest stationarity before each round
    on_line : array (t,), for each target the multiple of equal traces (of mean diagonal 1) that had the least error
        before the first round; None where it is not known
    """

    v: Array
    errors: Array
    stationarity: Array
    n_iter: int
    history: tuple[float, ...]
    on_line: Array | None = None


Coefficients = Callable[[Array], "Array | None"]  # of some targets, at the point that they move to
Keeper = Callable[[Coefficients, Array, Array], None]  # called with these, the targets that move, and their errors


def forget(coef: Coefficients, index: Array, errors: Array) -> None:
    """Keep no coefficients."""


def each_target(
    error: Criterion,
    tol: float = 1e-4,
    max_iter: int = 500,
    n_init: int = 1,
    seed: int = 0,
    observe: Observer = silent,
    first: Sequence[Array] = (),
    begin: Array | None = None,
    keep: Keeper = forget,
) -> EachTarget:
    """Weights of least error for each target of a criterion that is a sum over targets.

    Parameters
    ----------
    error : Criterion
    tol : stationarity to reach
    max_iter : rounds at most
    n_init : starts; the second has a ridge a hundred times smaller than where a target begins after the survey, later
        ones are random multiples of its weights
    seed : of the random starts
    observe : called after each round; the certificate is the geometric mean over the targets, each at least ``tol``
    first : weights (m,) that the survey tries as well
    begin : array (t, m), where each target begins, without a survey
    keep : called where targets move; the coefficients of its last call for a target are those of the target's weights,
        unless there are several starts

    Raises
    ------
    ValueError : where no ridge makes the sum of the kernel matrices positive definite
    """
    best = _Descent(error, tol, keep)
    origin = _survey(best, first) if begin is None else begin
    best.start(origin, observe)
    rng = np.random.default_rng(seed)
    if n_init > 1:
        best.descend(max(tol, ROUGH), max_iter, silent)
    for i in range(1, n_init):
        if time_is_up():
            warn_of_cut_choice(f"only {i} of {n_init} starts of the weights ended in time")
            break
        factors = np.full(origin.shape[1], 100.0) if i == 1 else rng.exponential(size=origin.shape[1])
        other = _Descent(error, tol, keep)
        other.start(origin * factors, silent)
        other.descend(max(tol, ROUGH), max_iter, silent)
        best.take(other)
    history = best.descend(tol, max_iter, observe)
    return EachTarget(best.v, best.errors, best.stationarity, best.rounds, history, best.on_line)


class _Descent:
    """The current points of all targets, with their models; changed in place from round to round."""

    def __init__(self, error: Criterion, tol: float, keep: Keeper) -> None:
        t, m = error.Y.shape[1], len(error.diagonals)
        self.error = error
        self.tol = tol
        constants = error.constants()
        self.small = np.maximum(SMALL_ERROR * constants, TINY)
        # at this error residuals have lost seven digits, so a smaller one is rounding
        self.floor = ROUNDING * error.squares() / error.count
        self.v = np.zeros((t, m))
        self.errors = np.full(t, np.inf)
        self.slopes = np.zeros((t, m))
        self.curvatures = np.zeros((t, m, m))
        self.scale = np.zeros((t, m))  # the largest diagonal of the models so far
        self.damping = np.full(t, FIRST_DAMPING)
        self.growth = np.full(t, 2.0)
        self.stationarity = np.full(t, np.inf)
        self.on_line: Array | None = None
        self.keep = keep
        self.rounds = 0
        self.tried = np.zeros(t, dtype=np.int64)  # how often a target was followed to a minimum nearby
        self.ended = 0  # how many targets ended near a shared point
        self.history: list[float] = []  # the largest stationarity before each round

    def take(self, other: _Descent) -> None:
        """Replace the points of targets whose errors are lower in another run."""
        better = other.errors < self.errors
        for name in ("v", "errors", "slopes", "curvatures", "scale", "damping", "growth", "stationarity"):
            getattr(self, name)[better] = getattr(other, name)[better]
        self.rounds += other.rounds

    # -- the first points ----------------------------------------------------------------------------------------------

    def lower(self, points: Iterable[Array], lowest: Array, point_of_target: Array, evaluated: list[Array]) -> None:
        """Evaluate points for all targets until time is up, and keep the lowest error of each target and its point."""
        for v in points:
            if len(evaluated) > 1 and time_is_up():
                break
            errors = self._errors(v)
            if errors is None:
                continue
            better = errors < lowest
            lowest[better] = errors[better]
            point_of_target[better] = len(evaluated)
            evaluated.append(v)

    def start(self, V: Array, observe: Observer) -> None:
        """Begin at weights (t, m), a row for each target."""
        points, groups = np.unique(V, axis=0, return_inverse=True)
        for number, v in enumerate(points):
            self._begin(self.error.bounded(v), np.flatnonzero(groups.ravel() == number))
            if self.ended:
                self._report(observe)

    # no matrix is stored between points: that of one point is freed before that of the next is made

    def _errors(self, v: Array) -> Array | None:
        """The errors of all targets at weights; None where their matrix is singular in floating point."""
        check_interrupted()
        shared = self.error.shared(v)
        if shared is None:
            return None
        return shared.errors(np.arange(len(self.errors)))

    def _begin(self, v: Array, index: Array) -> None:
        check_interrupted()
        shared = self.error.shared(v)
        if shared is not None:
            self.move(shared, index, shared.errors(index))

    def move(self, shared: SharedWeights, index: Array, errors: Array) -> None:
        """Move targets to a point with these errors, and those that end near it to where they end."""
        if not len(index):
            return
        self.keep(shared.coef, index, errors)
        self.v[index] = shared.v
        self.errors[index] = errors
        index = np.setdiff1d(index, self._end_near(shared, index))
        if len(index):
            models = shared.models(index)
            self._set_models(index, models.slopes, models.curvatures)

    def _set_models(self, index: Array, slopes: Array, curvatures: Array) -> None:
        """Store the models of targets at their points."""
        self.slopes[index] = slopes
        self.curvatures[index] = curvatures
        self.scale[index] = np.maximum(self.scale[index], np.einsum("tkk->tk", curvatures))
        self._measure(index)

    def _end_near(self, shared: SharedWeights, index: Array) -> Array:
        """Move targets from a point whose matrix is known to minima nearby, where that costs little.

        Returns the targets that ended there.
        """
        index = index[(self.errors[index] > self.small[index]) & (self.tried[index] < _FOLLOWED)]
        if not len(index) or time_is_up():
            return index[:0]
        self.tried[index] += 1
        ends = shared.ends(index, self.tol)
        lower = ends.errors <= (1.0 + SINGULAR) * self.errors[ends.index]  # at an end here errors differ by rounding
        ended = ends.index[lower]
        self.v[ended] = ends.v[lower]
        self.errors[ended] = np.minimum(ends.errors[lower], self.errors[ended])
        self.ended += len(ended)
        self._set_models(ended, ends.slopes[lower], ends.curvatures[lower])
        self.keep(partial(self._coef_near, shared), ended, self.errors[ended])
        return ended

    def _coef_near(self, shared: SharedWeights, index: Array) -> Array | None:
        return shared.coef_near(index, self.v[index])

    # -- rounds --------------------------------------------------------------------------------------------------------

    def descend(self, tol: float, max_iter: int, observe: Observer) -> tuple[float, ...]:
        """Rounds until every target is stationary or gains nothing; the largest stationarity before each."""
        active = np.isfinite(self.errors)
        before: list[Array] = []
        for number in range(max_iter + 1):
            index = np.flatnonzero(active)
            self._measure(index)
            self._check_promises(index[self.stationarity[index] > tol], tol)
            self._report(observe)
            before.append(self.errors.copy())
            active[index] = self.stationarity[index] > tol
            if len(before) > STALLED:
                gained = before.pop(0) - self.errors
                active &= gained > 0.01 * tol * np.maximum(self.errors, self.small)
            active &= self.damping < 1e12  # where so short a step does not lead down, none does
            if not active.any() or number == max_iter or time_is_up():
                break
            self._round(np.flatnonzero(active))
            self.rounds += 1
        return tuple(self.history)

    def _report(self, observe: Observer) -> None:
        """Report the stationarities of all targets; that of a target that has not begun counts as 1."""
        self.history.append(float(self.stationarity.max()))
        begun = np.isfinite(self.stationarity)
        stationarities = np.where(begun, self.stationarity, 1.0)
        mean = float(np.exp(np.log(np.maximum(stationarities, self.tol)).mean()))
        errors = float(self.errors[np.isfinite(self.errors)].sum())
        observe(Event(len(self.history), Certificate.stationarity(mean, 1.0), None, errors))

    def _measure(self, index: Array) -> None:
        """Compute the stationarity of targets, with the damping that defines it."""
        diagonals = np.einsum("tkk->tk", self.curvatures[index])
        decreases = self._steps(index, MEASURED * diagonals)[1][:, 0]
        self.stationarity[index] = np.maximum(decreases, 0.0) / np.maximum(self.errors[index], self.small[index])
        self.stationarity[index[self.errors[index] <= self.floor[index]]] = 0.0

    def _check_promises(self, index: Array, tol: float) -> None:
        """Test the models of targets that are stationary but for weights that grow without end.

        Errors at larger weights show whether the decrease that the model promises there is real.
        """
        damping = MEASURED * np.einsum("tkk->tk", self.curvatures[index])
        steps = self._steps(index, damping)[0]
        grow = growing(self.v[index], steps)
        other_decreases = self._steps(index, np.where(grow, 0.0, damping), ~grow)[1][:, 0]
        sizes = np.maximum(self.errors[index], self.small[index])
        for row in np.flatnonzero(grow.any(axis=1) & (other_decreases <= tol * sizes)):
            check_interrupted()
            if time_is_up():
                break
            best = self._gain_of_larger_weights(index[[row]], np.where(grow[row], steps[row], 0.0), tol * sizes[row])
            if best is not None:
                self.stationarity[index[row]] = max(0.0, other_decreases[row], best) / sizes[row]

    def _gain_of_larger_weights(self, index: Array, step: Array, enough: float) -> float | None:
        """The largest decrease of a target's error at larger weights; None where it is more than ``enough``.

        In that case the target has moved, or its model is right.
        """
        best = 0.0
        for v in larger_weights(self.v[index[0]], step):
            gained = self._gain_at(self.error.bounded(v), index, enough)
            if gained is None or not level(gained, enough):
                return None
            best = max(best, gained)
        return best

    def _gain_at(self, v: Array, index: Array, enough: float) -> float | None:
        """The decrease of a target's error at weights, to which it moves if that is large; None if singular there."""
        shared = self.error.shared(v)
        if shared is None:
            return None
        errors = shared.errors(index)
        gained = float(self.errors[index[0]] - errors[0])
        if gained > 0.0 and not level(gained, enough):
            self.move(shared, index, errors)
        return gained

    def _steps(self, index: Array, damping: Array, moving: Array | None = None) -> tuple[Array, Array]:
        """Steps of all weights or of the ``moving`` ones, and the decreases of the models without and with damping."""
        steps = np.empty((len(index), self.v.shape[1]))
        decreases = np.empty((len(index), 2))
        from multikernel.procedures.ridge_cv._steps import damped_steps  # compiled: imported where it is used

        slopes = self.slopes[index]
        curvatures = self.curvatures[index]
        if moving is not None:
            slopes = np.where(moving, slopes, 0.0)
            curvatures = np.where(moving[:, :, None] & moving[:, None], curvatures, 0.0)
        damped_steps(self.v[index], slopes, curvatures, damping, steps, decreases)
        sizes = self.error.diagonals
        largest = self.error.largest
        for row in np.flatnonzero((self.v[index] + steps) @ sizes > largest):  # seldom: of targets without noise
            near = Tall(self.v[index[row]], slopes[row], curvatures[row])
            steps[row] = near.step(damping[row], sizes, largest)
            plain = near.decrease(steps[row])
            decreases[row] = plain, plain - float(damping[row] @ steps[row] ** 2)
        return steps, decreases

    def _round(self, index: Array) -> None:
        """One round: choose the candidates that serve the targets, and try each with its targets."""
        damping = self.damping[index, None] * np.maximum(self.scale[index], self._inverse_curvature(index))
        steps, decreases = self._steps(index, damping)
        promised = decreases[:, 1]
        order = np.argsort(-promised / np.maximum(self.errors[index], self.small[index]), kind="stable")
        candidate_of = np.empty(len(index), dtype=np.int64)
        from multikernel.procedures.ridge_cv._steps import served

        served(
            self.v[index],
            steps,
            self.slopes[index],
            self.curvatures[index],
            damping,
            promised,
            order,
            _SERVED,
            candidate_of,
        )
        sequence = np.argsort(candidate_of, kind="stable")
        for members in np.split(sequence, np.flatnonzero(np.diff(candidate_of[sequence])) + 1):
            check_interrupted()
            centre = candidate_of[members[0]]
            v = self.error.bounded(np.maximum(self.v[index[centre]] + steps[centre], 0.0))
            self._try(v, index[members])
            if time_is_up():
                break

    def _inverse_curvature(self, index: Array) -> Array:
        """The curvature, up to a factor, of an error proportional to 1 / v_k, where weights are not zero: (t, m).

        Along a kernel that hardly needs its ridge the error behaves like 1 / v_k, and the model is almost flat: a step
        damped by the curvature of the model would make the weight zero or very large, while others hardly change.
        """
        v = self.v[index]
        return np.divide(np.abs(self.slopes[index]), v, out=np.zeros_like(v), where=v > TINY)

    def _try(self, v: Array, index: Array) -> None:
        """Evaluate a candidate for some targets; those whose errors fall as predicted move there."""
        step = v - self.v[index]
        images = np.einsum("tkj,tj->tk", self.curvatures[index], step)
        predicted = -np.einsum("tk,tk->t", step, 2.0 * self.slopes[index] + images)
        shared = self.error.shared(v)
        if shared is None:
            errors = np.full(len(index), np.inf)
        else:
            errors = shared.errors(index)
        ratio = np.full(len(index), -1.0)
        np.divide(self.errors[index] - errors, predicted, out=ratio, where=(predicted > 0.0) & np.isfinite(errors))
        accepted = ratio > ACCEPTED
        self.damping[index], self.growth[index] = changed_damping(self.damping[index], self.growth[index], ratio)
        if shared is not None:
            self.move(shared, index[accepted], errors[accepted])


def _survey(run: _Descent, more_points: Sequence[Array]) -> Array:
    """For each target, the survey's point of least error, ``more_points`` included: shape (t, m)."""
    error = run.error
    t = len(run.errors)
    lowest = np.full(t, np.inf)
    point_of_target = np.full(t, -1)
    evaluated: list[Array] = []
    run.lower([np.zeros(len(error.diagonals)), *more_points], lowest, point_of_target, evaluated)
    for direction in _survey_directions(error.diagonals):
        if len(evaluated) > 1 and time_is_up():
            break
        first = len(evaluated)
        run.lower((10.0**decade * direction for decade in DECADES), lowest, point_of_target, evaluated)
        for decade, sign, end in ((DECADES[-1], 1, len(evaluated) - 1), (DECADES[0], -1, first)):
            # one decade more as long as the last one lowered the error of a target by 1/10,000
            gained = point_of_target == end
            while gained.any() and 10.0 ** abs(decade + sign) <= error.largest and not time_is_up():
                decade += sign
                before = lowest.copy()
                run.lower([10.0**decade * direction], lowest, point_of_target, evaluated)
                gained = lowest < (1.0 - 1e-4) * before
        if run.on_line is None and (point_of_target >= 0).all():  # equal traces are the first of the directions
            run.on_line = np.stack(evaluated)[point_of_target] @ error.diagonals
    if time_is_up():
        warn_of_cut_choice("not all ridges were tried with which the search for weights may begin")
    if (point_of_target < 0).any():
        raise ValueError("the kernel matrices are not positive semi-definite: no ridge makes their sum definite")
    return np.stack(evaluated)[point_of_target]


def _survey_directions(means: Array) -> list[Array]:
    """The directions of a survey: those of all kernels, and each kernel alone where kernels are few."""
    nonzero = np.flatnonzero(means > 0)
    starts = directions(means)[::-1]
    if 1 < len(nonzero) <= _ALONE:
        starts += list(np.eye(len(means))[nonzero] / means[nonzero, None])
    return starts
