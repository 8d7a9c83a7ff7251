"""The exact end of an interior point method: variables at their bounds, and linear equations for the others.

Near the optimum the slope of a variable shows whether it belongs at a bound: it does where the slope is larger than the
distance to the bound, both relative to their typical sizes. The variables F between their bounds satisfy
p - rho a - E'(K b + c 1) = 0, so that with the residual r of these equations, signed, their change x and that of the
intercept satisfy

    K_FF x + rho x + dc 1 = r,        1'x = e, the residual of the equality.

With G the rows of F, K_FF = G G'. With a ridge x can be eliminated, x = (r - G v - dc 1) / rho with v = G'x;
substituted into v = G'x and into the sum this gives

    v + G'rho^{-1} (G v + dc 1) = G'rho^{-1} r,        1'rho^{-1} (G v + dc 1) = 1'rho^{-1} r - e.

Without a ridge dc and the equality are eliminated: x = (e / |F|) 1 + z with 1'z = 0, and dc vanishes when the mean is
subtracted from the equations. With H and r_0 the centred G and r,

    H H'z = r_0 - (e / |F|) H G'1.

H'z is the least-squares solution of this system, and z the shortest vector with this H'z. The sum of z is zero, since z
is in the range of H. These are two systems with the condition number of G; in a single system it would be squared.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from multikernel._floats import SINGULAR, TINY
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.machines.support.program import SupportProgram


def settled(program: SupportProgram, G: Array, a: Array, f: Array, intercept: float) -> Array:
    """Feasible variables near a, as accurate as the solution of their equations.

    Parameters
    ----------
    program : SupportProgram
    G : array (n, q) with K = G G'
    a : array (N,), nearly optimal
    f : array (n,), K b
    intercept : float
    """
    F, moved = _between(program, a, f, intercept)
    b = program.sign * moved
    if len(F):
        change = program.coef(moved) - program.coef(a)
        S = np.flatnonzero(change)
        f = f + product(G, G[S].T @ change[S])
        r = (program.sign * program.linear - (f + intercept)[program.sample] - program.ridge * b)[F]
        x = _change(G[program.sample[F]], r, program.ridge[F], program.total - float(b.sum()), program.intercept)
        b[F] = np.clip(b[F] + x, program.low[F], program.high[F])
    return program.sign * (program.balanced(b) if program.intercept else b)


def at_bounds(program: SupportProgram, a: Array, f: Array, intercept: float) -> Array:
    """Feasible variables near a: those that belong at a bound are moved to it, the others are unchanged."""
    b = program.sign * _between(program, a, f, intercept)[1]
    return program.sign * (program.balanced(b) if program.intercept else b)


def _between(program: SupportProgram, a: Array, f: Array, intercept: float) -> tuple[Array, Array]:
    """The variables between their bounds, and all variables with the others at their bounds."""
    slope = program.linear - program.sign * (f + intercept)[program.sample] - program.ridge * a
    bounded = np.isfinite(program.upper)
    reach = np.where(bounded, program.upper, max(float(a.max()), TINY))
    size = max(float(np.abs(program.linear).max()), float(np.abs(slope).mean()), TINY)
    at_zero = a / reach <= -slope / size
    at_upper = bounded & ((reach - a) / reach <= slope / size)
    between = ~(at_zero | at_upper)
    return np.flatnonzero(between), np.where(at_zero, 0.0, np.where(at_upper, program.upper, a))


def _change(G: Array, r: Array, ridge: Array, lacking: float, equality: bool) -> Array:
    """The change x, as derived above."""
    if not ridge.any():
        even = 0.0
        H = G
        if equality:
            even = lacking / len(r)
            H = G - G.mean(axis=0)
            r = r - r.mean()
        image = linalg.lstsq(H, r - even * (H @ G.sum(axis=0)), cond=SINGULAR)[0]
        x: Array = even + linalg.lstsq(H.T, image, cond=SINGULAR)[0]
        return x
    B = np.hstack([G, np.ones((len(r), int(equality)))])
    scaled = B / ridge[:, None]
    M = B.T @ scaled
    M.flat[: G.shape[1] * len(M) : len(M) + 1] += 1.0
    right = scaled.T @ r
    if equality:
        right[-1] -= lacking
    v = linalg.lstsq(M, right)[0]
    return (r - B @ v) / ridge
