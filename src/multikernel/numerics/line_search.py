"""Lengths of steps that several algorithms use.

A step is taken where the value falls by at least a small fraction of what its slope predicts (Armijo 1966; the fraction
is that of Nocedal and Wright, Numerical optimization, section 3.1). Otherwise a shorter step is tried, to the minimum
of the parabola through the value and the slope at the start and the value at the end of the step, but of at least a
tenth and at most a half of its length.
"""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array

ARMIJO = 1e-4  # of what the slope promises: by so much the value has to fall
SHORTEST = 1e-10  # of a whole step: where a shorter part of it has no lower value, the fall is below rounding
MOST_NEWTON_STEPS = 200  # a guard of iterations that converge quadratically: six to thirty are the rule


def length_of_size(size: float, gradient: Array) -> float:
    """The length t at which |t gradient| is this size; 0 where there is no gradient."""
    norm = float(np.linalg.norm(gradient))
    if norm > 0.0:
        return size / norm
    return 0.0


def shorter(slope: float, rise: float) -> float:
    """The fraction of a step to try next: the minimum of the parabola through its two values and the first slope.

    Parameters
    ----------
    slope : float < 0, of the value along the step, the whole step being of length 1
    rise : float, by how much the value at its end is above that at its start
    """
    curvature = rise - slope
    # between a tenth and a half of the step: Dennis and Schnabel (1983), algorithm A6.3.1
    if not curvature > 0.0:
        return 0.5
    return min(max(-0.5 * slope / curvature, 0.1), 0.5)
