"""A machine on a matrix that is not stored: solved on some samples, until no other sample wants to take part.

At the solution of a machine whose coefficients are zero on most samples, the others matter only by not mattering. So
the problem is solved on a working set; one product with the whole matrix, on the columns of its support, gives the
certificate over all samples, and tells which of the others pull at the solution. These join, and what is neither
support nor near it leaves. From a few rounds on nothing leaves any more, so the rounds end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.machines.base import DualSolution

EXCUSED = 0.25  # of the gap asked for: what samples that do not join may add to it
_INNER = 0.4  # of the gap asked for, within the working set,
_LOOSE = 1e-3  # or this part of the gap over all samples, while that is large
_FIRST = 1000  # samples to start with,
_PART = 8  # or this part of all, where that is more
_NEAR = 0.25  # of the support: as many that are near it stay
_LEAVING = 4  # rounds in which samples may leave
_BYTES = 4 << 30  # the largest block of the matrix that is formed


@dataclass(frozen=True, eq=False)
class Seen:
    """A solution over all samples with its certificate; and how much each sample wants to join, > 0 where it must."""

    solution: DualSolution
    pull: Array


Inner = Callable[[Gram, Array, Array | None, float, int], DualSolution]
Look = Callable[[Array, DualSolution], Seen]


def on_working_samples(
    gram: Gram, first: Array, warm: Array | None, inner: Inner, look: Look, tol: float, max_iter: int
) -> DualSolution:
    """The solution over all samples; unconverged where rounding, ``max_iter`` or the memory forbids more.

    Parameters
    ----------
    gram : square Gram of n samples
    first : int array, the samples to start with
    warm : array, variables of the machine over all samples, or None
    inner : (Gram of some samples, which ones, variables over all, gap to reach, steps) -> the solution on these
    look : (which samples, the solution on them) -> the solution over all
    tol, max_iter : the gap to reach, and how many steps at most
    """
    most = min(gram.shape[0], int(np.sqrt(_BYTES / gram.diagonal().dtype.itemsize)))
    rows, variables, steps = np.sort(first)[:: -(-len(first) // most)], warm, 0
    history: tuple[float, ...] = ()
    best: DualSolution | None = None
    finest = _INNER * tol
    aim = max(finest, _LOOSE)
    for turn in count():
        found = inner(gram.principal(rows), rows, variables, aim, max_iter - steps)
        seen = look(rows, found)
        steps, variables, gap = steps + found.n_iter, seen.solution.warm, seen.solution.gap
        history = (*history, gap)
        best = seen.solution if best is None or gap <= best.gap else best
        if best.converged or steps >= max_iter:
            break
        joining = _joining(seen.pull, rows)
        if len(joining) == 0:
            if aim == finest:
                break
            aim = finest
            continue
        staying = _staying(seen, rows) if turn < _LEAVING else rows
        if len(staying) >= most:
            break
        aim = max(finest, _LOOSE * min(gap, 1.0))
        rows = np.sort(np.concatenate([staying, joining[: most - len(staying)]]))
    assert best is not None
    return replace(best, n_iter=steps, history=history)


def _joining(pull: Array, rows: Array) -> Array:
    """The samples outside that must join, those that pull most first; no more than double the working set."""
    outside = pull > 0.0
    outside[rows] = False
    candidates = np.flatnonzero(outside)
    return candidates[np.argsort(-pull[candidates], kind="stable")][: len(rows)]


def _staying(seen: Seen, rows: Array) -> Array:
    """The support, what must be there, and some that are near."""
    taking_part = (seen.solution.coef[rows] != 0.0) | (seen.pull[rows] > 0.0)
    idle = rows[~taking_part]
    near = idle[np.argsort(-seen.pull[idle], kind="stable")][: int(_NEAR * taking_part.sum())]
    return np.concatenate([rows[taking_part], near])


def first_samples(groups: Array, warm: Array | None) -> Array:
    """The support of a start, or samples at equal distances; some of each group in any case."""
    n = len(groups)
    if warm is not None and warm.any():
        chosen = np.flatnonzero(warm)
    else:
        order = np.argsort(groups, kind="stable")  # group after group: each gives as many as its size asks
        chosen = order[np.linspace(0, n - 1, min(n, max(_FIRST, n // _PART))).astype(int)]
    return np.unique(np.concatenate([chosen, np.unique(groups, return_index=True)[1]]))
