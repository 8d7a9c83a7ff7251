"""Descent from one point.

Limited-memory quasi-Newton steps (SciPy's L-BFGS-B) in logarithms, within bounds. Steps never go uphill.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.certificate import Certificate
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.learned_scales.error import ScalesError, Trial

_LARGEST = 1e7  # the largest weight relative to the ridge: the inverse of the matrix loses as many digits
_SMALLEST = 1e-8
_REACH = 14.0  # by how much a parameter of the scales may differ from the first one
_PAIRS = 20  # steps that a quasi-Newton matrix is made of


@dataclass(frozen=True, eq=False)
class Run:
    """The lowest point of a descent and its stationarity, and the stationarity along the way."""

    best: Trial
    certificate: Certificate
    history: tuple[float, ...]


def descended(error: ScalesError, start: Trial, tol: float, max_iter: int, observe: Observer = silent) -> Run:
    """The end of the descent from a point, where the stationarity is tol or steps do not get further."""
    R, best = len(error.combination.kernels), start
    lower, upper = start.u - _REACH, start.u + _REACH
    lower[:R], upper[:R] = np.log(_SMALLEST), np.log(_LARGEST)
    last: dict[bytes, Trial] = {}
    history = [_stationarity(start, lower, upper)]

    def value(u: Array) -> tuple[float, Array]:
        nonlocal best
        trial = start if np.array_equal(u, start.u) else error.at(u)
        if trial is None:  # a step too far: the line search shortens it
            return start.value + 1.0 + abs(start.value), np.zeros(len(u))
        last[u.tobytes()] = trial
        best = min(best, trial, key=lambda each: each.value)
        return trial.value, trial.gradient

    def told(intermediate_result: OptimizeResult) -> None:
        step = last.get(np.asarray(intermediate_result.x).tobytes(), best)
        last.clear()
        history.append(_stationarity(step, lower, upper))
        observe(Event(len(history), Certificate("stationarity", history[-1])))
        if time_is_up():
            raise StopIteration  # by which SciPy is told to end

    observe(Event(1, Certificate("stationarity", history[0])))
    options = {"maxiter": max_iter, "maxcor": _PAIRS, "gtol": tol, "ftol": 0.0}
    if len(start.u) and history[0] > tol:
        bounds = np.column_stack([lower, upper])
        minimize(value, start.u, (), "L-BFGS-B", True, bounds=bounds, callback=told, options=options)  # type: ignore[call-overload]
    return Run(best, Certificate("stationarity", _stationarity(best, lower, upper)), tuple(history))


def _stationarity(trial: Trial, lower: Array, upper: Array) -> float:
    """The largest entry of the projected gradient: E is a logarithm, so it is relative to the error."""
    step = np.clip(trial.u - trial.gradient, lower, upper) - trial.u
    return float(np.abs(step).max(initial=0.0))
