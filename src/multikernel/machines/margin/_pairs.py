"""Sequential minimal optimisation over the rows of a dense kernel matrix, compiled.

    min_g  1/2 g'H g - p'g    over a product of simplices,    H = 2 (s (yy') o K + v I)

The groups (the classes) keep their sums, so a step moves weight from one sample of a group to another of the same
group: i with the smallest gradient, j by the largest decrease that a full second-order step would bring.
No fastmath: the gap that stops the loop is computed here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_FLAT = 1e-300  # a curvature below it is none: the step goes as far as it can


@njit(nogil=True, cache=True)
def extremes(grad, g, group, lowest, highest, low):  # type: ignore[no-untyped-def]
    """For each group: the sample of the smallest gradient, and the largest gradient where g > 0."""
    lowest[:] = np.inf
    highest[:] = -np.inf
    for i in range(len(g)):
        c = group[i]
        if grad[i] < lowest[c]:
            lowest[c] = grad[i]
            low[c] = i
        if g[i] > 0.0 and grad[i] > highest[c]:
            highest[c] = grad[i]


@njit(nogil=True, cache=True)
def partner(grad, g, group, i, row, diagonal, s):  # type: ignore[no-untyped-def]
    """The sample of i's group from which a full second-order step to i decreases the objective most."""
    j, best = -1, 0.0
    for t in range(len(g)):
        if group[t] == group[i] and g[t] > 0.0:
            rise = grad[t] - grad[i]
            if rise > 0.0:
                decrease = rise * rise / max(diagonal[i] + diagonal[t] - 4.0 * s * row[t], _FLAT)
                if decrease > best:
                    best, j = decrease, t
    return j


@njit(nogil=True, cache=True)
def solve(K, y, group, n_groups, p, s, v, g, grad, floor, tol, max_iter):  # type: ignore[no-untyped-def]
    """Move g (in place, with its gradient) to the optimum.

    Stops where the duality gap g'grad - sum_c (sum of g in c) min_c grad is at most tol |value|, or |value| <= floor.
    Returns the number of steps and the gap; the caller recomputes the gap from a fresh gradient.
    """
    lowest, highest = np.empty(n_groups), np.empty(n_groups)
    low = np.zeros(n_groups, np.int64)
    mass = np.zeros(n_groups)
    for i in range(len(g)):
        mass[group[i]] += g[i]
    diagonal = np.empty(len(g))
    for i in range(len(g)):
        diagonal[i] = 2.0 * (s * K[i, i] + v)
    gap = np.inf
    for step in range(max_iter + 1):
        extremes(grad, g, group, lowest, highest, low)
        if step % 16 == 0 or step == max_iter:  # the gap costs a pass of its own
            linear, gap = 0.0, 0.0
            for i in range(len(g)):
                gap += g[i] * grad[i]
                linear += p[i] * g[i]
            value = 0.5 * (gap - linear)  # g'grad = g'Hg - p'g
            for c in range(n_groups):
                gap -= mass[c] * lowest[c]
            if gap <= tol * abs(value) or abs(value) <= floor or step == max_iter:
                return step, gap
        worst = np.argmax(highest - lowest)
        if not highest[worst] > lowest[worst]:
            return step, gap
        i = low[worst]
        row = K[i]
        j = partner(grad, g, group, i, row, diagonal, s)
        other = K[j]
        curvature = max(diagonal[i] + diagonal[j] - 4.0 * s * row[j], _FLAT)
        step_length = (grad[j] - grad[i]) / curvature
        if step_length >= g[j]:
            step_length = g[j]
            g[j] = 0.0
        else:
            g[j] -= step_length
        g[i] += step_length
        scale = 2.0 * s * step_length * y[i]  # y_i = y_j within a group
        for t in range(len(g)):
            grad[t] += scale * y[t] * (np.float64(row[t]) - np.float64(other[t]))
        grad[i] += 2.0 * v * step_length
        grad[j] -= 2.0 * v * step_length
    return max_iter, gap
