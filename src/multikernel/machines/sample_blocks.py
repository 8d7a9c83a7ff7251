"""Machines whose support is larger than the largest block of the matrix that is formed: block after block of samples.

The coefficients of all samples outside a block stay as they are. With b those of the block and r all others,

    (b, r)'K (b, r) = b'K_bb b + 2 b'K_br r + constant,        K_br r = f_b - K_bb b,    f = K (b, r)

so that a block is a problem on K_bb with another linear term. This is block coordinate ascent of a concave quadratic
function; the certificate over all samples, after each block, says how far the optimum is.

Half of a block are the samples that are farthest from optimality, and half are drawn at random from the others. With
the farthest ones alone a block can consist of one class, and move back what the block before has moved: with 600
samples and blocks of 260, 300 blocks were not enough, where 9 to 17 of these suffice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.certificate import FINEST_GAP, NO_PROGRESS, STALLED
from multikernel.machines.base import DualSolution, out_of_time

_RISE = 1e-3  # of the value, or of what it may still lack: a smaller rise by a block is no progress


@dataclass(frozen=True, eq=False)
class BlockMethods:
    """What a machine knows of its problem; f = K coef are the values of all samples.

    Parameters
    ----------
    coef : variables -> array (n,), the coefficients
    certify : (variables, f) -> the solution at feasible variables, with its certificate
    distance : (solution, f) -> array (n,), how far each sample is from optimality, >= 0
    improve : (block of the matrix, its samples, variables over all, f, gap to reach, steps allowed) -> variables over
        all that solve the problem on the block, and steps made
    """

    coef: Callable[[Array], Array]
    certify: Callable[[Array, Array], DualSolution]
    distance: Callable[[DualSolution, Array], Array]
    improve: Callable[[Gram, Array, Array, Array, float, int], tuple[Array, int]]


def over_blocks(
    gram: Gram,
    methods: BlockMethods,
    start: Array,
    size: int,
    tol: float,
    max_iter: int,
    n_iter: int = 0,
    history: tuple[float, ...] = (),
) -> DualSolution:
    """The solution over all samples; not converged where rounding, ``max_iter`` or time ends the blocks.

    Parameters
    ----------
    gram : square Gram of n samples
    methods : BlockMethods
    start : feasible variables over all samples
    size : int, how many samples a block has
    tol : float, the gap to reach
    max_iter : int, steps at most, with earlier ones
    n_iter, history : steps and gaps of earlier methods
    """
    variables = start
    coef = methods.coef(variables)
    f = gram.multiply(coef)
    current = best = methods.certify(variables, f)
    history = (*history, best.gap)
    aim = 0.1 * tol  # the gap of a block is relative to another value, which may be larger
    stalled = 0
    rng = np.random.default_rng(0)
    while not best.converged and stalled < STALLED and n_iter < max_iter and not out_of_time(len(f)):
        value = current.value
        rows = _half_farthest(methods.distance(current, f), size, rng)
        variables, steps = methods.improve(gram.principal(rows), rows, variables, f, aim, max_iter - n_iter)
        n_iter += steps
        change = methods.coef(variables) - coef
        coef = coef + change
        f = f + gram.multiply(change)
        current = methods.certify(variables, f)
        if current.converged:  # which a fresh product must confirm, since rounding errors accumulate in f
            f = gram.multiply(coef)
            current = methods.certify(variables, f)
        history = (*history, current.gap)
        # with a large C the gap stays near 1 while the value rises to a multiple of what it was
        missing = min(current.upper - current.value, abs(current.value))
        if current.gap < NO_PROGRESS * best.gap or current.value - value > _RISE * missing:
            stalled = 0
        else:
            stalled += 1
            aim = max(0.1 * aim, FINEST_GAP)
        if current.gap <= best.gap:
            best = current
    return replace(best, n_iter=n_iter, history=history)


def _half_farthest(distance: Array, size: int, rng: np.random.Generator) -> Array:
    """The samples of a block, in order."""
    ordered = np.argpartition(-distance, size // 2)
    farthest, others = ordered[: size // 2], ordered[size // 2 :]
    return np.sort(np.concatenate([farthest, rng.choice(others, size - len(farthest), replace=False)]))
