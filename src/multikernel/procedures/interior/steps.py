"""How the interior point method moves: Mehrotra's predictor and corrector, and the way back to the equality."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from multikernel._typing import Array
from multikernel.domains import Separable
from multikernel.machines.support.program import SupportProgram
from multikernel.procedures.interior.newton import Newton, Products
from multikernel.procedures.interior.point import Point

_STAY = 0.995  # of the way to the boundary that a step may go,
_CAREFUL = 0.9  # and where the forms are no linear functions of the weights
_DROP = 0.1  # of the level: what a step leaves of it at least


def advance(
    program: SupportProgram,
    domain: Separable,
    point: Point,
    products: Products,
    least: float,
    bend: Array | None = None,
) -> tuple[float, Point]:
    """A predictor to see how far the products could shrink, then the step that shrinks them so, to a sum of ``least``.

    Smaller products would promise more than is asked for, and the system suffers from them. Returns the length of the
    step and the point it leads to: 0 and the same point where rounding made the system singular.
    """
    mu, stay = point.complementarity(), _STAY
    try:
        newton = Newton(program, domain, point, products, bend)
        bent = predictor = newton.step(0.0)
        aimed = point.moved(predictor, point.longest(predictor)).complementarity()
        if bend is not None:  # the forms bend more than the products do: a model of the latter alone misleads
            stay, bent = _CAREFUL, replace(predictor, slack=np.zeros_like(predictor.slack))
        step = newton.step(max((aimed / mu) ** 3, least / point.left()) * mu, bent=bent)
    except linalg.LinAlgError:
        return 0.0, point
    length = min(1.0, stay * point.longest(step))
    moved = point.moved(step, length)
    if newton.curved:  # the system is definite while the level is not negative; no product keeps it so
        moved = replace(moved, level=max(moved.level, _DROP * point.level))
    return length, moved


def feasible(program: SupportProgram, a: Array) -> Array:
    """Brought to the equality by taking from the side that has too much."""
    excess = float(program.sign @ a) - program.total
    if not program.intercept or excess == 0.0:
        return a
    side = program.sign * np.sign(excess) > 0
    if not side.any():  # one side only, with too little
        room = program.upper - a
        return a + room * (abs(excess) / float(room.sum()))
    return np.where(side, a * (1.0 - abs(excess) / float(a[side].sum())), a)
