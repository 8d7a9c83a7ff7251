"""Variables of a support program: a central point, projection to the equality, and multipliers."""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel.machines.support.program import SupportProgram


def central(program: SupportProgram) -> Array:
    """Variables inside the box that satisfy the equality."""
    g = np.minimum(program.upper, 1.0)
    if not program.intercept:
        return 0.5 * g
    plus = program.sign > 0
    sums = np.array([g[~plus].sum(), g[plus].sum()])
    if program.total != 0.0:
        return g * (abs(program.total) / sums[int(program.total > 0)])
    return g * np.where(plus, *(0.5 * sums.min() / sums[::-1]))


def feasible(program: SupportProgram, a: Array) -> Array:
    """Variables of the box that satisfy the equality: the side with an excess is scaled down."""
    excess = float(program.sign @ a) - program.total
    if not program.intercept or excess == 0.0:
        return a
    side = program.sign * np.sign(excess) > 0
    if not side.any():  # all variables have one sign, and their sum is too small
        slack = program.upper - a
        return a + slack * (abs(excess) / float(slack.sum()))
    return np.where(side, a * (1.0 - abs(excess) / float(a[side].sum())), a)


def fitting(program: SupportProgram, a: Array, f: Array) -> tuple[Array, Array, float]:
    """Multipliers of a >= 0 and of a <= u, and the intercept, for which the derivative in a is zero at f = K b.

    Multipliers are at least the mean size of the slopes, except that those of infinite upper bounds are zero.
    """
    c = program.best_intercept(f)
    slope = program.linear - program.sign * (f + c)[program.sample] - program.ridge * a
    size = float(np.abs(slope).mean())
    bounded = np.isfinite(program.upper)
    below = np.where(bounded, np.maximum(-slope, 0.0) + size, np.maximum(-slope, size))
    return below, np.where(bounded, np.maximum(slope, 0.0) + size, 0.0), c
