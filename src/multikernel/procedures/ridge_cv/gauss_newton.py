"""Levenberg and Marquardt's method for a criterion of held-out samples, the weights bounded below by zero.

A step minimises the Gauss-Newton model of the squared residuals (model.py) with a damping
(``numerics.levenberg_marquardt``),

    min over v >= 0 of |r + J (v - v0)|^2 + damping |D (v - v0)|^2,    D_k the largest norm of column k of J so far:

weights reach zero and leave it as the signs of the gradient say. The scale D (More) leaves the steps unchanged when
kernels are multiplied by constants.

Stationarity is the decrease that the model predicts with a small damping of its own, relative to the error, or to a
hundredth of that of a constant predictor where this is more: zero where the first-order conditions of L hold. Without
noise in the targets the error falls for ever as the kernel outgrows the ridge, so weights are bounded where floating
point can no longer distinguish the ridge from zero. The model is not the Hessian: where residuals are large it may
predict much more than a step gains. If that is so along weights that grow without end, the decrease is the one that was
found there (model.py); else a run also ends when its last ten steps together gained less than a hundredth of the
stationarity asked for, and has not converged then.
(Newton steps with the exact Hessian were tried: it is seldom definite, and they are slower by far.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._floats import ROUNDING
from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.certificate import FINEST_GAP, STALLED, Certificate
from multikernel.numerics import levenberg_marquardt
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.ridge_cv.criterion import SMALL_ERROR, Criterion, Point
from multikernel.procedures.ridge_cv.model import MEASURED, QuadraticModel, further, growing, level


@dataclass(frozen=True, eq=False)
class CriterionEnd:
    """Where a run ended.

    Parameters
    ----------
    point : Point
    certificate : its stationarity
    history : the stationarity at each step
    """

    point: Point
    certificate: Certificate
    history: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class _CriterionModel(levenberg_marquardt.DampedModel):
    """The model of a criterion near a point, among kernels that are not too large."""

    error: Criterion
    point: Point
    near: QuadraticModel

    @property
    def value(self) -> float:
        return self.point.value

    def scale(self, before: Array | None) -> Array:
        if before is None:
            return self.near.diagonal
        return np.maximum(before, self.near.diagonal)

    def step(self, damping: Array) -> tuple[Array, float]:
        step = self.near.step(damping, self.error.diagonals, self.error.largest)
        return step, self.near.decrease(step)

    def tried(self, step: Array) -> _CriterionCandidate | None:
        found = self.error.at(np.maximum(self.point.v + step, 0.0))
        if found is None:
            return None
        return _CriterionCandidate(self.error, found)


@dataclass(frozen=True, eq=False)
class _CriterionCandidate(levenberg_marquardt.TrialPoint):
    """A criterion at a point."""

    error: Criterion
    point: Point

    @property
    def value(self) -> float:
        return self.point.value

    def model(self) -> _CriterionModel:
        return _CriterionModel(self.error, self.point, self.error.model(self.point))


def descend(error: Criterion, start: Point, tol: float, max_iter: int, observe: Observer = silent) -> CriterionEnd:
    """From a point to one of stationarity ``tol``, or where steps no longer gain that much; never uphill.

    It also ends after ``max_iter`` steps. ``observe`` is called after each step.
    """
    values: list[float] = []
    history: list[float] = []
    small = SMALL_ERROR * error.constant()
    # residuals have lost seven digits there, so a smaller error is rounding
    floor = ROUNDING * float((error.Y**2).sum()) / error.count
    end = CriterionEnd(start, Certificate.stationarity(0.0, start.value), (0.0,))

    def goes_on(model: levenberg_marquardt.DampedModel) -> bool:
        nonlocal end
        assert isinstance(model, _CriterionModel)
        point = model.point
        if point.value <= floor:
            end = CriterionEnd(point, Certificate.stationarity(0.0, point.value), (*history, 0.0))
            return False
        step, predicted = model.step(MEASURED * model.near.diagonal)
        size = max(point.value, small)
        # where no step leads down, as at the largest weights, the model promises nothing but rounding of either sign
        gain = max(0.0, predicted) if predicted >= -FINEST_GAP * size else np.inf
        if gain > tol * size:
            gain = _confirmed(model, step, gain, tol * size)
        certificate = Certificate.stationarity(gain, size)
        history.append(certificate.value)
        values.append(point.value)
        observe(Event(len(history), certificate, point.v, point.value, point.value))
        end = CriterionEnd(point, certificate, tuple(history))
        # A run ends whose last ten steps together gained less than 1/100 of the stationarity asked for. With a tenth, 3
        # of 13 fits ended 10 to 25 steps short of it; without the rule a weight that grows without bound, and gains
        # next to nothing, takes 500 steps.
        slow = len(values) > STALLED and values[-1 - STALLED] - point.value <= 0.01 * tol * max(point.value, small)
        return not (certificate.reached(tol) or slow or len(history) > max_iter or time_is_up())

    if start.value > floor:
        levenberg_marquardt.descend(_CriterionCandidate(error, start).model(), goes_on)
    return end


def _confirmed(model: _CriterionModel, step: Array, promised: float, enough: float) -> float:
    """What a step may gain: as promised, or less where the promise is of weights that grow without end, and empty."""
    v = model.near.v
    grow = np.where(growing(v, step), step, 0.0)
    if not grow.any():
        return promised
    best = max(0.0, model.step(np.where(grow > 0.0, 0.0, MEASURED * model.near.diagonal))[1])
    if best > enough:
        return promised
    for trial in further(v, grow):
        point = model.error.at(model.error.bounded(trial))
        gained = -np.inf if point is None else model.value - point.value
        if not level(gained, enough) or time_is_up():
            return promised
        best = max(best, gained)
    return best
