"""Sequential minimal optimisation over the rows of a dense kernel matrix, compiled.

    max_b  c'b - ridge/2 |b|^2 - 1/2 (E b)'K (E b),    low <= b <= high,    1'b fixed, if there is an intercept

One or two variables b_j for each sample, j mod n being the sample. ``score`` is the derivative, c - K E b - ridge b,
kept up to date. A step raises i, whose score is largest, and lowers j by as much, chosen for the largest gain that a
full second-order step would bring (Fan, Chen and Lin 2005); without the equality it moves the single variable of
largest gain. The matrix is dense, so nothing is cached, and nothing is shrunk: a pass costs little more than a copy.

The loops run over lanes, LANES running maxima side by side, which is what lets the compiler use vector registers;
``rise`` and ``fall`` are minus infinity where a variable cannot go up or down, else 0, which spares branches.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LANES = 64
_FLAT = 1e-300  # a curvature below it is none: the step goes as far as it can


@njit(nogil=True, cache=True)
def climb(score, shut, row, other, step, lanes):  # type: ignore[no-untyped-def]
    """score -= step (row - other) for one variable a sample; the largest score + shut, and where it is."""
    n = len(score)
    whole = n - n % LANES
    lanes[:] = -np.inf
    for k in range(0, whole, LANES):
        s, u, x, z = score[k : k + LANES], shut[k : k + LANES], row[k : k + LANES], other[k : k + LANES]
        for t in range(LANES):
            new = s[t] - step * (np.float64(x[t]) - np.float64(z[t]))
            s[t] = new
            new += u[t]
            lanes[t] = new if new > lanes[t] else lanes[t]
    lane = np.argmax(lanes)
    best, where = lanes[lane], -1
    if best > -np.inf:
        for t in range(lane, whole, LANES):
            if score[t] + shut[t] == best:
                where = t
                break
    for t in range(whole, n):
        score[t] -= step * (np.float64(row[t]) - np.float64(other[t]))
        if score[t] + shut[t] > best:
            best, where = score[t] + shut[t], t
    return best, where


@njit(nogil=True, cache=True)
def partner(score, shut, diagonal, row, top, own, lanes):  # type: ignore[no-untyped-def]
    """The largest (top - score)^2 / (own + diagonal - 2 row) where top > score and not shut, and where it is."""
    n = len(score)
    whole = n - n % LANES
    lanes[:] = 0.0
    for k in range(0, whole, LANES):
        s, u, d, x = score[k : k + LANES], shut[k : k + LANES], diagonal[k : k + LANES], row[k : k + LANES]
        for t in range(LANES):
            slope = top - s[t] + u[t]
            slope = slope if slope > 0.0 else 0.0
            curvature = own + d[t] - 2.0 * np.float64(x[t])
            gain = slope * slope / (curvature if curvature > _FLAT else _FLAT)
            lanes[t] = gain if gain > lanes[t] else lanes[t]
    lane = np.argmax(lanes)
    best, where = lanes[lane], -1
    if best > 0.0:
        for t in range(lane, whole, LANES):
            slope = top - score[t] + shut[t]
            curvature = own + diagonal[t] - 2.0 * np.float64(row[t])
            if slope > 0.0 and slope * slope / (curvature if curvature > _FLAT else _FLAT) == best:
                where = t
                break
    for t in range(whole, n):
        slope = top - score[t] + shut[t]
        if slope > 0.0:
            curvature = own + diagonal[t] - 2.0 * np.float64(row[t])
            gain = slope * slope / (curvature if curvature > _FLAT else _FLAT)
            if gain > best:
                best, where = gain, t
    return best, where


@njit(nogil=True, cache=True)
def gap(score, b, c, low, high, ridge, intercept):  # type: ignore[no-untyped-def]
    """Primal minus dual value at an intercept, and the dual value."""
    total, value = 0.0, 0.0
    for t in range(len(b)):
        slope = score[t] - intercept
        step = (high[t] if slope > 0.0 else low[t]) - b[t]
        if ridge > 0.0:
            step = min(slope / ridge, step) if slope > 0.0 else max(slope / ridge, step)
        if slope != 0.0:
            total += step * (slope - 0.5 * ridge * step)
        value += 0.5 * b[t] * (c[t] + score[t])
    return total, value


@njit(nogil=True, cache=True)
def products(K, index, values, out):  # type: ignore[no-untyped-def]
    """out = K[:, index] values of a symmetric K, by rows; sums in double precision."""
    out[:] = 0.0
    last = len(index) - len(index) % 4
    for k in range(0, last, 4):
        r0, r1, r2, r3 = K[index[k]], K[index[k + 1]], K[index[k + 2]], K[index[k + 3]]
        v0, v1, v2, v3 = values[k], values[k + 1], values[k + 2], values[k + 3]
        for t in range(len(out)):
            out[t] += (np.float64(r0[t]) * v0 + np.float64(r1[t]) * v1) + (
                np.float64(r2[t]) * v2 + np.float64(r3[t]) * v3
            )
    for k in range(last, len(index)):
        row, v = K[index[k]], values[k]
        for t in range(len(out)):
            out[t] += np.float64(row[t]) * v


@njit(nogil=True, cache=True)
def middle(score, b, low, high):  # type: ignore[no-untyped-def]
    """An intercept: the mean score of the variables between their bounds, or the middle of the interval they leave."""
    total, count, top, bottom = 0.0, 0, -np.inf, np.inf
    for t in range(len(b)):
        if low[t] < b[t]:
            bottom = min(bottom, score[t])
            if b[t] < high[t]:
                total += score[t]
                count += 1
        if b[t] < high[t]:
            top = max(top, score[t])
    if count > 0:
        return total / count
    if top > -np.inf and bottom < np.inf:
        return 0.5 * (top + bottom)
    return top if top > -np.inf else bottom


@njit(nogil=True, cache=True)
def ascend(K, c, low, high, ridge, b, score, floor, tol, every, max_iter):  # type: ignore[no-untyped-def]
    """Move b (in place, with its score) uphill: at most max_iter steps, or until the gap is small.

    Small is at most tol times the primal value, or times ``floor`` where that is larger.

    The gap is looked at ``every`` so many steps. Returns the number of steps, the first and the last gap seen.
    """
    n, N = len(K), len(b)
    lanes, first, relative = np.empty(LANES), np.inf, np.inf
    diagonal, rise, fall = np.empty(N), np.empty(N), np.empty(N)
    for t in range(N):
        diagonal[t] = np.float64(K[t % n, t % n]) + ridge
        rise[t] = 0.0 if b[t] < high[t] else -np.inf
        fall[t] = 0.0 if low[t] < b[t] else -np.inf
    i, j, length = 0, 0, 0.0
    for step in range(max_iter + 1):
        top, up = -np.inf, -1
        other = K[j % n]
        for k in range(0, N, n):
            best, where = climb(score[k : k + n], rise[k : k + n], K[i % n], other, length, lanes)
            if best > top:
                top, up = best, k + where
        if step % every == 0 or step == max_iter:
            excess, value = gap(score, b, c, low, high, ridge, middle(score, b, low, high))
            relative = excess / max(abs(value + excess), floor, 1e-300)
            first = relative if step == 0 else first
            if relative <= tol or step == max_iter:
                return step, first, relative
        i = up
        if i < 0:
            return step, first, relative
        gain, down = 0.0, -1
        for k in range(0, N, n):
            best, where = partner(
                score[k : k + n], fall[k : k + n], diagonal[k : k + n], K[i % n], top, diagonal[i], lanes
            )
            if best > gain:
                gain, down = best, k + where
        j = down
        if j < 0:
            return step, first, relative
        curvature = diagonal[i] + diagonal[j] - 2.0 * np.float64(K[i % n, j % n])
        length = min((top - score[j]) / max(curvature, _FLAT), high[i] - b[i], b[j] - low[j])
        b[i] = high[i] if length == high[i] - b[i] else b[i] + length
        b[j] = low[j] if length == b[j] - low[j] else b[j] - length
        score[i] -= ridge * length
        score[j] += ridge * length
        rise[i], fall[i] = 0.0 if b[i] < high[i] else -np.inf, 0.0 if low[i] < b[i] else -np.inf
        rise[j], fall[j] = 0.0 if b[j] < high[j] else -np.inf, 0.0 if low[j] < b[j] else -np.inf
    return max_iter, first, relative


@njit(nogil=True, cache=True)
def reduction(slope, up, down, curvature):  # type: ignore[no-untyped-def]
    """slope^2 / curvature where the variable can go the way of its slope."""
    way = slope + up if slope > 0.0 else down - slope
    way = way if way > 0.0 else 0.0
    return way * way / (curvature if curvature > _FLAT else _FLAT)


@njit(nogil=True, cache=True)
def steepest(score, rise, fall, diagonal, row, step, lanes):  # type: ignore[no-untyped-def]
    """score -= step row for one variable a sample; the largest gain of a step of one variable, and where it is."""
    n = len(score)
    whole = n - n % LANES
    lanes[:] = 0.0
    for k in range(0, whole, LANES):
        s, x, d = score[k : k + LANES], row[k : k + LANES], diagonal[k : k + LANES]
        u, v = rise[k : k + LANES], fall[k : k + LANES]
        for t in range(LANES):
            new = s[t] - step * np.float64(x[t])
            s[t] = new
            gain = reduction(new, u[t], v[t], d[t])
            lanes[t] = gain if gain > lanes[t] else lanes[t]
    lane = np.argmax(lanes)
    best, where = lanes[lane], -1
    if best > 0.0:
        for t in range(lane, whole, LANES):
            if reduction(score[t], rise[t], fall[t], diagonal[t]) == best:
                where = t
                break
    for t in range(whole, n):
        score[t] -= step * np.float64(row[t])
        gain = reduction(score[t], rise[t], fall[t], diagonal[t])
        if gain > best:
            best, where = gain, t
    return best, where


@njit(nogil=True, cache=True)
def ascend_singly(K, c, low, high, ridge, b, score, floor, tol, every, max_iter):  # type: ignore[no-untyped-def]
    """``ascend`` without the equality: a step moves one variable."""
    n, N = len(K), len(b)
    lanes, first, relative = np.empty(LANES), np.inf, np.inf
    diagonal, rise, fall = np.empty(N), np.empty(N), np.empty(N)
    for t in range(N):
        diagonal[t] = np.float64(K[t % n, t % n]) + ridge
        rise[t] = 0.0 if b[t] < high[t] else -np.inf
        fall[t] = 0.0 if low[t] < b[t] else -np.inf
    i, length = 0, 0.0
    for step in range(max_iter + 1):
        gain, best_i = 0.0, -1
        for k in range(0, N, n):
            best, where = steepest(
                score[k : k + n], rise[k : k + n], fall[k : k + n], diagonal[k : k + n], K[i % n], length, lanes
            )
            if best > gain:
                gain, best_i = best, k + where
        if step % every == 0 or step == max_iter:
            excess, value = gap(score, b, c, low, high, ridge, 0.0)
            relative = excess / max(abs(value + excess), floor, 1e-300)
            first = relative if step == 0 else first
            if relative <= tol or step == max_iter:
                return step, first, relative
        i = best_i
        if i < 0:
            return step, first, relative
        end = high[i] if score[i] > 0.0 else low[i]
        length = score[i] / max(diagonal[i], _FLAT)
        if abs(length) >= abs(end - b[i]):
            length = end - b[i]
            b[i] = end
        else:
            b[i] += length
        score[i] -= ridge * length
        rise[i], fall[i] = 0.0 if b[i] < high[i] else -np.inf, 0.0 if low[i] < b[i] else -np.inf
    return max_iter, first, relative
