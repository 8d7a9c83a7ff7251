"""Several classes at once, in wide arithmetic: the loss of Crammer and Singer, with learned weights.

    min_{d in D, f, b}  1/2 sum_c |f_c|^2 + sum_i C_i max_c (1[c != y_i] + g_c(x_i) - g_y(x_i)),      g = f + b
  = max_B  sum_i B_iy - h(1/2 tr B'K_k B),      h the support function of D,

over B whose rows sum to 0, B_iy <= C_i, B_ic <= 0 for the other classes; with intercepts its columns sum to 0 as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzz.saddle import Domain
from fuzz.wide import Array, Number, combine, quad, wide
from joint_reference import best_intercept

_SUMS = 1e-17  # of the coefficients: a smaller sum is rounding


@dataclass(frozen=True)
class JointClasses:
    """Kernels (m, n, n), the number of each sample's class, the weights of the losses, a domain."""

    K: Array
    labels: Array
    C: Array
    domain: Domain
    intercept: bool = True

    @property
    def own(self) -> Array:
        return np.arange(self.labels.max() + 1) == self.labels[:, None]

    def upper(self, d: Array, B: Array, b: Array | None = None) -> Number:
        """The value of f = sum_k d_k K_k B and intercepts, good ones in double precision where none are given."""
        f = combine(self.K, d) @ B
        if b is None and self.intercept:
            b = wide(best_intercept(f.astype(float), self.labels, self.C.astype(float)))
        g = f if b is None else f + b
        losses = (~self.own + g).max(axis=1) - g[self.own]
        return (B * f).sum() / 2 * max(self.domain.excess(d), Number(1)) + (self.C * losses).sum()

    def lower(self, B: Array) -> Number:
        B = self.repaired(B)
        return B[self.own].sum() - self.domain.support(quad(self.K, B) / 2)

    def at(self, d: Array, B: Array) -> Number:
        B = self.repaired(B)
        return B[self.own].sum() - (d * quad(self.K, B)).sum() / 2

    def solved(self, d: Array, B: Array) -> Array:
        """Coefficients are taken as they come: the second opinion has others."""
        return B

    def rounding(self, d: Array, B: Array, b: Array) -> Number:
        """What errors of kernel values and intercepts in their last double digit may change a value by."""
        sizes = np.sqrt(np.maximum(np.einsum("k,kii->i", d, self.K), 0))
        values = sizes[:, None] * (sizes @ np.abs(B)) + np.abs(b) + 1
        return np.finfo(float).eps * ((np.abs(B) + self.C[:, None]) * values).sum()

    def repaired(self, B: Array) -> Array:
        """Within the bounds, with rows and columns that sum to zero; nothing where that does not succeed."""
        others = np.where(self.own, 0, np.minimum(B, 0))
        moved = -others.sum(axis=1)
        others = others * np.where(moved > self.C, self.C / np.where(moved > 0, moved, 1), 1)[:, None]
        for _ in range(others.shape[1] ** 2):
            B = np.where(self.own, -others.sum(axis=1)[:, None], others)
            sums = B.sum(axis=0)
            most, least = int(sums.argmax()), int(sums.argmin())
            excess = min(sums[most], -sums[least])
            if not self.intercept or excess <= _SUMS * np.abs(B).sum():
                return B
            there = self.labels == most  # what they move to the class that has too little
            size = -others[there, least].sum()
            part = min(excess / size, Number(1)) if size > 0 else Number(0)
            others[there, least] *= 1 - part
            back = np.where(self.labels == least, self.C + others.sum(axis=1), 0)  # what the others may move more
            if back.sum() > 0:
                others[:, most] -= back * min((excess - part * size) / back.sum(), Number(1))
        return B * 0
