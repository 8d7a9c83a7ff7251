"""Levenberg and Marquardt's method for E, in logarithms and within bounds.

A step minimises the Gauss-Newton model (curvature.py) with a damping that follows the ratio of the decrease to the one
predicted (Nielsen 1999). Parameters at a bound to which the gradient pushes stay there.
"""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.certificate import Certificate
from multikernel.observer import Event, Observer
from multikernel.procedures.learned_scales.bounds import Bounds, Run
from multikernel.procedures.learned_scales.curvature import begun
from multikernel.procedures.learned_scales.error import ScalesError, Trial

_DAMPING = 1e-2  # of the largest curvature: the damping of the first step
_MOST = 1e8  # of the same: where a step with more damping does not lead down, none does
_LONGEST = 3.0  # the most that a parameter moves in a step
_ACCEPTED = 1e-3  # of the predicted decrease: what a step must reach to be taken


def damped_steps(error: ScalesError, trial: Trial, bounds: Bounds, tol: float, max_iter: int, observe: Observer) -> Run:
    """From a trial with curvature to one of stationarity ``tol``, or where steps do not get further."""
    damping, growth = _DAMPING, 2.0
    history = [bounds.stationarity(trial)]
    observe(Event(1, Certificate("stationarity", history[0])))
    while history[-1] > tol and len(history) <= max_iter and damping < _MOST and not time_is_up():
        check_interrupted()
        step, predicted = _step(trial, damping, bounds)
        other = None  # whose matrices are gone before there are new ones
        other = begun(error, trial.u + step) if predicted > 0.0 else None
        ratio = (trial.value - other.value) / predicted if other is not None else -1.0
        if other is None or ratio <= _ACCEPTED:
            damping, growth = damping * growth, 2.0 * growth
            continue
        damping, growth = damping * max(0.1, 1.0 - (2.0 * ratio - 1.0) ** 3), 2.0
        trial = other.trial()
        history.append(bounds.stationarity(trial))
        observe(Event(len(history), Certificate("stationarity", history[-1])))
    return Run(trial, Certificate("stationarity", history[-1]), tuple(history))


def _step(trial: Trial, damping: float, bounds: Bounds) -> tuple[Array, float]:
    """The step of the damped model within the bounds, and the decrease that it predicts."""
    u, gradient, curvature = trial.u, trial.gradient, np.asarray(trial.curvature)
    free = ~(((u <= bounds.lower) & (gradient > 0.0)) | ((u >= bounds.upper) & (gradient < 0.0)))
    step, inner = np.zeros(len(u)), curvature[np.ix_(free, free)]
    added = damping * float(np.diag(curvature).max(initial=0.0))
    step[free] = -np.linalg.solve(inner + max(added, 1e-12) * np.eye(len(inner)), gradient[free])
    step *= min(1.0, _LONGEST / max(float(np.abs(step).max(initial=0.0)), 1e-300))
    step = np.clip(u + step, bounds.lower, bounds.upper) - u
    return step, -float(gradient @ step + 0.5 * step @ curvature @ step)
