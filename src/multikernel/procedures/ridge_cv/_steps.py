"""Compiled steps of many small models: min over v + s >= 0 of 2 slope's + s'C s + damping s'D s for each target."""

from __future__ import annotations

import numpy as np
from numba import njit

_SWEEPS = 1000  # at most; a model of correlated kernels takes some hundred
_EXACT = 1e-4  # of the decrease: what the last sweep may still have gained


@njit(nogil=True, cache=True)
def damped_steps(v, slopes, curvatures, dampings, steps, decreases):  # type: ignore[no-untyped-def]
    """The step of each target, one coordinate after the other until sweeps gain nothing, and the model's decrease.

    v, slopes, dampings and steps are (t, m), curvatures (t, m, m); ``decreases`` (t, 2) are those of the model without
    and with its damping.
    """
    m = v.shape[1]
    image = np.empty(m)  # C s
    for t in range(len(v)):
        C, s = curvatures[t], steps[t]
        s[:] = 0.0
        image[:] = 0.0
        total = 0.0
        for _ in range(_SWEEPS):
            gained = 0.0
            for k in range(m):
                size = C[k, k] + dampings[t, k]
                if size <= 0.0:
                    continue
                slope = slopes[t, k] + image[k] + dampings[t, k] * s[k]
                change = max(-v[t, k] - s[k], -slope / size)
                if change != 0.0:
                    gained -= change * (2.0 * slope + size * change)
                    s[k] += change
                    for j in range(m):
                        image[j] += C[j, k] * change
            total += gained
            if not gained > _EXACT * total:
                break
        plain, damped = 0.0, 0.0
        for k in range(m):
            plain -= s[k] * (2.0 * slopes[t, k] + image[k])
            damped += dampings[t, k] * s[k] * s[k]
        decreases[t, 0] = plain
        decreases[t, 1] = plain - damped


@njit(nogil=True, cache=True)
def served(v, steps, slopes, curvatures, dampings, promised, order, share, candidate_of):  # type: ignore[no-untyped-def]
    """candidate_of[t]: the target whose proposal v + s serves target t, promising t ``share`` of what its own does.

    In ``order``, each target that no earlier candidate serves becomes a candidate itself. ``promised`` (t,) is the
    decrease of the damped model of each target at its own proposal.
    """
    m = v.shape[1]
    s = np.empty(m)
    candidate_of[:] = -1
    for c in order:
        if candidate_of[c] >= 0:
            continue
        candidate_of[c] = c
        for t in order:
            if candidate_of[t] >= 0:
                continue
            decrease = 0.0
            for k in range(m):
                s[k] = v[c, k] + steps[c, k] - v[t, k]
            for k in range(m):
                image = dampings[t, k] * s[k]
                for j in range(m):
                    image += curvatures[t, k, j] * s[j]
                decrease -= s[k] * (2.0 * slopes[t, k] + image)
            if decrease >= share * promised[t]:
                candidate_of[t] = c
