"""RLS2 to a certified gap, by Newton steps.

With R + alpha I = L L' and the columns w_k = R_k C, the second-order model of J at d over the simplex is, up to a
constant and the factor alpha,

    1/2 |V d' - u|^2,      V = L^{-1} W,   u = V d + 1/2 L^{-1} Y        (several targets: one below the other),

the least-squares problem of the paper's alternation, whitened. Its solution, an active set's, is the next d where J
falls enough; otherwise d' is approached until it does. Only some kernels take part: those with a weight, and those
whose v_k was above that of these when all kernels were last looked at. All are looked at where the ones that take part
are nearly optimal, which gives the certificate; the run ends with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.procedures.rls2.point import RidgePoint
from multikernel.procedures.simplex_least_squares import nearest_point

_SHARE = 0.8  # of the gap asked for: so near are the kernels that take part before all are looked at
_ARMIJO = 1e-3  # of the decrease that the slope promises
_LIKELY = 0.9  # of the largest score
_ROUNDING = 1e-14  # of J: where it falls by less, the gap tells whether a step was one


@dataclass(frozen=True, eq=False)
class Found:
    """Weights d of all kernels, the ridge there, the scores v of all kernels, how far J may be above the optimum."""

    d: Array
    point: RidgePoint
    scores: Array
    gap: float
    converged: bool
    n_iter: int
    history: tuple[float, ...]


def newton(
    bank: KernelBank,
    Y: Array,
    alpha: float,
    tol: float,
    max_iter: int,
    start: Array,
    scores: Array | None = None,
) -> Found:
    """Minimise J over the simplex from ``start`` on; Y of shape (n, t), kernels scaled already.

    ``scores`` are the v_k of the solution of a similar problem: of those that are nearly as large as the largest of
    them, some will get a weight.
    """
    likely = np.zeros(len(bank), dtype=bool) if scores is None else scores >= _LIKELY * scores.max()
    some = _Some.of(bank, start, likely)
    work = np.empty(bank.shape, order="F"), np.empty(bank.shape, order="F")
    point = RidgePoint.at(some.bank, some.d, alpha, Y, work[0])
    history: list[float] = []
    n_iter, settled, last = 0, False, (np.inf, np.inf)
    while True:
        pushes, own = some.pushes(point.C)
        here = point.gap(float(own.max()))
        settled = settled or here <= _SHARE * tol or (point.value > (1.0 - _ROUNDING) * last[0] and here >= last[1])
        if settled or (scores is None and not history) or n_iter == max_iter:
            v = bank.quad(point.C)
            history.append(point.gap(float(v.max())))
            missing = some.without(v > some.d @ own)
            if history[-1] <= tol or n_iter == max_iter or (settled and not missing.any()):
                break
            if missing.any():
                some = _Some.of(bank, some.over_all(len(bank)), missing)
                pushes, own = some.pushes(point.C)
        advanced = _step(some, point, pushes, own, work[(n_iter + 1) % 2])
        settled, last = advanced is None, (point.value, here)
        if advanced is not None:
            some, point = advanced
            n_iter += 1
    gap = history[-1]
    return Found(some.over_all(len(bank)), point, v, gap, gap <= tol, n_iter, tuple(history))


@dataclass(frozen=True, eq=False)
class _Some:
    """The kernels that take part, with their weights."""

    index: Array
    bank: KernelBank
    d: Array

    @classmethod
    def of(cls, bank: KernelBank, weights: Array, others: Array) -> _Some:
        """Those with a weight, and others given by a mask."""
        index = np.flatnonzero((weights > 0) | others)
        return cls(index, bank.exact(index), weights[index])

    def without(self, mask: Array) -> Array:
        """The mask of kernels, less those that take part already."""
        others: Array = mask.copy()
        others[self.index] = False
        return others

    def over_all(self, m: int) -> Array:
        weights = np.zeros(m)
        weights[self.index] = self.d
        return weights

    def pushes(self, C: Array) -> tuple[Array, Array]:
        """R_k C as columns, targets one below the other, shape (t n, kernels); and tr C'R_k C."""
        products = self.bank.apply(C).transpose(0, 2, 1)
        W = np.ascontiguousarray(products).reshape(len(products), -1).T
        return W, C.T.ravel() @ W


def _step(some: _Some, point: RidgePoint, W: Array, scores: Array, work: Array) -> tuple[_Some, RidgePoint] | None:
    """The next weights and the ridge there, whose factor goes to ``work``; None where J falls no further."""
    n, t = point.Y.shape
    V = point.whitened(W.T.reshape(-1, n).T).T.reshape(-1, t * n).T
    u = V @ some.d + 0.5 * point.whitened(np.array(point.Y, order="F")).T.ravel()
    step = nearest_point(V - u[:, None], some.d) - some.d
    slope = -0.5 * point.alpha * float(scores @ step)
    length = 1.0
    while slope < _ROUNDING * point.value and length > 1e-10:
        d = some.d + length * step
        trial = RidgePoint.at(some.bank, d, point.alpha, point.Y, work)
        change = trial.value - point.value
        if change <= _ARMIJO * length * slope + _ROUNDING * point.value:
            return replace(some, d=d), trial
        bend = change - length * slope
        length *= min(0.5, max(0.1, -0.5 * length * slope / bend))
    return None
