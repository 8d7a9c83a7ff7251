"""Sequential minimal optimisation over the rows of a dense kernel matrix, compiled.

    max_b  c'b - 1/2 sum_j ridge_j b_j^2 - 1/2 (E b)'K (E b),    low <= b <= high,    1'b fixed, if there is an equality

There are one or two variables b_j for each sample j mod n. The gradient c - K E b - ridge b is updated in every step.
With the equality a step raises the variable i with the largest gradient, and lowers by as much the variable j for which
a full second-order step would gain most (Fan, Chen and Lin 2005); without it a step moves the variable of largest gain.
The matrix is dense, so there is no cache and no shrinking: a pass costs little more than a copy.

The loops keep LANES running maxima side by side, which lets the compiler use vector registers. ``rise`` and ``fall``
are minus infinity where a variable cannot go up or down, else 0, which spares branches.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from multikernel._floats import EPS, TINY  # a curvature below TINY is none: a step goes as far as it can

LANES = 64  # a multiple of what vector registers hold


@njit(nogil=True, cache=True)
def largest(gradient, rise, row, other, step, lanes):  # type: ignore[no-untyped-def]
    """gradient -= step (row - other) for one variable per sample; the largest gradient + rise, and its position."""
    n = len(gradient)
    blocks_end = n - n % LANES
    lanes[:] = -np.inf
    for k in range(0, blocks_end, LANES):
        s, u, x, z = gradient[k : k + LANES], rise[k : k + LANES], row[k : k + LANES], other[k : k + LANES]
        for t in range(LANES):
            value = s[t] - step * (np.float64(x[t]) - np.float64(z[t]))
            s[t] = value
            value += u[t]
            lanes[t] = value if value > lanes[t] else lanes[t]
    lane = np.argmax(lanes)
    best, where = lanes[lane], -1
    if best > -np.inf:
        for t in range(lane, blocks_end, LANES):
            if gradient[t] + rise[t] == best:
                where = t
                break
    for t in range(blocks_end, n):
        gradient[t] -= step * (np.float64(row[t]) - np.float64(other[t]))
        if gradient[t] + rise[t] > best:
            best, where = gradient[t] + rise[t], t
    return best, where


@njit(nogil=True, cache=True)
def pair_gain(slope, curvature):  # type: ignore[no-untyped-def]
    """Twice the gain of a full second-order step: slope^2 / curvature where the slope is positive."""
    slope = slope if slope > 0.0 else 0.0
    return slope * slope / (curvature if curvature > TINY else TINY)


@njit(nogil=True, cache=True)
def partner(gradient, fall, diagonal, row, top, diagonal_of_top, lanes):  # type: ignore[no-untyped-def]
    """The largest gain of lowering one variable while another of gradient ``top`` is raised, and its position."""
    n = len(gradient)
    blocks_end = n - n % LANES
    lanes[:] = 0.0
    for k in range(0, blocks_end, LANES):
        s, u, d, x = gradient[k : k + LANES], fall[k : k + LANES], diagonal[k : k + LANES], row[k : k + LANES]
        for t in range(LANES):
            gain = pair_gain(top - s[t] + u[t], diagonal_of_top + d[t] - 2.0 * np.float64(x[t]))
            lanes[t] = gain if gain > lanes[t] else lanes[t]
    lane = np.argmax(lanes)
    best, where = lanes[lane], -1
    if best > 0.0:
        for t in range(lane, blocks_end, LANES):
            if pair_gain(top - gradient[t] + fall[t], diagonal_of_top + diagonal[t] - 2.0 * np.float64(row[t])) == best:
                where = t
                break
    for t in range(blocks_end, n):
        gain = pair_gain(top - gradient[t] + fall[t], diagonal_of_top + diagonal[t] - 2.0 * np.float64(row[t]))
        if gain > best:
            best, where = gain, t
    return best, where


@njit(nogil=True, cache=True)
def single_gain(slope, rise, fall, curvature):  # type: ignore[no-untyped-def]
    """Twice the gain of a step of one variable, where it can move in the direction of its slope."""
    return pair_gain(slope + rise if slope > 0.0 else fall - slope, curvature)


@njit(nogil=True, cache=True)
def steepest(gradient, rise, fall, diagonal, row, step, lanes):  # type: ignore[no-untyped-def]
    """gradient -= step row for one variable per sample; the largest gain of one variable, and its position."""
    n = len(gradient)
    blocks_end = n - n % LANES
    lanes[:] = 0.0
    for k in range(0, blocks_end, LANES):
        s, x, d = gradient[k : k + LANES], row[k : k + LANES], diagonal[k : k + LANES]
        u, v = rise[k : k + LANES], fall[k : k + LANES]
        for t in range(LANES):
            value = s[t] - step * np.float64(x[t])
            s[t] = value
            gain = single_gain(value, u[t], v[t], d[t])
            lanes[t] = gain if gain > lanes[t] else lanes[t]
    lane = np.argmax(lanes)
    best, where = lanes[lane], -1
    if best > 0.0:
        for t in range(lane, blocks_end, LANES):
            if single_gain(gradient[t], rise[t], fall[t], diagonal[t]) == best:
                where = t
                break
    for t in range(blocks_end, n):
        gradient[t] -= step * np.float64(row[t])
        gain = single_gain(gradient[t], rise[t], fall[t], diagonal[t])
        if gain > best:
            best, where = gain, t
    return best, where


@njit(nogil=True, cache=True)
def relative_gap(gradient, b, c, low, high, ridge, intercept, floor):  # type: ignore[no-untyped-def]
    """Primal minus dual value at an intercept, relative to the primal value, or to ``floor`` where that is larger."""
    excess, value = 0.0, 0.0
    for t in range(len(b)):
        slope = gradient[t] - intercept
        step = (high[t] if slope > 0.0 else low[t]) - b[t]
        if ridge[t] > 0.0:
            if slope > 0.0:
                step = min(slope / ridge[t], step)
            else:
                step = max(slope / ridge[t], step)
        if slope != 0.0:
            excess += step * (slope - 0.5 * ridge[t] * step)
        value += 0.5 * b[t] * (c[t] + gradient[t])
    return excess / max(abs(value + excess), floor, TINY)


@njit(nogil=True, cache=True)
def middle(gradient, b, low, high):  # type: ignore[no-untyped-def]
    """An intercept: the mean gradient of variables between bounds; if there are none, the middle of its interval."""
    total = 0.0
    count = 0
    top = -np.inf
    bottom = np.inf
    for t in range(len(b)):
        if low[t] < b[t]:
            bottom = min(bottom, gradient[t])
            if b[t] < high[t]:
                total += gradient[t]
                count += 1
        if b[t] < high[t]:
            top = max(top, gradient[t])
    if count > 0:
        return total / count
    if top > -np.inf and bottom < np.inf:
        return 0.5 * (top + bottom)
    if top > -np.inf:
        return top
    return bottom


@njit(nogil=True, cache=True)
def move(t, step, b, low, high, gradient, ridge, rise, fall):  # type: ignore[no-untyped-def]
    """Move one variable, exactly to its bound where the step ends there; its ridge changes its gradient."""
    if step > 0.0:
        b[t] = high[t] if step == high[t] - b[t] else b[t] + step
    else:
        b[t] = low[t] if step == low[t] - b[t] else b[t] + step
    gradient[t] -= ridge[t] * step
    rise[t] = 0.0 if b[t] < high[t] else -np.inf
    fall[t] = 0.0 if low[t] < b[t] else -np.inf


@njit(nogil=True, cache=True)
def ascend(K, c, low, high, ridge, equality, b, gradient, floor, tol, interval, max_iter):  # type: ignore[no-untyped-def]
    """Move b (in place, with its gradient) uphill: at most max_iter steps, or until the relative gap is at most tol.

    The gap is computed once every ``interval`` steps. Returns the number of steps, the first and the last gap.
    """
    n = len(K)
    N = len(b)
    lanes = np.empty(LANES)
    diagonal = np.empty(N)
    rise = np.empty(N)
    fall = np.empty(N)
    first = np.inf
    gap = np.inf
    for t in range(N):
        diagonal[t] = np.float64(K[t % n, t % n]) + ridge[t]
        rise[t] = 0.0 if b[t] < high[t] else -np.inf
        fall[t] = 0.0 if low[t] < b[t] else -np.inf
    i = 0  # of the last step, whose change of the gradient is made in the pass that chooses the next one
    j = 0
    length = 0.0
    for step in range(max_iter + 1):
        top = -np.inf if equality else 0.0
        up = -1
        for k in range(0, N, n):
            g, u, v, d = gradient[k : k + n], rise[k : k + n], fall[k : k + n], diagonal[k : k + n]
            if equality:
                best, where = largest(g, u, K[i % n], K[j % n], length, lanes)
            else:
                best, where = steepest(g, u, v, d, K[i % n], length, lanes)
            if best > top:
                top, up = best, k + where
        if step % interval == 0 or step == max_iter:
            intercept = middle(gradient, b, low, high) if equality else 0.0
            gap = relative_gap(gradient, b, c, low, high, ridge, intercept, floor)
            first = gap if step == 0 else first
            if gap <= tol or step == max_iter:
                return step, first, gap
        i = up
        if i < 0:
            return step, first, gap
        if not equality:
            end = (high[i] if gradient[i] > 0.0 else low[i]) - b[i]
            length = gradient[i] / max(diagonal[i], TINY)
            length = end if abs(length) >= abs(end) else length
            move(i, length, b, low, high, gradient, ridge, rise, fall)
            continue
        gain, j = 0.0, -1
        for k in range(0, N, n):
            g, v, d = gradient[k : k + n], fall[k : k + n], diagonal[k : k + n]
            best, where = partner(g, v, d, K[i % n], top, diagonal[i], lanes)
            if best > gain:
                gain, j = best, k + where
        if j < 0:
            return step, first, gap
        curvature = diagonal[i] + diagonal[j] - 2.0 * np.float64(K[i % n, j % n])
        curvature = max(curvature, EPS * (diagonal[i] + diagonal[j]), TINY)  # a smaller curvature is rounding
        length = min((top - gradient[j]) / curvature, high[i] - b[i], b[j] - low[j])
        move(i, length, b, low, high, gradient, ridge, rise, fall)
        move(j, -length, b, low, high, gradient, ridge, rise, fall)
    return max_iter, first, gap
