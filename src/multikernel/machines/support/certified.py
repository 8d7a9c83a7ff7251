"""What points of a support program prove: the solution with its certificate, and who violates optimality."""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import relative
from multikernel.machines.base import DualSolution
from multikernel.machines.support.program import SupportProgram

_PART = 1e-5  # of half the mean self-value: one-class values below it are known to this accuracy only


def value_floor(program: SupportProgram, mean: float) -> float:
    """A value of J that counts as zero; not zero itself where the sum of the coefficients is given.

    There K alone says how large the value is, and rounding of K what is left of a value that should be zero. ``mean``
    is the mean of K_ii.
    """
    return _PART * 0.5 * program.scale * program.total**2 * mean


def solution(
    program: SupportProgram,
    a: Array,
    f: Array,
    floor: float,
    tol: float,
    n_iter: int = 0,
    history: tuple[float, ...] = (),
) -> DualSolution:
    """The solution at feasible variables a with values f = K b, and the best intercept.

    ``floor`` is a value that counts as zero, ``history`` holds the gaps before this one.
    """
    coef, intercept = program.coef(a), program.best_intercept(f)
    value = program.dual(a, float(coef @ f))
    excess = max(program.gap(a, f, intercept), 0.0)
    upper = value + excess
    gap = relative(excess, upper, floor)
    return DualSolution(
        coef=coef,
        intercept=intercept,
        value=value,
        upper=upper,
        factor=np.sqrt(0.5 * program.scale) * coef,
        gap=gap,
        converged=gap <= tol,
        n_iter=n_iter,
        warm=a,
        history=(*history, gap),
    )


def certified(
    K: Array,
    program: SupportProgram,
    b: Array,
    floor: float,
    tol: float,
    n_iter: int = 0,
    history: tuple[float, ...] = (),
) -> tuple[DualSolution, Array]:
    """The solution at the signed variables b, and the gradient there, both from a fresh product with K."""
    from multikernel.machines.support import _rows

    a = program.sign * b
    coef = program.coef(a)
    f, support = np.empty(program.n), np.flatnonzero(coef)
    _rows.products(K, support, coef[support], f)
    gradient = program.sign * program.linear - f[program.sample] - program.ridge * b
    return solution(program, a, f, floor, tol, n_iter, history), gradient


def violations(program: SupportProgram, f: Array, outside: Array, allowed: float) -> Array:
    """By how much each sample violates optimality while its variables are zero: > 0 where they have to rise.

    It is the slope at zero where no slope is positive. Elsewhere it is what the sample adds to the duality gap; the
    samples outside that add least, and no more than ``allowed`` all together, are let off.
    """
    slope = (program.linear - program.sign * f[program.sample]).reshape(-1, program.n)
    loss = program.losses(f).reshape(-1, program.n).sum(axis=0)
    smallest = np.sort(loss[outside & (loss > 0.0)])
    let_off = int(np.searchsorted(np.cumsum(smallest), allowed, side="right"))
    return np.where(loss > 0.0, loss - (smallest[let_off - 1] if let_off else 0.0), slope.max(axis=0))


def within_rounding(K: Array, program: SupportProgram, found: DualSolution, gradient: Array) -> bool:
    """Whether the gap is no larger than what rounding of the values f = K b may add to the losses."""
    f = program.sign * program.linear - gradient - program.ridge * program.sign * found.warm
    size = np.sqrt(np.maximum(np.diagonal(K), 0.0)).astype(float)
    error = 4.0 * np.finfo(float).eps * float(size @ np.abs(found.coef)) * size[program.sample]
    reach = np.where(np.isfinite(program.upper), program.upper, found.warm)
    return program.gap(found.warm, f[: program.n], found.intercept) <= program.scale * float(reach @ error)
