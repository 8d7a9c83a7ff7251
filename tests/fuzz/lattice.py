"""Hierarchical kernel learning with every product of few kernels at hand, in wide arithmetic.

    min over f, c of  1/2 Omega(f)^2 + losses(f + c)
    Omega(f) = sum_v beta^|v| (sum over w >= v of |f_w|^rho)^{1/rho}

The dual norm is bounded from above by any way to share the roots of the forms q_w = b'K_w b out among the ancestors:
that of a conic solver, made exact (``hkl_reference``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import hkl_reference as ref
from fuzz.machines import Machine, Ridge
from fuzz.saddle import Saddle, point
from fuzz.wide import Array, Number, combine, norm, quad

_DIGITS = 1e-12  # of the dual norm: what a bound in double precision leaves open


@dataclass(frozen=True)
class Lattice:
    """The products of every node (2^p, n, n), which the weights are of."""

    products: Array
    nodes: list[tuple[int, ...]]
    machine: Machine | Ridge
    beta: float
    rho: float

    def upper(self, d: Array, b: Array, c: Any = None) -> Number:
        b = b.ravel()
        sizes, below = d * np.sqrt(np.maximum(quad(self.products, b), 0)), ref.below(self.nodes)
        costs = Number(self.beta) ** np.array([len(v) for v in self.nodes])
        omega = sum(cost * norm(sizes[row], self.rho) for cost, row in zip(costs, below, strict=True))
        f = combine(self.products, d) @ b
        if isinstance(self.machine, Ridge):
            return omega**2 / 2 + self.machine.losses(f[:, None]) / 2
        return omega**2 / 2 + self.machine.losses(f + (self.machine.best_intercept(f) if c is None else c))

    def lower(self, b: Array) -> Number:
        if isinstance(self.machine, Ridge):
            gain, b = self.machine.gain(b) / 2, b.ravel()
        else:
            b = self.machine.repaired(b)
            gain = self.machine.gain(b)
        forms = np.maximum(quad(self.products, b), 0).astype(float)
        return gain - (Number(ref.dual_norm(forms, self.nodes, self.beta, self.rho)[1]) * (1 + _DIGITS)) ** 2 / 2

    def at(self, d: Array, b: Array) -> Number:
        return Number(-np.inf)

    def rounding(self, d: Array, b: Array, c: Array) -> Number:
        return Saddle(self.products, self.machine, point(d)).rounding(d, b, c)

    def solved(self, d: Array, b: Array) -> Array:
        return b
