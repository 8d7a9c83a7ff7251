"""Steps of limited memory (L-BFGS) to a stationary point of a smooth function F(x) = G(x) + ridge |x|^2.

Stationarity is |dF|^2 / (4 ridge), relative to F: the decrease of F if its only curvature were that of ridge |x|^2 (the
third form in ``duality.py``), since the minimum of F + dF's + ridge |s|^2 over s is at s = -dF / (2 ridge).
"""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.certificate import Certificate
from multikernel.duality import fall_in_box
from multikernel.numerics.lbfgs import Function, lbfgs
from multikernel.observer import Event, Observer


def stationarity(value: float, gradient: Array, ridge: float, inexact: float = 0.0) -> Certificate:
    """The stationarity of a point; ``inexact`` is a bound of how much too small its value may be."""
    fall = fall_in_box(gradient, np.zeros(len(gradient)), -np.inf, np.inf, 2.0 * ridge)
    return Certificate.stationarity(fall + inexact, value)


def descent(
    function: Function,
    ridge: float,
    start: Array,
    tol: float,
    max_iter: int,
    observe: Observer,
) -> tuple[Array, float, list[float]]:
    """The point where L-BFGS ends, F there, and the stationarity after each step.

    Parameters
    ----------
    function : of x, F and its gradient, best ``remembering``
    ridge : float > 0
    start : array
    tol : float, the relative stationarity to reach
    max_iter : int, steps at most
    observe : called after each step
    """
    history: list[float] = []
    latest = start
    value, gradient = function(start)

    def goes_on(x: Array, current_value: float, slope: Array) -> bool:
        nonlocal latest, value
        check_interrupted()
        latest = x
        value = current_value
        certificate = stationarity(current_value, slope, ridge)
        history.append(certificate.value)
        observe(Event(len(history), certificate, x, current_value, current_value))
        return not (certificate.reached(tol) or time_is_up())

    # zero may be a saddle point, and nearly stationary: steps are tried from there in any case
    solved = stationarity(value, gradient, ridge).reached(tol) and start.any()
    if max_iter > 0 and not time_is_up() and not solved:
        lbfgs(function, start, max_iter, goes_on)
    return latest, value, history
