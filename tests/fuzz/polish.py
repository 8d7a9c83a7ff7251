"""Coefficients that are optimal for one kernel matrix to the last digits of wide arithmetic, from good ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.machines import Machine
from fuzz.wide import EPS, Array, Number, solve

_ROUNDS = 80
_SNAP = 1e-9  # of the largest coefficient: one so near a bound or zero starts there
_SHIFT = 4 * EPS  # of the largest diagonal entry
_NOTHING = 1e-300
_DIGITS = 1e-17  # of the largest slope: a smaller one does not lead on


def polished(machine: Machine, K: Array, b: Array) -> Array:
    """The maximiser of gain(b) - part b'K b by an active set; where that leads nowhere, the last point met."""
    b = machine.repaired(b)
    size = np.abs(b).max()
    free = (b > machine.low + _SNAP * size) & (b < machine.high - _SNAP * size) & (np.abs(b) > _SNAP * size)
    side = np.sign(b)
    for _ in range(_ROUNDS):
        multiplier: Any = None
        if free.any():
            goal, multiplier = _on_free(machine, K, b, free, side)
            if not np.isfinite(goal).all():
                return b
            b, blocked = _towards(machine, b, goal, free, side)
            if blocked is not None:
                free[blocked] = False
                continue
        entering = _entering(machine, K, b, free, multiplier)
        if not entering:
            return b
        for at, sign in entering:
            free[at], side[at] = True, sign if b[at] == 0 else np.sign(b[at])
    return b


def _on_free(machine: Machine, K: Array, b: Array, free: Array, side: Array) -> tuple[Array, Any]:
    """The optimum where the others stay what they are and no sign changes, and the multiplier of the equality."""
    F, equal = np.flatnonzero(free), int(machine.intercept)
    fixed, k = np.where(free, 0, b), int(free.sum())
    A, right = np.zeros((k + equal, k + equal), dtype=b.dtype), np.zeros(k + equal, dtype=b.dtype)
    A[:k, :k] = 2 * machine.part * K[np.ix_(F, F)] + np.diag(machine.ridge[F])
    peak = A[:k, :k].diagonal().max()
    A[range(k), range(k)] += _SHIFT * peak if peak > 0 else Number(_NOTHING)  # a flat direction leads to a bound
    right[:k] = np.where(side >= 0, machine.up, machine.down)[F] - 2 * machine.part * (K[F] @ fixed)
    if equal:
        A[:k, k] = A[k, :k] = 1
        right[k] = machine.total - fixed.sum()
    found = solve(A, right)
    goal = fixed.copy()
    goal[F] = found[:k]
    return goal, found[k] if equal else b.dtype.type(0)


def _towards(machine: Machine, b: Array, goal: Array, free: Array, side: Array) -> tuple[Array, int | None]:
    """As far as the bounds allow, and which coefficient stopped the step."""
    step = goal - b
    low = np.where(side > 0, np.maximum(machine.low, 0), machine.low)
    high = np.where(side < 0, np.minimum(machine.high, 0), machine.high)
    with np.errstate(all="ignore"):
        reach = np.where(step > 0, (high - b) / step, np.where(step < 0, (low - b) / step, np.inf))
    reach = np.where(free & (step != 0), reach, np.inf)
    at = int(np.argmin(reach))
    if not reach[at] < 1:
        return goal, None
    b = b + max(reach[at], 0) * step
    b[at] = (high if step[at] > 0 else low)[at]
    return b, at


def _entering(machine: Machine, K: Array, b: Array, free: Array, multiplier: Any) -> list[tuple[int, int]]:
    """Which coefficients gain by leaving a bound, and whether upward; two where none is free to balance one."""
    f = 2 * machine.part * (K @ b) + machine.ridge * b
    rising = np.where(~free & (b < machine.high), np.where(b >= 0, machine.up, machine.down) - f, -np.inf)
    falling = np.where(~free & (b > machine.low), f - np.where(b <= 0, machine.down, machine.up), -np.inf)
    up, down, least = int(np.argmax(rising)), int(np.argmax(falling)), _DIGITS * np.abs(f).max()
    if multiplier is None and machine.intercept:
        return [(up, 1), (down, -1)] if rising[up] + falling[down] > least and up != down else []
    shift = 0 if multiplier is None else multiplier
    best = max((rising[up] - shift, up, 1), (falling[down] + shift, down, -1))
    return [(best[1], best[2])] if best[0] > least else []
