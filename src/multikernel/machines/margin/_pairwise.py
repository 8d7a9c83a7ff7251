"""Sequential minimal optimisation over the rows of a dense kernel matrix, compiled.

    min_g  s g'(yy' o K) g + v |g|^2,    g >= 0,    the sum of g over each class of y = -1, +1 as at the start

The sum of a class is constant, so a step moves weight from one sample to another of the same class: to the i with the
smallest gradient, from the j for which a full second-order step to i decreases the objective most.
No fastmath: the gap that stops the loop is computed here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from multikernel._floats import TINY


@njit(nogil=True, cache=True)
def extremes(gradient, g, y, lowest, highest, receiver):  # type: ignore[no-untyped-def]
    """For each class: the smallest gradient and the sample that has it, and the largest gradient where g > 0."""
    lowest[:] = np.inf
    highest[:] = -np.inf
    for i in range(len(g)):
        c = 0 if y[i] > 0.0 else 1
        if gradient[i] < lowest[c]:
            lowest[c] = gradient[i]
            receiver[c] = i
        if g[i] > 0.0 and gradient[i] > highest[c]:
            highest[c] = gradient[i]


@njit(nogil=True, cache=True)
def partner(gradient, g, y, i, row, diagonal, s):  # type: ignore[no-untyped-def]
    """The sample of i's class from which a full second-order step to i decreases the objective most."""
    j, best = -1, 0.0
    for t in range(len(g)):
        if y[t] == y[i] and g[t] > 0.0:
            rise = gradient[t] - gradient[i]
            if rise > 0.0:
                decrease = rise * rise / max(diagonal[i] + diagonal[t] - 4.0 * s * row[t], TINY)
                if decrease > best:
                    best, j = decrease, t
    return j


@njit(nogil=True, cache=True)
def descend(K, y, s, v, g, gradient, floor, tol, max_iter):  # type: ignore[no-untyped-def]
    """Move g (in place, with its gradient) to the optimum; the number of steps.

    Stops where the duality gap g'gradient - sum_c (sum of g over c) min_c gradient is at most tol |value|, or where
    |value| <= floor. The caller recomputes the gap from a fresh gradient.
    """
    lowest, highest = np.empty(2), np.empty(2)
    receiver, mass = np.zeros(2, np.int64), np.zeros(2)
    diagonal = np.empty(len(g))
    for i in range(len(g)):
        mass[0 if y[i] > 0.0 else 1] += g[i]
        diagonal[i] = 2.0 * (s * K[i, i] + v)
    for step in range(max_iter + 1):
        extremes(gradient, g, y, lowest, highest, receiver)
        if step % 16 == 0 or step == max_iter:  # the gap costs one more pass
            gap = 0.0
            for i in range(len(g)):
                gap += g[i] * gradient[i]
            value = 0.5 * gap
            for c in range(2):
                if mass[c] > 0.0:  # there may be samples of one class only
                    gap -= mass[c] * lowest[c]
            if gap <= tol * abs(value) or abs(value) <= floor or step == max_iter:
                return step
        widest = np.argmax(highest - lowest)
        if not highest[widest] > lowest[widest]:
            return step
        i = receiver[widest]
        row = K[i]
        j = partner(gradient, g, y, i, row, diagonal, s)
        if j < 0:  # every decrease is below the smallest number
            return step
        other = K[j]
        length = (gradient[j] - gradient[i]) / max(diagonal[i] + diagonal[j] - 4.0 * s * row[j], TINY)
        if length >= g[j]:
            length = g[j]
            g[j] = 0.0
        else:
            g[j] -= length
        g[i] += length
        scale = 2.0 * s * length * y[i]  # y_i = y_j within a class
        for t in range(len(g)):
            gradient[t] += scale * y[t] * (np.float64(row[t]) - np.float64(other[t]))
        gradient[i] += 2.0 * v * length
        gradient[j] -= 2.0 * v * length
    return max_iter
