"""Lengths of steps that several algorithms use."""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array

_SHORTEST, _LONGEST = 0.1, 0.5  # of a step: how much shorter the next trial along it is


def length_of_size(size: float, gradient: Array) -> float:
    """The length t at which |t gradient| is this size; 0 where there is no gradient."""
    norm = float(np.linalg.norm(gradient))
    return size / norm if norm > 0.0 else 0.0


def shorter(slope: float, rise: float) -> float:
    """The part of a step to try next: where the parabola through value, slope and the value found is lowest.

    Parameters
    ----------
    slope : float < 0, of the value along the step, the whole step being of length 1
    rise : float, by how much the value at its end is above that at its start
    """
    curvature = rise - slope
    return min(max(-0.5 * slope / curvature, _SHORTEST), _LONGEST) if curvature > 0.0 else _LONGEST
