"""Passes of coordinate ascent over the variables of a support program on K = F diag(w) F', compiled.

    max_a  p'a - 1/2 sum rho a^2 - 1/2 b'K b - c (1'b - total) - size/2 (1'b - total)^2,    b = E a,  0 <= a <= u

Since v = diag(w) F'b is updated in every step, a variable costs two passes over its sample's features. Columns without
weight are left out by blocks: block k of the others is ``first[k]`` to ``last[k]``.
"""

from __future__ import annotations

from numba import njit

from multikernel.banks._features import dot


@njit(nogil=True, cache=True)
def ascend(F, w, first, last, order, sample, sign, linear, upper, ridge, curvature, a, v, state, c, size):  # type: ignore[no-untyped-def]
    """One pass over the variables of ``order``: a, v and state[0] = 1'b - total change; the largest violation seen."""
    worst = 0.0
    for t in range(len(order)):
        j = order[t]
        i = sample[j]
        slope = linear[j] - sign[j] * (dot(F[i], v, first, last) + c + size * state[0]) - ridge[j] * a[j]
        if (a[j] <= 0.0 and slope <= 0.0) or (a[j] >= upper[j] and slope >= 0.0):
            continue
        worst = max(worst, abs(slope))
        step = slope / max(curvature[j], 1e-300)
        value = min(max(a[j] + step, 0.0), upper[j])
        change = sign[j] * (value - a[j])
        if change == 0.0:
            continue
        a[j] = value
        state[0] += change
        row = F[i]
        for k in range(len(first)):
            x, z, s = row[first[k] : last[k]], v[first[k] : last[k]], w[first[k] : last[k]]
            for q in range(len(x)):
                z[q] += change * s[q] * x[q]
    return worst
