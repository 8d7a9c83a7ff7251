"""Kernels that differ from group to group of the samples, or by learned gates, in wide arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.machines import Machine, Ridge
from fuzz.polish import polished
from fuzz.saddle import Domain, ball
from fuzz.stationary import Surface
from fuzz.wide import Array, Number, combine, wide


def localised(K: Array, h: Array) -> Array:
    """h_ij h_lj (K_k)_il, group by group, for memberships h (n, groups): shape (groups m, n, n)."""
    return np.concatenate([column[:, None] * K * column for column in wide(h).T])


def balls(p: float, groups: int) -> Domain:
    """|d_j|_p <= 1 for the weights d_j of each group."""
    one = ball(p)
    return Domain(
        lambda q: sum((one.support(part) for part in np.split(q, groups)), Number(0)),
        excess=lambda d: max(one.excess(part) for part in np.split(d, groups)),
    )


@dataclass(frozen=True)
class Gated(Surface):
    """min over x of J(sum_k diag(e_k) K_k diag(e_k)) + ridge |x|^2, e the gates of heights x' features.

    Coefficients x are those of every kernel (m, p + 1), one after the other; stationarity is |dF|^2 / (4 ridge) / F.
    """

    K: Array
    features: Array  # (n, p + 1), the last one 1
    machine: Machine | Ridge
    kind: str
    ridge: Number
    told: Number

    def gates(self, x: Array) -> Array:
        heights = self.features @ x.reshape(len(self.K), -1).T
        if self.kind == "sigmoid":
            return 1 / (1 + np.exp(-heights))
        e = np.exp(heights - heights.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def kernel(self, e: Array) -> Array:
        return combine(
            np.array([gate[:, None] * K * gate for gate, K in zip(e.T, self.K, strict=True)]), np.ones(e.shape[1])
        )

    def stationarity(self, d: Array, b: Array) -> Any:
        """Or how far the published value is from that of the gates, whichever is larger."""
        e, machine = self.gates(d), self.machine
        K = self.kernel(e)
        if isinstance(machine, Ridge):
            B, part = machine.coef(K), Number(1)
            value = (B * machine.Y).sum()
        else:
            B, part = polished(machine, K, b)[:, None], machine.part
            value = machine.gain(B[:, 0]) - part * (B[:, 0] @ K @ B[:, 0])
        each = [-2 * part * (B * (K @ (e[:, [k]] * B))).sum(axis=1) for k, K in enumerate(self.K)]
        P = np.stack(each, axis=1)  # the derivative in each gate
        slope = e * (P - (e * P).sum(axis=1, keepdims=True)) if self.kind == "softmax" else P * e * (1 - e)
        gradient = (slope.T @ self.features).ravel() + 2 * self.ridge * d
        value = value + self.ridge * (d @ d)
        size = max(abs(value), Number(1e-300))
        return max((gradient @ gradient) / (4 * self.ridge) / size, abs(value - self.told) / size)
