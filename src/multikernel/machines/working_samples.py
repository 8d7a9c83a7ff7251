"""Machines on a kernel matrix that is not stored: solved on a working set of samples, which grows until it suffices.

Samples whose coefficients are zero at the solution could be left out, but they are not known beforehand. Hence rounds:

    solve     the problem on the working set, whose block of the matrix is formed
    certify   one product with the full matrix, on the columns of the support, gives the duality gap over all samples,
              and by how much each sample outside violates the conditions of optimality
    revise    violating samples join the working set; samples that are far from the support leave it

After the first rounds no sample leaves the working set, so that the number of rounds is finite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.certificate import ROUGH
from multikernel.machines.base import DualSolution, out_of_time
from multikernel.tuning import ALL_SAMPLES

TOLERATED = 0.25  # of the requested gap: the largest contribution to it of violating samples that do not join
_BYTES = 4 << 30  # the largest block of the matrix that is formed


@dataclass(frozen=True, eq=False)
class Certified:
    """A solution over all samples with its certificate.

    Parameters
    ----------
    solution : the solution, with the duality gap over all samples
    violation : array (n,), by how much each sample outside violates optimality; at most 0 where it need not join
    """

    solution: DualSolution
    violation: Array


Inner = Callable[[Gram, Array, Array | None, float, int], tuple[Array, int]]
Certify = Callable[[Array, Array], Certified]


def on_working_samples(
    gram: Gram, first: Array, warm: Array | None, inner: Inner, certify: Certify, tol: float, max_iter: int
) -> DualSolution:
    """The solution over all samples; not converged where rounding, ``max_iter`` or memory prevents more rounds.

    Parameters
    ----------
    gram : square Gram of n samples
    first : int array in order, the samples to start with, at most ``largest_block``
    warm : array, feasible variables of the machine over all samples, or None; they may be the solution already
    inner : (block of the matrix, its samples, variables over all, gap to reach, steps allowed) -> variables over all
        that solve the problem on the block, and steps made
    certify : (samples, variables over all, zero outside these samples) -> the solution at them
    tol : float, the gap to reach
    max_iter : int, steps at most, of all inner solutions together
    """
    limit = largest_block(gram)
    rows = first
    variables = warm
    steps = 0
    history: tuple[float, ...] = ()
    best: DualSolution | None = None
    finest = 0.4 * tol  # the gap on the working set: plus the tolerated violations, less than the requested gap
    aim = finest if len(rows) == gram.shape[0] else max(finest, ROUGH)
    if variables is not None:
        proved = certify(rows, variables)
        if proved.solution.converged:
            return proved.solution
        best = proved.solution
        joining = _joining(proved.violation, rows)
        rows = np.sort(np.concatenate([rows, joining[: limit - len(rows)]]))
    for turn in count():
        variables, steps_made = inner(gram.principal(rows), rows, variables, aim, max_iter - steps)
        proved = certify(rows, variables)
        steps = steps + steps_made
        variables = proved.solution.warm
        gap = proved.solution.gap
        history = (*history, gap)
        if best is None or (gap, -proved.solution.value) <= (best.gap, -best.value):  # many gaps are 1 at first
            best = proved.solution
        if best.converged or steps >= max_iter or out_of_time(gram.shape[0]):
            break
        joining = _joining(proved.violation, rows)
        if len(joining) == 0:
            if aim == finest:
                break
            aim = finest
            continue
        # later samples would leave and join without end
        if turn < 4:
            staying = _staying(proved, rows)
        else:
            staying = rows
        if len(staying) >= limit:
            break
        aim = max(finest, ROUGH * min(gap, 1.0))
        rows = np.sort(np.concatenate([staying, joining[: limit - len(staying)]]))
    assert best is not None
    return replace(best, n_iter=steps, history=history)


def largest_block(gram: Gram) -> int:
    """How many samples a block of the matrix that is formed may have."""
    return min(gram.shape[0], int(np.sqrt(_BYTES / gram.diagonal().dtype.itemsize)))


def _joining(violation: Array, rows: Array) -> Array:
    """The samples outside that must join, largest violations first; the working set at most doubles."""
    outside = violation > 0.0
    outside[rows] = False
    candidates = np.flatnonzero(outside)
    return candidates[np.argsort(-violation[candidates], kind="stable")][: len(rows)]


def _staying(proved: Certified, rows: Array) -> Array:
    """The support, the samples that violate optimality, and a quarter as many of those nearest to doing so."""
    needed = (proved.solution.coef[rows] != 0.0) | (proved.violation[rows] > 0.0)
    idle = rows[~needed]
    near = idle[np.argsort(-proved.violation[idle], kind="stable")][: int(0.25 * needed.sum())]
    return np.concatenate([rows[needed], near])


def first_samples(groups: Array, warm: Array | None, limit: int) -> Array:
    """The samples to start with: the support of an earlier solution, or at least every eighth, and 1000.

    Parameters
    ----------
    groups : array (n,), labels of groups; at least one sample of each is included
    warm : array (n,), variables of an earlier solution, or None
    limit : int, how many samples at most
    """
    n = len(groups)
    if warm is not None and warm.any():
        chosen = np.flatnonzero(warm)
    else:
        order = np.argsort(groups, kind="stable")  # group after group, so that each is chosen from by its size
        chosen = order[np.linspace(0, n - 1, min(n, max(ALL_SAMPLES, n // 8))).astype(int)]
    one_of_each = np.unique(groups, return_index=True)[1]
    if len(chosen) > limit:
        chosen = chosen[:: -(-len(chosen) // max(1, limit - len(one_of_each)))]
    return np.unique(np.concatenate([chosen, one_of_each]))
