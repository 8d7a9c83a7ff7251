"""The largest sum of powers over a ball.

    max  sum_k c_k (o_k + delta_k)^p_k      over  delta >= 0,  |delta|_q <= 1,        c, o >= 0,  1 <= p_k <= q

In s_k = delta_k^q the problem is concave, so its dual in one multiplier t,

    g(t) = t + sum_k max_{delta >= 0} c_k (o_k + delta)^p_k - t delta^q,

has the same value at its minimum and is at least that at every t > t_0 = max c_k over p_k = q, so that the number
returned is never too small. The maximisers delta(t) fall as t grows. At the minimum they have norm 1, unless their norm
is less than 1 at every t > t_0; then the minimum is at t_0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from multikernel._floats import EPS
from multikernel._typing import Array

_MOST_STEPS = 100  # of Newton's method at most; some six are the rule


@dataclass(frozen=True, eq=False)
class PowerSum:
    """sum_k c_k (o_k + delta_k)^p_k.

    Parameters
    ----------
    c, o, p : arrays (m,)
    q : float > 1
    """

    c: Array
    o: Array
    p: Array
    q: float

    def largest(self) -> float:
        """The maximum, up to rounding."""
        peak = float(self.c.max(initial=0.0))
        return peak * replace(self, c=self.c / peak)._largest() if peak > 0.0 else 0.0

    def _largest(self) -> float:
        """The same where the largest c is 1."""
        end = float(self.c[self.p == self.q].max(initial=0.0))

        def excess(log: float) -> float:
            return float(logsumexp(self.q * self._logarithms(end + np.exp(log))))

        # at the maximum t q = sum_k (slope in delta_k) delta_k, and delta_k <= 1
        high = np.log(float((self.c * self.p * (self.o + 1.0) ** (self.p - 1.0)).sum()))
        first = np.log(8.0 * EPS * end) if end > 0.0 else -np.inf
        low, width = max(high - 1.0, first), 1.0
        while excess(low) < 0.0:
            if low == first:
                return self.dual(end + float(np.exp(low)))
            high, low, width = low, max(low - width, first), 2.0 * width
        log = brentq(excess, low, high, xtol=1e-13, rtol=4.0 * EPS) if excess(high) < 0.0 else high
        return self.dual(end + float(np.exp(log)))

    def dual(self, t: float) -> float:
        """g(t)."""
        delta = self.maximisers(t)
        return t + float((self.c * (self.o + delta) ** self.p - t * delta**self.q).sum())

    def maximisers(self, t: float) -> Array:
        """delta(t), the root of c p (o + delta)^(p - 1) = t q delta^(q - 1)."""
        return np.exp(self._logarithms(t))

    def _logarithms(self, t: float) -> Array:
        """log delta(t), which may be far beyond the range of numbers where q is hardly larger than p."""
        with np.errstate(divide="ignore"):
            log = np.log(self.c * self.p / (t * self.q))
        found = np.full(len(self.c), -np.inf)
        homogeneous = (self.o == 0.0) | (self.p == 1.0)
        plain = homogeneous & (self.p < self.q)
        found[plain] = log[plain] / (self.q - self.p[plain])
        rest = ~homogeneous & (self.c > 0.0)
        if rest.any():
            o, p = self.o[rest], self.p[rest]
            found[rest] = np.log(o) + _root(log[rest] + (p - self.q) * np.log(o), p - 1.0, self.q - 1.0)
        return found


def _root(log: Array, p: Array, q: float) -> Array:
    """log r for r^q / (1 + r)^p = e^log, 0 < p <= q; log < 0 where p = q.

    In u = log r the left side is q u - p log(1 + e^u), concave and increasing, so that Newton's method climbs to the
    root from u = log / q, at or below it, and never beyond.
    """
    if (p == q).all():
        return log / q - np.log(-np.expm1(log / q))
    u = log / q
    for _ in range(_MOST_STEPS):
        soft = np.logaddexp(0.0, u)
        step = (log - q * u + p * soft) / (q - p * np.exp(u - soft))
        u = u + step
        if (np.abs(step) <= 4.0 * EPS * np.maximum(1.0, np.abs(u))).all():
            break
    return u
