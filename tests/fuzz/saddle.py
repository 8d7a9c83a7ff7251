"""Kernel weights and a machine together, in wide arithmetic: values and bounds from the formulas of the problems alone.

    min_{d in D}  r(d) + J(sum_k d_k K_k),      J(K) = max_b  gain(b) - part b'K b    over b that keeps its conditions

with h(q) = max_{d in D} d'q - r(d). Every b that keeps its conditions bounds the optimum from below, every function f
in the space of sum_k d_k K_k with an intercept c bounds it from above,

    gain(b) - h(part b'K_k b)   <=   the optimum   <=   part |f|^2 + losses(f + c) + total c + r(d).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fuzz.machines import Machine, Ridge
from fuzz.polish import polished
from fuzz.wide import Array, Number, combine, norm, quad, wide

_TINY = Number(np.finfo(float).tiny)


# -- domains -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Domain:
    """h(q), r(d), by how much d exceeds the domain (a factor >= 1), the part of q at which h is finite."""

    support: Callable[[Array], Number]
    penalty: Callable[[Array], Number] = lambda d: Number(0)
    excess: Callable[[Array], Number] = lambda d: Number(1)
    reach: Callable[[Array], Number] = lambda q: Number(1)


def ball(p: float, radius: float = 1.0, center: Array | float = 0.0) -> Domain:
    """|d - center|_p <= radius; the simplex is that of p = 1 around 0, since more weight never makes a value larger."""
    dual = np.inf if p == 1 else Number(p) / (Number(p) - 1)
    radius, center = Number(radius), wide(center)

    def excess(d: Array) -> Number:
        if radius == 0:
            shifted = center + np.zeros(len(d), dtype=Number)
            return np.divide(d, shifted, out=np.ones_like(shifted), where=shifted > 0).max()
        out = norm(np.abs(d - center), p) / radius
        inside = center + (d - center) / max(out, Number(1))
        return np.divide(d, inside, out=np.ones_like(inside), where=inside > 0).max()  # |f| grows by no more

    return Domain(lambda q: (center * q).sum() + radius * norm(np.maximum(q, 0), dual), excess=excess)


def point(d: Array) -> Domain:
    """These weights and no others."""
    here = wide(d)
    return Domain(lambda q: (here * q).sum(), excess=lambda x: Number(1 if np.array_equal(x, here) else np.inf))


def orthant(strength: float, power: int) -> Domain:
    """r(d) = strength sum d^power."""
    s = Number(strength)
    if power == 2:
        return Domain(lambda q: (np.maximum(q, 0) ** 2).sum() / (4 * s), lambda d: s * (d * d).sum())
    return Domain(
        lambda q: Number(0),
        lambda d: s * d.sum(),
        reach=lambda q: min(Number(1), s / max(q.max(), _TINY)),
    )


def entropy(strength: float) -> Domain:
    """sum d = 1, r(d) = strength sum d log d."""
    s = Number(strength)

    def support(q: Array) -> Number:
        return q.max() + s * np.log(np.exp((q - q.max()) / s).sum())

    return Domain(support, lambda d: s * (d * np.log(np.maximum(d, _TINY))).sum(), lambda d: d.sum())


# -- bounds ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saddle:
    """A problem: kernels (m, n, n), a machine, a domain."""

    K: Array
    machine: Machine | Ridge
    domain: Domain

    def upper(self, d: Array, b: Array, c: Number | None = None, f: Array | None = None) -> Number:
        """The primal value of weights d, of f = sum_k d_k K_k b and of the intercept c: the best one if none is given.

        Weights that exceed the domain by rounding are scaled into it, with the same function.
        """
        f = combine(self.K, d) @ b if f is None else f
        size = max((b * f).sum(), Number(0)) * max(self.domain.excess(d), Number(1))
        if isinstance(self.machine, Ridge):
            return size + self.machine.losses(f) + self.domain.penalty(d)  # the intercept is the mean
        c = self.machine.best_intercept(f) if c is None else c
        losses = self.machine.losses(f + c) + self.machine.total * c
        return self.machine.part * size + losses + self.domain.penalty(d)

    def solved(self, d: Array, b: Array) -> Array:
        """The best coefficients for these weights, from good ones."""
        K = combine(self.K, d)
        if not isinstance(self.machine, Ridge):
            return polished(self.machine, K, b)
        exact = self.machine.coef(K)
        return exact if np.isfinite(exact).all() else b

    def at(self, d: Array, b: Array) -> Number:
        """A lower bound of the value of these weights: the dual value of coefficients that are feasible."""
        return replace(self, domain=point(d)).lower(b) + self.domain.penalty(d)

    def rounding(self, d: Array, b: Array, c: Array) -> Number:
        """What errors of kernel values, targets and intercept in their last double digit may change a value by."""
        sizes = np.sqrt(np.maximum(np.einsum("k,kii->i", d, self.K), 0))
        b = b.reshape(len(b), -1)
        values = sizes[:, None] * (sizes @ np.abs(b)) + np.abs(c)  # the most that every f_i is made of
        if isinstance(self.machine, Ridge):
            reach = np.abs(b) + 2 * self.machine.weight[:, None] * np.abs(self.machine.Y - combine(self.K, d) @ b) / (
                self.machine.alpha
            )
        else:
            most = np.maximum(np.abs(self.machine.low), np.abs(self.machine.high))
            reach = np.where(np.isfinite(most), most, np.abs(b[:, 0]))[:, None]
            values = values + np.abs(self.machine.kinks).max()
        return np.finfo(float).eps * (reach * values).sum()

    def lower(self, b: Array) -> Number:
        """The dual value of coefficients, made feasible; of ridge regression at their best multiple."""
        if isinstance(self.machine, Ridge):
            return self._lower_ridge(b)
        b = self.machine.repaired(b)
        q = self.machine.part * quad(self.K, b)
        reach = self.domain.reach(q)
        if reach < 1 and self.machine.total != 0:
            return Number(-np.inf)
        return self.machine.gain(np.sqrt(reach) * b) - self.domain.support(reach * q)

    def _lower_ridge(self, B: Array) -> Number:
        machine, q = self.machine, quad(self.K, B)
        linear = (B * machine.Y).sum()
        square = machine.alpha * (B * B / machine.weight[:, None]).sum()
        most = np.sqrt(self.domain.reach(q))
        best = linear / max(square + self.domain.support(most**2 * q) / most**2, _TINY)
        values = [2 * s * linear - s * s * square - self.domain.support(s * s * q) for s in (most, min(best, most))]
        return max(value for value in values)
