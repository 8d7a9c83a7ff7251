"""The lowest point of a quadratic function in a ball around 0.

    min_z  g'z + 1/2 z'Hz,    |z| <= radius,        H symmetric, of any signs

At the minimum (H + t I) z = -g with t >= 0, H + t I positive semi-definite, and t = 0 or |z| = radius: a root in one
variable once H is decomposed (More and Sorensen 1983). Where only products with H are available, conjugate gradients
are followed until they leave the ball or find negative curvature (Steihaug 1983).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg
from scipy.optimize import brentq

from multikernel._floats import ROUNDING, TINY
from multikernel._typing import Array


def minimise_in_ball(H: Array, g: Array, radius: float) -> Array:
    """The minimiser, by the eigenvalues of H."""
    values, vectors = linalg.eigh(H, check_finite=False)
    b = vectors.T @ g
    size = float(np.linalg.norm(b)) / radius
    floor = max(0.0, ROUNDING * (float(np.abs(values).max()) + size) + TINY - float(values[0]))

    def point(t: float) -> Array:
        return -b / (values + t)

    def excess(t: float) -> float:
        return float(np.linalg.norm(point(t))) - radius

    z = point(floor)
    if excess(floor) > 0.0:
        z = point(float(brentq(excess, floor, floor + 2.0 * size, xtol=TINY, rtol=1e-12)))
    elif values[0] < 0.0:  # to the boundary along the direction of negative curvature, on which g has no slope
        z[0] -= np.copysign(np.sqrt(radius**2 - float(z[1:] @ z[1:])) - abs(z[0]), b[0])
    return vectors @ z


def descend_in_ball(product: Callable[[Array], Array], g: Array, radius: float) -> Array:
    """A point at least as low as the lowest one in the direction -g, by conjugate gradients on v -> H v.

    They end at a hundredth of |g|, at the boundary, or after 200 products.
    """
    z = np.zeros_like(g)
    r = g
    p = -g
    enough = 1e-2 * float(np.linalg.norm(g))
    if enough == 0.0:
        return z
    for _ in range(200):
        image = product(p)
        size = float(r @ r)
        curvature = float(p @ image)
        length = size / curvature if curvature > 0.0 else np.inf
        boundary = _to_boundary(z, p, radius)
        z = z + min(length, boundary) * p
        r = r + min(length, boundary) * image
        if length >= boundary or float(np.linalg.norm(r)) <= enough:
            break
        p = (float(r @ r) / size) * p - r
    return z


def _to_boundary(z: Array, p: Array, radius: float) -> float:
    """The length t >= 0 with |z + t p| = radius, for |z| <= radius."""
    a = float(p @ p)
    b = float(z @ p)
    c = float(z @ z) - radius**2
    return (float(np.sqrt(max(b * b - a * c, 0.0))) - b) / a
