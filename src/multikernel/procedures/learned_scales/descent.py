"""Descent from one point: Gauss-Newton steps where these are cheap, else limited-memory quasi-Newton steps.

Both are in logarithms and within bounds, and never go uphill. Steps with the Gauss-Newton matrix (gauss_newton.py) are
a fifth to a half as many; those without are SciPy's L-BFGS-B.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.certificate import Certificate
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.learned_scales.bounds import Bounds, Run
from multikernel.procedures.learned_scales.error import ScalesError, Trial
from multikernel.procedures.learned_scales.gauss_newton import damped_steps

_PAIRS = 20  # steps that a quasi-Newton matrix is made of


def descended(error: ScalesError, start: Trial, tol: float, max_iter: int, observe: Observer = silent) -> Run:
    """The end of the descent from a trial, where the stationarity is tol or steps do not get further."""
    bounds = Bounds.around(error, start.u)
    if start.curvature is None:
        return _quasi_newton(error, start, bounds, tol, max_iter, observe)
    return damped_steps(error, start, bounds, tol, max_iter, observe)


def _quasi_newton(
    error: ScalesError, start: Trial, bounds: Bounds, tol: float, max_iter: int, observe: Observer
) -> Run:
    best = start
    last: dict[bytes, Trial] = {}
    history = [bounds.stationarity(start)]

    def value(u: Array) -> tuple[float, Array]:
        nonlocal best
        check_interrupted()
        trial = start if np.array_equal(u, start.u) else error.at(u)
        if trial is None:  # a step too far: the line search shortens it
            return start.value + 1.0 + abs(start.value), np.zeros(len(u))
        last[u.tobytes()] = trial
        best = min(best, trial, key=lambda each: each.value)
        return trial.value, trial.gradient

    def told(intermediate_result: OptimizeResult) -> None:
        step = last.get(np.asarray(intermediate_result.x).tobytes(), best)
        last.clear()
        history.append(bounds.stationarity(step))
        observe(Event(len(history), Certificate("stationarity", history[-1])))
        if time_is_up():
            raise StopIteration  # by which SciPy is told to end

    observe(Event(1, Certificate("stationarity", history[0])))
    options = {"maxiter": max_iter, "maxcor": _PAIRS, "gtol": tol, "ftol": 0.0}
    if len(start.u) and history[0] > tol:
        limits = np.column_stack([bounds.lower, bounds.upper])
        minimize(value, start.u, (), "L-BFGS-B", True, bounds=limits, callback=told, options=options)  # type: ignore[call-overload]
    return Run(best, Certificate("stationarity", bounds.stationarity(best)), tuple(history))
