"""A global lower bound where the value is not convex in the weights: hidden convexity.

    J(K(theta)) = max_A  g(A) - f(theta, A),        f = tr A'K(theta)A

with g(A) = 2 <A, Y> - alpha |A|^2 for ridge regression, and for a support vector machine the terms of its dual problem
without the kernel, over its constraints.

J is convex in theta^p where f is concave in it at every A (``Combination.powers``). A power of a sum of kernels is an
example: f has non-negative coefficients, because entrywise products of kernels are kernels, and its monomials are
geometric means of the theta_k^degree. The tangent of f at any x > 0, with c = df/dx / (p x^(p-1)),

    f(theta, A) <= f(x, A) + c'(theta^p - x^p),

has its largest value over the domain nearly in closed form (below). So every A gives a lower bound of the values for
all weights, and in ridge regression so does every multiple s A:

    g(A) - f(x, A) + c'x^p - max_theta [c'theta^p - r(theta)],
    max_s  2 s <A, Y> - s^2 (alpha |A|^2 + f(x, A) - c'x^p) - max_theta [s^2 c'theta^p - r(theta)].

At x = theta with the machine's A it equals the value exactly where theta is optimal, provided that the domain is convex
in theta^p as well: that its norm is at least p. No pass over the kernels is needed beyond that of the gradient.

Where alpha is so small relative to K that the rounding error of A'K A matters, the derivatives have as large an error,
and the largest values within this error are used.

The largest value of the tangent over a ball is that of a sum of powers,

    max  sum_k c_k (o_k + delta_k)^p_k      over  delta >= 0,  |delta|_q <= 1,        c, o >= 0,  1 <= p_k <= q

In s_k = delta_k^q the problem is concave, so its dual in one multiplier t,

    g(t) = t + sum_k max_{delta >= 0} c_k (o_k + delta)^p_k - t delta^q,

has the same value at its minimum and is at least that at every t > t_0 = max c_k over p_k = q, so that the number
returned is never too small. The maximisers delta(t) fall as t grows. At the minimum they have norm 1, unless their norm
is less than 1 at every t > t_0; then the minimum is at t_0.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from multikernel._floats import EPS
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.domains import Domain, NormBall, Orthant, Product
from multikernel.duality import lost_by_multiple
from multikernel.machines import Machine, RidgeMachine, SupportMachine
from multikernel.numerics.line_search import MOST_NEWTON_STEPS
from multikernel.problem import Evaluation, Problem


def hidden_convex(problem: Problem) -> bool:
    """Whether the problem is convex in some powers of its weights, and its bound known: norm of the domain >= powers.

    degree      ball of norm      penalty |theta|^2, ridge regression
    1           >= 1              yes
    2           >= 2              yes
    d > 2       >= d              no

    In a product of balls, each needs such a norm for its part of the weights.
    """
    domain = problem.domain
    machine = problem.machine
    powers = problem.combination.powers(problem.bank)
    if isinstance(domain, Orthant):
        return bool(isinstance(machine, RidgeMachine) and domain.norm >= powers.max())
    if not isinstance(machine, RidgeMachine | SupportMachine):
        return False
    balls = _balls(domain, powers)
    return bool(balls) and all(ball.norm >= ball_powers.max() for ball, ball_powers in balls)


def _balls(domain: Domain, values: Array) -> list[tuple[NormBall, Array]]:
    """The balls of a domain, each with its part of an array over all weights; empty for any other domain."""
    if isinstance(domain, NormBall):
        return [(domain, values)]
    if isinstance(domain, Product):
        groups = zip(domain.domains, domain.split(values), strict=True)
        balls = [(ball, ball_values) for ball, ball_values in groups if isinstance(ball, NormBall)]
        if len(balls) == len(domain.domains):
            return balls
        return []
    return []


@dataclass(frozen=True, eq=False)
class HiddenConvexProblem(Problem):
    """A problem that is convex in powers of its weights; its evaluations include a global lower bound."""

    @classmethod
    def of(cls, problem: Problem) -> HiddenConvexProblem:
        """The given problem with bounds."""
        return cls(**{field.name: getattr(problem, field.name) for field in fields(problem)})

    def evaluate(self, theta: Array, warm: Any = None, machine: Machine | None = None) -> Evaluation:
        evaluation = super().evaluate(theta, warm, machine)
        return replace(evaluation, bound=self.bound(evaluation))

    def bound(self, evaluation: Evaluation, x: Array | None = None) -> float:
        """A lower bound of the values of all weights, from the tangent at x of the form of the machine's A.

        Parameters
        ----------
        evaluation : the problem at some weights
        x : array (d,) >= 0, where the tangent is taken; the weights by default
        """
        powers = self.combination.powers(self.bank)
        if x is None:
            x = evaluation.theta
        # at zero, and at such small weights in floating point, the tangent is undefined: larger weights are used
        bare = (powers > 1.0) & (x <= 1e-50 * float(x.max()))
        if bare.any():
            x = np.where(bare, 1e-8 * float(x.max()) or 1.0, x)
        A = evaluation.dual.factor
        if x is evaluation.theta:
            q = evaluation.scores
            rise = 0.0
        else:
            q = self.combination.pullback(self.bank, x, A)
            rise = self._form(x, A) - self._form(evaluation.theta, A)
        per_power = 1.0 / (powers * x ** (powers - 1.0))
        c = np.maximum(q, 0.0) * per_power
        hidden = self._hidden(x, A) * per_power
        remainder = rise - float((c - hidden) @ x**powers)
        return self._scaled(evaluation.dual.value, remainder, c + hidden, powers)

    def _hidden(self, x: Array, A: Array) -> Array:
        """The rounding error bound of df/dx: that of f, in proportion to their diagonals."""
        gram = self.combination.gram(self.bank, x)
        peak = float(gram.diagonal().max(initial=0.0))
        if peak > 0.0:
            return gram.hidden(A) / peak * self.combination.peaks(self.bank, x)
        return np.zeros(len(x))

    def _form(self, theta: Array, A: Array) -> float:
        """f(theta, A)."""
        A = as_columns(A)
        return float((A * self.combination.gram(self.bank, theta).multiply(A)).sum())

    def _scaled(self, value: float, remainder: float, c: Array, powers: Array) -> float:
        """The bound by the best multiple of A; <A, Y> is the value, since A is the machine's solution.

        The multiple is A itself where the machine returns reduced values, which are negative, and where it is not ridge
        regression. For reduced values with a penalty no bound is known.
        """
        match self.domain:
            case NormBall() | Product() as ball if value <= 0.0 or not isinstance(self.machine, RidgeMachine):
                return value - max(remainder + _largest(ball, c, powers), 0.0)
            case NormBall() | Product() as ball:
                return value - lost_by_multiple(value, remainder + _largest(ball, c, powers))
            case Orthant() as orthant if value > 0.0:
                best = value / max(value + remainder, 0.5 * value)  # without the penalty; alpha |A|^2 = value + rest
                return max(_penalised(orthant, value, remainder, c, powers, s) for s in (1.0, best))
        if isinstance(self.machine, RidgeMachine) and self.machine.reduced:
            return -np.inf
        return min(value, 0.0)


def _largest(domain: Domain, c: Array, powers: Array) -> float:
    """max c'theta^p over a ball, or over a product of balls, each for some of the weights."""
    balls = zip(_balls(domain, c), _balls(domain, powers), strict=True)
    return sum(_largest_in(ball, coefficients, degrees) for (ball, coefficients), (_, degrees) in balls)


def _largest_in(ball: NormBall, c: Array, powers: Array) -> float:
    center = ball.offset(len(c))
    radius = ball.radius
    if radius == 0.0:
        return float(c @ center**powers)
    return PowerSum(c * radius**powers, center / radius, powers, ball.norm).largest()


def _penalised(domain: Orthant, value: float, remainder: float, c: Array, powers: Array, s: float) -> float:
    """The bound at a multiple s, which is reduced where s^2 c exceeds the strength of a penalty of the same power."""
    same = powers == domain.norm
    peak = float(c[same].max(initial=0.0))
    if peak > 0.0:
        s = min(s, float(np.sqrt(domain.strength / peak)))
    gain = float(((s**2 * c[~same]) ** 2).sum()) / (4.0 * domain.strength)
    return 2.0 * s * value - s**2 * (value + remainder) - gain


# -- the largest sum of powers over a ball -----------------------------------------------------------------------------


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
        if peak > 0.0:
            return peak * replace(self, c=self.c / peak)._largest()
        return 0.0

    def _largest(self) -> float:
        """The maximum where the largest c is 1."""
        end = float(self.c[self.p == self.q].max(initial=0.0))

        def excess(log: float) -> float:
            return float(logsumexp(self.q * self._logarithms(end + np.exp(log))))

        # at the maximum t q = sum_k (slope in delta_k) delta_k, and delta_k <= 1
        high = np.log(float((self.c * self.p * (self.o + 1.0) ** (self.p - 1.0)).sum()))
        first = np.log(8.0 * EPS * end) if end > 0.0 else -np.inf
        low = max(high - 1.0, first)
        width = 1.0
        while excess(low) < 0.0:
            if low == first:
                return self.dual(end + float(np.exp(low)))
            high = low
            low = max(low - width, first)
            width = 2.0 * width
        if excess(high) < 0.0:
            log = brentq(excess, low, high, xtol=1e-13, rtol=4.0 * EPS)
        else:
            log = high
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
        logarithms = np.full(len(self.c), -np.inf)
        homogeneous = (self.o == 0.0) | (self.p == 1.0)
        plain = homogeneous & (self.p < self.q)
        logarithms[plain] = log[plain] / (self.q - self.p[plain])
        general = ~homogeneous & (self.c > 0.0)
        if general.any():
            o = self.o[general]
            p = self.p[general]
            logarithms[general] = np.log(o) + _root(log[general] + (p - self.q) * np.log(o), p - 1.0, self.q - 1.0)
        return logarithms


def _root(log: Array, p: Array, q: float) -> Array:
    """log r for r^q / (1 + r)^p = e^log, 0 < p <= q; log < 0 where p = q.

    In u = log r the left side is q u - p log(1 + e^u), concave and increasing, so that Newton's method climbs to the
    root from u = log / q, at or below it, and never beyond.
    """
    if (p == q).all():
        return log / q - np.log(-np.expm1(log / q))
    u = log / q
    for _ in range(MOST_NEWTON_STEPS):
        soft = np.logaddexp(0.0, u)
        step = (log - q * u + p * soft) / (q - p * np.exp(u - soft))
        u = u + step
        if (np.abs(step) <= 4.0 * EPS * np.maximum(1.0, np.abs(u))).all():
            break
    return u
