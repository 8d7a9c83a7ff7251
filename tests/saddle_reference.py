"""Kernel weights and a support vector machine together, every problem as its formula says.

    min_{d in D} r(d) + J(sum_k d_k K_k),    J(K) = max_b  gain(b) - part b'K b    over b that satisfies the conditions

By duality of the machine and of the domain, h(q) = max_{d in D} d'q - r(d),

    gain(b) - h(part b'K_k b)   <=   the optimum   <=   part f'f + losses(f + c) + r(d)

for every b that satisfies the conditions, every function f in the space of sum_k d_k K_k and every intercept c. Both
are computed here from the formulas of losses and domains alone; a conic solver offers points, and is not believed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax

import reference as ref

Array = Any
_FINER = np.concatenate([[0.0], np.logspace(-12, -3, 40)])  # a little more of f: with a large C, rounding costs


@dataclass(frozen=True)
class Machine:
    """A support vector machine for a target, in terms of the signed coefficients b."""

    n: int
    part: float
    gain: Callable[[Array], float]
    losses: Callable[[Array], float]  # of f + c
    low: Array
    high: Array
    kinks: Array  # values of f + c at which a loss turns, one row for each side
    size: float  # of a coefficient, if kernels are small
    conic: Callable[[Any, float], Any]  # gain(unit x) / unit as a concave expression
    total: float = 0.0
    intercept: bool = True

    def dual(self, K: Array, domain: Domain, b: Array) -> float:
        """gain(b) - h(part b'K_k b): below the optimum. Where h is infinite, at as much of b as makes it finite."""
        q = self.part * ref.quad(K, b)
        reach = domain.reach(q)
        if reach < 1.0 and self.total != 0.0:
            return -np.inf
        return self.gain(np.sqrt(reach) * b) - domain.support(reach * q)

    def primal(self, K: Array, domain: Domain, d: Array, b: Array, c: float | None = None) -> float:
        """part f'f + losses(f + c) + r(d) at f = sum_k d_k K_k b: above the optimum. At the best c if none is given."""
        f = ref.combine(K, d) @ b
        norm = max(float(b @ f), 0.0)

        def value(more: float) -> float:
            at = self.best_intercept((1.0 + more) * f) if c is None else c
            return self.part * (1.0 + more) ** 2 * norm + self.losses((1.0 + more) * f + at) + self.total * at

        return min(value(more) for more in (_FINER if c is None else (0.0,))) + domain.penalty(d)

    def best_intercept(self, f: Array) -> float:
        if not self.intercept:
            return 0.0
        candidates = (self.kinks - f).ravel()

        def value(c: float) -> float:
            return self.losses(f + c) + self.total * c

        found = minimize_scalar(
            value, bounds=(candidates.min(), candidates.max() + 1e-300), method="bounded", options={"xatol": 1e-12}
        )
        return min((float(found.x), *candidates), key=value)

    def floor(self, K: Array) -> float:
        """A value that is none: of one-class machines a part of that at equal coefficients, were K diagonal."""
        return 1e-5 * self.part * self.total**2 * float(np.trace(K)) / self.n

    def rounding(self, K: Array, b: Array) -> float:
        """What rounding of f = K b and of the target may add to the losses."""
        size = np.sqrt(np.diagonal(K))
        errors = 1e-15 * (size * float(size @ np.abs(b)) + np.abs(self.kinks).max())
        reach = np.maximum(np.abs(self.low), np.abs(self.high))
        return float(np.where(np.isfinite(reach), reach, np.abs(b)) @ errors)

    def violation(self, b: Array) -> float:
        """How far b is from its conditions, as a part of its size."""
        beyond = np.concatenate([self.low - b, b - self.high]).max()
        unequal = abs(float(b.sum()) - self.total) if self.intercept else 0.0
        return max(float(beyond), unequal, 0.0) / max(float(np.abs(b).sum()), self.size)

    def repaired(self, b: Array) -> Array:
        """Within the bounds; the side of the equality that has too much is scaled down, or the only one up."""
        b = np.clip(b, self.low, self.high)
        excess = float(b.sum()) - self.total
        if not self.intercept or excess == 0.0:
            return b
        side = b * np.sign(excess) > 0
        if side.any():
            return np.where(side, b * (1.0 - abs(excess) / np.abs(b[side]).sum()), b)
        return b + (self.high - b) * (-excess / (self.high - b).sum())


def hinge(y: Array, C: Any, intercept: bool = True) -> Machine:
    """C_i max(0, 1 - y_i f_i); max |b|_1 - 1/2 b'Kb over 0 <= y_i b_i <= C_i, 1'b = 0."""
    upper = np.broadcast_to(np.asarray(C, dtype=float), y.shape)
    return Machine(
        n=len(y),
        part=0.5,
        gain=lambda b: float(y @ b),
        losses=lambda f: float(upper @ np.maximum(1.0 - y * f, 0.0)),
        low=np.where(y > 0, 0.0, -upper),
        high=np.where(y > 0, upper, 0.0),
        kinks=y[None],
        size=float(upper.max()),
        conic=lambda x, unit: y @ x,
        intercept=intercept,
    )


def squared_hinge(y: Array, C: float, intercept: bool = True) -> Machine:
    """C max(0, 1 - y_i f_i)^2; max 2 |b|_1 - |b|^2 / C - b'Kb over y_i b_i >= 0, 1'b = 0."""
    return Machine(
        n=len(y),
        part=1.0,
        gain=lambda b: float(2.0 * y @ b - b @ b / C),
        losses=lambda f: float(C * (np.maximum(1.0 - y * f, 0.0) ** 2).sum()),
        low=np.where(y > 0, 0.0, -np.inf),
        high=np.where(y > 0, np.inf, 0.0),
        kinks=y[None],
        size=C,
        conic=lambda x, unit: 2.0 * (y @ x) - (unit / C) * cp.sum_squares(x),
        intercept=intercept,
    )


def epsilon(y: Array, C: Any, width: float, intercept: bool = True) -> Machine:
    """C_i max(0, |y_i - f_i| - width); max y'b - width |b|_1 - 1/2 b'Kb over |b_i| <= C_i, 1'b = 0."""
    upper = np.broadcast_to(np.asarray(C, dtype=float), y.shape)
    return Machine(
        n=len(y),
        part=0.5,
        gain=lambda b: float(y @ b - width * np.abs(b).sum()),
        losses=lambda f: float(upper @ np.maximum(np.abs(y - f) - width, 0.0)),
        low=-upper,
        high=upper,
        kinks=np.stack([y - width, y + width]),
        size=float(upper.max()),
        conic=lambda x, unit: y @ x - width * cp.norm1(x),
        intercept=intercept,
    )


def one_class(n: int, nu: float) -> Machine:
    """U max(0, -(f_i + c)) + c, U = 1 / (nu n); max -1/2 b'Kb over 0 <= b <= U, 1'b = 1."""
    upper = 1.0 / (nu * n)
    return Machine(
        n=n,
        part=0.5,
        gain=lambda b: 0.0,
        losses=lambda f: float(upper * np.maximum(-f, 0.0).sum()),
        low=np.zeros(n),
        high=np.full(n, upper),
        kinks=np.zeros((1, n)),
        size=1.0 / n,
        conic=lambda x, unit: 0.0,
        total=1.0,
    )


# -- domains -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Domain:
    """Where weights live: the support of the domain, as a number and as a convex expression, and its penalty."""

    support: Callable[[Array], float]
    conic: Callable[[Any, float], tuple[Any, list[Any]]]  # support(unit t) / unit
    feasible: Callable[[Array], Array]
    penalty: Callable[[Array], float] = lambda d: 0.0
    reach: Callable[[Array], float] = lambda q: 1.0  # the part of q at which the support is finite
    maximiser: Callable[[Array], Array] | None = None  # where it says more than a solver's multipliers

    def violation(self, d: Array) -> float:
        """How far weights are from the domain, as a part of their size."""
        return float(np.abs(d - self.feasible(d)).max()) / max(float(np.abs(d).max()), np.finfo(float).tiny)


def _shared(d: Array) -> Array:
    d = np.maximum(d, 0.0)
    return d / d.sum() if d.any() else np.full(len(d), 1.0 / len(d))


def simplex() -> Domain:
    """sum d = 1."""
    return Domain(lambda q: float(q.max()), lambda t, unit: (cp.max(t), []), _shared)


def ball(p: float, radius: float = 1.0, center: Any = 0.0) -> Domain:
    """|d - center|_p <= radius."""
    dual = np.inf if p == 1 else p / (p - 1.0)

    def feasible(d: Array) -> Array:
        d = np.maximum(d, center)
        size = np.linalg.norm(d - center, p)
        return center + (d - center) * (radius / size) if size > radius else d

    def conic(t: Any, unit: float) -> tuple[Any, list[Any]]:
        size = cp.max(t) if p == 1 else cp.pnorm(t, dual)
        return cp.sum(cp.multiply(np.broadcast_to(center, t.shape), t)) + radius * size, []

    return Domain(
        lambda q: float(np.sum(center * q) + radius * np.linalg.norm(np.maximum(q, 0.0), dual)), conic, feasible
    )


def orthant(strength: float, norm: int) -> Domain:
    """r(d) = strength sum d^norm."""
    if norm == 2:
        return Domain(
            lambda q: float((np.maximum(q, 0.0) ** 2).sum() / (4.0 * strength)),
            lambda t, unit: (unit / (4.0 * strength) * cp.sum_squares(t), []),
            lambda d: np.maximum(d, 0.0),
            lambda d: strength * float((d**2).sum()),
        )
    return Domain(
        lambda q: 0.0 if q.max() <= strength else np.inf,
        lambda t, unit: (0.0, [t <= strength / unit]),
        lambda d: np.maximum(d, 0.0),
        lambda d: strength * float(d.sum()),
        lambda q: (1.0 - 1e-15) * strength / q.max() if q.max() > strength else 1.0,
    )


def entropy(strength: float) -> Domain:
    """sum d = 1, r(d) = strength sum d log d."""
    return Domain(
        lambda q: strength * float(logsumexp(q / strength)),
        lambda t, unit: ((strength / unit) * cp.log_sum_exp(t * (unit / strength)), []),
        _shared,
        lambda d: strength * float((d * np.log(np.maximum(d, np.finfo(float).tiny))).sum()),
        maximiser=lambda q: softmax(q / strength),
    )


# -- optima ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Optimum:
    """Bounds of the optimum, from a feasible b and feasible weights."""

    lower: float
    upper: float
    weights: Array

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / max(abs(self.upper), np.finfo(float).tiny)


def optimum(K: Array, machine: Machine, domain: Domain) -> Optimum:
    """The problem by Clarabel, the machine at its weights once more, and the best bounds of these points."""
    b, d = _solve(K, machine, domain)
    if domain.maximiser is not None:
        d = domain.maximiser(machine.part * ref.quad(K, b))
    again, _ = _solve(ref.combine(K, d)[None], machine, simplex())
    points = (b, again)
    return Optimum(
        lower=max(machine.dual(K, domain, point) for point in points),
        upper=min(machine.primal(K, domain, d, point) for point in points),
        weights=d,
    )


def _solve(K: Array, machine: Machine, domain: Domain) -> tuple[Array, Array]:
    """b and weights, feasible; in units in which the solution is of size one."""
    scale = max(float(np.trace(K, axis1=1, axis2=2).max()) / machine.n, np.finfo(float).tiny)
    unit = machine.size if machine.total else min(machine.size, float(np.abs(machine.kinks).max()) / scale)
    x, t = cp.Variable(machine.n), cp.Variable(len(K), nonneg=True)
    shown = [k for k, matrix in enumerate(K) if matrix.any()]
    below = [machine.part * cp.sum_squares(ref.root(unit * K[k]) @ x) <= t[k] for k in shown]
    support, conditions = domain.conic(t, unit)
    bounded = np.isfinite(machine.low), np.isfinite(machine.high)
    conditions = [*below, *conditions, x[bounded[0]] >= machine.low[bounded[0]] / unit]
    conditions.append(x[bounded[1]] <= machine.high[bounded[1]] / unit)
    if machine.intercept:
        conditions.append(cp.sum(x) == machine.total / unit)
    ref.conic(cp.Problem(cp.Maximize(machine.conic(x, unit) - support), conditions))
    d = np.zeros(len(K))
    if x.value is None:  # it breaks down where the optimum is zero
        return machine.repaired(np.zeros(machine.n)), domain.feasible(d)
    d[shown] = [max(float(np.ravel(c.dual_value)[0]), 0.0) for c in below]
    return machine.repaired(unit * np.asarray(x.value)), domain.feasible(d)
