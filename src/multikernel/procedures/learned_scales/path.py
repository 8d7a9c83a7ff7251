"""Paths along the penalty, and its choice by samples that no scale was fitted to.

On the way the penalty falls: first the common scale and the ridge are settled, then the features that matter most move.
The minimum at the end of such a path predicts better than one found with a small penalty from the beginning (R^2 of new
samples .879 for .863 on cpu, .879 for .870 on servo, .893 for .888 on housing).

It may still be the wrong one where few features of many matter. Scales that the features' own evidence and gradients
propose (starts.py) join as soon as the penalty lets scales differ: in the place of the path so far where their held-out
error is clearly lower, beside it where it is not higher.

Scales are fitted to the folds, and the more so the smaller the penalty. How much is measured by leaving out each fold
from all that chooses scales,

    outer error    sum over three folds V of |r_V|^2 / n,    the scales of r_V from the folds other than V

and the penalty is that of the lowest. (The largest within one standard error of it hides features that matter where
samples are few.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from multikernel._folds import FOLDS
from multikernel._typing import Array
from multikernel._workers import on_threads
from multikernel.banks.threads import n_threads
from multikernel.procedures.learned_scales.curvature import tried
from multikernel.procedures.learned_scales.descent import descended
from multikernel.procedures.learned_scales.error import ScalesError, Trial
from multikernel.procedures.learned_scales.starts import Equal, beginning, proposed

PENALTIES = (30.0, 10.0, 3.0, 1.0)


@dataclass(frozen=True, eq=False)
class Chosen:
    """A penalty, E at the end of the path to it, and its outer error; NaN where that was not measured."""

    penalty: float
    trial: Trial
    outer: float


def along(error: ScalesError, equal: Equal, penalties: Sequence[float], tol: float, max_iter: int) -> list[Trial]:
    """E at the minima for penalties that fall, each from the one before."""
    found: list[Trial] = []
    error = replace(error, penalty=penalties[0])
    trial = beginning(error, equal)
    joined = min(each for each in penalties if each >= 3.0)  # where the second start joins the path
    for penalty in penalties:
        before = error.penalty
        error = replace(error, penalty=penalty)
        trial = error.repriced(trial, before)
        starts = _joining(error, trial, equal) if penalty == joined else [trial]
        ends = [descended(error, start, max(tol, 0.03), max_iter).best for start in starts]
        trial = min(ends, key=lambda end: end.value)
        found.append(trial)
    return found


def _joining(error: ScalesError, trial: Trial, equal: Equal) -> list[Trial]:
    """The starts of a descent: the path so far, what is proposed, or both.

    An error lower by less than a fifth may be so for the folds alone.
    """
    u = proposed(error, equal)
    other = None if u is None else tried(error, u)
    if other is None or other.loss > trial.loss:
        return [trial]
    if other.loss < 0.8 * trial.loss:
        return [other]
    return [trial, other]


def given(error: ScalesError, equal: Equal, tol: float, max_iter: int) -> Chosen:
    """The end of the path to the penalty of the error."""
    ladder = [*(each for each in PENALTIES if each > error.penalty), error.penalty]
    return Chosen(error.penalty, along(error, equal, ladder, tol, max_iter)[-1], np.nan)


def chosen(error: ScalesError, equal: Equal, tol: float, max_iter: int) -> Chosen:
    """The penalty of least outer error. The paths on all samples and without each fold run at the same time."""
    folds = error.held_out.folds.merged(FOLDS).tests()[:3]  # three are left out, one after the other
    whole = partial(along, error, equal, PENALTIES, tol, max_iter)
    rests = [partial(_outer, error, rows, equal, tol, max_iter) for rows in folds]
    works: list[Callable[[], Any]] = [whole, *rests]
    trials, *left = on_threads(works, n_threads())
    outer = np.sum(left, axis=0)
    first = int(np.argmin(outer))
    count = float((error.held_out.ones[np.concatenate(folds)] ** 2).sum())
    return Chosen(PENALTIES[first], trials[first], float(outer[first]) / count)


def _outer(error: ScalesError, rows: Array, equal: Equal, tol: float, max_iter: int) -> list[float]:
    """The squared residuals of these samples for each penalty, the scales from the path on the others."""
    rest = error.on(np.setdiff1d(np.arange(len(error.held_out.Y)), rows))
    path = along(rest, equal, PENALTIES, tol, max_iter)
    return [float(error.squares(trial.u)[rows].sum()) for trial in path]


def can_choose(error: ScalesError) -> bool:
    """Whether two folds with weight are left where one is left out."""
    folds = error.held_out.folds.merged(FOLDS)
    return replace(error.held_out, folds=folds).used > 2 and bool(len(error.form.varied) > 1)
