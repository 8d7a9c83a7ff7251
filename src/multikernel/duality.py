"""Duality gaps by feasible pairs: the bounds from which all certificates of the package are computed.

The problem. Weights theta are in a closed convex set D with a convex penalty r, and variables A (coefficients of a
machine) are in another convex set:

    P* = min_{theta in D} P(theta),    P(theta) = max_A L(theta, A),    L(theta, A) = g(A) - f(theta, A) + r(theta),

with g concave, and f(theta, A) = tr A'K(theta)A >= 0 the contribution of the kernels.

The pair. Any theta in D and any feasible A, from any algorithm, enclose the optimum,

    P(theta)  >=  P*  >=  D(A) = min_{theta in D} L(theta, A),

since min max >= max min: nothing is assumed about the algorithm, its tolerances or its convergence. Upper values need P
at theta, which is a primal value of the machine; bounds need D at A, which has four forms.

1. Where f is linear in theta, f = theta'q(A), the minimum over theta is a Fenchel conjugate (``dual_value``):

       D(A) = g(A) - h(q),        h(q) = max_{theta in D} theta'q - r(theta), the support function of the domain.

   Planes c - q'theta below P, and their means, bound it in the same way.

2. Every multiple s A of A is feasible, too, where A has no constraint. With g linear and quadratic, g(s A) = s l -
   s^2 c' / 2, and f quadratic, D(s A) = s l - s^2 c / 2 is largest at s = l / c (``best_multiple``). Where A is a
   machine's solution, l = 2 J and g's and f's squares add up to J: costs that are larger by e than J then leave
   J^2 / (J + e), which is less than J by J e / (J + e) (``lost_by_multiple``), a difference without cancellation.

3. Where F is convex with gradient F'(x) and curved by at least a diagonal matrix C >= 0 (often 0), for all z of a box

       F(z) >= F(x) - max_z F'(x)'(x - z) - (z - x)'C(z - x) / 2,

   a sum over the coordinates (``fall_in_box``). It is also the gap of a support program at its variables, and where F
   is not convex it is the measure of stationarity that assumes no curvature except C. Over a simplex the maximum with
   C = 0 is at a corner (``fall_in_simplex``).

4. Where L is not convex in theta but f lies below its tangent in powers of theta (``procedures/hidden_convexity``):
   the tangent takes the place of f in 1. or 2.

The relative gap is (upper - bound) / |upper|, or relative to a smaller number where one is known (``certificate.py``).

Rounding. A form b'K b of a positive semi-definite K in floating point errs by no more than a few

    eps (sum_i |b_i| K_ii^(1/2))^2 >= eps sum_ij |b_i K_ij b_j|,

because |K_ij| <= (K_ii K_jj)^(1/2) (``form_rounding``). A bound is lowered by it, so that it holds as computed.

Why a pair is feasible is explained where it is computed: for the interior point method in
``procedures/interior/method.py``, for machines at given weights in ``problem.py``.

R. T. Rockafellar (1970), Convex analysis, sections 12, 31 and 36; M. Frank and P. Wolfe (1956) for the third form.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from multikernel._floats import EPS
from multikernel._typing import Array


class HasSupport(Protocol):
    """A set of weights with its penalty, by its support function."""

    def support(self, q: Array) -> float:
        """h(q) = max over the set of theta'q - r(theta)."""


def dual_value(constant: float, scores: Array, domain: HasSupport) -> float:
    """constant - h(scores), the least value over the domain of constant - scores'theta + r(theta)."""
    return constant - domain.support(scores)


def best_multiple(linear: float, cost: float, most: float = np.inf) -> tuple[float, float]:
    """The s in [0, most] at which s linear - s^2 cost / 2 is largest, and the value there.

    Both are 0 where ``linear`` or ``cost`` is NaN or infinite: the bound for coefficients of zero.

    Parameters
    ----------
    linear : float
    cost : float >= 0
    most : float > 0, the largest multiple that is feasible
    """
    if not (np.isfinite(linear) and np.isfinite(cost)):
        return 0.0, 0.0
    if not cost > 0.0:
        s = most if np.isfinite(most) and linear > 0.0 else 0.0
        return s, s * linear
    s = min(most, max(linear, 0.0) / cost)
    return s, s * (linear - 0.5 * s * cost)


def lost_by_multiple(value: float, excess: float) -> float:
    """J e / (J + e): by how much the best multiple of a solution of value J is below J where costs are e larger."""
    if excess > 0.0:
        return value * excess / (value + excess)
    return 0.0


def fall_in_box(
    slope: Array, x: Array, lower: float | Array, upper: float | Array, curvature: float | Array = 0.0
) -> float:
    """max over lower <= z <= upper of slope'(x - z) - sum_i c_i (z_i - x_i)^2 / 2; at least 0 for x in the box.

    Parameters
    ----------
    slope, x : arrays (n,)
    lower, upper : float or array (n,), the box; infinite where the curvature is > 0
    curvature : float or array (n,), c: all zero, or > 0 wherever the box is infinite
    """
    end = np.where(slope < 0.0, upper, lower) - x
    if not np.any(curvature):
        return -float(slope @ end)
    lowest = -slope / curvature  # of each coordinate without the box
    step = np.where(slope < 0.0, np.minimum(lowest, end), np.maximum(lowest, end))
    return -float(step @ (slope + 0.5 * curvature * step))


def fall_in_simplex(slope: Array, x: Array) -> float:
    """max over the simplex of slope'(x - z), at the corner of the least slope."""
    return float(slope @ x - slope.min())


def form_rounding(coef: Array, sizes: Array) -> Array:
    """A bound of the rounding error of b'K b, or for sizes of shape (m, n) of each b'K_k b: shape () or (m,).

    Parameters
    ----------
    coef : array (n,), b
    sizes : array (n,) or (m, n), the roots of K_ii
    """
    reach = np.asarray(sizes @ np.abs(coef))
    return np.asarray(EPS * (reach * reach))
