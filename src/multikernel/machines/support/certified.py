"""Solutions of a support program with their certificates, and the violations of optimality of each sample."""

from __future__ import annotations

import numpy as np

from multikernel._floats import EPS
from multikernel._typing import Array
from multikernel.certificate import relative
from multikernel.machines.base import DualSolution
from multikernel.machines.support.program import SupportProgram

# Fraction of the spread of the samples, or of half the mean self-value: smaller margins have few correct digits because
# of rounding of K, and certificates are relative to this.
FLOOR = 1e-5


def roots(diagonal: Array) -> Array:
    """The roots of K_ii: the norms of the samples in feature space."""
    return np.sqrt(np.maximum(diagonal, 0.0, dtype=float))


def value_floor(program: SupportProgram, sizes: Array) -> float:
    """A value of J that counts as zero; it is positive only where the sum of the coefficients is not zero.

    Then the value depends only on K, and rounding of K may be all of a value that should be zero. ``sizes`` are the
    roots of K_ii.
    """
    return floor_at(program, float((sizes * sizes).mean()))


def floor_at(program: SupportProgram, self_value: float) -> float:
    """The value that counts as zero for kernels of this mean self-value."""
    return FLOOR * 0.5 * program.scale * program.total**2 * self_value


def solution(
    program: SupportProgram,
    a: Array,
    f: Array,
    sizes: Array,
    tol: float,
    n_iter: int = 0,
    history: tuple[float, ...] = (),
) -> DualSolution:
    """The solution at feasible variables a with values f = K b, and the best intercept.

    Its gap and upper value include bounds of rounding errors, which are ignored in the test of convergence. ``sizes``
    are the roots of K_ii, ``history`` has the earlier gaps.
    """
    coef = program.coef(a)
    intercept = program.best_intercept(f)
    value = program.dual(a, float(coef @ f))
    excess = max(program.gap(a, f, intercept), 0.0)
    floor = value_floor(program, sizes)
    converged = relative(excess, value + excess, floor) <= tol
    excess += program.hidden(a, f, intercept, sizes)
    gap = relative(excess, value + excess, floor)
    return DualSolution(
        coef=coef,
        intercept=intercept,
        value=value,
        upper=value + excess,
        factor=np.sqrt(0.5 * program.scale) * coef,
        gap=gap,
        converged=converged,
        n_iter=n_iter,
        warm=a,
        history=(*history, gap),
    )


def certified(
    K: Array,
    program: SupportProgram,
    b: Array,
    sizes: Array,
    tol: float,
    n_iter: int = 0,
    history: tuple[float, ...] = (),
) -> tuple[DualSolution, Array]:
    """The solution at the signed variables b, and the gradient there, both from a fresh product with K."""
    from multikernel.banks import _dense

    a = program.sign * b
    coef = program.coef(a)
    f = np.empty(program.n)
    support = np.flatnonzero(coef)
    _dense.combine_rows(K, support, coef[support], f, 0, program.n)
    gradient = program.sign * program.linear - f[program.sample] - program.ridge * b
    return solution(program, a, f, sizes, tol, n_iter, history), gradient


def violations(program: SupportProgram, f: Array, outside: Array, allowed: float) -> Array:
    """By how much each sample violates optimality while its variables are zero: > 0 where they have to rise.

    Where no slope is positive, the result is the slope at zero. Elsewhere it is the contribution of the sample to the
    duality gap; the samples outside with the smallest ones, ``allowed`` in total, may be left out.
    """
    slope = (program.linear - program.sign * f[program.sample]).reshape(-1, program.n)
    loss = program.losses(f).reshape(-1, program.n).sum(axis=0)
    smallest = np.sort(loss[outside & (loss > 0.0)])
    let_off = int(np.searchsorted(np.cumsum(smallest), allowed, side="right"))
    return np.where(loss > 0.0, loss - (smallest[let_off - 1] if let_off else 0.0), slope.max(axis=0))


def within_rounding(K: Array, program: SupportProgram, current: DualSolution, gradient: Array) -> bool:
    """Whether the gap is no larger than the error of the losses by rounding of f = K b."""
    if not np.isfinite(current.gap):
        return False
    f = program.sign * program.linear - gradient - program.ridge * program.sign * current.warm
    size = roots(np.diagonal(K))
    error = 4.0 * EPS * float(size @ np.abs(current.coef)) * size[program.sample]
    reach = np.where(np.isfinite(program.upper), program.upper, current.warm)
    return program.gap(current.warm, f[: program.n], current.intercept) <= program.scale * float(reach @ error)
