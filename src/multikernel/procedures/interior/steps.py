"""How the interior point method moves: Mehrotra's predictor and corrector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import linalg

from multikernel.machines.support.point import Point
from multikernel.procedures.interior.newton import Newton

_STAY = 0.995  # the part of the way to the boundary that a step may go
_STAY_CURVED = 0.9  # the part of the way that it may go where the scores are no linear functions of the weights
_DROP = 0.1  # the part of the constraint's multiplier that a step leaves at least


def advance(point: Point, system: Callable[[], Newton], target: float) -> tuple[float, Point]:
    """A predictor to see how far the complementarity products could shrink, then the step that shrinks them so.

    Their sum is not made smaller than ``target``: it would promise more than is asked for, and the system suffers from
    it. Returns the step length and the point that it leads to: 0 and the same point where rounding made the system
    singular, or the step infinite.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        length, moved = _advanced(point, system, target)
    finite = all(np.isfinite(each).all() for each in (moved.a, moved.delta, moved.intercept, moved.multiplier))
    return (length, moved) if finite else (0.0, point)


def _advanced(point: Point, system: Callable[[], Newton], target: float) -> tuple[float, Point]:
    """The step, whatever its numbers are."""
    mu, stay = point.mu, _STAY
    try:
        newton = system()
        predictor = correction = newton.step(0.0)
        predicted = point.moved(predictor, point.longest(predictor)).mu
        if newton.hessian is not None:  # scores curve more than products do, so correcting for the latter misleads
            stay, correction = _STAY_CURVED, replace(predictor, reduced_cost=np.zeros_like(predictor.reduced_cost))
        step = newton.step(max((predicted / mu) ** 3, target / point.complementarity) * mu, correction)
    except linalg.LinAlgError:
        return 0.0, point
    length = newton.inside(step, min(1.0, stay * point.longest(step)))
    moved = point.moved(step, length)
    if newton.curved:  # the system is definite while the multiplier is not negative, and no product keeps it so
        moved = replace(moved, multiplier=max(moved.multiplier, _DROP * point.multiplier))
    return length, moved
