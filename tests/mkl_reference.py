"""The optima of multiple kernel learning with support vector machines, by Clarabel, and with bounds of their own.

    max_a  p'a - 1/2 |v|_{q*},    v_k = b'K_k b,    b = E a,    0 <= a <= C,    1'b = 0 where there is an intercept

is the dual of min over the weights |d|_q <= 1, d >= 0, of the support vector machine's value at sum_k d_k K_k. Both
bounds are recomputed here from a feasible a and from feasible weights: nothing that the solver says is believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize

import reference as ref

Array = Any


@dataclass(frozen=True)
class Optimum:
    """A feasible dual point, feasible weights, and the bounds of the optimum that they give."""

    coef: Array
    weights: Array
    lower: float
    upper: float

    @property
    def value(self) -> float:
        return 0.5 * (self.lower + self.upper)

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / abs(self.upper)


@dataclass(frozen=True)
class Losses:
    """p, E, C: which variables there are, how they enter the coefficients, and what they gain."""

    gain: Array  # (N,)
    sign: Array  # (N,)
    sample: Array  # (N,)
    C: float
    intercept: bool

    def coef(self, a: Array) -> Array:
        return np.bincount(self.sample, self.sign * a)

    def feasible(self, a: Array) -> Array:
        """Within the bounds; the side of the equality that is too large is scaled down."""
        a = np.clip(a, 0.0, self.C)
        if not self.intercept:
            return a
        up, down = a[self.sign > 0].sum(), a[self.sign < 0].sum()
        least = min(up, down)
        return np.where(self.sign > 0, a * (least / up if up > 0 else 0.0), a * (least / down if down > 0 else 0.0))

    def total(self, f: Array) -> float:
        """sum_j C max(0, p_j - sign_j (f + c)) at the best intercept c, which is one of the kinks."""
        slack = self.gain - self.sign * f[self.sample]
        intercepts = self.sign * slack if self.intercept else np.zeros(1)
        return min(float(self.C * np.maximum(slack - self.sign * c, 0.0).sum()) for c in intercepts)


def classification(y: Array, C: float, intercept: bool = True) -> Losses:
    """Hinge losses: C sum max(0, 1 - y f)."""
    return Losses(np.ones(len(y)), y.astype(float), np.arange(len(y)), C, intercept)


def regression(y: Array, C: float, epsilon: float, intercept: bool = True) -> Losses:
    """Losses that do not feel epsilon: C sum max(0, |y - f| - epsilon)."""
    n = len(y)
    gain, sign = np.concatenate([y - epsilon, -y - epsilon]), np.repeat([1.0, -1.0], n)
    return Losses(gain, sign, np.tile(np.arange(n), 2), C, intercept)


def norm(v: Array, p: float) -> float:
    """|v|_p with p from 1 to infinity."""
    return float(np.linalg.norm(v, p))


def dual_exponent(p: float) -> float:
    return np.inf if p == 1 else p / (p - 1.0)


def dual_value(K: Array, losses: Losses, a: Array, p: float) -> float:
    """p'a - 1/2 |v|_{p*} at a feasible a: a lower bound of the optimum."""
    return float(losses.gain @ a) - 0.5 * norm(ref.quad(K, losses.coef(a)), dual_exponent(p))


def primal_value(K: Array, losses: Losses, weights: Array, coef: Array) -> float:
    """1/2 sum_k |f_k|^2 / d_k + losses of a predictor with these weights: an upper bound for feasible weights.

    The predictor is that of the coefficients, or a little more of it: with a large C, losses from rounding count.
    """
    f = ref.combine(K, weights) @ coef

    def value(more: float) -> float:
        return 0.5 * (1.0 + more) ** 2 * float(coef @ f) + losses.total((1.0 + more) * f)

    return min(value(more) for more in (0.0, *np.logspace(-12, -3, 50)))


def support_vector_machine(K: Array, losses: Losses) -> tuple[Array, Array]:
    """Feasible a and its coefficients for one kernel matrix, by Clarabel."""
    return _solve(K[None], losses, 1.0)[:2]


def mkl(K: Array, losses: Losses, p: float = 1.0) -> Optimum:
    """min over d >= 0, |d|_p <= 1 of the support vector machine's value at sum_k d_k K_k."""
    a, coef, d = _solve(K, losses, p)
    again, other = support_vector_machine(ref.combine(K, d), losses)
    lower = max(dual_value(K, losses, a, p), dual_value(K, losses, again, p))
    upper = min(primal_value(K, losses, d, coef), primal_value(K, losses, d, other))
    return Optimum(coef, d, lower, upper)


def _solve(K: Array, losses: Losses, p: float) -> tuple[Array, Array, Array]:
    """Feasible a, its coefficients, feasible weights; in units in which the solution is of size one."""
    size = np.maximum(np.trace(K, axis1=1, axis2=2), np.finfo(float).tiny).max()
    unit = min(losses.C, np.abs(losses.gain).max() * K.shape[1] / size)
    n = K.shape[1]
    E = np.zeros((n, len(losses.sign)))
    E[losses.sample, np.arange(len(losses.sign))] = losses.sign
    a, t = cp.Variable(len(losses.sign), nonneg=True), cp.Variable(len(K), nonneg=True)
    below = [cp.sum_squares(ref.root(unit * matrix) @ E @ a) <= t[k] for k, matrix in enumerate(K) if matrix.any()]
    worst = cp.max(t) if p == 1 else cp.pnorm(t, dual_exponent(p))
    constraints = [*below, a <= losses.C / unit]
    if losses.intercept:
        constraints.append(losses.sign @ a == 0)
    ref.conic(cp.Problem(cp.Maximize(losses.gain @ a - 0.5 * worst), constraints))
    found = losses.feasible(unit * np.asarray(a.value))
    d = np.zeros(len(K))
    d[[matrix.any() for matrix in K]] = np.maximum([float(np.ravel(c.dual_value)[0]) for c in below], 0.0)
    d = d / norm(d, p) if d.any() else np.full(len(K), len(K) ** (-1.0 / p))
    return found, losses.coef(found), d


# -- values ------------------------------------------------------------------------------------------------------------


def l1_value(K: Array, y: Array, C: float, intercept: bool = True) -> float:
    """min over the simplex of max_a 1'a - 1/2 a'Y K(d) Y a, 0 <= a <= C, y'a = 0."""
    return _value(mkl(K, classification(y, C, intercept)))


def lp_value(K: Array, y: Array, C: float, p: float, intercept: bool = True) -> float:
    """The same over d >= 0, |d|_p <= 1."""
    return _value(mkl(K, classification(y, C, intercept), p))


def l1_regression_value(K: Array, y: Array, C: float, epsilon: float, intercept: bool = True) -> float:
    """min over the simplex of max_b y'b - epsilon |b|_1 - 1/2 b'K(d) b, |b_i| <= C, 1'b = 0."""
    return _value(mkl(K, regression(y, C, epsilon, intercept)))


def lp_regression_value(K: Array, y: Array, C: float, epsilon: float, p: float, intercept: bool = True) -> float:
    """The same over d >= 0, |d|_p <= 1."""
    return _value(mkl(K, regression(y, C, epsilon, intercept), p))


def _value(optimum: Optimum, accuracy: float = 1e-5) -> float:
    assert -1e-9 <= optimum.gap <= accuracy, f"the reference is known to {optimum.gap:.1e} only"
    return optimum.value


# -- smoothed ----------------------------------------------------------------------------------------------------------


def smoothed_objective(K: Array, y: Array, s: float, a: Array) -> tuple[float, Array]:
    """f_s(a) = -1'a + s/2 log sum_k exp(a'G_k a / s) and its gradient, G_k = Y K_k Y."""
    q = ref.quad(K, y * a)
    top = q.max()
    e = np.exp((q - top) / s)
    gradient = -1.0 + y * (ref.combine(K, e / e.sum()) @ (y * a))
    return float(-a.sum() + 0.5 * top + 0.5 * s * np.log(e.sum())), gradient


def smoothed_bound(K: Array, y: Array, C: float, s: float, a: Array) -> float:
    """A lower bound of min f_s over the box, from any a: the weights at a leave one support vector machine to bound."""
    q = ref.quad(K, y * a)
    theta = np.exp((q - q.max()) / s)
    theta /= theta.sum()
    entropy = -float(theta @ np.log(np.maximum(theta, np.finfo(float).tiny)))
    return 0.5 * s * entropy - primal_value(K, classification(y, C, intercept=False), theta, y * a)


def smoothed(K: Array, y: Array, C: float, s: float) -> tuple[float, float]:
    """Bounds of min over 0 <= a <= C of f_s(a), no intercept: by Clarabel, then L-BFGS-B from there."""
    losses = classification(y, C, intercept=False)
    unit = min(C, K.shape[1] / np.trace(K, axis1=1, axis2=2).max())
    a, t = cp.Variable(len(y), nonneg=True), cp.Variable(len(K))
    below = [cp.sum_squares(ref.root(unit * matrix) * y @ a) <= t[k] for k, matrix in enumerate(K)]
    objective = -cp.sum(a) + 0.5 * (s / unit) * cp.log_sum_exp(t * (unit / s))
    ref.conic(cp.Problem(cp.Minimize(objective), [*below, a <= C / unit]))
    points = [losses.feasible(unit * np.asarray(a.value))]
    # the variables in units of the solution's size, and the value in units of its own
    value = abs(smoothed_objective(K, y, s, points[0])[0])

    def scaled(x: Array) -> tuple[float, Array]:
        f, g = smoothed_objective(K, y, s, unit * x)
        return f / value, unit * g / value

    options = {"maxiter": 5000, "maxfun": 20000, "ftol": 0.0, "gtol": 1e-13}
    polished = minimize(scaled, points[0] / unit, jac=True, bounds=[(0.0, C / unit)] * len(y), options=options)
    points.append(np.clip(unit * polished.x, 0.0, C))
    values = [smoothed_objective(K, y, s, point)[0] for point in points]
    bounds = [smoothed_bound(K, y, C, s, point) for point in points]
    return max(bounds), min(values)


def smoothed_value(K: Array, y: Array, C: float, s: float) -> float:
    """min over 0 <= a <= C of f_s(a), no intercept."""
    lower, upper = smoothed(K, y, C, s)
    assert -1e-9 <= (upper - lower) / abs(upper) <= 1e-5, "the reference is not accurate"
    return 0.5 * (lower + upper)
