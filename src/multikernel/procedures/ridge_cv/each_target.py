"""Weights and a ridge for each of many targets, from candidates that targets share.

    min over v_t >= 0 of L_t(v_t)    for every target t,    L_t the held-out error of one target (held_out.py)
                                                            or its evidence (evidence.py)

What is expensive about a point v is its matrix, whoever asks: one inverse gives the errors of all targets, and their
Gauss-Newton models

    L_t(v + s) = L_t(v) + 2 slope_t's + s'C_t s                                                                   (1)

cost a target 2 m n^2 operations a fold, as products of matrices. So Levenberg and Marquardt's method is done for all
targets at the same time, at points that they share:

    survey     equal weights, equal traces and every kernel alone, with ridges a decade apart, and no weights at all:
               each target begins where its error is lowest
    ends       where the matrix of a point is known, targets that begin or move there are followed to least points
               nearby, each at weights of its own and without their matrix (nearby.py), if kernels and folds are few
    round      each target that is not stationary wants the point v_t + s_t that minimises its damped model. One after
               the other becomes a candidate, beginning with those that want most, unless a candidate before it promises
               the target ``_SERVED`` of what its own point does: then it goes there. A target moves where its error
               falls as its model says, and its damping changes as in ``numerics.levenberg_marquardt``.

Far from the end targets want much, and few candidates serve many; near it each has its own, and the method is that of
gauss_newton.py. That is for one number, as the sum over targets that share their weights: its model may be one of
residuals where kernels outnumber samples, and one exact step takes the place of steps of all targets in compiled code.
Of 1,000 targets, three spaces and 400 samples, 12 candidates led to a stationarity of 1e-4 those that had not ended
near a point of the survey; without such ends, some 1,200 led all. Errors never rise: no target ends worse than at the
best point of the survey. Stationarity, and when a target ends without it, are as in gauss_newton.py.

(To move every target to the best of all candidates of the first rounds, not only to the one that it was promised
something by, was tried: it takes each candidate twice, and saves no round.)
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
from multikernel.procedures.ridge_cv.model import MEASURED, Tall, further, growing, level

_SERVED = 0.5  # of the decrease that a target's own point promises; 0.3 took as long, 0.8 longer
_ALONE = 10  # kernels at most of which a survey tries each alone
_FOLLOWED = 2  # points from which a target is followed to a least point nearby: rounds lead the others


@dataclass(frozen=True, eq=False)
class EachTarget:
    """Where the targets ended.

    Parameters
    ----------
    v : array (t, m), weights for a ridge of 1
    errors : array (t,)
    stationarity : array (t,)
    n_iter : rounds
    history : the largest stationarity before each round
    on_line : array (t,), the multiples of equal traces, of mean diagonal 1, where errors were least before the first
        round; None where they are not known
    """

    v: Array
    errors: Array
    stationarity: Array
    n_iter: int
    history: tuple[float, ...]
    on_line: Array | None = None


Coefficients = Callable[[Array], "Array | None"]  # of some targets, at the point that they move to
Keeper = Callable[[Coefficients, Array, Array], None]  # shown these, the targets that move, and their errors


def forget(coef: Coefficients, own: Array, errors: Array) -> None:
    """Keep nothing of a point."""


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
    keep : called where targets move; what it keeps of the last call for a target belongs to its weights, unless there
        are several starts

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
    """The points of all targets, with their models: changed in place from round to round."""

    def __init__(self, error: Criterion, tol: float, keep: Keeper) -> None:
        t, m = error.Y.shape[1], len(error.diagonals)
        self.error = error
        self.tol = tol
        constants = error.constants()
        self.small = np.maximum(SMALL_ERROR * constants, TINY)
        # residuals have lost seven digits there, so a smaller error is rounding
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
        self.tried = np.zeros(t, dtype=np.int64)  # how often a target was followed to a least point nearby
        self.ended = 0  # targets that ended near a point that others share
        self.history: list[float] = []  # the largest stationarity before each round

    def take(self, other: _Descent) -> None:
        """The targets that another run led lower."""
        better = other.errors < self.errors
        for name in ("v", "errors", "slopes", "curvatures", "scale", "damping", "growth", "stationarity"):
            getattr(self, name)[better] = getattr(other, name)[better]
        self.rounds += other.rounds

    # -- the first points ----------------------------------------------------------------------------------------------

    def lower(self, points: Iterable[Array], lowest: Array, which: Array, known: list[Array]) -> None:
        """Evaluate points for all targets, in time; where the error of one is lower, it is remembered."""
        for v in points:
            if len(known) > 1 and time_is_up():
                break
            errors = self._errors(v)
            if errors is None:
                continue
            better = errors < lowest
            lowest[better] = errors[better]
            which[better] = len(known)
            known.append(v)

    def start(self, V: Array, observe: Observer) -> None:
        """From weights (t, m) of each target."""
        points, groups = np.unique(V, axis=0, return_inverse=True)
        for number, v in enumerate(points):
            self._begin(self.error.bounded(v), np.flatnonzero(groups.ravel() == number))
            if self.ended:
                self._report(observe)

    # the matrix of a point is gone before that of another is made: none is held here from turn to turn

    def _errors(self, v: Array) -> Array | None:
        """The errors of all targets at weights; None where their matrix is singular in floating point."""
        check_interrupted()
        shared = self.error.shared(v)
        if shared is None:
            return None
        return shared.errors(np.arange(len(self.errors)))

    def _begin(self, v: Array, own: Array) -> None:
        check_interrupted()
        shared = self.error.shared(v)
        if shared is not None:
            self.move(shared, own, shared.errors(own))

    def move(self, shared: SharedWeights, own: Array, errors: Array) -> None:
        """Take targets to a point where their errors are these, and those that end near it to their ends."""
        if not len(own):
            return
        self.keep(shared.coef, own, errors)
        self.v[own] = shared.v
        self.errors[own] = errors
        own = np.setdiff1d(own, self._end_near(shared, own))
        if len(own):
            near = shared.models(own)
            self._know(own, near.slopes, near.curvatures)

    def _know(self, own: Array, slopes: Array, curvatures: Array) -> None:
        """The models of targets where they are."""
        self.slopes[own] = slopes
        self.curvatures[own] = curvatures
        self.scale[own] = np.maximum(self.scale[own], np.einsum("tkk->tk", curvatures))
        self._measure(own)

    def _end_near(self, shared: SharedWeights, own: Array) -> Array:
        """Take targets from a point where their matrix is known to least points nearby, where that costs little.

        Which of them ended there is returned.
        """
        own = own[(self.errors[own] > self.small[own]) & (self.tried[own] < _FOLLOWED)]
        if not len(own) or time_is_up():
            return own[:0]
        self.tried[own] += 1
        found = shared.ends(own, self.tol)
        lower = found.errors <= (1.0 + SINGULAR) * self.errors[found.index]  # those that end here differ by rounding
        index = found.index[lower]
        self.v[index] = found.v[lower]
        self.errors[index] = np.minimum(found.errors[lower], self.errors[index])
        self.ended += len(index)
        self._know(index, found.slopes[lower], found.curvatures[lower])
        self.keep(partial(self._coef_near, shared), index, self.errors[index])
        return index

    def _coef_near(self, shared: SharedWeights, index: Array) -> Array | None:
        return shared.coef_near(index, self.v[index])

    # -- rounds --------------------------------------------------------------------------------------------------------

    def descend(self, tol: float, max_iter: int, observe: Observer) -> tuple[float, ...]:
        """Rounds until every target is stationary or gains nothing; the largest stationarity before each."""
        active = np.isfinite(self.errors)
        before: list[Array] = []
        for number in range(max_iter + 1):
            own = np.flatnonzero(active)
            self._measure(own)
            self._check_promises(own[self.stationarity[own] > tol], tol)
            self._report(observe)
            before.append(self.errors.copy())
            active[own] = self.stationarity[own] > tol
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
        """Show how far targets are; those that have not begun might lose all of their error."""
        self.history.append(float(self.stationarity.max()))
        begun = np.isfinite(self.stationarity)
        known = np.where(begun, self.stationarity, 1.0)
        mean = float(np.exp(np.log(np.maximum(known, self.tol)).mean()))
        errors = float(self.errors[np.isfinite(self.errors)].sum())
        observe(Event(len(self.history), Certificate.stationarity(mean, 1.0), None, errors))

    def _measure(self, own: Array) -> None:
        """The stationarity of targets, by the damping that defines it."""
        diagonals = np.einsum("tkk->tk", self.curvatures[own])
        decreases = self._steps(own, MEASURED * diagonals)[1][:, 0]
        self.stationarity[own] = np.maximum(decreases, 0.0) / np.maximum(self.errors[own], self.small[own])
        self.stationarity[own[self.errors[own] <= self.floor[own]]] = 0.0

    def _check_promises(self, own: Array, tol: float) -> None:
        """Find out whether models keep what they promise of weights that grow without end, where nothing else gains."""
        damping = MEASURED * np.einsum("tkk->tk", self.curvatures[own])
        steps = self._steps(own, damping)[0]
        grow = growing(self.v[own], steps)
        rest = self._steps(own, np.where(grow, 0.0, damping), ~grow)[1][:, 0]
        sizes = np.maximum(self.errors[own], self.small[own])
        for row in np.flatnonzero(grow.any(axis=1) & (rest <= tol * sizes)):
            check_interrupted()
            if time_is_up():
                break
            best = self._gain_further(own[[row]], np.where(grow[row], steps[row], 0.0), tol * sizes[row])
            if best is not None:
                self.stationarity[own[row]] = max(0.0, rest[row], best) / sizes[row]

    def _gain_further(self, own: Array, step: Array, enough: float) -> float | None:
        """What larger weights gain a target, if that is not enough; else it moves to them, or the model is right."""
        best = 0.0
        for v in further(self.v[own[0]], step):
            gained = self._gain_at(self.error.bounded(v), own, enough)
            if gained is None or not level(gained, enough):
                return None
            best = max(best, gained)
        return best

    def _gain_at(self, v: Array, own: Array, enough: float) -> float | None:
        """What a target gains at weights, to which it moves if that is much; None where their matrix is singular."""
        shared = self.error.shared(v)
        if shared is None:
            return None
        errors = shared.errors(own)
        gained = float(self.errors[own[0]] - errors[0])
        if gained > 0.0 and not level(gained, enough):
            self.move(shared, own, errors)
        return gained

    def _steps(self, own: Array, damping: Array, moving: Array | None = None) -> tuple[Array, Array]:
        """Steps of all weights or the ``moving`` ones, and what the models without and with damping lose by them."""
        steps = np.empty((len(own), self.v.shape[1]))
        decreases = np.empty((len(own), 2))
        from multikernel.procedures.ridge_cv._steps import damped_steps  # compiled: imported where it is used

        slopes = self.slopes[own]
        curvatures = self.curvatures[own]
        if moving is not None:
            slopes = np.where(moving, slopes, 0.0)
            curvatures = np.where(moving[:, :, None] & moving[:, None], curvatures, 0.0)
        damped_steps(self.v[own], slopes, curvatures, damping, steps, decreases)
        sizes = self.error.diagonals
        largest = self.error.largest
        for row in np.flatnonzero((self.v[own] + steps) @ sizes > largest):  # seldom: of targets without noise
            near = Tall(self.v[own[row]], slopes[row], curvatures[row])
            steps[row] = near.step(damping[row], sizes, largest)
            plain = near.decrease(steps[row])
            decreases[row] = plain, plain - float(damping[row] @ steps[row] ** 2)
        return steps, decreases

    def _round(self, own: Array) -> None:
        """Candidates that serve targets, and the targets to them."""
        damping = self.damping[own, None] * np.maximum(self.scale[own], self._bent(own))
        steps, decreases = self._steps(own, damping)
        wanted = decreases[:, 1]
        order = np.argsort(-wanted / np.maximum(self.errors[own], self.small[own]), kind="stable")
        by = np.empty(len(own), dtype=np.int64)
        from multikernel.procedures.ridge_cv._steps import served

        served(self.v[own], steps, self.slopes[own], self.curvatures[own], damping, wanted, order, _SERVED, by)
        sequence = np.argsort(by, kind="stable")
        for members in np.split(sequence, np.flatnonzero(np.diff(by[sequence])) + 1):
            check_interrupted()
            centre = by[members[0]]
            v = self.error.bounded(np.maximum(self.v[own[centre]] + steps[centre], 0.0))
            self._try(v, own[members])
            if time_is_up():
                break

    def _bent(self, own: Array) -> Array:
        """The curvature, up to a factor, of an error like 1 / v_k, where weights are not zero: (t, m).

        Along a kernel that hardly needs its ridge the error is such, and the model almost flat: its step, damped by the
        curvature of the model, would lead such a weight to zero, or out of sight, while others hardly move.
        """
        v = self.v[own]
        return np.divide(np.abs(self.slopes[own]), v, out=np.zeros_like(v), where=v > TINY)

    def _try(self, v: Array, own: Array) -> None:
        """A candidate for some targets: those whose errors fall as promised move there."""
        step = v - self.v[own]
        images = np.einsum("tkj,tj->tk", self.curvatures[own], step)
        predicted = -np.einsum("tk,tk->t", step, 2.0 * self.slopes[own] + images)
        shared = self.error.shared(v)
        if shared is None:
            errors = np.full(len(own), np.inf)
        else:
            errors = shared.errors(own)
        ratio = np.full(len(own), -1.0)
        np.divide(self.errors[own] - errors, predicted, out=ratio, where=(predicted > 0.0) & np.isfinite(errors))
        accepted = ratio > ACCEPTED
        self.damping[own], self.growth[own] = changed_damping(self.damping[own], self.growth[own], ratio)
        if shared is not None:
            self.move(shared, own[accepted], errors[accepted])


def _survey(run: _Descent, also: Sequence[Array]) -> Array:
    """The lowest of the first points and of others for each target: shape (t, m)."""
    error = run.error
    t = len(run.errors)
    lowest = np.full(t, np.inf)
    which = np.full(t, -1)
    known: list[Array] = []
    run.lower([np.zeros(len(error.diagonals)), *also], lowest, which, known)
    for direction in _with_each_alone(error.diagonals):
        if len(known) > 1 and time_is_up():
            break
        first = len(known)
        run.lower((10.0**decade * direction for decade in DECADES), lowest, which, known)
        for decade, way, end in ((DECADES[-1], 1, len(known) - 1), (DECADES[0], -1, first)):
            # further while the last point led a target lower by 1/10,000 of its error
            gained = which == end
            while gained.any() and 10.0 ** abs(decade + way) <= error.largest and not time_is_up():
                decade += way
                before = lowest.copy()
                run.lower([10.0**decade * direction], lowest, which, known)
                gained = lowest < (1.0 - 1e-4) * before
        if run.on_line is None and (which >= 0).all():  # equal traces are the first of the directions
            run.on_line = np.stack(known)[which] @ error.diagonals
    if time_is_up():
        warn_of_cut_choice("not all ridges were tried with which the search for weights may begin")
    if (which < 0).any():
        raise ValueError("the kernel matrices are not positive semi-definite: no ridge makes their sum definite")
    return np.stack(known)[which]


def _with_each_alone(means: Array) -> list[Array]:
    """Those of all kernels, and few kernels each alone."""
    used = np.flatnonzero(means > 0)
    found = directions(means)[::-1]
    if 1 < len(used) <= _ALONE:
        found += list(np.eye(len(means))[used] / means[used, None])
    return found
