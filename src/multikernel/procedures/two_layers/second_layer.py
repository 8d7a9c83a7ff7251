"""The kernel of the second layer, on outputs z of the first: its values, and their derivatives in the outputs.

    linear z'w        polynomial (1 + z'w)^degree        Gaussian exp(-|z - w|^2 / 2)

The first layer learns its own scale, so that none has a width. For fixed M the derivative of <M, K(Z)> in Z is, with
V = M o K'(Z) entry by entry and M symmetric, 2 V Z for the first two and 2 (V Z - diag(V 1) Z) for the Gaussian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from multikernel._linalg import product
from multikernel._typing import Array


@dataclass(frozen=True)
class SecondLayer:
    """A kernel on outputs of the first layer.

    Parameters
    ----------
    kind : "linear", "polynomial" or "gaussian"
    degree : int, of the polynomial
    """

    kind: Literal["linear", "polynomial", "gaussian"]
    degree: int = 2

    def __call__(self, Z: Array, W: Array) -> Array:
        """Between outputs (r, m) and (c, m): shape (r, c)."""
        match self.kind:
            case "linear":
                return _inner(Z, W)
            case "polynomial":
                return (1.0 + _inner(Z, W)) ** self.degree
        middle = W.mean(axis=0)  # squares lose the digits of differences far from zero
        Z = Z - middle
        W = W - middle
        squares = (Z**2).sum(axis=1)[:, None] + (W**2).sum(axis=1) - 2.0 * _inner(Z, W)
        return np.exp(-0.5 * np.maximum(squares, 0.0))

    def diagonal(self, Z: Array) -> Array:
        """Of each output with itself, shape (r,)."""
        squares = (Z**2).sum(axis=1)
        match self.kind:
            case "linear":
                return squares
            case "polynomial":
                return (1.0 + squares) ** self.degree
        return np.ones(len(Z))

    def slope(self, M: Array, Z: Array, K: Array) -> Array:
        """The derivative of <M, K(Z)> in Z, shape (n, m), for a symmetric M and K = K(Z)."""
        match self.kind:
            case "linear":
                return 2.0 * product(M, Z)
            case "polynomial":
                return 2.0 * product(M * (self.degree * (1.0 + _inner(Z, Z)) ** (self.degree - 1)), Z)
        V = M * K
        centred = Z - Z.mean(axis=0)
        return 2.0 * (product(V, centred) - V.sum(axis=1)[:, None] * centred)


def _inner(Z: Array, W: Array) -> Array:
    """Z W'."""
    return product(np.ascontiguousarray(Z), np.ascontiguousarray(W.T))
