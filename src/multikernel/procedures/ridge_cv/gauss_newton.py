"""The method of Levenberg and Marquardt for a criterion of held-out samples, with weights bounded below by zero.

A step minimises the Gauss-Newton model of the squared residuals (model.py) with a damping
(``numerics.levenberg_marquardt``),

    min over v >= 0 of |r + J (v - v0)|^2 + damping |D (v - v0)|^2,    D_k the largest norm of column k of J so far:

weights reach zero and leave it according to the sign of the gradient. With the scale D of More, steps do not change
when kernels are multiplied by constants.

Stationarity is the decrease that the model predicts with a small fixed damping, relative to the error (or to a
hundredth of that of a constant predictor, if this is larger): zero where the first-order conditions of L hold. Without
noise in the targets the error keeps falling as the kernel outgrows the ridge, so weights are bounded where floating
point can no longer distinguish the ridge from zero. The model lacks a term of the Hessian: where residuals are large it
may predict a much larger decrease than a step reaches. Where that happens along weights that grow without end, the
decrease is the one that evaluations of the error there show (model.py). Otherwise a run also ends, without convergence,
when its last ten steps together gained less than a hundredth of the requested stationarity.
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
from multikernel.procedures.ridge_cv.model import MEASURED, QuadraticModel, growing, larger_weights, level


@dataclass(frozen=True, eq=False)
class CriterionEnd:
    """The point at which a run ended.

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
    quadratic: QuadraticModel

    @property
    def value(self) -> float:
        return self.point.value

    def scale(self, before: Array | None) -> Array:
        if before is None:
            return self.quadratic.diagonal
        return np.maximum(before, self.quadratic.diagonal)

    def step(self, damping: Array) -> tuple[Array, float]:
        step = self.quadratic.step(damping, self.error.diagonals, self.error.largest)
        return step, self.quadratic.decrease(step)

    def tried(self, step: Array) -> _CriterionCandidate | None:
        point = self.error.at(np.maximum(self.point.v + step, 0.0))
        if point is None:
            return None
        return _CriterionCandidate(self.error, point)


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
    """Descend from a point until the stationarity is ``tol``, or steps no longer gain that much; never uphill.

    A run also ends after ``max_iter`` steps. ``observe`` is called after each step.
    """
    values: list[float] = []
    history: list[float] = []
    small = SMALL_ERROR * error.constant()
    # at this error residuals have lost seven digits, so a smaller one is rounding
    floor = ROUNDING * float((error.Y**2).sum()) / error.count
    end = CriterionEnd(start, Certificate.stationarity(0.0, start.value), (0.0,))

    def goes_on(model: levenberg_marquardt.DampedModel) -> bool:
        nonlocal end
        assert isinstance(model, _CriterionModel)
        point = model.point
        if point.value <= floor:
            end = CriterionEnd(point, Certificate.stationarity(0.0, point.value), (*history, 0.0))
            return False
        step, predicted = model.step(MEASURED * model.quadratic.diagonal)
        size = max(point.value, small)
        # where no step leads down, as at the largest weights, the predicted decrease is rounding of either sign
        gain = max(0.0, predicted) if predicted >= -FINEST_GAP * size else np.inf
        if gain > tol * size:
            gain = _confirmed(model, step, gain, tol * size)
        certificate = Certificate.stationarity(gain, size)
        history.append(certificate.value)
        values.append(point.value)
        observe(Event(len(history), certificate, point.v, point.value, point.value))
        end = CriterionEnd(point, certificate, tuple(history))
        # A run ends when its last ten steps together gained less than 1/100 of the requested stationarity. With 1/10, 3
        # of 13 fits ended 10 to 25 steps before they reached it; without this rule a weight that grows without bound,
        # and gains next to nothing, takes 500 steps.
        slow = len(values) > STALLED and values[-1 - STALLED] - point.value <= 0.01 * tol * max(point.value, small)
        return not (certificate.reached(tol) or slow or len(history) > max_iter or time_is_up())

    if start.value > floor:
        levenberg_marquardt.descend(_CriterionCandidate(error, start).model(), goes_on)
    return end


def _confirmed(model: _CriterionModel, step: Array, promised: float, enough: float) -> float:
    """The decrease that a step may gain: ``promised``, or less where only weights that grow without end promise it.

    In that case errors at larger weights show what they gain.
    """
    v = model.quadratic.v
    grow = np.where(growing(v, step), step, 0.0)
    if not grow.any():
        return promised
    best = max(0.0, model.step(np.where(grow > 0.0, 0.0, MEASURED * model.quadratic.diagonal))[1])
    if best > enough:
        return promised
    for trial in larger_weights(v, grow):
        point = model.error.at(model.error.bounded(trial))
        gained = -np.inf if point is None else model.value - point.value
        if not level(gained, enough) or time_is_up():
            return promised
        best = max(best, gained)
    return best
