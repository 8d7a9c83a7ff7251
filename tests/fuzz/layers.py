"""Two layers of kernel ridge regression in wide arithmetic.

    F = alpha y'(K2(Z) + alpha I)^{-1} y + beta sum_k c_k'K_k c_k,      Z_k = K_k c_k

Its gradient in the space of kernel k has the coefficients v_k = dJ/dZ_k + 2 beta c_k, so stationarity, the gain where
only beta curves F, is sum_k v_k'K_k v_k / (4 beta), relative to F.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.stationary import Surface
from fuzz.wide import Array, Number, solve, wide


def second(kind: str, degree: int, Z: Array, W: Array) -> Array:
    """The kernel on outputs of the first layer."""
    inner = Z @ W.T
    if kind == "linear":
        return inner
    if kind == "polynomial":
        return (1 + inner) ** degree
    return np.exp(-((Z[:, None] - W[None]) ** 2).sum(axis=2) / 2)


@dataclass(frozen=True)
class Layers(Surface):
    """Kernels (m, n, n) of mean self-value 1, a target of mean 0 and spread 1; weights are the coefficients (n m,)."""

    K: Array
    y: Array
    kind: str
    degree: int
    alpha: Number
    beta: Number
    told: Number

    def stationarity(self, d: Array, b: Array) -> Any:
        """Or how far the published value is from that of the first layer, whichever is larger."""
        C = d.reshape(-1, len(self.K))
        Z = np.stack([K @ c for K, c in zip(self.K, C.T, strict=True)], axis=1)
        K2 = second(self.kind, self.degree, Z, Z)
        B = solve(K2 + self.alpha * np.eye(len(Z), dtype=Number), self.y[:, None])[:, 0]
        M = -self.alpha * np.multiply.outer(B, B)
        v = self._slope(M, Z, K2) + 2 * self.beta * C
        norms = sum(c @ z for c, z in zip(C.T, Z.T, strict=True))
        value = self.alpha * (self.y @ B) + self.beta * norms
        gain = sum(each @ K @ each for each, K in zip(v.T, self.K, strict=True)) / (4 * self.beta)
        size = max(abs(value), Number(1e-300))
        return max(gain / size, abs(value - self.told) / size)

    def _slope(self, M: Array, Z: Array, K2: Array) -> Array:
        if self.kind == "linear":
            return 2 * M @ Z
        if self.kind == "polynomial":
            return 2 * (M * self.degree * (1 + Z @ Z.T) ** (self.degree - 1)) @ Z
        V = M * K2
        return 2 * (V @ Z - V.sum(axis=1)[:, None] * Z)


def learned_kernel(model: Any, K: Array) -> Array:
    """k2 between the first layer at the rows of K and at the training samples."""
    first, outputs = wide(model.predictor_.first), wide(model.predictor_.outputs)
    Z = np.stack([matrix @ c for matrix, c in zip(K, first.T, strict=True)], axis=1)
    return second(model.second, model.degree, Z, outputs)
