"""RLS2 by the paper's Algorithm 1: coefficients and weights alternately.

    c = (R(d) + alpha I)^{-1} y
    d = argmin over the simplex of |V d - u|^2,     V = [R_1 c, ..., R_m c],  u = y - alpha c / 2

until |(R(d) + alpha I) c - y| <= 0.01 |y| for the new d and the old c. Its fixed points are the optima, but a step in d
is of the order of alpha: with small alpha the rule is met at once, wherever d is. The gap that is returned
is the true one.
"""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks import KernelBank
from multikernel.certificate import Certificate
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.rls2.point import Ridge, RidgePoint
from multikernel.procedures.rls2.weights import ScaledWeights
from multikernel.procedures.simplex_least_squares import nearest_point

_DELTA = 1e-2  # the paper's tolerance


def alternation(
    bank: KernelBank, ridge: Ridge, size: float, max_iter: int, start: Array, observe: Observer = silent
) -> tuple[ScaledWeights, RidgePoint]:
    """From ``start`` on, to the paper's stopping rule for targets of this size; kernels are scaled already."""
    d, work, alpha = start, ridge.space(), ridge.alpha
    y, stopped = ridge.Y.T.ravel(), False
    history: list[float] = []
    point = ridge.at(bank, d, work)
    while not stopped and len(history) < max_iter and not time_is_up():
        V, scores = point.products(bank)
        c = point.C.T.ravel()
        history.append(point.gap(float(scores.max())))
        observe(Event(len(history), Certificate("duality gap", history[-1]), value=point.value))
        d = nearest_point(V - (y - 0.5 * alpha * c)[:, None], d)
        stopped = bool(np.linalg.norm(V @ d + alpha * c - y) <= _DELTA * size)
        point = ridge.at(bank, d, work)
    scores = bank.quad(point.C)
    gap, bound = point.gap(float(scores.max())), point.bound(float(scores.max()))
    weights = ScaledWeights(
        values=d,
        objective=point.value,
        certificate=Certificate("duality gap", gap),
        converged=False,  # the caller compares the gap with what was asked for
        n_iter=len(history),
        history=(*history, gap),
        bound=bound,
        rule_met=stopped,
        scores=scores,
    )
    return weights, point
