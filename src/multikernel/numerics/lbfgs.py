"""Limited-memory quasi-Newton steps (L-BFGS-B: Byrd, Lu, Nocedal and Zhu 1995), by SciPy's implementation.

    min_x F(x),        lower <= x <= upper where there are bounds

SciPy's own tests of convergence are switched off: after every step the caller gets the point with its value and
gradient, and decides whether to continue. So each caller stops by the certificate that it reports.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from multikernel._typing import Array

Function = Callable[[Array], tuple[float, Array]]
GoesOn = Callable[[Array, float, Array], bool]


def remembering(function: Function) -> Function:
    """The function with its value at the last point stored: a step mostly ends where it was evaluated last."""
    last_x = np.empty(0)
    last = (np.nan, np.empty(0))

    def value(x: Array) -> tuple[float, Array]:
        nonlocal last_x, last
        if not np.array_equal(x, last_x):
            last = function(x)
            last_x = x.copy()
        return last[0], last[1].copy()

    return value


def lbfgs(
    function: Function, start: Array, max_iter: int, goes_on: GoesOn, limits: tuple[Array, Array] | None = None
) -> None:
    """Steps from a start until the caller stops, no step leads down, or ``max_iter`` steps are made.

    Parameters
    ----------
    function : of x, the value and the gradient; some points are evaluated twice, unless it is made by ``remembering``
    start : array (d,)
    max_iter : int, steps at most
    goes_on : of x, the value and the gradient at the end of each step; False stops the run
    limits : arrays (d,), the lower and the upper bounds of x
    """

    def step(intermediate_result: OptimizeResult) -> None:
        x = intermediate_result.x.copy()
        if not goes_on(x, *function(x)):
            raise StopIteration  # the way in which SciPy lets a callback stop it

    minimize(  # type: ignore[call-overload]
        function,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=None if limits is None else np.column_stack(limits),
        callback=step,
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,  # of a line search: SciPy's limit for one
            "maxcor": 20,  # pairs that are kept: the upper end of SciPy's advice, 3 to 20
            "ftol": 0.0,
            "gtol": 0.0,
        },
    )
