"""The Euclidean projection on a ball of any norm, cut off at zero.

    min_d |d - z|^2    over  d >= 0, |d - center|_p <= radius

In units of the radius and with a = (z - center) / radius, delta = (d - center) / radius, the solution for a
multiplier lam >= 0 of the constraint is taken coordinate by coordinate:

    delta = max(-center / radius, sign(a) u),        u + lam u^{p-1} = |a|  (p > 1),   u = max(|a| - lam, 0)  (p = 1)

because a convex function of one variable has its minimum over a ray at the nearest point to its own. Its norm falls as
lam grows, from |a|_p at 0 to 1 or less at lam = |a|_{p*}; what remains is a root in one variable.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from multikernel._typing import Array
from multikernel.domains.norms import dual_exponent, norm_of


def project_ball(z: Array, norm: float, radius: float, center: Array) -> Array:
    """The nearest point to z of { d >= 0, |d - center|_norm <= radius }."""
    if radius == 0.0:
        return center.copy()
    floor, a = -center / radius, (z - center) / radius

    def shrunk(lam: float) -> Array:
        return np.maximum(floor, np.sign(a) * _shrink(np.abs(a), lam, norm))

    def excess(lam: float) -> float:
        return norm_of(shrunk(lam), norm) - 1.0

    if excess(0.0) <= 0.0:
        return np.maximum(z, 0.0)
    top = 2.0 * norm_of(a, dual_exponent(norm))
    lam = brentq(excess, 0.0, top, xtol=np.finfo(float).tiny, rtol=4.0 * np.finfo(float).eps, maxiter=1000)
    delta = shrunk(float(lam))  # on the sphere but for what rounding of a large multiplier leaves
    if not delta.any():  # which may be nothing: so far away the nearest points of a 1-norm ball are at its corners
        reach = np.abs(shrunk(0.0))
        delta = shrunk(0.0) * (reach == reach.max())
    return np.maximum(center + (radius / norm_of(delta, norm)) * delta, 0.0)


def _shrink(a: Array, lam: float, p: float) -> Array:
    """u >= 0 with u + lam u^{p-1} = a, for a >= 0 in every entry.

    Newton's method on a convex increasing function from the right of its root: it cannot overshoot. For p < 2 the
    function is convex in s = u^{p-1}, not in u.
    """
    if p == 1.0:
        return np.maximum(a - lam, 0.0)
    if lam == 0.0:
        return a
    if p == 2.0:
        return a / (1.0 + lam)
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
