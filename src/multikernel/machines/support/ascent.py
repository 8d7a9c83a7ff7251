"""Pairwise steps and Newton steps alternately, towards the optimum of a support program.

Pairwise steps (``_pairwise``) find which variables are between their bounds; Newton steps on these (``bounded_newton``)
find their values. It is not known beforehand which of the two is faster. So they alternate, and pairwise steps take
about as much time as the next Newton step will: if one of the methods is faster, the other at most doubles the total
time. Upper bounds may be so large that rounding errors of the slopes, times these bounds, exceed the value itself: then
no step can reach a small gap, and steps continue only while they gain much.
"""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel._workers import check_interrupted
from multikernel.machines.base import PIECE, out_of_time
from multikernel.machines.support.bounded_newton import candidates, newton_step
from multikernel.machines.support.program import SupportProgram

_STEP = 150  # nanoseconds of a pairwise step, and one more for each variable
_PATIENCE = 16  # times the cost of the next Newton step, at most, after Newton steps that changed bounds


def ascent(
    K: Array,
    program: SupportProgram,
    b: Array,
    gradient: Array,
    sizes: Array,
    floor: float,
    tol: float,
    max_iter: int,
    buffer: Array,
) -> tuple[Array, int]:
    """Signed variables of a higher dual value, and the number of steps to them.

    The ascent ends where the relative gap is likely at most ``tol``, where no step leads up, where the gain of steps is
    less than rounding, or after some rounds.

    Parameters
    ----------
    K : array (n, n), rows contiguous
    program : SupportProgram
    b, gradient : arrays (N,), feasible signed variables and the derivative there; both may be overwritten
    sizes : array (n,), the roots of K_ii
    floor : float, a value of the program that counts as zero
    tol : float, the relative gap to reach
    max_iter : int, steps at most
    buffer : flat array, memory for the linear systems
    """
    from multikernel.machines.support import _pairwise

    steps = 0
    patience = 1
    before = np.inf
    length = len(b)
    longest = _PATIENCE * _newton_cost(len(b), len(b))
    c = program.sign * program.linear
    value = 0.5 * float(b @ (c + gradient))
    for _ in range(30):  # then the caller computes the gradient afresh
        limit = min(length, max_iter - steps)
        pairwise_steps, first, gap = _climb(K, program, b, gradient, floor, tol, limit)
        steps += pairwise_steps
        last = value
        value = 0.5 * float(b @ (c + gradient))
        if gap <= tol or steps >= max_iter or out_of_time(program.n):
            break
        # the longest sequence of pairwise steps would gain less than 1/100 of the value
        if (value - last) * longest < 0.01 * abs(value) * pairwise_steps and hopeless(
            program, b, gradient, sizes, floor
        ):
            break
        # a Newton step that left a tenth of the gap has changed bounds, and the next one may as well
        patience = min(2 * patience, _PATIENCE) if first > 0.1 * before else 1
        before = np.inf
        intercept = 0.0
        if program.intercept:
            intercept = _pairwise.middle(gradient, b, program.low, program.high)
        F = candidates(program, b, gradient, intercept)
        length = patience * _newton_cost(len(F), len(b))
        # above a gap of a tenth bounds still change so much that a Newton step has to be 20 times cheaper
        if _sooner(pairwise_steps, first, gap, tol, length if gap < 0.1 else 20 * length):
            continue
        proposal = newton_step(K, program, b, gradient, intercept, F, buffer, patience)
        if proposal is not None:
            b, gradient = proposal
            before = gap
            steps += 1
        elif pairwise_steps < length:
            break
    return b, steps


def _climb(
    K: Array, program: SupportProgram, b: Array, gradient: Array, floor: float, tol: float, max_steps: int
) -> tuple[int, float, float]:
    """Pairwise steps, in pieces between which they can be interrupted: their number, and the gaps before and after."""
    from multikernel.machines.support import _pairwise

    c = program.sign * program.linear
    piece = max(1, PIECE // (_STEP + len(b)))
    interval = max(32, len(b) // 32)
    steps = 0
    first = np.inf
    while True:
        check_interrupted()
        requested = min(piece, max_steps - steps)
        steps_of_piece, start, gap = _pairwise.ascend(
            K,
            c,
            program.low,
            program.high,
            program.ridge,
            program.intercept,
            b,
            gradient,
            floor,
            tol,
            interval,
            requested,
        )
        if not steps:
            first = start
        steps += steps_of_piece
        if steps_of_piece < requested or steps == max_steps or gap <= tol or out_of_time(program.n):
            return steps, first, gap


def hopeless(program: SupportProgram, b: Array, gradient: Array, sizes: Array, floor: float) -> bool:
    """Whether the rounding error of the slopes exceeds the value, so that no steps can lead to a meaningful gap."""
    a = program.sign * b
    f = (program.sign * program.linear - gradient - program.ridge * b)[: program.n]
    value = 0.5 * float(b @ (program.sign * program.linear + gradient))
    hidden = program.hidden(a, f, program.best_intercept(f), sizes) / program.scale
    return hidden > max(abs(value), floor)


def _sooner(steps_made: int, first: float, last: float, tol: float, allowed: int) -> bool:
    """Whether pairwise steps would reach the gap within ``allowed`` more, at the rate of those just made."""
    return steps_made > 0 and last < first and steps_made * np.log(last / tol) <= allowed * np.log(first / last)


def _newton_cost(unknowns: int, variables: int) -> int:
    """How many pairwise steps take about as long as a Newton step, by measured times in nanoseconds."""
    nanoseconds = 3e5 + 4.0 * unknowns**2 + unknowns**3 / 30.0 + unknowns * variables
    return int(nanoseconds / (_STEP + variables))
