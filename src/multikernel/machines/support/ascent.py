"""Pairwise steps and Newton steps alternately, towards the optimum of a support program.

Pairwise steps (``_pairwise``) find which variables lie between their bounds; Newton steps on these (``bounded_newton``)
find their values. It is not known beforehand which of the two is faster. So they alternate, and the pairwise steps go
on for about as long as the next Newton step will take: whichever is faster, the other at most doubles the time. Upper
bounds may be so large that the last digits of the slopes times these are more than the whole value: no step can lead to
a small gap then, and the steps go on only while they gain much.
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
    work: Array,
) -> tuple[Array, int]:
    """Signed variables of a higher dual value, and the steps that led there.

    It ends where the relative gap is likely at most ``tol``, where no step leads up, where rounding hides what steps
    gain, or after some rounds.

    Parameters
    ----------
    K : array (n, n), rows contiguous
    program : SupportProgram
    b, gradient : arrays (N,), feasible signed variables and the derivative there; both may be overwritten
    sizes : array (n,), the roots of K_ii
    floor : float, a value of the program that counts as zero
    tol : float, the relative gap to reach
    max_iter : int, steps at most
    work : flat array, memory for the linear systems
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
        most = min(length, max_iter - steps)
        made, first, gap = _climb(K, program, b, gradient, floor, tol, most)
        steps += made
        last = value
        value = 0.5 * float(b @ (c + gradient))
        if gap <= tol or steps >= max_iter or out_of_time(program.n):
            break
        # the longest turn would gain less than 1/100 of the value
        if (value - last) * longest < 0.01 * abs(value) * made and hopeless(program, b, gradient, sizes, floor):
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
        if _sooner(made, first, gap, tol, length if gap < 0.1 else 20 * length):
            continue
        proposal = newton_step(K, program, b, gradient, intercept, F, work, patience)
        if proposal is not None:
            b, gradient = proposal
            before = gap
            steps += 1
        elif made < length:
            break
    return b, steps


def _climb(
    K: Array, program: SupportProgram, b: Array, gradient: Array, floor: float, tol: float, most: int
) -> tuple[int, float, float]:
    """Pairwise steps, in pieces that can be interrupted: how many, and the gaps before and after them."""
    from multikernel.machines.support import _pairwise

    c = program.sign * program.linear
    piece = max(1, PIECE // (_STEP + len(b)))
    every = max(32, len(b) // 32)
    made = 0
    first = np.inf
    while True:
        check_interrupted()
        asked = min(piece, most - made)
        more, start, gap = _pairwise.ascend(
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
            every,
            asked,
        )
        if not made:
            first = start
        made += more
        if more < asked or made == most or gap <= tol or out_of_time(program.n):
            return made, first, gap


def hopeless(program: SupportProgram, b: Array, gradient: Array, sizes: Array, floor: float) -> bool:
    """Whether rounding of the slopes hides all of the value: then a gap says nothing, whatever steps follow."""
    a = program.sign * b
    f = (program.sign * program.linear - gradient - program.ridge * b)[: program.n]
    value = 0.5 * float(b @ (program.sign * program.linear + gradient))
    hidden = program.hidden(a, f, program.best_intercept(f), sizes) / program.scale
    return hidden > max(abs(value), floor)


def _sooner(made: int, first: float, last: float, tol: float, steps: int) -> bool:
    """Whether pairwise steps reach the gap within so many more, at the rate of those just made."""
    return made > 0 and last < first and made * np.log(last / tol) <= steps * np.log(first / last)


def _newton_cost(unknowns: int, variables: int) -> int:
    """How many pairwise steps take about as long as a Newton step, by measured times in nanoseconds."""
    nanoseconds = 3e5 + 4.0 * unknowns**2 + unknowns**3 / 30.0 + unknowns * variables
    return int(nanoseconds / (_STEP + variables))
