"""Steps of limited memory (L-BFGS) to a stationary point of a smooth function F(x) = G(x) + ridge |x|^2.

Stationarity is |dF|^2 / (4 ridge), the gain were ridge |x|^2 all that curves F, relative to F.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.certificate import Certificate
from multikernel.observer import Event, Observer

Function = Callable[[Array], tuple[float, Array]]
_MEMORY = 20  # pairs that L-BFGS keeps


def stationarity(value: float, gradient: Array, ridge: float, inexact: float = 0.0) -> Certificate:
    """Of a point with this value and gradient; ``inexact`` is how much too small the value may be."""
    return Certificate.stationarity(float(gradient @ gradient) / (4.0 * ridge) + inexact, value)


def remembering(function: Function) -> Function:
    """The function, which knows what it was at the last point: a step mostly ends where it was evaluated last."""
    at, known = np.empty(0), (np.nan, np.empty(0))

    def value(x: Array) -> tuple[float, Array]:
        nonlocal at, known
        if not np.array_equal(x, at):
            known, at = function(x), x.copy()
        return known[0], known[1].copy()

    return value


def descent(
    function: Function,
    ridge: float,
    start: Array,
    tol: float,
    max_iter: int,
    observe: Observer,
) -> tuple[Array, float, list[float]]:
    """Where L-BFGS ends, F there, and the stationarity along the way.

    Parameters
    ----------
    function : of x, F and its gradient; it is asked for some points twice, ``remembering`` evaluates it once
    ridge : float > 0
    start : array
    tol : float, the relative stationarity to reach
    max_iter : int, steps at most
    observe : told of each step
    """
    history: list[float] = []
    latest, known = start, function(start)

    def told(intermediate_result: OptimizeResult) -> None:
        nonlocal latest, known
        check_interrupted()
        latest = intermediate_result.x.copy()
        known = function(latest)
        certificate = stationarity(*known, ridge)
        history.append(certificate.value)
        observe(Event(len(history), certificate, latest, known[0], known[0]))
        if certificate.reached(tol) or time_is_up():
            raise StopIteration

    if max_iter > 0 and not time_is_up() and (not stationarity(*known, ridge).reached(tol) or not start.any()):
        minimize(
            function,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=told,
            options={"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": _MEMORY, "ftol": 0.0, "gtol": 0.0},
        )
    return latest, known[0], history
