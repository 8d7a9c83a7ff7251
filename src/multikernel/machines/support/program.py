"""The quadratic program that all support vector machines share.

    J(K) = scale * max_a  p'a - 1/2 sum_j rho_j a_j^2 - 1/2 b'K b,        b = E a,   0 <= a <= u,   1'b = total

A variable a_j belongs to one sample and enters its coefficient b_i = sum_j sign_j a_j with a sign. Classification has
one variable for each sample (the sign is the label), regression two (a residual above, a residual below); the equality
is there where an intercept is fitted, and its multiplier is the intercept. The primal is, with f = K b + intercept,

    J(K) = scale * min_f  1/2 |f|^2 + sum_j loss_j(f) + total * intercept,
    loss_j = max_{0 <= x <= u_j} s_j x - rho_j/2 x^2,        s_j = p_j - sign_j f_i

where |f|^2 is that of f without the intercept c, b'K b. The difference of the two values is a sum over the variables:
b'K b + total c = b'(K b + c 1) = sum_j sign_j a_j f_i, so that what is left of it is

    sum_j loss_j - s_j a_j + rho_j/2 a_j^2 = sum_j max_{0 <= x <= u_j} s_j (x - a_j) - rho_j/2 (x^2 - a_j^2),

and with x^2 - a_j^2 = (x - a_j)^2 + 2 a_j (x - a_j) its terms are not negative, and free of cancellation:

    gap = scale * sum_j max_{0 <= x <= u_j} (s_j - rho_j a_j) (x - a_j) - rho_j/2 (x - a_j)^2
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from multikernel._floats import EPS, TINY
from multikernel._typing import Array
from multikernel.duality import fall_in_box, form_rounding

_SNAP = 1e-9  # of a variable's range: nearer to a bound, a variable of an interior point method counts as at the bound


@dataclass(frozen=True, eq=False)
class SupportProgram:
    """The data of the program without the kernel matrix.

    Parameters
    ----------
    n : int, how many samples
    sign : array (N,) of -1 and +1, N = n or 2 n; variable j belongs to sample j mod n
    linear : array (N,), p
    upper : array (N,), u > 0, infinite where there is no upper bound
    ridge : array (N,), rho: zeros, or > 0, which is required where upper bounds are infinite
    intercept : bool, whether there is the equality
    total : float, the sum of the coefficients
    scale : float > 0, from the program's value to J
    """

    n: int
    sign: Array
    linear: Array
    upper: Array
    ridge: Array
    intercept: bool = True
    total: float = 0.0
    scale: float = 1.0

    @cached_property
    def sample(self) -> Array:
        """The sample of each variable, int array (N,)."""
        return np.arange(len(self.sign)) % self.n

    @cached_property
    def low(self) -> Array:
        """The smallest value of sign_j a_j."""
        return np.where(self.sign > 0, 0.0, -self.upper)

    @cached_property
    def high(self) -> Array:
        """The largest value of sign_j a_j."""
        return np.where(self.sign > 0, self.upper, 0.0)

    @property
    def ridged(self) -> bool:
        """Whether there is a ridge."""
        return bool(self.ridge.any())

    def restricted(self, rows: Array) -> SupportProgram:
        """The program on some samples, the variables of all others being zero."""
        index = self.variables(rows)
        return replace(
            self,
            n=len(rows),
            sign=self.sign[index],
            linear=self.linear[index],
            upper=self.upper[index],
            ridge=self.ridge[index],
        )

    def of_block(self, rows: Array, a: Array, others: Array) -> SupportProgram:
        """The program on some samples, while the variables of all others stay as they are in ``a``.

        ``others`` are the values K_br r of the rows, which the coefficients r of all other samples cause. The linear
        term is p - sign o K_br r, and the coefficients of the rows keep their sum.
        """
        of_rows = self.restricted(rows)
        linear = of_rows.linear - of_rows.sign * others[of_rows.sample]
        total = float(self.coef(a)[rows].sum()) if self.intercept else 0.0
        return replace(of_rows, linear=linear, total=total)

    def variables(self, rows: Array) -> Array:
        """The positions of the variables of some samples."""
        return np.arange(len(self.sign)).reshape(-1, self.n)[:, rows].ravel()

    def coef(self, a: Array) -> Array:
        """b = E a, shape (n,)."""
        return (self.sign * a).reshape(-1, self.n).sum(axis=0)

    def dual(self, a: Array, norm: float) -> float:
        """scale (p'a - 1/2 sum rho a^2 - norm/2), with norm = b'K b."""
        return self.scale * (float(self.linear @ a) - 0.5 * self.cost(a) - 0.5 * norm)

    def cost(self, a: Array) -> float:
        """sum rho a^2."""
        return float(self.ridge @ (a * a))

    def losses(self, f: Array) -> Array:
        """loss_j at the function values f (intercept included), shape (N,)."""
        slack = np.maximum(self.linear - self.sign * f[self.sample], 0.0)
        if self.ridged:
            best = np.minimum(slack / self.ridge, self.upper)
        else:
            best = self.upper
        return best * (slack - 0.5 * self.ridge * best)

    def primal(self, f: Array, norm: float, intercept: float) -> float:
        """scale (norm/2 + sum_j loss_j(f + intercept) + total intercept), with norm = |f|^2 and f without intercept."""
        return self.scale * (0.5 * norm + float(self.losses(f + intercept).sum()) + self.total * intercept)

    def gap(self, a: Array, f: Array, intercept: float) -> float:
        """Primal value at f = K b and the intercept minus dual value at a >= 0, without cancellation."""
        slope = self.linear - self.sign * (f + intercept)[self.sample] - self.ridge * a
        return self.scale * fall_in_box(-slope, a, 0.0, self.upper, self.ridge if self.ridged else 0.0)

    def gap_terms(self, a: Array, f: Array, intercept: float) -> Array:
        """The terms of the gap of each sample, shape (n,), without the scale."""
        slope = self.linear - self.sign * (f + intercept)[self.sample] - self.ridge * a
        step = np.where(slope > 0.0, self.upper - a, -a)
        if self.ridged:
            step = np.clip(slope / self.ridge, -a, self.upper - a)
        return (step * (slope - 0.5 * self.ridge * step)).reshape(-1, self.n).sum(axis=0)

    def hidden(self, a: Array, f: Array, intercept: float, sizes: Array) -> float:
        """A bound of the rounding error of the gap, because of that of the slopes, and of the dual value.

        ``sizes`` are the roots of K_ii. A term of the gap, m(g) = max_x g (x - a_j) - rho_j/2 (x - a_j)^2 over
        0 <= x <= u_j, is convex in the slope g = s_j - rho_j a_j, and its derivative is x(g) - a_j, with the maximiser
        x(g). An error of at most e in the slope changes the term by at most e times the largest |x - a_j| between the
        two slopes:

            without a ridge x is at a bound, so that |x - a_j| is u_j - a_j for g > 0 and a_j for g < 0; where
                |g| <= e the sign of g is not known, and |x - a_j| is at most u_j;
            with a ridge |x - a_j| is at most |g| / rho_j and the distance to the bound; x changes by e / rho_j at most.

        The error e: f_i is a sum of terms K_ik b_k of at most (K_ii K_kk)^{1/2} |b_k|, whose rounding errors sum to at
        most EPS K_ii^{1/2} sum_k K_kk^{1/2} |b_k|; then f_i and the intercept are added, and the slope is rounded. In
        400 random programs no error was larger than 0.26 times the returned bound.
        """
        reach = float(sizes @ np.abs(self.coef(a)))
        slope = self.linear - self.sign * (f + intercept)[self.sample] - self.ridge * a
        sums = sizes * reach + np.where(f == 0.0, 0.0, np.abs(f) + abs(intercept))
        error = EPS * (sums[self.sample] + np.abs(slope))
        room = np.where(slope > 0.0, self.upper - a, a)
        if not self.ridged:
            distance = np.where(np.abs(slope) <= error, self.upper, room)
        else:
            distance = np.minimum(np.abs(slope) / self.ridge, room) + error / self.ridge
        return self.scale * (float(distance @ error) + self._imbalance(a, slope, intercept)) + self.rounding(a, sizes)

    def _imbalance(self, a: Array, slope: Array, intercept: float) -> float:
        """The change of the dual value when variables that violate the equality by rounding are corrected.

        The side with an excess e is scaled down (``coefficients.feasible``): its a_j are reduced in proportion, by e in
        total. The derivative of the dual value in a_j is its slope plus sign_j c, c the intercept, so that the value
        changes by at most e |c| plus e times the mean size of the slopes, weighted by a (of both sides here). The
        intercept may be large, such as the mean of targets far from zero.
        """
        size = float(a.sum())
        if not self.intercept or size == 0.0:
            return 0.0
        excess = abs(float(self.sign @ a) - self.total) + EPS * size
        return excess * (abs(intercept) + float(a @ np.abs(slope)) / size)

    def rounding(self, a: Array, sizes: Array) -> float:
        """A bound of the rounding error of the dual value at a; ``sizes`` are the roots of K_ii."""
        return self.scale * (float(form_rounding(self.coef(a), sizes)) + EPS * float(np.abs(self.linear) @ a))

    def best_intercept(self, f: Array) -> float:
        """The intercept that makes the primal smallest at the function values f: a convex function of one number.

        loss_j has the derivative -sign_j x_j in c, with the maximiser x_j = clip((p_j - sign_j (f_i + c)) / rho_j, 0,
        u_j). The derivative of the primal is zero where the sign_j x_j = clip((sign_j p_j - f_i - c) / rho_j, low_j,
        high_j) sum to ``total``: the equation of ``equality_multiplier``. If an interval is optimal, it is the middle.
        """
        if not self.intercept:
            return 0.0
        return equality_multiplier(
            self.sign * self.linear - f[self.sample], self.low, self.high, self.ridge, self.total
        )

    def feasible(self, start: Array | None) -> Array:
        """Variables within their bounds that satisfy the equality, near a start of shape (N,).

        Without a usable start they are zero, or if the equality does not allow that, as few as possible are not zero.
        If several variables of a start have the same largest value relative to their bounds, the start is taken as a
        solution for other bounds, and scaled so that these variables are at their bounds.
        """
        if start is None or np.shape(start) != self.upper.shape or not np.isfinite(start).all():
            if self.total == 0.0:
                return np.zeros(len(self.upper))
            return np.clip(self.total - (np.cumsum(self.upper) - self.upper), 0.0, self.upper)
        a = np.maximum(start, 0.0)
        bounded = bool(np.isfinite(self.upper).all())
        if bounded and self.total == 0.0 and a.any():
            ratios = a / self.upper
            largest = float(ratios.max())
            if int((ratios >= largest * (1.0 - _SNAP)).sum()) > 1:
                a = a / largest
        size = self.upper if bounded else np.full(len(a), a.max())
        a = np.where(a < _SNAP * size, 0.0, np.where(a > (1.0 - _SNAP) * self.upper, self.upper, a))
        if self.intercept:
            return self.sign * self.balanced(self.sign * a)
        return a

    def balanced(self, b: Array) -> Array:
        """The nearest point that satisfies the equality; variables at a bound move only if others do not suffice."""
        if abs(float(b.sum()) - self.total) <= 1e-14 * float(np.abs(b).sum()):
            return b
        free = (self.low < b) & (b < self.high)
        for moved in (free, np.ones(len(b), dtype=bool)):
            remaining = self.total - float(b[~moved].sum())
            low = self.low[moved]
            high = self.high[moved]
            if moved.any() and float(low.sum()) <= remaining <= float(high.sum()):
                b = b.copy()
                b[moved] = np.clip(b[moved] - equality_multiplier(b[moved], low, high, 1.0, remaining), low, high)
                break
        return b


def equality_multiplier(t: Array, low: Array, high: Array, ridge: float | Array, total: float) -> float:
    """The multiplier v of the equality: sum_j clip((t_j - v) / ridge_j, low_j, high_j) = total.

    The sum is decreasing in v; for ridges of 0 each term falls from high_j to low_j at t_j. If the equation holds on an
    interval, the result is its middle.
    """
    if not np.any(ridge):
        order = np.argsort(-t)
        sums = float(low.sum()) + np.cumsum((high - low)[order])
        rounding = 1e-12 * float(np.abs(sums).max())
        k = min(int(np.searchsorted(sums, total - rounding)), len(t) - 1)
        equal = abs(sums[k] - total) <= rounding and k + 1 < len(t)
        return float(0.5 * (t[order[k]] + t[order[k + 1]]) if equal else t[order[k]])
    reach = float(np.ptp(t)) / ridge + abs(total)  # between the smallest and the largest t no term is larger
    low = np.maximum(low, -reach)
    high = np.minimum(high, reach)
    events = np.concatenate([t - ridge * low, t - ridge * high])  # where a term starts to grow, and where it stops
    order = np.argsort(-events)
    smallest = float(np.min(ridge))
    rates = np.broadcast_to(smallest / np.asarray(ridge), t.shape)
    growing = np.cumsum(np.concatenate([rates, -rates])[order])
    events = events[order]
    sums = float(low.sum()) + np.concatenate([[0.0], np.cumsum(growing[:-1] * -np.diff(events))]) / smallest
    rounding = 1e-12 * float(np.abs(sums).max())
    k = min(int(np.searchsorted(sums, total - rounding)), len(sums) - 1)
    last = int(np.searchsorted(sums, total + rounding, side="right")) - 1
    if last > k:
        return float(0.5 * (events[k] + events[last]))
    if k == 0:
        return float(events[0])
    step = (total - sums[k - 1]) * smallest / max(growing[k - 1], TINY)
    return float(max(events[k - 1] - step, events[k]))
