"""RLS2 to a certified gap, by Newton steps.

With R + alpha I = L L' and the columns w_k = R_k C, the second-order model of J at d over the simplex is, up to a
constant and the factor alpha,

    1/2 |V d' - u|^2,      V = L^{-1} W,   u = V d + 1/2 L^{-1} Y        (several targets: one below the other),

the least-squares problem of the paper's alternation, whitened. It is solved by an active-set method. Its solution is
the next d where J falls enough there; otherwise the step towards it is shortened until J does.

Steps are taken on a working set: the kernels with positive weight, and those whose score v_k = tr C'R_k C was large
enough for a weight when the scores of all kernels were last computed. All scores are computed again when the problem on
the working set is nearly solved; they give the certificate, and the kernels to be added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from multikernel._floats import ROUNDING
from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks import KernelBank
from multikernel.certificate import Certificate
from multikernel.numerics.line_search import ARMIJO, SHORTEST, shorter
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.rls2.point import Ridge, RidgePoint
from multikernel.procedures.rls2.weights import ScaledWeights
from multikernel.procedures.simplex_least_squares import nearest_point


class _Stage(Enum):
    """The stage of the search on the working set; the scores of all kernels are computed in every stage but MOVING."""

    FIRST = "no scores are known yet"
    MOVING = "steps are taken on the working set"
    SOLVED = "the working set is nearly solved, or no step makes J fall further"
    OVER = "no further step is allowed"


def newton(
    bank: KernelBank,
    ridge: Ridge,
    tol: float,
    max_iter: int,
    start: Array,
    scores: Array | None = None,
    observe: Observer = silent,
) -> tuple[ScaledWeights, RidgePoint]:
    """Minimise J over the simplex from ``start`` on, for kernels that are scaled already.

    ``scores`` are those of the solution of a similar problem: they show which kernels are likely to get a weight.
    ``observe`` is called after each step, with the gap over the working set.
    """
    if scores is None:
        likely = np.zeros(len(bank), dtype=bool)
    else:
        likely = scores >= 0.9 * scores.max()  # these take part first
    working = _WorkingSet.of(bank, start, likely)
    buffers = ridge.space(tol), ridge.space(tol)
    point = ridge.at(working.bank, working.d, buffers[0])
    history: list[float] = []
    n_iter = 0
    stage = _Stage.FIRST if scores is None else _Stage.MOVING
    last: tuple[float, float] | None = None  # the value and the gap before
    while True:
        W, working_scores = point.products(working.bank)
        gap = point.gap(float(working_scores.max()))
        observe(Event(n_iter + 1, Certificate("duality gap", gap), value=point.value))
        stalled = last is not None and point.value > last[0] - ROUNDING * abs(last[0]) and gap >= last[1]
        if n_iter >= max_iter or time_is_up():
            stage = _Stage.OVER
        elif gap <= 0.8 * tol or stalled:  # the kernels that do not take part may add the rest
            stage = _Stage.SOLVED
        if stage is not _Stage.MOVING:
            v = bank.quad(point.C)
            history.append(point.gap(float(v.max())))
            missing = working.without(v > working.d @ working_scores)
            if history[-1] <= tol or stage is _Stage.OVER or (stage is _Stage.SOLVED and not missing.any()):
                break
            if missing.any():
                working = _WorkingSet.of(bank, working.over_all(len(bank)), missing)
                W, working_scores = point.products(working.bank)
        advanced = _step(working, point, W, working_scores, buffers[(n_iter + 1) % 2])
        last = (point.value, gap)
        if advanced is not None:
            working, point = advanced
            n_iter += 1
            stage = _Stage.MOVING
        elif stage is _Stage.MOVING:
            stage = _Stage.SOLVED
        else:
            break  # J does not fall even with the missing kernels, which would be missing again
    d = working.over_all(len(bank))
    certificate = Certificate("duality gap", history[-1])
    observe(Event(n_iter + 1, certificate, value=point.value))
    bound = point.bound(float(v.max()))
    converged = certificate.reached(tol)
    weights = ScaledWeights(d, point.value, certificate, converged, n_iter, tuple(history), bound=bound, scores=v)
    return weights, point


@dataclass(frozen=True, eq=False)
class _WorkingSet:
    """The kernels of the working set: their positions, their bank in double precision, and their weights."""

    index: Array
    bank: KernelBank
    d: Array

    @classmethod
    def of(cls, bank: KernelBank, weights: Array, added: Array) -> _WorkingSet:
        """The kernels with positive weight, and those of the mask ``added``."""
        index = np.flatnonzero((weights > 0) | added)
        return cls(index, bank.exact(index), weights[index])

    def without(self, mask: Array) -> Array:
        """A mask of kernels, less those of the working set."""
        outside: Array = mask.copy()
        outside[self.index] = False
        return outside

    def over_all(self, m: int) -> Array:
        """The weights of all m kernels."""
        weights = np.zeros(m)
        weights[self.index] = self.d
        return weights


def _step(
    working: _WorkingSet, point: RidgePoint, W: Array, scores: Array, buffer: Array
) -> tuple[_WorkingSet, RidgePoint] | None:
    """The next weights and the ridge there, whose factor is written to ``buffer``; None where J falls no further."""
    Y = point.ridge.Y
    n = len(Y)
    V = point.whitened(W.T.reshape(-1, n).T).T.reshape(W.shape[1], -1).T
    u = V @ working.d + 0.5 * point.whitened(np.array(Y, order="F")).T.ravel()
    step = nearest_point(V - u[:, None], working.d) - working.d
    slope = -float(scores @ step)
    rounding = ROUNDING * abs(point.value)
    length = 1.0
    while slope < rounding and length > SHORTEST:
        d = working.d + length * step
        trial = point.ridge.at(working.bank, d, buffer)
        change = trial.value - point.value
        if change <= ARMIJO * length * slope + rounding:
            return replace(working, d=d), trial
        length *= shorter(length * slope, change)
    return None
