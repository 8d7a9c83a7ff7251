"""The best weights of a ball for scores that may be negative, as those of kernels that are not linear in the weights.

    h(q) = max q'd  over  d >= 0, |d - center|_p <= radius  =  min_{mu >= 0} center'(q + mu) + radius |q + mu|_{p*}

In units of the radius, delta = (d - center) / radius and c = center / radius, a weight with a negative score falls, but
not below 0, that is, delta_k >= -c_k. For p > 1 and a multiplier lam of the ball

    |delta_k| = (|q_k| / lam)^{1/(p-1)},  at most c_k where q_k < 0,

whose norm falls as lam grows: a root in one variable. For p = 1 the largest scores are served first.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from multikernel._typing import Array
from multikernel.domains.norms import norm_of


def best_in_ball(q: Array, norm: float, c: Array) -> tuple[Array, Array]:
    """delta, and q + mu at the multipliers mu of d >= 0; for scores some of which are not 0."""
    peak = float(np.abs(q).max())
    a, room = np.abs(q) / peak, np.where(q < 0.0, c, np.inf)
    sizes, level = _in_turn(a, room) if norm == 1 else _at_root(a, room, norm)
    return np.sign(q) * sizes, np.where(q < 0.0, np.maximum(q, -peak * level), q)


def _in_turn(a: Array, room: Array) -> tuple[Array, Array]:
    """The largest scores take what room they have until the sum is 1; then the score at which it was."""
    sizes, left = np.zeros(len(a)), 1.0
    for k in np.argsort(-a, kind="stable"):
        sizes[k] = min(room[k], left) if a[k] > 0.0 else 0.0
        left -= sizes[k]
        if left <= 0.0:
            return sizes, np.full(len(a), a[k])
    return sizes, np.zeros(len(a))


def _at_root(a: Array, room: Array, p: float) -> tuple[Array, Array]:
    """|delta|, and the score from which on each weight has no room to fall further."""
    power = 1.0 / (p - 1.0)

    def sizes(lam: float) -> Array:
        return np.asarray(np.minimum((a / lam) ** power, room))

    free = ~np.isfinite(room) & (a > 0.0)
    held = np.isfinite(room) & (a > 0.0) & (room > 0.0)
    if not free.any() and norm_of(np.where(held, room, 0.0), p) <= 1.0:
        return np.where(held, room, 0.0), np.zeros(len(a))
    low = float(a[free].max()) if free.any() else float((a[held] / room[held] ** (p - 1.0)).min())
    top = max(norm_of(a**power, p) ** (p - 1.0), low)
    lam = low
    if norm_of(sizes(low), p) > 1.0:
        lam = float(brentq(lambda t: norm_of(sizes(t), p) - 1.0, low, 2.0 * top, xtol=1e-300, rtol=1e-15))
    found = sizes(lam)
    return found / max(norm_of(found, p), 1.0), lam * np.where(np.isfinite(room), room, 0.0) ** (p - 1.0)
