"""The machines by their formulas, in wide arithmetic.

J(K) = max_b  gain(b) - part b'K b    over b that keeps its conditions        (sum b = total with an intercept)
     = min_{f, c}  part |f|^2 + losses(f + c) + total c
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fuzz.wide import Array, Number, solve, wide


@dataclass(frozen=True)
class Machine:
    """A machine for its target, in terms of the coefficients b of f = K b.

    ``up`` and ``down`` are the slopes of the gain as a coefficient leaves zero upward and downward, ``ridge`` its
    curvature: gain(b) = sum_i slope_i b_i - ridge b_i^2 / 2.
    """

    part: Number
    up: Array
    down: Array
    ridge: Array
    low: Array
    high: Array
    losses: Callable[[Array], Number]  # of f + c
    kinks: Array  # (sides, n): values of f + c at which a loss turns
    total: float = 0.0
    intercept: bool = True

    def gain(self, b: Array) -> Number:
        return (np.where(b >= 0, self.up, self.down) * b - self.ridge * b * b / 2).sum()

    def repaired(self, b: Array) -> Array:
        """Within the bounds, and keeping the equality: the side that has too much is scaled down."""
        b = np.clip(b, self.low, self.high)
        excess = b.sum() - self.total
        if not self.intercept or excess == 0:
            return b
        side = b * np.sign(excess) > 0
        if side.any() and np.abs(b[side]).sum() >= abs(excess):
            return np.where(side, b * (1 - abs(excess) / np.abs(b[side]).sum()), b)
        room = self.high - b
        if np.isfinite(room).all() and room.sum() > 0:
            return b + room * min(-excess / room.sum(), Number(1))
        return b if self.total else b * 0  # as near as rounding of the bounds allows

    def best_intercept(self, f: Array) -> Number:
        """The c of the smallest losses(f + c) + total c: a kink, or between kinks where the losses are squares."""
        if not self.intercept:
            return Number(0)
        candidates = np.unique((self.kinks - f).ravel())

        def value(c: Number) -> Number:
            return self.losses(f + c) + self.total * c

        if not self.ridge.any():
            return min(candidates, key=value)
        low, high = candidates[0], candidates[-1]
        for _ in range(200):  # thirds of a convex function
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, b) if value(a) <= value(b) else (a, high)
        return min((low, high, *candidates), key=value)


def hinge(y: Array, C: Array, intercept: bool = True) -> Machine:
    """C_i max(0, 1 - y_i f_i); 0 <= y_i b_i <= C_i."""
    C = wide(np.broadcast_to(C, y.shape))
    one = np.ones(len(y), dtype=Number)
    return Machine(
        part=Number(0.5),
        up=one,
        down=-one,
        ridge=0 * one,
        low=np.where(y > 0, 0, -C),
        high=np.where(y > 0, C, 0),
        losses=lambda f: (C * np.maximum(1 - y * f, 0)).sum(),
        kinks=y[None],
        intercept=intercept,
    )


def squared_hinge(y: Array, C: float) -> Machine:
    """C max(0, 1 - y_i f_i)^2; y_i b_i >= 0."""
    C, one = Number(C), np.ones(len(y), dtype=Number)
    return Machine(
        part=Number(1),
        up=2 * one,
        down=-2 * one,
        ridge=2 / C * one,
        low=np.where(y > 0, 0, -np.inf).astype(Number),
        high=np.where(y > 0, np.inf, 0).astype(Number),
        losses=lambda f: C * (np.maximum(1 - y * f, 0) ** 2).sum(),
        kinks=y[None],
    )


def epsilon(y: Array, C: Array, width: float) -> Machine:
    """C_i max(0, |y_i - f_i| - width); |b_i| <= C_i."""
    C, width = wide(np.broadcast_to(C, y.shape)), Number(width)
    return Machine(
        part=Number(0.5),
        up=y - width,
        down=y + width,
        ridge=0 * y,
        low=-C,
        high=C,
        losses=lambda f: (C * np.maximum(np.abs(y - f) - width, 0)).sum(),
        kinks=np.stack([y - width, y + width]),
    )


def one_class(n: int, nu: float) -> Machine:
    """U max(0, -(f_i + c)) + c, U = 1 / (nu n); 0 <= b_i <= U, sum b = 1."""
    upper, zero = 1 / (Number(nu) * n), np.zeros(n, dtype=Number)
    return Machine(
        part=Number(0.5),
        up=zero,
        down=zero,
        ridge=zero,
        low=zero,
        high=zero + upper,
        losses=lambda f: upper * np.maximum(-f, 0).sum(),
        kinks=zero[None],
        total=1.0,
    )


@dataclass(frozen=True)
class Ridge:
    """|R|^2 / alpha with weights of samples; max 2 <B, Y> - alpha <B, S^-1 B> - <B, K B>, Y without its mean."""

    Y: Array  # (n, t)
    alpha: Number
    weight: Array  # (n,), > 0

    def gain(self, B: Array) -> Number:
        return 2 * (B * self.Y).sum() - self.alpha * (B * B / self.weight[:, None]).sum()

    def losses(self, F: Array) -> Number:
        return (self.weight[:, None] * (self.Y - F) ** 2).sum() / self.alpha

    def coef(self, K: Array) -> Array:
        """The coefficients of one kernel matrix."""
        return solve(K + np.diag(self.alpha / self.weight), self.Y)
