"""Variables of a support program: in the middle of their box, brought to the equality, with their multipliers."""

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
    """Variables of the box brought to the equality, by taking from the side that has too much."""
    excess = float(program.sign @ a) - program.total
    if not program.intercept or excess == 0.0:
        return a
    side = program.sign * np.sign(excess) > 0
    if not side.any():  # all variables have one sign, and their sum is too small
        slack = program.upper - a
        return a + slack * (abs(excess) / float(slack.sum()))
    return np.where(side, a * (1.0 - abs(excess) / float(a[side].sum())), a)


def fitting(program: SupportProgram, a: Array, f: Array) -> tuple[Array, Array, float]:
    """Multipliers of a >= 0 and of a <= u, and the intercept, at which the slopes at f = K b are in balance.

    Each is at least the mean size of the slopes; the upper ones are zero where there is no bound.
    """
    c = program.best_intercept(f)
    slope = program.linear - program.sign * (f + c)[program.sample] - program.ridge * a
    size = float(np.abs(slope).mean())
    bounded = np.isfinite(program.upper)
    below = np.where(bounded, np.maximum(-slope, 0.0) + size, np.maximum(-slope, size))
    return below, np.where(bounded, np.maximum(slope, 0.0) + size, 0.0), c
