"""Weights in a ball of some norm around a centre: d >= 0, |d - center|_p <= radius.

    h(q) = center'q + radius |q|_{p*},        1/p + 1/p* = 1, q >= 0
    d_k - center_k = radius q_k^{1/(p-1)} / |q^{1/(p-1)}|_p    attains it for p > 1; for p = 1 all is at the largest q_k

Cortes, Mohri and Rostamizadeh (2009); Kloft, Brefeld, Sonnenburg and Zien (2011) with centre 0.

The Euclidean projection on a ball of any norm, cut off at zero, is

    min_d |d - z|^2    over  d >= 0, |d - center|_p <= radius

In units of the radius and with a = (z - center) / radius, delta = (d - center) / radius, the solution for a
multiplier lam >= 0 of the constraint is taken coordinate by coordinate:

    delta = max(-center / radius, sign(a) u),        u + lam u^{p-1} = |a|  (p > 1),   u = max(|a| - lam, 0)  (p = 1)

because the minimum over a ray of a convex function of one variable is at the point of the ray nearest to its minimiser.
The norm of delta falls as lam grows, from |a|_p at 0 to 1 or less at lam = |a|_{p*}, so that lam is the root of a
function of one variable. For p = 1 and 2 the norm, or its square, is linear in lam, or in (1 + lam)^-2, between the
points where an entry starts or stops to move: they are sorted, and the root is a division (Held, Wolfe and Crowder 1974
for the simplex).

Scores may be negative where kernels are not linear in the weights. The best weights are then

    h(q) = max q'd  over  d >= 0, |d - center|_p <= radius  =  min_{mu >= 0} center'(q + mu) + radius |q + mu|_{p*}

In units of the radius, delta = (d - center) / radius and c = center / radius, a weight with a negative score falls, but
not below 0, that is, delta_k >= -c_k. For p > 1 and a multiplier lam of the ball

    |delta_k| = (|q_k| / lam)^{1/(p-1)},  at most c_k where q_k < 0,

whose norm falls as lam grows, so that lam is a root in one variable. For p = 1 weights change in the order of the sizes
of their scores, the largest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.optimize import brentq

from multikernel._parameters import NonNegative, NonNegativeVector
from multikernel._rules import Number
from multikernel._typing import Array
from multikernel.domains.norms import dual_exponent, norm_of
from multikernel.domains.separable import Jet, Separable

_NORM = Number(least=1, why="in the limit of large norms the best weights are all equal to center + radius")


@dataclass(frozen=True, eq=False)
class NormBall(Separable):
    """d >= 0, |d - center|_norm <= radius.

    Scores may be negative, those of kernels that are not linear in the weights (``signed``).

    Parameters
    ----------
    norm : finite float >= 1
    radius : float >= 0; with 0 the domain is the one point ``center``
    center : float >= 0 or array (m,) of such

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.domains import NormBall
    >>> ball, q = NormBall(norm=2.0, radius=0.5, center=1.0), np.array([3.0, 4.0])
    >>> ball.maximiser(q)
    array([1.3, 1.4])
    >>> ball.support(q)
    9.5
    """

    norm: Annotated[float, _NORM] = 1.0
    radius: NonNegative = 1.0
    center: NonNegative | NonNegativeVector = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.any(self.center):  # a scalar fits any number of kernels
            object.__setattr__(self, "center", 0.0)

    def in_units(self, weight: float, value: float) -> NormBall:
        if weight == 1.0:
            return self
        return NormBall(self.norm, self.radius / weight, np.asarray(self.center, dtype=float) / weight)

    def check(self, m: int) -> None:
        if np.ndim(self.center) == 1 and len(np.asarray(self.center)) != m:
            raise ValueError(f"the centre of the ball has {np.size(self.center)} entries for {m} kernels")

    def start(self, m: int) -> Array:
        return self.offset(m) + self.radius * m ** (-1.0 / self.norm)

    def project(self, z: Array) -> Array:
        return project_ball(z, self.norm, self.radius, self.offset(len(z)))

    def feasible(self, d: Array) -> Array:
        center = self.offset(len(d))
        delta = np.maximum(d, 0.0) - center
        size = norm_of(delta, self.norm)
        if size > self.radius:
            return center + delta * (self.radius / size)
        return np.maximum(d, 0.0)

    def minimal(self, d: Array, idle: Array) -> Array:
        """The idle weights become those of the center, so that the other weights may be as large as possible."""
        return np.where(idle, self.offset(len(d)), d)

    def contains(self, d: Array, tol: float = 1e-9) -> bool:
        center = self.offset(len(d))
        slack = tol * (self.radius + float(center.max()))
        return bool((d >= -slack).all() and norm_of(d - center, self.norm) <= self.radius + slack)

    def support(self, q: Array) -> float:
        if self.single_point:
            return float(self.offset(len(q)) @ q)
        if (q < 0.0).any():
            q = best_in_ball(q, self.norm, self.offset(len(q)) / self.radius)[1]
        return float(self.offset(len(q)) @ q) + self.radius * norm_of(np.abs(q), dual_exponent(self.norm))

    def maximiser(self, q: Array) -> Array:
        if not q.any():
            return self.start(len(q))
        center = self.offset(len(q))
        if (q < 0.0).any() and not self.single_point:
            return np.maximum(center + self.radius * best_in_ball(q, self.norm, center / self.radius)[0], 0.0)
        return center + self.radius * self._direction(np.maximum(q, 0.0))

    def _direction(self, q: Array) -> Array:
        """The maximiser of delta'q over |delta|_p <= 1, for q >= 0; 0 for q = 0."""
        peak = float(q.max())
        if peak == 0.0:
            return np.zeros(len(q))
        if self.norm == 1:
            return np.eye(1, len(q), int(np.argmax(q)))[0]
        delta = (q / peak) ** (1.0 / (self.norm - 1.0))
        return delta / norm_of(delta, self.norm)

    @property
    def single_point(self) -> bool:
        return self.radius == 0.0

    def offset(self, m: int) -> Array:
        self.check(m)
        return np.full(m, self.center, dtype=float)

    def constraint(self, delta: Array) -> Jet:
        p = self.norm
        t = delta / self.radius
        if p == 1:
            return t, np.full(len(t), 1.0 / self.radius), np.zeros(len(t))
        with np.errstate(divide="ignore"):  # infinite curvature at 0 for p < 2
            curvature = p * (p - 1.0) * t ** (p - 2.0) / self.radius**2
        return t**p, p * t ** (p - 1.0) / self.radius, curvature

    def block_update(self, norms: Array) -> Array:
        """argmin over the ball around 0 of sum_k c_k^2 / d_k: d_k proportional to c_k^{2/(p+1)}.

        ValueError where the centre is not 0.
        """
        m = len(norms)
        peak = float(norms.max())
        if self.offset(m).any():
            raise ValueError("the update in closed form holds for a ball around 0 only: choose center=0")
        if peak == 0.0:
            return self.start(m)
        d = (norms / peak) ** (2.0 / (self.norm + 1.0))
        return self.radius * d / norm_of(d, self.norm)


# -- the Euclidean projection ------------------------------------------------------------------------------------------


def project_ball(z: Array, norm: float, radius: float, center: Array) -> Array:
    """The nearest point to z of { d >= 0, |d - center|_norm <= radius }."""
    if radius == 0.0:
        return center.copy()
    a = (z - center) / radius
    room = np.where(a < 0.0, center / radius, np.inf)
    sizes = np.abs(a)
    if norm_of(np.minimum(sizes, room), norm) <= 1.0:
        return np.maximum(z, 0.0)
    if norm == 1.0:
        u = _shifted(sizes, room)
    elif norm == 2.0:
        u = _scaled(sizes, room)
    else:
        u = _shrunk(sizes, room, norm)
    delta = np.sign(a) * u  # on the sphere but for rounding
    return np.maximum(center + (radius / norm_of(delta, norm)) * delta, 0.0)


def _shifted(a: Array, room: Array) -> Array:
    """u = min(max(a - lam, 0), room) whose sum is 1: from the largest lam down, the sum is linear between its knots."""
    knots = np.concatenate([a, a - room])
    order = np.argsort(-knots, kind="stable")
    order = order[np.isfinite(knots[order])]
    falling = knots[order]
    growing = np.cumsum(np.where(order < len(a), 1.0, -1.0))  # how many entries grow from a knot to the next
    total = np.concatenate([[0.0], np.cumsum(-np.diff(falling) * growing[:-1])])
    last = int(np.flatnonzero(total < 1.0)[-1])
    excess = (1.0 - total[last]) / max(growing[last], 1.0)
    # relative to the knot, since rounding of large entries would exceed the sum
    return np.minimum(np.maximum(a - falling[last] + excess, 0.0), room)


def _scaled(a: Array, room: Array) -> Array:
    """u = min(a / (1 + lam), room) of length 1: the entries stop growing in the order of room / a."""
    a = a / a.max()
    order = np.argsort(np.divide(room, a, out=np.full(len(a), np.inf), where=a > 0.0), kind="stable")
    a_sorted = a[order]
    limits = room[order]
    stopped = np.concatenate([[0.0], np.cumsum(limits**2)[:-1]])  # the squares of those that have stopped
    growing = np.cumsum((a_sorted**2)[::-1])[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):  # values beyond the first entry without a limit are not used
        scale = np.sqrt((1.0 - stopped) / growing)
        first = int(np.argmax(a_sorted * scale <= limits))
    return np.minimum(a * scale[first], room)


def _shrunk(a: Array, room: Array, norm: float) -> Array:
    """u = min(u', room) of norm 1, with u' + lam u'^{norm - 1} = a, by a search for lam."""

    def entries(lam: float) -> Array:
        return np.minimum(_shrink(a, lam, norm), room)

    def excess(lam: float) -> float:
        return norm_of(entries(lam), norm) - 1.0

    top = 2.0 * norm_of(a, dual_exponent(norm))
    lam = brentq(excess, 0.0, top, xtol=np.finfo(float).tiny, rtol=4.0 * np.finfo(float).eps, maxiter=1000)
    return entries(float(lam))


def _shrink(a: Array, lam: float, p: float) -> Array:
    """u >= 0 with u + lam u^{p-1} = a, for a >= 0 in every entry and p other than 1 and 2.

    Newton's method on a convex increasing function from the right of its root: it cannot overshoot. For p < 2 the
    function is convex in s = u^{p-1}, not in u.
    """
    if lam == 0.0:
        return a
    if p > 2.0:
        return _newton(np.minimum(a, (a / lam) ** (1.0 / (p - 1.0))), a, 1.0, lam, p - 1.0)
    r = 1.0 / (p - 1.0)
    return _newton(np.minimum(a ** (p - 1.0), a / lam), a, lam, 1.0, r) ** r


def _newton(x: Array, a: Array, linear: float, power: float, exponent: float) -> Array:
    """The root of linear x + power x^exponent = a, exponent > 1, from a start x at or above it."""
    for _ in range(200):
        raised = power * x ** (exponent - 1.0)
        step = (linear * x + raised * x - a) / (linear + exponent * raised)
        x = np.maximum(x - step, 0.0)
        if (np.abs(step) <= 1e-15 * x).all():
            break
    return x


# -- the best weights for scores of any sign ---------------------------------------------------------------------------


def best_in_ball(q: Array, norm: float, c: Array) -> tuple[Array, Array]:
    """delta, and q + mu at the multipliers mu of d >= 0; for scores some of which are not 0."""
    peak = float(np.abs(q).max())
    a = np.abs(q) / peak
    room = np.where(q < 0.0, c, np.inf)
    sizes, level = _largest_first(a, room) if norm == 1 else _at_root(a, room, norm)
    return np.sign(q) * sizes, np.where(q < 0.0, np.maximum(q, -peak * level), q)


def _largest_first(a: Array, room: Array) -> tuple[Array, Array]:
    """Sizes that use all their room, from the largest score on, until their sum is 1; and the score where it is."""
    sizes = np.zeros(len(a))
    remaining = 1.0
    for k in np.argsort(-a, kind="stable"):
        sizes[k] = min(room[k], remaining) if a[k] > 0.0 else 0.0
        remaining -= sizes[k]
        if remaining <= 0.0:
            return sizes, np.full(len(a), a[k])
    return sizes, np.zeros(len(a))


def _at_root(a: Array, room: Array, p: float) -> tuple[Array, Array]:
    """|delta|, and for each weight the size of its score beyond which it cannot fall any more."""
    power = 1.0 / (p - 1.0)

    def sizes(lam: float) -> Array:
        with np.errstate(over="ignore"):  # an overflow exceeds the room, too
            return np.asarray(np.minimum((a / lam) ** power, room))

    free = ~np.isfinite(room) & (a > 0.0)
    limited = np.isfinite(room) & (a > 0.0) & (room > 0.0)
    furthest = np.where(limited, room, 0.0)
    if not free.any() and norm_of(furthest, p) <= 1.0:
        return furthest, np.zeros(len(a))
    if free.any():
        low = float(a[free].max())
    else:
        low = float((a[limited] / room[limited] ** (p - 1.0)).min())
    top = max(norm_of(a**power, p) ** (p - 1.0), low)
    lam = low
    if norm_of(sizes(low), p) > 1.0:
        lam = float(brentq(lambda t: norm_of(sizes(t), p) - 1.0, low, 2.0 * top, xtol=1e-300, rtol=1e-15))
    sizes_at_root = sizes(lam)
    return sizes_at_root / max(norm_of(sizes_at_root, p), 1.0), lam * np.where(np.isfinite(room), room, 0.0) ** (
        p - 1.0
    )
