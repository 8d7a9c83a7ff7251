"""Levenberg and Marquardt's method for the held-out error, the weights bounded below by zero.

A step minimises the Gauss-Newton model of the squared residuals (model.py) with a damping,

    min over v >= 0 of |r + J (v - v0)|^2 + damping |D (v - v0)|^2,    D_k the largest norm of column k of J so far:

weights reach zero and leave it as the signs of the gradient say. The damping follows the ratio of the decrease to the
predicted one (Nielsen). The scale D (More) leaves the steps unchanged when kernels are multiplied by constants.

Stationarity is the decrease that the model predicts with a small damping of its own, relative to the error, or to a
hundredth of that of a constant predictor where this is more: zero where the first-order conditions of L hold. Without
noise in the targets the error falls for ever as the kernel outgrows the ridge, so weights are bounded where floating
point can no longer tell the ridge. The model is not the Hessian: where residuals are large it may predict much more
than a step gains, so a run also ends when its last ten steps together gained less than a hundredth of the
stationarity asked for; it has not converged then.
(Newton steps with the exact Hessian were tried: it is seldom definite, and they are slower by far.)

K. Madsen, H. B. Nielsen, O. Tingleff (2004), Methods for non-linear least squares problems, section 3.2; J. J. More
(1978), The Levenberg-Marquardt algorithm: implementation and theory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.certificate import Certificate
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.ridge_cv.criterion import Criterion, Point
from multikernel.procedures.ridge_cv.model import Model

_DAMPING = 1e-2  # of the squared norms of the columns: the damping of the first step
_LEAST_DAMPING = 1e-8  # of the same: the model of duplicate kernels needs as much to be definite
_PROMISED = 1e-3  # of the squared norms of the columns here: the damping of the model that tells the stationarity
_MOST_DAMPING = 1e12  # of the same: where a step with more damping does not lead down, none does
_SPAN = 10  # steps that are looked at together
# Of the stationarity asked for: a run whose last steps together gained less, relatively, ends. With .1, 3 of 13 fits
# ended 10 to 25 steps short of it; without the rule a weight that grows without bound, and gains next to nothing, takes
# 500 steps.
_SLOW = 0.01
_SMALL = 1e-2  # of the error of a constant predictor: steps from a smaller error need not gain more than from it
_ACCEPTED = 1e-3  # of the predicted decrease: what a step must reach to be taken
_ROUNDING = 1e-14  # of the mean square of the targets: residuals have lost nine digits, so a smaller error is rounding


@dataclass(frozen=True, eq=False)
class Descent:
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


def descend(error: Criterion, start: Point, tol: float, max_iter: int, observe: Observer = silent) -> Descent:
    """From a point to one of stationarity ``tol``, or where steps no longer gain that much; never uphill.

    It also ends after ``max_iter`` steps. ``observe`` is told of each step.
    """
    point, damping = start, _DAMPING
    largest = np.zeros(len(start.v))
    values: list[float] = []
    history: list[float] = []
    small = _SMALL * error.constant()
    floor = _ROUNDING * float((error.Y**2).sum()) / error.count
    while point.value > floor:
        model = error.model(point)
        largest = np.maximum(largest, model.diagonal)
        predicted = model.decrease(_step(error, model, _PROMISED * model.diagonal))
        gain = predicted if predicted >= 0.0 else np.inf
        certificate = Certificate.stationarity(gain, max(point.value, small))
        history.append(certificate.value)
        values.append(point.value)
        observe(Event(len(history), certificate, point.v, point.value, point.value))
        slow = len(values) > _SPAN and values[-1 - _SPAN] - point.value <= _SLOW * tol * max(point.value, small)
        if certificate.reached(tol) or slow or len(history) > max_iter or time_is_up():
            return Descent(point, certificate, tuple(history))
        lower = _lower(error, point, model, largest, damping)
        if lower is None:
            return Descent(point, certificate, tuple(history))
        point, damping = lower
    return Descent(point, Certificate.stationarity(0.0, point.value), (*history, 0.0))


def _lower(error: Criterion, point: Point, model: Model, largest: Array, damping: float) -> tuple[Point, float] | None:
    """A point of lower error and the next damping; None where no step leads down within rounding."""
    growth = 2.0
    while damping < _MOST_DAMPING:
        s = _step(error, model, damping * largest)
        predicted = model.decrease(s)
        trial = error.at(np.maximum(point.v + s, 0.0)) if predicted > 0 else None
        ratio = (point.value - trial.value) / predicted if trial is not None else -1.0
        if trial is not None and ratio > _ACCEPTED:
            return trial, max(damping * max(0.1, 1.0 - (2.0 * ratio - 1.0) ** 3), _LEAST_DAMPING)
        damping, growth = damping * growth, 2.0 * growth
    return None


def _step(error: Criterion, model: Model, damping: Array) -> Array:
    """The step of the model among kernels that are not too large."""
    return model.step(damping, error.diagonals, error.largest)
