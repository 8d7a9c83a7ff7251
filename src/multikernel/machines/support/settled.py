"""The exact end of an interior point method: variables at their bounds, and linear equations for the others.

Near the optimum a variable's slope says whether it belongs at a bound: there it is larger than the distance to the
bound, each as a part of its size. The variables F between their bounds satisfy p - rho a - E'(K b + c 1) = 0, so that
with the residual r of these equations, signed, their change x and that of the intercept satisfy

    K_FF x + rho x + dc 1 = r,        1'x = what the sum lacks.

With K = G G' and v = G_F'x that is G_F v + dc 1 + rho x = r. Without a ridge v and dc are its least-squares solution,
and x the shortest change that has this v and this sum; with one, x is eliminated.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from multikernel._floats import SINGULAR
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.machines.support.program import SupportProgram


def settled(program: SupportProgram, G: Array, a: Array, f: Array, intercept: float) -> Array:
    """Feasible variables near a, as exact as their equations can be solved.

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
    """Feasible variables near a, of which those that belong at a bound are there; the others are as they were."""
    b = program.sign * _between(program, a, f, intercept)[1]
    return program.sign * (program.balanced(b) if program.intercept else b)


def _between(program: SupportProgram, a: Array, f: Array, intercept: float) -> tuple[Array, Array]:
    """The variables between their bounds, and all variables with the others at their bounds."""
    slope = program.linear - program.sign * (f + intercept)[program.sample] - program.ridge * a
    bounded = np.isfinite(program.upper)
    reach = np.where(bounded, program.upper, max(float(a.max()), np.finfo(float).tiny))
    size = max(float(np.abs(program.linear).max()), float(np.abs(slope).mean()), np.finfo(float).tiny)
    at_zero = a / reach <= -slope / size
    at_upper = bounded & ((reach - a) / reach <= slope / size)
    between = ~(at_zero | at_upper)
    return np.flatnonzero(between), np.where(at_zero, 0.0, np.where(at_upper, program.upper, a))


def _change(G: Array, r: Array, ridge: Array, lacking: float, equality: bool) -> Array:
    """x."""
    ones = np.ones((len(r), int(equality)))
    B = np.hstack([G, ones])
    if not ridge.any():
        v = linalg.lstsq(B, r, cond=SINGULAR)[0]
        wanted = np.concatenate([v[: G.shape[1]], [lacking] * int(equality)])
        shortest: Array = linalg.lstsq(B.T, wanted, cond=SINGULAR)[0]
        return shortest
    scaled = B / ridge[:, None]
    M = B.T @ scaled
    M.flat[: G.shape[1] * len(M) : len(M) + 1] += 1.0
    right = scaled.T @ r
    if equality:
        right[-1] -= lacking
    v = linalg.lstsq(M, right)[0]
    return (r - B @ v) / ridge
